package rng_test

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/openoriginals/originals/internal/rng"
)

func TestEveryCheckpointLeadsToTheTerminal(t *testing.T) {
	end, err := rng.LinkFromBytes(make([]byte, 32))
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ length, every, checkpoints uint32 }{{1, 1, 1}, {1, 9, 1}, {9, 9, 1}, {10, 9, 2}, {18, 9, 2}, {19, 9, 3}, {5, 1, 5}} {
		want := [32]byte{}
		for range c.length {
			want = sha256.Sum256(want[:])
		}
		var walked uint32
		terminal, links, err := end.Checkpoints(c.length, c.every, func(n uint32) { walked = n })
		if err != nil || terminal != want || uint32(len(links)) != c.checkpoints || walked != c.length {
			t.Fatalf("%+v: %s, %d links, %d walked, %v", c, terminal, len(links), walked, err)
		}
		for i, l := range links {
			number := min(uint32(i+1)*c.every, c.length)
			back, err := end.Back(c.length - number)
			if got, _ := l.Terminal(number); err != nil || got != terminal || back.Reveal() != l.Reveal() {
				t.Errorf("%+v: checkpoint %d is not h[%d]", c, i, number)
			}
		}
	}
}

func TestASegmentIsTheLinksUpToItsLast(t *testing.T) {
	last, err := rng.LinkFromBytes(bytes.Repeat([]byte{7}, 32))
	if err != nil {
		t.Fatal(err)
	}
	raw := [32]byte(bytes.Repeat([]byte{7}, 32)) // h[5] of a chain of its own
	want := [][32]byte{4: raw}
	for i := 3; i >= 0; i-- {
		want[i] = sha256.Sum256(want[i+1][:])
	}
	links, err := last.Segment(5)
	if err != nil || len(links) != 5 {
		t.Fatalf("%d links, %v", len(links), err)
	}
	for i, l := range links {
		if got, err := l.RevealBytes(); err != nil || got != want[i] {
			t.Errorf("link %d is %x, want %x", i+1, got, want[i])
		}
	}
	terminal := rng.Terminal(sha256.Sum256(want[0][:]))
	if !links[0].Follows(terminal) || links[1].Follows(terminal) || (rng.Link{}).Follows(terminal) {
		t.Error("the first link alone follows the terminal")
	}
	if !links[4].Equal(last) || links[3].Equal(last) || (rng.Link{}).Equal(rng.Link{}) {
		t.Error("a link equals itself alone, and one that was never set equals none")
	}
	if _, err := (rng.Link{}).Segment(1); !errors.Is(err, rng.ErrLinkUnset) {
		t.Errorf("a segment of nothing: %v", err)
	}
}

func TestALinkCannotBePrinted(t *testing.T) {
	text := strings.Repeat("ab", 32)
	link, err := rng.ParseLink(text)
	if err != nil {
		t.Fatal(err)
	}
	digest, err := link.CrashDigest("main", 1, rng.Salt(text))
	if err != nil {
		t.Fatal(err)
	}
	out := fmt.Sprintf("%v %+v %#v %x %v %v", link, link, link, link, struct{ l rng.Link }{link}, []rng.CrashDigest{digest})
	if strings.Contains(out, "abab") || strings.Contains(out, digest.Reveal()[:8]) {
		t.Errorf("prints %s", out)
	}
}

func TestNoRoundIsDrawnFromAnIncompleteChain(t *testing.T) {
	link, err := rng.NewLink()
	if err != nil {
		t.Fatal(err)
	}
	salt := rng.Salt(strings.Repeat("0", 64))
	for name, c := range map[string]struct {
		link   rng.Link
		table  rng.Table
		number uint32
		salt   rng.Salt
		want   error
	}{
		"no link": {rng.Link{}, "main", 1, salt, rng.ErrLinkUnset}, "no table": {link, "", 1, salt, rng.ErrTable},
		"table with a colon": {link, "a:1", 1, salt, rng.ErrTable}, "upper case": {link, "Main", 1, salt, rng.ErrTable},
		"long table": {link, rng.Table(strings.Repeat("a", 33)), 1, salt, rng.ErrTable}, "round 0": {link, "main", 0, salt, rng.ErrRoundNumber},
		"no salt": {link, "main", 1, "", rng.ErrSalt}, "salt with a newline": {link, "main", 1, salt + "\n", rng.ErrSalt},
	} {
		if _, err := c.link.CrashDigest(c.table, c.number, c.salt); !errors.Is(err, c.want) {
			t.Errorf("%s: %v, want %v", name, err, c.want)
		}
	}
}
