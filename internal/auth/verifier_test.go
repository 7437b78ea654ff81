package auth

import (
	"context"
	"crypto"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/hmac"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/openoriginals/originals/internal/reason"
)

var testNow = time.Unix(1_800_000_000, 0)

func testClock() time.Time { return testNow }

// sign makes a token by hand, as another issuer would, and not by the library
// that verifies it.
func sign(t testing.TB, key crypto.Signer, header, payload string) string {
	t.Helper()
	text := base64.RawURLEncoding.EncodeToString([]byte(header)) + "." + base64.RawURLEncoding.EncodeToString([]byte(payload))
	digest := sha256.Sum256([]byte(text))
	var signature []byte
	var err error
	switch k := key.(type) {
	case ed25519.PrivateKey:
		signature = ed25519.Sign(k, []byte(text))
	case *rsa.PrivateKey:
		signature, err = rsa.SignPKCS1v15(rand.Reader, k, crypto.SHA256, digest[:])
	case *ecdsa.PrivateKey:
		r, s, signErr := ecdsa.Sign(rand.Reader, k, digest[:])
		if signErr != nil {
			t.Fatal(signErr)
		}
		signature = make([]byte, 64)
		r.FillBytes(signature[:32])
		s.FillBytes(signature[32:])
	default:
		t.Fatalf("key %T", key)
	}
	if err != nil {
		t.Fatal(err)
	}
	return text + "." + base64.RawURLEncoding.EncodeToString(signature)
}

func payload(operator string) string {
	return fmt.Sprintf(`{"sub":"alice","operator":%q,"role":"player","exp":%d}`, operator, testNow.Unix()+60)
}

func newEd25519(t testing.TB) ed25519.PrivateKey {
	t.Helper()
	_, private, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	return private
}

func newVerifier(t testing.TB, keys ...Key) *Verifier {
	t.Helper()
	v, err := NewVerifier(testClock, keys...)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

const edHeader = `{"alg":"EdDSA","typ":"JWT"}`

func TestEachAlgorithmOfTheContract(t *testing.T) {
	ed := newEd25519(t)
	rs, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	es, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	v := newVerifier(t,
		Key{Operator: "demo", Public: ed.Public()}, Key{Operator: "demo", ID: "r", Public: rs.Public()}, Key{Operator: "demo", Public: es.Public()})
	for header, key := range map[string]crypto.Signer{
		edHeader: ed, `{"alg":"RS256"}`: rs, `{"alg":"RS256","kid":"r"}`: rs, `{"alg":"ES256","kid":"any"}`: es,
	} {
		id, err := v.Verify(t.Context(), sign(t, key, header, payload("demo")))
		if err != nil || id != (Identity{"alice", "demo", Player}) {
			t.Errorf("%s: %+v, %v", header, id, err)
		}
	}
}

func TestRefusedTokens(t *testing.T) {
	demo, other := newEd25519(t), newEd25519(t)
	rs, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	v := newVerifier(t,
		Key{Operator: "demo", ID: "1", Public: demo.Public()},
		Key{Operator: "demo", Public: rs.Public()},
		Key{Operator: "other", Public: other.Public()})
	good := sign(t, demo, edHeader, payload("demo"))
	if _, err := v.Verify(t.Context(), good); err != nil {
		t.Fatal(err)
	}
	claims := func(text string) string { return sign(t, demo, edHeader, text) }
	with := func(old, new string) string { return claims(strings.Replace(payload("demo"), old, new, 1)) }
	parts := strings.Split(good, ".")
	exp := fmt.Sprint(testNow.Unix() + 60)
	for name, token := range map[string]string{
		"empty":                   "",
		"text":                    "hello",
		"two parts":               parts[0] + "." + parts[1],
		"four parts":              good + ".x",
		"space before":            " " + good,
		"newline after":           good + "\n",
		"padded":                  good + "==",
		"no signature":            parts[0] + "." + parts[1] + ".",
		"other payload":           parts[0] + "." + base64.RawURLEncoding.EncodeToString([]byte(payload("other"))) + "." + parts[2],
		"signed by no one's":      sign(t, newEd25519(t), edHeader, payload("demo")),
		"signed by another's":     sign(t, other, edHeader, payload("demo")),
		"for another operator":    sign(t, demo, edHeader, payload("other")),
		"for an unknown operator": claims(payload("nobody")),
		"another kid":             sign(t, demo, `{"alg":"EdDSA","kid":"2"}`, payload("demo")),
		"unknown crit":            sign(t, demo, `{"alg":"EdDSA","crit":["x"],"x":1}`, payload("demo")),
		"alg of another key type": sign(t, demo, `{"alg":"RS256"}`, payload("demo")),
		"key in the header":       sign(t, rs, `{"alg":"EdDSA","jwk":{"kty":"oct","k":"AAAA"}}`, payload("demo")),
		"longer than 8 KiB":       with(`"alice"`, `"alice","x":"`+strings.Repeat("x", maxTokenBytes)+`"`),
		"no exp":                  claims(`{"sub":"alice","operator":"demo","role":"player"}`),
		"exp is text":             with(exp, `"soon"`),
		"exp is huge":             with(exp, "1e30"),
		"exp is negative":         with(exp, "-1"),
		"exp is null":             with(exp, "null"),
		"expired now":             with(exp, fmt.Sprint(testNow.Unix())),
		"nbf ahead":               with(`"exp"`, fmt.Sprintf(`"nbf":%d,"exp"`, testNow.Unix()+31)),
		"iat ahead":               with(`"exp"`, fmt.Sprintf(`"iat":%d,"exp"`, testNow.Unix()+31)),
		"no sub":                  with(`"sub":"alice",`, ""),
		"empty sub":               with("alice", ""),
		"sub of 129":              with("alice", strings.Repeat("a", 129)),
		"sub with a space":        with("alice", "al ice"),
		"sub not ASCII":           with("alice", "älice"),
		"sub is a number":         with(`"alice"`, "7"),
		"no role":                 with(`"role":"player",`, ""),
		"unknown role":            with("player", "admin"),
		"role in another case":    with("player", "Player"),
		"no operator":             with(`"operator":"demo",`, ""),
		"claims in another case":  claims(strings.ToUpper(payload("demo"))),
		"duplicate claim":         with(`"role"`, `"operator":"other","role"`),
		"claims are a list":       claims("[]"),
		"claims and more":         claims(payload("demo") + "{}"),
	} {
		_, err := v.Verify(t.Context(), token)
		if reason.Of(err) != reason.TokenInvalid || err == nil {
			t.Errorf("%s: error %v, want TOKEN_INVALID", name, err)
			continue
		}
		for _, part := range append(strings.Split(token, "."), "alice", "nobody") {
			if len(part) > 4 && strings.Contains(err.Error(), part) {
				t.Errorf("%s: the message %q holds a part of the token", name, err)
			}
		}
	}
	if len(v.ring.Load().keys) != 2 {
		t.Error("a bad token changed the keys")
	}
}

func TestLeewayOfNbfAndIat(t *testing.T) {
	key := newEd25519(t)
	v := newVerifier(t, Key{Operator: "demo", Public: key.Public()})
	for _, claim := range []string{"nbf", "iat"} {
		text := strings.Replace(payload("demo"), `"exp"`, fmt.Sprintf(`%q:%d.5,"exp"`, claim, testNow.Unix()+30), 1)
		if _, err := v.Verify(t.Context(), sign(t, key, edHeader, text)); err != nil {
			t.Errorf("%s 30 s ahead: %v", claim, err)
		}
	}
}

func TestUnsignedAndSymmetricTokensAreRefused(t *testing.T) {
	key := newEd25519(t)
	v := newVerifier(t, Key{Operator: "demo", Public: key.Public()})
	for _, alg := range []string{"none", "None", "HS256", "PS256", "RS512", "ES384", ""} {
		text := base64.RawURLEncoding.EncodeToString([]byte(`{"alg":"`+alg+`"}`)) + "." + base64.RawURLEncoding.EncodeToString([]byte(payload("demo")))
		mac := hmac.New(sha256.New, key.Public().(ed25519.PublicKey))
		mac.Write([]byte(text))
		for _, signature := range []string{"", base64.RawURLEncoding.EncodeToString(mac.Sum(nil))} {
			if id, err := v.Verify(t.Context(), text+"."+signature); reason.Of(err) != reason.TokenInvalid {
				t.Errorf("alg %q: %+v, %v", alg, id, err)
			}
		}
	}
}

func TestAKeyBelongsToOneOperator(t *testing.T) {
	key := newEd25519(t)
	for _, second := range []string{"demo", "other"} {
		_, err := NewVerifier(testClock, Key{Operator: "demo", ID: "1", Public: key.Public()}, Key{Operator: second, ID: "2", Public: key.Public()})
		duplicate, ok := err.(*DuplicateKeyError)
		if !ok || duplicate.Operators != [2]string{"demo", second} {
			t.Errorf("error %v", err)
		}
	}
}

func TestRememberedTokenExpires(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		dev, err := NewDevKey("")
		if err != nil {
			t.Fatal(err)
		}
		v, err := NewVerifier(time.Now, dev.Key())
		if err != nil {
			t.Fatal(err)
		}
		token, err := dev.Mint(Identity{Subject: "alice", Role: Player}, time.Minute, time.Now())
		if err != nil {
			t.Fatal(err)
		}
		for range 2 { // the second answer is remembered
			if _, err := v.Verify(t.Context(), token); err != nil {
				t.Fatal(err)
			}
		}
		if _, ok := v.ring.Load().cache.get(sha256.Sum256([]byte(token))); !ok {
			t.Error("the token is not remembered")
		}
		time.Sleep(time.Minute - time.Nanosecond)
		if _, err := v.Verify(t.Context(), token); err != nil {
			t.Errorf("before its end: %v", err)
		}
		time.Sleep(time.Nanosecond)
		if _, err := v.Verify(t.Context(), token); reason.Of(err) != reason.TokenInvalid {
			t.Errorf("at its end: %v", err)
		}
	})
}

func TestFailuresAreNotRemembered(t *testing.T) {
	key := newEd25519(t)
	v := newVerifier(t, Key{Operator: "demo", Public: key.Public()})
	for i := range 100 {
		if _, err := v.Verify(t.Context(), sign(t, newEd25519(t), edHeader, payload("demo"))); err == nil {
			t.Fatal(i)
		}
	}
	if n := v.ring.Load().cache.generations.Load().count.Load(); n != 0 {
		t.Errorf("%d remembered", n)
	}
}

// TestCacheMemoryIsBounded covers the trap of a limiter or cache that grows
// with every new caller.
func TestCacheMemoryIsBounded(t *testing.T) {
	const limit = 100
	c := newCache(limit)
	used := sha256.Sum256([]byte("in use"))
	c.put(used, verified{expires: 7})
	for i := range 50 * limit {
		c.put(sha256.Sum256(fmt.Append(nil, i)), verified{})
		if i%10 == 0 {
			if _, ok := c.get(used); !ok {
				t.Fatalf("a token in use was forgotten at %d", i)
			}
		}
	}
	g, held := c.generations.Load(), 0
	for _, m := range []*sync.Map{g.young, g.old} {
		m.Range(func(any, any) bool { held++; return true })
	}
	if held > limit || held < limit/2 {
		t.Errorf("%d tokens held, limit %d", held, limit)
	}
}

func TestConcurrentVerification(t *testing.T) {
	dev, err := NewDevKey("")
	if err != nil {
		t.Fatal(err)
	}
	v := newVerifier(t, dev.Key())
	v.ring.Load().cache.half = 8 // many turns of the cache
	var all sync.WaitGroup
	for i := range 16 {
		all.Go(func() {
			for j := range 100 {
				name := fmt.Sprintf("p%d", (i+j)%40)
				token, err := dev.Mint(Identity{Subject: name, Role: Player}, time.Hour, testNow)
				if err != nil {
					t.Error(err)
					return
				}
				id, err := v.Verify(context.Background(), token)
				if err != nil || id.Subject != name {
					t.Errorf("%+v, %v", id, err)
				}
			}
		})
	}
	all.Wait()
}

// FuzzVerify: whatever a caller sends, no token is accepted that a key has not
// signed, and nothing panics.
func FuzzVerify(f *testing.F) {
	key := newEd25519(f)
	v := newVerifier(f, Key{Operator: "demo", Public: key.Public()})
	f.Add(sign(f, newEd25519(f), edHeader, payload("demo")))
	f.Add("..")
	f.Add(`eyJhbGciOiJub25lIn0.e30.`)
	f.Add(`{"payload":"e30","signature":"","protected":"e30"}`)
	f.Fuzz(func(t *testing.T, token string) {
		id, err := v.Verify(t.Context(), token)
		if reason.Of(err) != reason.TokenInvalid || id != (Identity{}) {
			t.Errorf("%q: %+v, %v", token, id, err)
		}
	})
}

func BenchmarkVerifyRemembered(b *testing.B) {
	dev, err := NewDevKey("")
	if err != nil {
		b.Fatal(err)
	}
	v := newVerifier(b, dev.Key())
	token, err := dev.Mint(Identity{Subject: "alice", Role: Player}, time.Hour, testNow)
	if err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	b.RunParallel(func(pb *testing.PB) {
		for pb.Next() {
			if _, err := v.Verify(context.Background(), token); err != nil {
				b.Error(err)
			}
		}
	})
}
