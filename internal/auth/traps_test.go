package auth

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/metadata"

	"github.com/openoriginals/originals/internal/reason"
)

// A token stops with its key or its operator: also one that is remembered, at once, and whatever its exp says.
func TestTokensThatCannotBeRevoked(t *testing.T) {
	first, second, rival := newEd25519(t), newEd25519(t), newEd25519(t)
	one, two, other := Key{"demo", "", first.Public()}, Key{"demo", "", second.Public()}, Key{"rival", "", rival.Public()}
	v := newVerifier(t, one, two, other)
	byFirst, bySecond, byRival := sign(t, first, edHeader, payload("demo")), sign(t, second, edHeader, payload("demo")), sign(t, rival, edHeader, payload("rival"))
	expect := func(when string, good ...bool) {
		t.Helper()
		for i, token := range []string{byFirst, bySecond, byRival} {
			for range 2 { // the second time it is remembered, if it is good
				_, err := v.Verify(t.Context(), token)
				if (err == nil) != good[i] || err != nil && reason.Of(err) != reason.TokenInvalid {
					t.Errorf("%s: token %d: %v", when, i, err)
				}
			}
		}
	}
	expect("at first", true, true, true)
	if err := v.Reload([]Key{two, other}, nil); err != nil {
		t.Fatal(err)
	}
	expect("a key is gone", false, true, true)
	if err := v.Reload([]Key{one, two}, nil); err != nil {
		t.Fatal(err)
	}
	expect("an operator is gone, and the key is back", true, true, false)
	var twice *DuplicateKeyError
	if err := v.Reload([]Key{one, {"rival", "", first.Public()}}, nil); !errors.As(err, &twice) {
		t.Errorf("a key of two operators: %v", err)
	}
	expect("keys that cannot be meant", true, true, false)
	if err := v.Reload(nil, nil); err != nil {
		t.Fatal(err)
	}
	expect("no keys at all", false, false, false)
}

func TestReloadChangesWhatIsFollowed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		key := newEd25519(t)
		p := &provider{text: `{"keys":[` + jwkOf(t, key.Public(), "1") + `]}`, status: http.StatusOK}
		v, err := NewVerifier(time.Now)
		if err != nil {
			t.Fatal(err)
		}
		token := sign(t, key, edHeader, strings.Replace(payload("demo"), "1800000060", "9999999999", 1))
		accepts := func() bool {
			synctest.Wait()
			_, err := v.Verify(t.Context(), token)
			return err == nil
		}
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan error)
		go func() {
			done <- v.Follow(ctx, nil, &http.Client{Transport: p}, func(url string, err error) { t.Errorf("%s: %v", url, err) })
		}()
		set := []JWKS{{"demo", "https://x.example"}}
		for _, step := range []struct {
			sets []JWKS
			want bool
		}{{nil, false}, {set, true}, {set, true}, {nil, false}, {set, true}, {[]JWKS{{"rival", "https://x.example"}}, false}} {
			if err := v.Reload(nil, step.sets); err != nil {
				t.Fatal(err)
			}
			if got := accepts(); got != step.want {
				t.Errorf("with the sets %v: %t", step.sets, got)
			}
		}
		cancel()
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
}

// stream is a server stream that counts what is sent.
type stream struct {
	grpc.ServerStream
	ctx  context.Context
	sent int
}

func (s *stream) Context() context.Context { return s.ctx }
func (s *stream) SendMsg(any) error        { s.sent++; return nil }

func TestAStreamEndsWithItsToken(t *testing.T) {
	key := newEd25519(t)
	now := testNow
	v, err := NewVerifier(func() time.Time { return now }, Key{"demo", "", key.Public()})
	if err != nil {
		t.Fatal(err)
	}
	const method = "/test.Service/Watch"
	run := func(end func()) (sent int, err error) {
		ctx := metadata.NewIncomingContext(t.Context(), metadata.Pairs(authorizationKey, "Bearer "+sign(t, key, edHeader, payload("demo"))))
		s := &stream{ctx: ctx}
		err = StreamInterceptor(v, Policy{method: PlayerOnly})(nil, s, &grpc.StreamServerInfo{FullMethod: method}, func(_ any, ss grpc.ServerStream) error {
			if err := ss.SendMsg(nil); err != nil {
				return err
			}
			end()
			return ss.SendMsg(nil)
		})
		return s.sent, err
	}
	if sent, err := run(func() {}); sent != 2 || err != nil {
		t.Errorf("a good token: %d messages, %v", sent, err)
	}
	if sent, err := run(func() { now = now.Add(time.Hour) }); sent != 1 || reason.Of(err) != reason.TokenInvalid {
		t.Errorf("a token that expires: %d messages, %v", sent, err)
	}
	now = testNow
	if sent, err := run(func() { _ = v.Reload(nil, nil) }); sent != 1 || reason.Of(err) != reason.TokenInvalid {
		t.Errorf("a key that is taken away: %d messages, %v", sent, err)
	}
}
