package foreign_test

import (
	"testing"

	"github.com/openoriginals/originals/internal/foreign"
)

// reproducedCrash is how many rows of each file of crash games are published results that the arithmetic gives again.
var reproducedCrash = map[string]int{
	"crash_stake.json": 2, "stake_crash.json": 13, "crash_bustabit_v1.json": 0, "crash_bustabit_v2.json": 3,
	"crash_bustabit_v3_salt.json": 6, "crash_bustabit_v3_vx.json": 0, "crash_bcgame.json": 0, "crash_duel.json": 19,
}

func TestEveryReproducedCrashRowIsThere(t *testing.T) {
	found := 0
	for _, f := range files {
		want, ok := reproducedCrash[f.file]
		if !ok {
			continue
		}
		found++
		got := 0
		for _, r := range f.rows(t, f.file, f.scheme) {
			if r.reproduced {
				got++
			}
		}
		if got != want {
			t.Errorf("%s: %d reproduced rows, want %d", f.file, got, want)
		}
	}
	if found != len(reproducedCrash) {
		t.Errorf("%d files of crash games, want %d", found, len(reproducedCrash))
	}
}

// TestPublishedChainsAreWalkedToTheirTerminals: over two million links each, from a round that was played to the hash that
// was announced before the first.
func TestPublishedChainsAreWalkedToTheirTerminals(t *testing.T) {
	var stake struct {
		Terminal string `json:"terminal_hash"`
		Rounds   []struct {
			Hash  string
			Steps uint64 `json:"steps_to_terminal_hash"`
		} `json:"twelve_consecutive"`
	}
	read(t, "crash_stake.json", &stake)
	var v3 crashFile
	read(t, "crash_bustabit_v3_salt.json", &v3)
	const firstGame = 10_000_000 // the terminal hash stands for it
	for _, c := range []struct {
		scheme, hash, terminal string
		links                  uint64
	}{
		{"stake-crash", stake.Rounds[0].Hash, stake.Terminal, stake.Rounds[0].Steps},
		{"bustabit-crash-v3", v3.Rounds[0].Hash, v3.Terminating, v3.Rounds[0].Game - firstGame},
	} {
		hash, err := foreign.ParseGameHash("hash", c.hash)
		if err != nil {
			t.Fatal(err)
		}
		if got := schemeNamed(t, c.scheme).Chain.Walk(hash, c.links).String(); got != c.terminal || c.links < 2_000_000 {
			t.Errorf("%s: %d links lead to %s, want %s", c.scheme, c.links, got, c.terminal)
		}
	}
}

// TestTailsOfBustabit: from v2 on the edge is 1 % at every target: how many of the 2^52 words reach it.
func TestTailsOfBustabit(t *testing.T) {
	var file struct {
		Rows []struct {
			Target uint64 `json:"m100"`
			Count  uint64 `json:"v2_count"`
		}
	}
	readFrom(t, "crash/crash_tails.json", &file)
	if len(file.Rows) != 28 {
		t.Fatalf("%d rows", len(file.Rows))
	}
	const words = 1 << 52
	for _, r := range file.Rows {
		at := func(word uint64) uint64 { return foreign.BustE2(digestOf(uint32(word>>20), uint32(word<<12))) }
		if first := words - r.Count; at(first) < r.Target || first > 0 && at(first-1) >= r.Target {
			t.Errorf("target %d is not reached by %d words", r.Target, r.Count)
		}
	}
}
