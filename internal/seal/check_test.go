package seal

import (
	"bytes"
	"errors"
	"strings"
	"testing"
)

func keysOf(t *testing.T, lines ...string) *Keys {
	t.Helper()
	k, err := read(strings.NewReader(strings.Join(lines, "\n")))
	if err != nil {
		t.Fatal(err)
	}
	return k
}

func TestAKeyFileKnowsWhatItsKeysSealed(t *testing.T) {
	a, b := strings.Repeat("5c", 32), strings.Repeat("a7", 32)
	old, both, other := keysOf(t, a), keysOf(t, b, a), keysOf(t, b)
	id, sealed := old.Check()
	if err := errors.Join(old.Knows(sealed), both.Knows(sealed)); err != nil {
		t.Error(err)
	}
	if err := other.Knows(sealed); !errors.Is(err, ErrForeign) {
		t.Errorf("another key knows it: %v", err)
	}
	newID, renewed := both.Check() // the first key seals
	if newID == id || other.Knows(renewed) != nil || old.Knows(renewed) == nil {
		t.Errorf("the first of two keys did not seal: id %s after %s", newID, id)
	}
	for i := range sealed {
		altered := bytes.Clone(sealed)
		altered[i] ^= 1
		if old.Knows(altered) == nil {
			t.Errorf("byte %d does not matter", i)
		}
	}
	for _, text := range [][]byte{nil, sealed[:1], sealed[:len(sealed)-1], append(bytes.Clone(sealed), 0)} {
		if old.Knows(text) == nil {
			t.Errorf("%x is known", text)
		}
	}
}

// A sealed server seed and a check cannot take each other's place, nor does a
// check show its key.
func TestACheckIsNoServerSeed(t *testing.T) {
	k := keysOf(t, strings.Repeat("5c", 32))
	_, sealed := k.Check()
	if _, err := k.Open(checkName, sealed); err == nil {
		t.Error("a check was opened as a server seed")
	}
	if len(sealed) == Size || bytes.Contains(sealed, bytes.Repeat([]byte{0x5c}, 4)) {
		t.Errorf("%x", sealed)
	}
}
