package auth

import (
	"context"
	"crypto"
	"crypto/ed25519"
	"errors"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/openoriginals/originals/internal/reason"
)

// provider is an identity provider that answers without a network.
type provider struct {
	mu      sync.Mutex
	text    string
	status  int
	err     error
	fetches int
}

func (p *provider) set(text string, status int, err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.text, p.status, p.err = text, status, err
}

func (p *provider) RoundTrip(*http.Request) (*http.Response, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.fetches++
	if p.err != nil {
		return nil, p.err
	}
	return &http.Response{StatusCode: p.status, Body: io.NopCloser(strings.NewReader(p.text))}, nil
}

func TestJWKSIsFollowedAndFailsClosed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		first, second := newEd25519(t), newEd25519(t)
		setOf := func(keys ...string) string { return `{"keys":[` + strings.Join(keys, ",") + `]}` }
		one, two := jwkOf(t, first.Public(), "1"), jwkOf(t, second.Public(), "2")
		p := &provider{text: setOf(one), status: http.StatusOK}
		fixed := newEd25519(t)
		v, err := NewVerifier(time.Now, Key{Operator: "fixed", Public: fixed.Public()})
		if err != nil {
			t.Fatal(err)
		}
		exp := func(operator string) string {
			return strings.Replace(payload(operator), "1800000060", "9999999999", 1)
		}
		byFirst := sign(t, first, edHeader, exp("demo"))
		bySecond := sign(t, second, edHeader, exp("demo"))
		byFixed := sign(t, fixed, edHeader, exp("fixed"))
		expect := func(when, token string, good bool) {
			t.Helper()
			_, err := v.Verify(t.Context(), token)
			if (err == nil) != good || (!good && reason.Of(err) != reason.TokenInvalid) {
				t.Errorf("%s: %v", when, err)
			}
		}
		expect("before the first fetch", byFirst, false)

		var reports []error
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan error)
		go func() {
			done <- v.Follow(ctx, []JWKS{{"demo", "https://x.example"}}, &http.Client{Transport: p}, func(_ string, err error) { reports = append(reports, err) })
		}()
		synctest.Wait()
		expect("after the first fetch", byFirst, true)
		expect("a key that is not there yet", bySecond, false)

		p.set(setOf(one, two), http.StatusOK, nil)
		time.Sleep(refreshEvery)
		synctest.Wait()
		expect("a key that was added", bySecond, true)
		expect("the key beside it", byFirst, true)

		p.set(setOf(two), http.StatusOK, nil)
		time.Sleep(refreshEvery)
		synctest.Wait()
		expect("a key that is gone, for a token that is remembered", byFirst, false)

		if len(reports) != 0 {
			t.Errorf("reports %v", reports)
		}
		p.set("", 0, errors.New("down"))
		time.Sleep(keysLast - time.Second)
		synctest.Wait()
		expect("while the provider is down", bySecond, true)
		time.Sleep(refreshEvery + 2*time.Second)
		synctest.Wait()
		expect("an hour after the last good fetch", bySecond, false)
		expect("a fixed key all the while", byFixed, true)
		if len(reports) == 0 {
			t.Error("no failure was reported")
		}

		p.set(setOf(two), http.StatusOK, nil)
		time.Sleep(retryEvery)
		synctest.Wait()
		expect("when the provider is back", bySecond, true)

		p.set(setOf(jwkOf(t, fixed.Public(), "")), http.StatusOK, nil)
		time.Sleep(refreshEvery)
		synctest.Wait()
		expect("the key of another operator in the set", sign(t, fixed, edHeader, exp("demo")), false)
		expect("that operator itself", byFixed, true)
		expect("a key that is gone beside it", bySecond, false)

		p.set(setOf(two), http.StatusOK, nil)
		time.Sleep(retryEvery)
		synctest.Wait()
		p.set("", 0, errors.New("down"))
		time.Sleep(refreshEvery)
		synctest.Wait()
		before := len(reports)
		for _, bad := range []string{"", "{}", "[]", `{"keys":[]}`, setOf(jwkOf(t, first, "")), strings.Repeat(" ", maxJWKSBytes+1)} {
			p.set(bad, http.StatusOK, nil)
			time.Sleep(retryEvery)
			synctest.Wait()
		}
		p.set(setOf(one), http.StatusInternalServerError, nil)
		time.Sleep(retryEvery)
		synctest.Wait()
		if len(reports)-before != 7 {
			t.Errorf("%d of 7 bad answers were reported", len(reports)-before)
		}
		expect("the last good keys", bySecond, true)
		cancel()
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
}

func TestUnchangedKeysKeepWhatIsRemembered(t *testing.T) {
	key := newEd25519(t)
	v := newVerifier(t)
	set := &keySet{JWKS: JWKS{Operator: "demo"}}
	v.sets = append(v.sets, set)
	keys := []Key{{"demo", "", key.Public()}}
	if err := v.replace(set, keys, testNow); err != nil {
		t.Fatal(err)
	}
	before := v.ring.Load()
	if err := v.replace(set, keys, testNow.Add(time.Minute)); err != nil {
		t.Fatal(err)
	}
	if v.ring.Load() != before || !set.fetched.Equal(testNow.Add(time.Minute)) {
		t.Error("a fetch of the same keys must only move the time")
	}
}

// An operator that publishes a key of another one takes no key from it for
// good, and above all does not keep a key alive that the other has withdrawn.
func TestAStrangersKeySetKeepsNoWithdrawnKeyAlive(t *testing.T) {
	first, second, third := newEd25519(t), newEd25519(t), newEd25519(t)
	v := newVerifier(t)
	demo, rival := &keySet{JWKS: JWKS{Operator: "demo"}}, &keySet{JWKS: JWKS{Operator: "rival"}}
	v.sets = append(v.sets, rival, demo)
	replace := func(set *keySet, keys ...crypto.Signer) error {
		var public []Key
		for _, k := range keys {
			public = append(public, Key{Operator: set.Operator, Public: k.Public()})
		}
		return v.replace(set, public, testNow)
	}
	accepts := func(key ed25519.PrivateKey) bool {
		_, err := v.Verify(t.Context(), sign(t, key, edHeader, payload("demo")))
		return err == nil
	}
	if err := replace(demo, first); err != nil || !accepts(first) {
		t.Fatal("the first key is not taken", err)
	}
	if err := replace(rival, second); err != nil { // published by demo a moment before
		t.Fatal(err)
	}
	var twice *DuplicateKeyError
	if err := replace(demo, second, third); !errors.As(err, &twice) || twice.Operators != [2]string{"rival", "demo"} {
		t.Errorf("%v, want a DuplicateKeyError of rival and demo", err)
	}
	if accepts(first) || accepts(second) || !accepts(third) {
		t.Errorf("withdrawn %t, claimed by another %t, new %t; want the new one alone", accepts(first), accepts(second), accepts(third))
	}
	if err := replace(rival); err != nil {
		t.Fatal(err)
	}
	if err := replace(demo, second, third); err != nil || !accepts(second) || !accepts(third) {
		t.Errorf("%v: keys that nobody else claims any more are not taken", err)
	}
}
