package verify

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/openoriginals/originals/internal/game/crash"
	"github.com/openoriginals/originals/internal/rng"
)

// crashRound is what the verifier reads of a round.
type crashRound struct {
	Table    string            `json:"table"`
	Number   uint32            `json:"number"`
	State    string            `json:"state"`
	Terminal string            `json:"terminal"`
	Hash     string            `json:"hash"`
	CrashE2  uint32            `json:"crashE2"`
	Salt     map[string]string `json:"salt"`
	Bet      any               `json:"bet,omitempty"`
}

// crashRounds are the rounds first..last of a chain, as the table plays them.
func crashRounds(t *testing.T, first, last uint32) (rounds []crashRound, terminal string) {
	t.Helper()
	const length, table = 500, "main"
	salt := rng.Salt(strings.Repeat("5a", 32))
	end, err := rng.ParseLink(strings.Repeat("0123456789abcdef", 4))
	if err != nil {
		t.Fatal(err)
	}
	top, err := end.Terminal(length)
	if err != nil {
		t.Fatal(err)
	}
	for n := first; n <= last; n++ {
		link, err := end.Back(length - n)
		if err != nil {
			t.Fatal(err)
		}
		digest, err := link.CrashDigest(table, n, salt)
		if err != nil {
			t.Fatal(err)
		}
		point, err := crash.Point(digest)
		if err != nil {
			t.Fatal(err)
		}
		rounds = append(rounds, crashRound{
			table, n, "SETTLED", top.String(), link.Reveal(), point, map[string]string{"kind": "SELF_CHOSEN", "value": string(salt), "named": "0"}, nil,
		})
	}
	return rounds, top.String()
}

// verifyCrash runs the Python verifier.
func verifyCrash(t *testing.T, rounds []crashRound, args ...string) (string, error) {
	t.Helper()
	text, err := json.Marshal(map[string]any{"rounds": rounds, "nextPageToken": ""})
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "rounds.json")
	if err := os.WriteFile(file, text, 0o600); err != nil {
		t.Fatal(err)
	}
	out, err := exec.Command("python3", append([]string{"python/crash.py", file}, args...)...).CombinedOutput()
	return string(out), err
}

// The Python verifier, written from the page, agrees with what the tables play.
func TestCrashRoundsVerifyInPython(t *testing.T) {
	rounds, terminal := crashRounds(t, 3, 402)
	bet := func(target, cashOut, payout int) any {
		return map[string]any{
			"state": "SETTLED", "stake": map[string]string{"amount": "250"}, "payout": map[string]string{"amount": fmt.Sprint(payout)},
			"crash": map[string]int{"autoCashOutE2": target, "cashOutE2": cashOut},
		}
	}
	least := 0
	for i, r := range rounds {
		if r.CrashE2 >= 200 {
			least = i
			break
		}
	}
	rounds[least].Bet = bet(199, 0, 497)
	rounds[least+1].Bet = bet(1_000_000, 0, 0)
	out, err := verifyCrash(t, rounds, "--terminal", terminal)
	if err != nil || !strings.Contains(out, "rounds 3 to 402") || !strings.Contains(out, "could have chosen") || !strings.HasSuffix(out, "VERIFIED\n") {
		t.Errorf("%v: %s", err, out)
	}
	if out, err := verifyCrash(t, rounds); err != nil || !strings.Contains(out, "TERMINAL NOT CONFIRMED") {
		t.Errorf("%v: %s", err, out)
	}
	for name, change := range map[string]func(r []crashRound) []crashRound{
		"crash point":       func(r []crashRound) []crashRound { r[7].CrashE2++; return r },
		"are missing":       func(r []crashRound) []crashRound { return append(r[:7], r[8:]...) },
		"the round before":  func(r []crashRound) []crashRound { r[7].Hash = r[8].Hash; return r },
		"the terminal":      func(r []crashRound) []crashRound { r[0].Hash = r[1].Hash; return r },
		"pays":              func(r []crashRound) []crashRound { r[least].Bet = bet(199, 0, 498); return r },
		"no round that has": func([]crashRound) []crashRound { return []crashRound{} },
	} {
		changed := change(append([]crashRound(nil), rounds...))
		if out, err := verifyCrash(t, changed, "--terminal", terminal); err == nil || !strings.Contains(out, name) {
			t.Errorf("%s: %v: %s", name, err, out)
		}
	}
	if out, err := verifyCrash(t, rounds, "--terminal", strings.Repeat("0", 64)); err == nil || !strings.Contains(out, "FAILED") {
		t.Errorf("another terminal: %v: %s", err, out)
	}
}
