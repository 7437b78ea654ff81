package seal

import (
	"errors"
	"testing"

	"github.com/openoriginals/originals/internal/rng"
)

func TestTheEndOfAChainIsBoundToItsTable(t *testing.T) {
	keys, err := NewKeys()
	if err != nil {
		t.Fatal(err)
	}
	end, err := rng.NewLink()
	if err != nil {
		t.Fatal(err)
	}
	terminal, err := end.Terminal(7)
	if err != nil {
		t.Fatal(err)
	}
	sealed, err := keys.SealLink("main", terminal, end)
	if err != nil || len(sealed) != Size {
		t.Fatalf("%d bytes, %v", len(sealed), err)
	}
	opened, err := keys.OpenLink("main", terminal, sealed)
	if err != nil || opened.Reveal() != end.Reveal() {
		t.Fatalf("opened as another link: %v", err)
	}
	other := terminal
	other[0] ^= 1
	strangers, err := NewKeys()
	if err != nil {
		t.Fatal(err)
	}
	for name, open := range map[string]func() (rng.Link, error){
		"another table":    func() (rng.Link, error) { return keys.OpenLink("main-2", terminal, sealed) },
		"another terminal": func() (rng.Link, error) { return keys.OpenLink("main", other, sealed) },
		"another key":      func() (rng.Link, error) { return strangers.OpenLink("main", terminal, sealed) },
		"cut off":          func() (rng.Link, error) { return keys.OpenLink("main", terminal, sealed[:60]) },
	} {
		if _, err := open(); !errors.Is(err, ErrOpen) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
