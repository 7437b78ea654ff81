package seal

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/openoriginals/originals/internal/rng"
)

const (
	keyA = "00112233445566778899aabbccddeeff00112233445566778899aabbccddeeff"
	keyB = "ffeeddccbbaa99887766554433221100ffeeddccbbaa99887766554433221100"
	pair = "17-abcdefghij234567"
)

func keys(t *testing.T, text string) *Keys {
	t.Helper()
	k, err := read(strings.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	return k
}

func serverSeed(t *testing.T) rng.ServerSeed {
	t.Helper()
	s, err := rng.NewServerSeed()
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestOpenGivesBackWhatWasSealed(t *testing.T) {
	s := serverSeed(t)
	sealed, err := keys(t, keyA+"\n").Seal(pair, s)
	if err != nil {
		t.Fatal(err)
	}
	if len(sealed) != 61 {
		t.Fatalf("sealed in %d bytes, want 61", len(sealed))
	}
	raw, err := s.RevealBytes()
	if err != nil {
		t.Fatal(err)
	}
	if bytes.Contains(sealed, raw[:8]) {
		t.Fatal("the sealed form holds the server seed in clear")
	}
	// The old key still opens after a new one was put before it.
	opened, err := keys(t, "# new\n"+keyB+"\n\n# old\n"+keyA).Open(pair, sealed)
	if err != nil {
		t.Fatal(err)
	}
	if opened.Reveal() != s.Reveal() {
		t.Fatal("opened another server seed")
	}
}

func TestOpenRefuses(t *testing.T) {
	k := keys(t, keyA)
	sealed, err := k.Seal(pair, serverSeed(t))
	if err != nil {
		t.Fatal(err)
	}
	for i := range sealed {
		altered := bytes.Clone(sealed)
		altered[i] ^= 1
		if _, err := k.Open(pair, altered); !errors.Is(err, ErrOpen) {
			t.Errorf("byte %d altered: %v", i, err)
		}
	}
	for name, open := range map[string]func() (rng.ServerSeed, error){
		"another pair": func() (rng.ServerSeed, error) { return k.Open("18-abcdefghij234567", sealed) },
		"another key":  func() (rng.ServerSeed, error) { return keys(t, keyB).Open(pair, sealed) },
		"missing":      func() (rng.ServerSeed, error) { return k.Open(pair, nil) },
		"short":        func() (rng.ServerSeed, error) { return k.Open(pair, sealed[:60]) },
	} {
		if _, err := open(); !errors.Is(err, ErrOpen) {
			t.Errorf("%s: %v, want ErrOpen", name, err)
		}
	}
}

// An operator who gave the wrong key file must not take it for damage.
func TestOpenTellsALackingKeyFromDamage(t *testing.T) {
	sealed, err := keys(t, keyA).Seal(pair, serverSeed(t))
	if err != nil {
		t.Fatal(err)
	}
	const words = "not in the key file"
	if _, err := keys(t, keyB).Open(pair, sealed); err == nil || !strings.Contains(err.Error(), words) {
		t.Errorf("another key: %v", err)
	}
	sealed[Size-1] ^= 1
	if _, err := keys(t, keyA).Open(pair, sealed); err == nil || strings.Contains(err.Error(), words) {
		t.Errorf("damaged: %v", err)
	}
}

func TestTheSameServerSeedNeverSealsTwiceAlike(t *testing.T) {
	k, s := keys(t, keyA), serverSeed(t)
	first, err := k.Seal(pair, s)
	if err != nil {
		t.Fatal(err)
	}
	second, err := k.Seal(pair, s)
	if err != nil {
		t.Fatal(err)
	}
	if bytes.Equal(first, second) {
		t.Fatal("a nonce was used twice")
	}
}

func TestKeyFileIsStrict(t *testing.T) {
	for name, text := range map[string]string{
		"empty":         "",
		"comments only": "# nothing\n",
		"upper case":    strings.ToUpper(keyB),
		"short":         keyA[:62],
		"long":          keyA + "00",
		"spaces":        " " + keyA,
		"twice":         keyA + "\n" + keyA,
	} {
		if _, err := read(strings.NewReader(text)); err == nil {
			t.Errorf("%s: accepted", name)
		} else if strings.Contains(err.Error(), keyA[:16]) {
			t.Errorf("%s: the error shows the key", name)
		}
	}
}

func TestKeysCannotBePrinted(t *testing.T) {
	k := keys(t, keyA)
	for _, verb := range []string{"%v", "%+v", "%#v", "%s"} {
		if out := fmt.Sprintf(verb, k); out != "seal.Keys[redacted]" {
			t.Errorf("%s prints %q", verb, out)
		}
	}
}
