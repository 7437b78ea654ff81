package verify

import (
	"encoding/json"
	"fmt"
	"math/big"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

type row struct {
	ID, ServerSeed, ClientSeed, Commitment, Signature, Game, Stake, Payout string
	Nonce                                                                  uint32
	Flags                                                                  []string
	Dice, Limbo, Roulette, Mines                                           map[string]any
	MultiplierE4                                                           string
}

// shown are the parameters and the outcome of the row's game.
func (r row) shown() map[string]any {
	return map[string]map[string]any{"dice": r.Dice, "limbo": r.Limbo, "roulette": r.Roulette, "mines": r.Mines}[r.Game]
}

func readRows(t *testing.T) []row {
	t.Helper()
	var file struct {
		Scheme     string
		Rows       []row
		LimboWords []struct{ V string }
	}
	readJSON(t, &file, "originals-v1.json")
	if file.Scheme != "originals-v1" || len(file.Rows) < 400 || len(file.LimboWords) < 30 {
		t.Fatalf("scheme %q, %d rows, %d limbo words: some are missing", file.Scheme, len(file.Rows), len(file.LimboWords))
	}
	return file.Rows
}

func TestBothGeneratorsMakeTheCommittedVectors(t *testing.T) {
	committed, err := os.ReadFile(filepath.Join(vectorsDir, "originals-v1.json"))
	if err != nil {
		t.Fatal(err)
	}
	forEach(t, func(t *testing.T, v verifier) {
		made, status := runProcess(t, append(v.command, "vectors")...)
		if status != 0 || made != string(committed) {
			t.Fatalf("status %d; internal/vectors/originals-v1.json is not what %v makes: %d bytes, want %d", status, v.command, len(made), len(committed))
		}
	})
}

func TestVectorsHoldEveryRareRow(t *testing.T) {
	seen := map[string]int{}
	chips := map[string]bool{}
	for _, r := range readRows(t) {
		seen[r.Game]++
		for _, flag := range r.Flags {
			seen[flag]++
			seen[r.Game+" "+flag]++
		}
		if r.Game == "mines" && r.Mines["hitMine"] == true {
			seen["mine hit"]++
		}
		if list, _ := r.Roulette["chips"].([]any); len(list) == 1 {
			chip := list[0].(map[string]any)
			chips[fmt.Sprint(chip["kind"], chip["numbers"])] = true
		}
	}
	if len(chips) != 157 {
		t.Errorf("%d of the 157 chips have a row of their own", len(chips))
	}
	wanted := []string{"nonce-0", "nonce-max", "client-seed-1-byte", "client-seed-59-bytes", "client-seed-60-bytes", "client-seed-64-bytes", "client-seed-with-colons", "second-block",
		"dice rejected-word", "roulette rejected-word", "mines rejected-word", "dice extreme-target", "dice-tie-over", "dice-tie-under", "limbo extreme-target", "limbo-clamped-low", "limbo-high", "limbo-tie",
		"zero-pocket", "multi-chip", "last-tile", "mine hit", "dice nonce-max", "limbo nonce-max", "roulette nonce-max", "mines nonce-max"}
	for _, kind := range strings.Fields("straight split street trio corner first-four six-line dozen column red black odd even low high") {
		wanted = append(wanted, "chip-"+kind)
	}
	for _, flag := range wanted {
		if seen[flag] < 3 {
			t.Errorf("%s: %d rows, want 3", flag, seen[flag])
		}
	}
	for _, game := range []string{"dice", "limbo", "roulette", "mines"} {
		if seen[game] < 100 {
			t.Errorf("%s: %d rows, want 100", game, seen[game])
		}
	}
}

// parameters is the JSON of what the player chose in a row.
func (r row) parameters(t *testing.T) string {
	t.Helper()
	names := map[string][]string{"dice": {"target", "direction"}, "limbo": {"targetE2"}, "roulette": {"chips"}, "mines": {"mineCount", "picks"}}[r.Game]
	chosen := map[string]any{}
	for _, name := range names {
		chosen[name] = r.shown()[name]
	}
	text, err := json.Marshal(chosen)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func TestRoundCommandPrintsEveryRow(t *testing.T) {
	rows := readRows(t)
	var questions []question
	for _, r := range rows {
		questions = append(questions, question{"ask": "run", "args": []string{"round", "--server-seed", r.ServerSeed, "--client-seed", r.ClientSeed, "--nonce", strconv.FormatUint(uint64(r.Nonce), 10),
			"--commitment", r.Commitment, "--" + r.Game, r.parameters(t), "--stake", r.Stake}})
	}
	forEach(t, func(t *testing.T, v verifier) {
		for i, got := range asked[answer](t, v, questions) {
			r := rows[i]
			var outcome string
			switch r.Game {
			case "dice":
				outcome = fmt.Sprintf("roll=%v win=%v", r.Dice["roll"], r.Dice["win"])
			case "limbo":
				outcome = fmt.Sprintf("outcomeE2=%v win=%v", r.Limbo["outcomeE2"], r.Limbo["win"])
			case "roulette":
				outcome = fmt.Sprintf("pocket=%v", r.Roulette["pocket"])
			case "mines":
				outcome = fmt.Sprintf("mines=%s hitMine=%v", strings.ReplaceAll(strings.Trim(fmt.Sprint(r.Mines["mines"]), "[]"), " ", ","), r.Mines["hitMine"])
			}
			want := fmt.Sprintf("commitment  %s\nsignature   %s\noutcome     %s\nmultiplier  %s\npayout      %s\n", r.Commitment, r.Signature, outcome, r.MultiplierE4, r.Payout)
			if len(r.ClientSeed) < 16 {
				want += fmt.Sprintf("note        WEAK client seed of %d bytes: under 16 the house might have guessed it before it chose the server seed\n", len(r.ClientSeed))
			}
			want += "verdict     VERIFIED\n"
			if got.Output != want || got.Status != 0 {
				t.Fatalf("%s: status %d\n%s\nwant\n%s", r.ID, got.Status, got.Output, want)
			}
		}
	})
}

// mutate gives copies of a raw row with one value changed each, in ways that no row survives.
func mutate(t *testing.T, raw json.RawMessage) []map[string]any {
	t.Helper()
	decode := func() map[string]any {
		var r map[string]any
		decoder := json.NewDecoder(strings.NewReader(string(raw)))
		decoder.UseNumber()
		if err := decoder.Decode(&r); err != nil {
			t.Fatal(err)
		}
		return r
	}
	var list []map[string]any
	change := func(do func(r, shown map[string]any)) {
		r := decode()
		do(r, r[r["game"].(string)].(map[string]any))
		r["id"] = fmt.Sprintf("%s change %d", r["id"], len(list))
		list = append(list, r)
	}
	up := func(text any) string {
		n, _ := new(big.Int).SetString(fmt.Sprint(text), 10)
		return n.Add(n, big.NewInt(1)).String()
	}
	turn := func(text any) string { // another first hex digit
		digits := []byte(text.(string))
		digits[0] = map[bool]byte{true: '1', false: '0'}[digits[0] == '0']
		return string(digits)
	}
	for _, key := range []string{"serverSeed", "commitment", "signature"} {
		change(func(r, _ map[string]any) { r[key] = turn(r[key]) })
	}
	change(func(r, _ map[string]any) { r["clientSeed"] = r["clientSeed"].(string) + "." })
	change(func(r, _ map[string]any) { r["nonce"] = json.Number(up(r["nonce"])) })
	change(func(r, _ map[string]any) { r["multiplierE4"] = up(r["multiplierE4"]) })
	change(func(r, _ map[string]any) { r["payout"] = up(r["payout"]) })

	first := decode()
	shown := first[first["game"].(string)].(map[string]any)
	for _, key := range []string{"roll", "outcomeE2", "pocket"} {
		if _, ok := shown[key]; ok {
			change(func(_, shown map[string]any) { shown[key] = json.Number(up(shown[key])) })
		}
	}
	for _, key := range []string{"win", "hitMine"} {
		if _, ok := shown[key]; ok {
			change(func(_, shown map[string]any) { shown[key] = !shown[key].(bool) })
		}
	}
	if board, ok := shown["mines"].([]any); ok {
		change(func(_, shown map[string]any) { shown["mines"] = shown["mines"].([]any)[1:] })
		if len(board) > 1 {
			change(func(_, shown map[string]any) {
				mines := shown["mines"].([]any)
				mines[0], mines[1] = mines[1], mines[0]
			})
		}
	}
	if first["payout"] != "0" || first["game"] == "roulette" {
		change(func(r, _ map[string]any) { r["stake"] = up(r["stake"]) })
	}
	if first["payout"] != "0" && first["game"] == "limbo" {
		change(func(_, shown map[string]any) { shown["targetE2"] = json.Number(up(shown["targetE2"])) })
	}
	return list
}

func TestOneChangedValueMakesARowFail(t *testing.T) {
	var file struct {
		Rows []json.RawMessage
	}
	readJSON(t, &file, "originals-v1.json")
	var changed []map[string]any
	for _, raw := range file.Rows {
		changed = append(changed, mutate(t, raw)...)
	}
	if len(changed) < 8*len(file.Rows) {
		t.Fatalf("only %d changes of %d rows", len(changed), len(file.Rows))
	}
	content, err := json.Marshal(map[string]any{"rows": changed, "limboWords": []any{map[string]any{"v": "0", "outcomeE2": 101}}})
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "changed.json")
	if err := os.WriteFile(path, content, 0o600); err != nil {
		t.Fatal(err)
	}
	forEach(t, func(t *testing.T, v verifier) {
		output, status := runProcess(t, append(v.vectors, "check", path)...)
		want := fmt.Sprintf("0 passed, %d failed", len(changed)+1)
		if status != 1 || !strings.Contains(output, want) {
			t.Fatalf("status %d, last lines %q, want %q", status, output[max(0, len(output)-200):], want)
		}
		output, status = runProcess(t, append(v.vectors, "check", filepath.Join(vectorsDir, "originals-v1.json"))...)
		if status != 0 || strings.Contains(output, "differs") {
			t.Fatalf("the committed rows: status %d\n%s", status, output)
		}
	})
}
