package beacon_test

import (
	"bytes"
	"context"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/openoriginals/originals/internal/beacon"
	"github.com/openoriginals/originals/internal/vectors"
	"pgregory.net/rapid"
)

// real are rounds of quicknet as drand published them.
type real struct {
	Round      uint64 `json:"drand_round"`
	Signature  string `json:"drand_signature"`
	Time       int64  `json:"drand_time"`
	Randomness string `json:"drand_randomness_sha256"`
}

func realRounds(t testing.TB) []real {
	t.Helper()
	text, err := vectors.Files.ReadFile("foreign/crash_duel.json")
	if err != nil {
		t.Fatal(err)
	}
	var file struct{ Rounds []real }
	if err := json.Unmarshal(text, &file); err != nil {
		t.Fatal(err)
	}
	if len(file.Rounds) < 19 {
		t.Fatalf("%d real rounds, want 19 at least", len(file.Rounds))
	}
	return file.Rounds
}

func decode(t testing.TB, text string) []byte {
	t.Helper()
	raw, err := hex.DecodeString(text)
	if err != nil {
		t.Fatal(err)
	}
	return raw
}

func TestRealRoundsOfQuicknet(t *testing.T) {
	n := beacon.Quicknet()
	for _, r := range realRounds(t) {
		randomness, err := n.Verify(r.Round, decode(t, r.Signature))
		if err != nil || string(randomness) != r.Randomness {
			t.Errorf("round %d: %s, %v, want %s", r.Round, randomness, err, r.Randomness)
		}
		if at := n.TimeOf(r.Round); at.Unix() != r.Time || n.RoundAt(at) != r.Round || n.RoundAt(at.Add(-1)) != r.Round-1 {
			t.Errorf("round %d: at %v, want %d", r.Round, at, r.Time)
		}
	}
}

// TestTheNetworksThatChainsMayName: the test beacon is the same for ever, so that its chains can be verified.
func TestTheNetworksThatChainsMayName(t *testing.T) {
	now := time.Date(2020, 1, 1, 0, 1, 0, 0, time.UTC)
	b := beacon.Test(func() time.Time { return now })
	if b.Network().Hash() != beacon.TestHash || b.Network().Period() != time.Second || !b.Network().Genesis().Equal(now.Add(-time.Minute)) {
		t.Errorf("the test beacon is %s, %v, %v", b.Network().Hash(), b.Network().Period(), b.Network().Genesis())
	}
	entry, err := b.Fetch(context.Background(), 61)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := b.Fetch(context.Background(), 62); !errors.Is(err, beacon.ErrUnpublished) {
		t.Errorf("a round to come: %v", err)
	}
	known, ok := beacon.Known(beacon.TestHash)
	if !ok {
		t.Fatal("the test beacon is not known")
	}
	if randomness, err := known.Verify(61, entry.Signature); err != nil || randomness != entry.Randomness {
		t.Errorf("a round of the test beacon: %v", err)
	}
	if n, ok := beacon.Known(beacon.Quicknet().Hash()); !ok || n.Period() != 3*time.Second {
		t.Error("quicknet is not known")
	}
	if _, ok := beacon.Known(strings.Repeat("0", 64)); ok {
		t.Error("a network of nobody is known")
	}
}

func TestForgedSignatures(t *testing.T) {
	n, r := beacon.Quicknet(), realRounds(t)[0]
	good := decode(t, r.Signature)
	altered := bytes.Clone(good)
	altered[47] ^= 1
	infinity := append([]byte{0xc0}, make([]byte, 47)...)
	own := newOwn(t, time.Unix(1692803367, 0), 3*time.Second, func() time.Time { return time.Unix(2e9, 0) })
	foreign, err := own.Fetch(context.Background(), r.Round)
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		round     uint64
		signature []byte
	}{
		"of the next round":     {r.Round + 1, good},
		"of the round before":   {r.Round - 1, good},
		"altered":               {r.Round, altered},
		"negated":               {r.Round, append([]byte{good[0] ^ 0x20}, good[1:]...)},
		"point at infinity":     {r.Round, infinity},
		"zeros":                 {r.Round, make([]byte, 48)},
		"short":                 {r.Round, good[:47]},
		"long":                  {r.Round, append(bytes.Clone(good), 0)},
		"missing":               {r.Round, nil},
		"round 0":               {0, good},
		"of another network":    {r.Round, foreign.Signature},
		"its randomness itself": {r.Round, decode(t, r.Randomness)},
	} {
		if randomness, err := n.Verify(c.round, c.signature); !errors.Is(err, beacon.ErrSignature) || randomness != "" {
			t.Errorf("%s: %q, %v", name, randomness, err)
		}
	}
}

// rng/SPEC.md: the smallest R with time(R) >= lock + 1 s, and time(R) = 1692803367 + 3(R-1).
func TestTheNamedRoundIsPublishedAfterTheLock(t *testing.T) {
	n := beacon.Quicknet()
	const genesis = 1692803367
	for _, c := range []struct {
		lock time.Time
		want uint64
	}{
		{time.Unix(0, 0), 1}, {time.Unix(genesis-2, 0), 1}, {time.Unix(genesis-1, 0), 1}, {time.Unix(genesis-1, 1), 2}, {time.Unix(genesis, 0), 2},
		{time.Unix(genesis+2, 0), 2}, {time.Unix(genesis+2, 1), 3}, {time.Unix(genesis+2, 999_999_999), 3}, {time.Unix(genesis+5, 0), 3},
	} {
		if got := n.NamedFor(c.lock); got != c.want {
			t.Errorf("lock %v: round %d, want %d", c.lock.Sub(time.Unix(genesis, 0)), got, c.want)
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		lock := time.Unix(genesis+rapid.Int64Range(0, 1e9).Draw(t, "s"), rapid.Int64Range(0, 999_999_999).Draw(t, "ns"))
		r := n.NamedFor(lock)
		if n.TimeOf(r).Before(lock.Add(time.Second)) || r > 1 && !n.TimeOf(r-1).Before(lock.Add(time.Second)) {
			t.Fatalf("lock %v: round %d at %v", lock, r, n.TimeOf(r))
		}
	})
}

func TestTimesOutsideTheCalendar(t *testing.T) {
	n := beacon.Quicknet()
	if n.RoundAt(time.Unix(0, 0)) != 0 || n.TimeOf(0) != n.TimeOf(1) {
		t.Error("there is a round before the first")
	}
	if n.TimeOf(1<<64 - 1).Before(n.TimeOf(1 << 40)) {
		t.Error("a far round wraps around")
	}
}

func newOwn(t testing.TB, genesis time.Time, period time.Duration, now func() time.Time) *beacon.Own {
	t.Helper()
	own, err := beacon.NewOwn(bytes.Repeat([]byte("s"), 32), genesis, period, now)
	if err != nil {
		t.Fatal(err)
	}
	return own
}

func TestOurOwnBeaconPublishesInTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		own := newOwn(t, time.Now(), 2*time.Second, time.Now)
		if _, err := own.Fetch(t.Context(), 2); !errors.Is(err, beacon.ErrUnpublished) {
			t.Errorf("the second round is there at the start: %v", err)
		}
		time.Sleep(2*time.Second - 1)
		if _, err := own.Fetch(t.Context(), 2); !errors.Is(err, beacon.ErrUnpublished) {
			t.Errorf("the second round is early: %v", err)
		}
		time.Sleep(time.Nanosecond)
		entry, err := own.Fetch(t.Context(), 2)
		if err != nil {
			t.Fatal(err)
		}
		if r, err := own.Network().Verify(2, entry.Signature); err != nil || r != entry.Randomness {
			t.Errorf("its own signature: %s, %v", r, err)
		}
		if _, err := own.Network().Verify(1, entry.Signature); !errors.Is(err, beacon.ErrSignature) {
			t.Errorf("as another round: %v", err)
		}
		if _, err := own.Fetch(t.Context(), 0); !errors.Is(err, beacon.ErrUnpublished) {
			t.Errorf("round 0: %v", err)
		}
	})
}

func TestOurOwnBeaconFollowsFromItsSecret(t *testing.T) {
	now := func() time.Time { return time.Unix(1000, 0) }
	a, b := newOwn(t, time.Unix(1, 0), time.Second, now), newOwn(t, time.Unix(1, 0), time.Second, now)
	x, errX := a.Fetch(t.Context(), 7)
	y, errY := b.Fetch(t.Context(), 7)
	if errX != nil || errY != nil || !bytes.Equal(x.Signature, y.Signature) || a.Network().Hash() != b.Network().Hash() {
		t.Error("the same secret has other rounds")
	}
	if text := fmt.Sprintf("%v %+v %#v %s", a, a, a, a); strings.Contains(text, "key") || strings.Count(text, a.Network().Hash()) != 4 {
		t.Errorf("prints %s", text)
	}
	for name, make := range map[string]func() (*beacon.Own, error){
		"short secret": func() (*beacon.Own, error) { return beacon.NewOwn(make([]byte, 31), time.Unix(1, 0), time.Second, now) },
		"no period":    func() (*beacon.Own, error) { return beacon.NewOwn(make([]byte, 32), time.Unix(1, 0), 0, now) },
		"split second": func() (*beacon.Own, error) {
			return beacon.NewOwn(make([]byte, 32), time.Unix(1, 0), 1500*time.Millisecond, now)
		},
	} {
		if _, err := make(); err == nil {
			t.Errorf("%s: accepted", name)
		}
	}
}

func TestNetworksThatCannotBe(t *testing.T) {
	hash, key := strings.Repeat("0", 64), strings.Repeat("0", 192)
	for name, make := range map[string]func() (*beacon.Network, error){
		"no hash":         func() (*beacon.Network, error) { return beacon.NewNetwork("", key, 1, 1) },
		"zero key":        func() (*beacon.Network, error) { return beacon.NewNetwork(hash, key, 1, 1) },
		"identity as key": func() (*beacon.Network, error) { return beacon.NewNetwork(hash, "c0"+key[2:], 1, 1) },
		"short key":       func() (*beacon.Network, error) { return beacon.NewNetwork(hash, "83cf", 1, 1) },
		"no hex":          func() (*beacon.Network, error) { return beacon.NewNetwork(hash, "x", 1, 1) },
		"no period":       func() (*beacon.Network, error) { return beacon.NewNetwork(hash, key, 1, 0) },
	} {
		if _, err := make(); err == nil {
			t.Errorf("%s: accepted", name)
		}
	}
}

// A relay is not trusted: whatever it answers, only the network's signature counts.
func TestRelays(t *testing.T) {
	n, rounds := beacon.Quicknet(), realRounds(t)
	r, other := rounds[0], rounds[1]
	answer := func(round uint64, signature string) string {
		return fmt.Sprintf(`{"round":%d,"randomness":"%s","signature":"%s"}`, round, strings.Repeat("0", 64), signature)
	}
	relay := func(status int, body string) string {
		s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
			if want := fmt.Sprintf("/%s/public/%d", n.Hash(), r.Round); q.URL.Path != want {
				t.Errorf("asked for %s, want %s", q.URL.Path, want)
			}
			w.WriteHeader(status)
			fmt.Fprint(w, body)
		}))
		t.Cleanup(s.Close)
		return s.URL
	}
	good := relay(200, answer(r.Round, r.Signature))
	early, late := relay(425, ""), relay(404, "no")
	forged, wrong := relay(200, answer(r.Round, other.Signature)), relay(200, answer(other.Round, other.Signature))
	down, noJSON, endless := relay(500, ""), relay(200, "<html>"), relay(200, strings.Repeat(" ", 1<<20)+answer(r.Round, r.Signature))
	for _, c := range []struct {
		name string
		urls []string
		want error // nil: the round comes
	}{
		{"one that answers", []string{good}, nil},
		{"a slash at the end", []string{good + "/"}, nil},
		{"the first is down", []string{down, good}, nil},
		{"the first forges", []string{forged, good}, nil},
		{"the first has it late", []string{late, good}, nil},
		{"too early", []string{early}, beacon.ErrUnpublished},
		{"not found", []string{late, down}, beacon.ErrUnpublished},
		{"forged", []string{forged}, beacon.ErrSignature},
		{"another round", []string{wrong}, errors.ErrUnsupported},
		{"down", []string{down}, errors.ErrUnsupported},
		{"no JSON", []string{noJSON}, errors.ErrUnsupported},
		{"endless", []string{endless}, errors.ErrUnsupported},
		{"nobody there", []string{"http://127.0.0.1:1"}, errors.ErrUnsupported},
	} {
		entry, err := beacon.NewClient(n, c.urls, http.DefaultClient).Fetch(t.Context(), r.Round)
		switch {
		case c.want == nil:
			if err != nil || entry.Round != r.Round || string(entry.Randomness) != r.Randomness || hex.EncodeToString(entry.Signature) != r.Signature {
				t.Errorf("%s: %+v, %v", c.name, entry, err)
			}
		case errors.Is(c.want, errors.ErrUnsupported): // any failure
			if err == nil || errors.Is(err, beacon.ErrUnpublished) {
				t.Errorf("%s: %v", c.name, err)
			}
		case !errors.Is(err, c.want):
			t.Errorf("%s: %v, want %v", c.name, err, c.want)
		}
	}
}

func BenchmarkVerify(b *testing.B) {
	n, r := beacon.Quicknet(), realRounds(b)[0]
	signature := decode(b, r.Signature)
	for b.Loop() {
		if _, err := n.Verify(r.Round, signature); err != nil {
			b.Fatal(err)
		}
	}
}
