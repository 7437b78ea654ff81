package seal

import (
	"bytes"
	"errors"
	"testing"

	"github.com/openoriginals/originals/internal/rng"
)

func TestTheLinksOfAChainAreBoundToItsTable(t *testing.T) {
	keys, err := NewKeys()
	if err != nil {
		t.Fatal(err)
	}
	end, err := rng.NewLink()
	if err != nil {
		t.Fatal(err)
	}
	terminal, links, err := end.Checkpoints(10, 4, nil)
	if err != nil || len(links) != 3 {
		t.Fatalf("%d links, %v", len(links), err)
	}
	sealed, err := keys.SealLinks("main", terminal, links)
	if err != nil || len(sealed) != LinksSize(3) {
		t.Fatalf("%d bytes, %v", len(sealed), err)
	}
	for _, l := range links {
		raw, err := l.RevealBytes()
		if err != nil || bytes.Contains(sealed, raw[:]) || bytes.Contains(sealed, []byte(l.Reveal())) {
			t.Errorf("a link stands in what was sealed, %v", err)
		}
	}
	opened, err := keys.OpenLinks("main", terminal, sealed)
	if err != nil || len(opened) != 3 {
		t.Fatalf("%d links, %v", len(opened), err)
	}
	for i, l := range opened {
		if !l.Equal(links[i]) {
			t.Errorf("link %d opened as another", i)
		}
	}
	other := terminal
	other[0] ^= 1
	altered := bytes.Clone(sealed)
	altered[50] ^= 1
	strangers, err := NewKeys()
	if err != nil {
		t.Fatal(err)
	}
	for name, open := range map[string]func() ([]rng.Link, error){
		"another table":    func() ([]rng.Link, error) { return keys.OpenLinks("main-2", terminal, sealed) },
		"another terminal": func() ([]rng.Link, error) { return keys.OpenLinks("main", other, sealed) },
		"another key":      func() ([]rng.Link, error) { return strangers.OpenLinks("main", terminal, sealed) },
		"altered":          func() ([]rng.Link, error) { return keys.OpenLinks("main", terminal, altered) },
		"cut off":          func() ([]rng.Link, error) { return keys.OpenLinks("main", terminal, sealed[:len(sealed)-1]) },
		"a link cut off":   func() ([]rng.Link, error) { return keys.OpenLinks("main", terminal, sealed[:len(sealed)-32]) },
		"nothing":          func() ([]rng.Link, error) { return keys.OpenLinks("main", terminal, nil) },
	} {
		if _, err := open(); !errors.Is(err, ErrLinks) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := keys.SealLinks("main", terminal, []rng.Link{{}}); !errors.Is(err, rng.ErrLinkUnset) {
		t.Errorf("a link that was never set was sealed: %v", err)
	}
}
