package rng_test

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"regexp"
	"strings"
	"testing"

	"github.com/openoriginals/originals/internal/rng"
)

// FuzzCrashDigest: a digest is HMAC-SHA256(link, table:number:salt) of parts that fit their patterns, and there is none of
// others.
func FuzzCrashDigest(f *testing.F) {
	hash, salt := strings.Repeat("0123456789abcdef", 4), strings.Repeat("5a", 32)
	f.Add(hash, "main", uint32(1), salt)
	f.Add(hash, strings.Repeat("a", 32), uint32(1<<32-1), strings.Repeat("0", 64))
	f.Add(hash, strings.Repeat("a", 33), uint32(1), salt)
	f.Add(strings.ToUpper(hash), "main", uint32(1), salt)
	f.Add(hash+"\n", "main", uint32(1), salt)
	f.Add(hash, "a:1", uint32(1), salt)
	f.Add(hash, "", uint32(0), "")
	f.Add(hash, "main\n", uint32(10_000_000), salt+" ")
	hex64, name := regexp.MustCompile(`\A[0-9a-f]{64}\z`), regexp.MustCompile(`\A[a-z0-9-]{1,32}\z`)
	f.Fuzz(func(t *testing.T, hash, table string, number uint32, salt string) {
		link, err := rng.ParseLink(hash)
		if (err == nil) != hex64.MatchString(hash) {
			t.Fatalf("link %q: %v", hash, err)
		}
		if _, err := rng.ParseTerminal(hash); (err == nil) != hex64.MatchString(hash) {
			t.Errorf("terminal %q: %v", hash, err)
		}
		if _, err := rng.ParseTable(table); (err == nil) != name.MatchString(table) {
			t.Errorf("table %q: %v", table, err)
		}
		if _, err := rng.ParseSalt(salt); (err == nil) != hex64.MatchString(salt) {
			t.Errorf("salt %q: %v", salt, err)
		}
		digest, err := link.CrashDigest(rng.Table(table), number, rng.Salt(salt))
		usable := hex64.MatchString(hash) && hex64.MatchString(salt) && name.MatchString(table) && number > 0
		if (err == nil) != usable {
			t.Fatalf("%q %q %d %q: %v", hash, table, number, salt, err)
		}
		if !usable {
			return
		}
		key, err := hex.DecodeString(hash)
		if err != nil {
			t.Fatal(err)
		}
		mac := hmac.New(sha256.New, key)
		fmt.Fprintf(mac, "%s:%d:%s", table, number, salt)
		want := hex.EncodeToString(mac.Sum(nil))
		word, err := digest.Top52()
		if err != nil || digest.Reveal() != want || fmt.Sprintf("%013x", word) != want[:13] {
			t.Errorf("%s %x %v, want %s", digest.Reveal(), word, err, want)
		}
	})
}
