package auth

import (
	"context"
	"crypto/sha256"
	"errors"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/go-jose/go-jose/v4"
	"github.com/go-jose/go-jose/v4/json"

	"github.com/openoriginals/originals/internal/reason"
)

const (
	maxTokenBytes = 8 << 10          // longer tokens are refused unread
	leeway        = 30 * time.Second // by which nbf and iat may lie ahead
	cacheTokens   = 100_000          // verified tokens that are remembered
)

// Verifier verifies tokens. It is safe for concurrent use.
type Verifier struct {
	clock    func() time.Time
	ring     atomic.Pointer[ring]
	reloaded chan struct{} // has one when the sets have changed

	mu    sync.Mutex // guards what follows
	fixed []Key
	sets  []*keySet
}

// ring is the keys of the moment, and the tokens verified with them. A change
// of the keys is a new ring, so no token outlives its key.
type ring struct {
	keys  map[string][]Key // by operator
	cache *cache
}

// NewVerifier returns a verifier of tokens signed by keys. It is an error
// when a key is unfit, or stands twice, be it for one operator or for two.
func NewVerifier(clock func() time.Time, keys ...Key) (*Verifier, error) {
	r, err := newRing(keys)
	if err != nil {
		return nil, err
	}
	v := &Verifier{clock: clock, fixed: keys, reloaded: make(chan struct{}, 1)}
	v.ring.Store(r)
	return v, nil
}

func newRing(keys []Key) (*ring, error) {
	owner := make(map[[sha256.Size]byte]string, len(keys))
	r := &ring{keys: make(map[string][]Key), cache: newCache(cacheTokens)}
	for _, k := range keys {
		print, err := k.thumbprint()
		if err != nil {
			return nil, err
		}
		if other, ok := owner[print]; ok {
			return nil, &DuplicateKeyError{Operators: [2]string{other, k.Operator}}
		}
		owner[print] = k.Operator
		r.keys[k.Operator] = append(r.keys[k.Operator], k)
	}
	return r, nil
}

// Verify returns what a token says, once its signature, times and claims are
// found to be good. Every error is reason.TokenInvalid, with a message that
// says what is wrong and holds no part of the token.
//
// Tokens are remembered by their SHA-256 until they expire or the keys
// change: a signature costs as much as a call. Failures are not remembered.
func (v *Verifier) Verify(_ context.Context, token string) (Identity, error) {
	if len(token) > maxTokenBytes {
		return Identity{}, invalid("the token is longer than 8 KiB")
	}
	now, r := v.clock(), v.ring.Load()
	id := sha256.Sum256([]byte(token))
	if known, ok := r.cache.get(id); ok {
		return known.identity, known.alive(now)
	}
	fresh, err := r.verify(token, now)
	if err != nil {
		return Identity{}, err
	}
	r.cache.put(id, fresh)
	return fresh.identity, nil
}

// verified is a token that was found to be good.
type verified struct {
	identity Identity
	expires  int64 // seconds since 1970; good before
}

func (t verified) alive(now time.Time) error {
	if now.Unix() >= t.expires {
		return invalid("the token has expired")
	}
	return nil
}

// verify lets the claimed operator choose the keys, whose signature then
// proves the claim: a key can sign for its own operator alone.
func (r *ring) verify(token string, now time.Time) (verified, error) {
	signed, err := jose.ParseSignedCompact(token, []jose.SignatureAlgorithm{jose.EdDSA, jose.RS256, jose.ES256})
	if _, ok := errors.AsType[*jose.ErrUnexpectedSignatureAlgorithm](err); ok {
		return verified{}, invalid("the token is signed by an algorithm other than EdDSA, RS256 or ES256")
	}
	if err != nil || len(signed.Signatures) != 1 || !isCompact(token) {
		return verified{}, invalid("the token is not a signed JWT: three parts joined by dots are expected")
	}
	var c claims
	if err := json.Unmarshal(signed.UnsafePayloadWithoutVerification(), &c); err != nil {
		return verified{}, invalid("the token's claims are not a JSON object of the expected types")
	}
	keys, ok := r.keys[c.Operator]
	if !ok {
		return verified{}, invalid("the token's operator is not known here")
	}
	if !signedByOneOf(keys, signed) {
		return verified{}, invalid("the token is not signed by a key of its operator")
	}
	return c.check(now)
}

// isCompact reports whether a token has no characters but those of its three
// parts. The decoder skips line breaks.
func isCompact(token string) bool {
	for i := range len(token) {
		c := token[i]
		if !('a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9' || c == '-' || c == '_' || c == '.') {
			return false
		}
	}
	return true
}

func signedByOneOf(keys []Key, signed *jose.JSONWebSignature) bool {
	header := signed.Signatures[0].Protected
	for _, k := range keys {
		if !k.fits(header.Algorithm, header.KeyID) {
			continue
		}
		if _, err := signed.Verify(k.Public); err == nil {
			return true
		}
	}
	return false
}

// claims are the parts of a token that count. Others are not looked at.
type claims struct {
	Subject   string       `json:"sub"`
	Operator  string       `json:"operator"`
	Role      Role         `json:"role"`
	Expires   *json.Number `json:"exp"`
	NotBefore *json.Number `json:"nbf,omitempty"`
	IssuedAt  *json.Number `json:"iat"`
}

func (c claims) check(now time.Time) (verified, error) {
	if !isSubject(c.Subject) {
		return verified{}, invalid("the token's sub must be 1 to 128 visible ASCII characters")
	}
	if c.Role != Player && c.Role != Wallet && c.Role != Support {
		return verified{}, invalid("the token's role must be player, wallet or support")
	}
	if c.Expires == nil {
		return verified{}, invalid("the token has no exp: tokens must expire")
	}
	expires, ok := seconds(*c.Expires)
	if !ok {
		return verified{}, invalid("the token's exp is not a time in seconds")
	}
	for _, start := range []*json.Number{c.NotBefore, c.IssuedAt} {
		if start == nil {
			continue
		}
		from, ok := seconds(*start)
		if !ok {
			return verified{}, invalid("the token's nbf or iat is not a time in seconds")
		}
		if now.Add(leeway).Unix() < from {
			return verified{}, invalid("the token is not valid yet")
		}
	}
	t := verified{Identity{Subject: c.Subject, Operator: c.Operator, Role: c.Role}, expires}
	return t, t.alive(now)
}

// seconds reads a time of a token: whole seconds since 1970, of at most 12
// digits; a fraction is cut off.
func seconds(n json.Number) (int64, bool) {
	whole, _, _ := strings.Cut(n.String(), ".")
	if whole == "" || len(whole) > 12 {
		return 0, false
	}
	var s int64
	for _, c := range []byte(whole) {
		if c < '0' || c > '9' {
			return 0, false
		}
		s = s*10 + int64(c-'0')
	}
	return s, !strings.ContainsAny(n.String(), "eE")
}

func isSubject(s string) bool {
	if len(s) < 1 || len(s) > 128 {
		return false
	}
	for i := range len(s) {
		if s[i] < 0x21 || s[i] > 0x7E {
			return false
		}
	}
	return true
}

func invalid(message string) error { return reason.New(reason.TokenInvalid, message) }
