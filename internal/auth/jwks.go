package auth

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"time"
)

const (
	refreshEvery = 5 * time.Minute  // between fetches of a JWKS
	retryEvery   = 10 * time.Second // after a fetch that failed
	keysLast     = time.Hour        // after the last good fetch, then no token of theirs is accepted
	fetchTime    = 5 * time.Second  // for one fetch
	maxJWKSBytes = 64 << 10         // of one answer
)

// JWKS is the address of the public keys of an operator.
type JWKS struct {
	Operator string
	URL      string // https
}

// keySet is what the last good fetch of a JWKS has brought.
type keySet struct {
	JWKS
	keys    []Key
	fetched time.Time // zero before the first
}

// Follow keeps the keys of sets up to date until ctx is done, and returns nil
// then. Until a set has been fetched, and once an hour has passed since it was,
// no token of its keys is accepted. Each failure is reported, and changes
// nothing else. It may be called once; Reload changes what it follows.
func (v *Verifier) Follow(ctx context.Context, sets []JWKS, client *http.Client, report func(url string, err error)) error {
	v.mu.Lock()
	for _, set := range sets {
		v.sets = append(v.sets, &keySet{JWKS: set})
	}
	v.mu.Unlock()
	for {
		next := refreshEvery
		for _, set := range v.followed() {
			if err := v.refresh(ctx, set, client); err != nil && ctx.Err() == nil {
				report(set.URL, err)
				next = retryEvery
			}
		}
		select {
		case <-ctx.Done():
			return nil
		case <-v.reloaded:
		case <-time.After(next):
		}
	}
}

func (v *Verifier) followed() []*keySet {
	v.mu.Lock()
	defer v.mu.Unlock()
	return slices.Clone(v.sets)
}

// Reload puts other keys and other sets in place of those there are: a token of a key that is gone is refused from now on, be it
// remembered or not. A set that stays keeps the keys that it has brought; Follow fetches the new ones at once. On an error, of
// NewVerifier, nothing changes.
func (v *Verifier) Reload(keys []Key, sets []JWKS) error {
	v.mu.Lock()
	defer v.mu.Unlock()
	all, next := slices.Clone(keys), make([]*keySet, 0, len(sets))
	for _, set := range sets {
		kept := &keySet{JWKS: set}
		if i := slices.IndexFunc(v.sets, func(s *keySet) bool { return s.JWKS == set }); i >= 0 {
			kept.keys, _ = unclaimed(v.sets[i].keys, all) // what is given twice is reported when it is fetched again
			kept.fetched = v.sets[i].fetched
		}
		all, next = append(all, kept.keys...), append(next, kept)
	}
	r, err := newRing(all)
	if err != nil {
		return err
	}
	v.fixed, v.sets = slices.Clone(keys), next
	v.ring.Store(r)
	select {
	case v.reloaded <- struct{}{}:
	default:
	}
	return nil
}

// refresh fetches one set; when it cannot, and the last fetch is too old, the
// set loses its keys.
func (v *Verifier) refresh(ctx context.Context, set *keySet, client *http.Client) error {
	keys, err := fetch(ctx, set.JWKS, client)
	if err == nil {
		return v.replace(set, keys, v.clock())
	}
	if v.outdated(set) {
		return errors.Join(err, v.replace(set, nil, time.Time{}))
	}
	return err
}

func (v *Verifier) outdated(set *keySet) bool {
	v.mu.Lock()
	defer v.mu.Unlock()
	return !set.fetched.IsZero() && v.clock().Sub(set.fetched) >= keysLast
}

// replace makes a new ring of all keys, unless they are the same as before. A
// key that is held already, be it by another operator, is left out and
// reported: it must not keep alive the keys that this set has withdrawn. A set
// that is followed no more brings nothing.
func (v *Verifier) replace(set *keySet, keys []Key, fetched time.Time) error {
	v.mu.Lock()
	defer v.mu.Unlock()
	if !slices.Contains(v.sets, set) {
		return nil
	}
	others := slices.Clone(v.fixed)
	for _, other := range v.sets {
		if other != set {
			others = append(others, other.keys...)
		}
	}
	keys, twice := unclaimed(keys, others)
	if slices.EqualFunc(set.keys, keys, sameKey) {
		set.fetched = fetched
		return twice
	}
	r, err := newRing(append(others, keys...))
	if err != nil {
		return err
	}
	set.keys, set.fetched = keys, fetched
	v.ring.Store(r)
	return twice
}

// unclaimed returns the keys that are not among the others, each once, and a
// DuplicateKeyError for the rest.
func unclaimed(keys, others []Key) ([]Key, error) {
	var kept []Key
	var twice error
	for _, k := range keys {
		held := slices.Concat(others, kept)
		if i := slices.IndexFunc(held, func(other Key) bool { return sameKey(Key{Public: k.Public}, Key{Public: other.Public}) }); i >= 0 {
			twice = &DuplicateKeyError{Operators: [2]string{held[i].Operator, k.Operator}}
			continue
		}
		kept = append(kept, k)
	}
	return kept, twice
}

func sameKey(a, b Key) bool {
	x, errX := a.thumbprint()
	y, errY := b.thumbprint()
	return errX == nil && errY == nil && x == y && a.ID == b.ID
}

// fetch reads a JWKS within its bounds of time and size.
func fetch(ctx context.Context, set JWKS, client *http.Client) ([]Key, error) {
	ctx, cancel := context.WithTimeout(ctx, fetchTime)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, set.URL, nil)
	if err != nil {
		return nil, fmt.Errorf("auth: fetch keys: %w", err)
	}
	resp, err := client.Do(req)
	if err != nil {
		return nil, fmt.Errorf("auth: fetch keys: %w", err)
	}
	defer func() { _ = resp.Body.Close() }()
	if resp.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("auth: fetch keys: HTTP status %d", resp.StatusCode)
	}
	text, err := io.ReadAll(io.LimitReader(resp.Body, maxJWKSBytes+1))
	if err != nil {
		return nil, fmt.Errorf("auth: fetch keys: %w", err)
	}
	if len(text) > maxJWKSBytes {
		return nil, errors.New("auth: fetch keys: more than 64 KiB")
	}
	return parseKeys(set.Operator, "", text)
}
