package main

import (
	"encoding/csv"
	"encoding/json"
	"math/big"
	"strings"
	"testing"
)

// TestRTPEnds: the ends are written down, and not computed by the code under
// test.
func TestRTPEnds(t *testing.T) {
	status, out, errs := runOffline(t, "", "rtp")
	if status != 0 || errs != "" {
		t.Fatal(status, out, errs)
	}
	lines := strings.Split(strings.TrimSpace(out), "\n")
	if len(lines) != 1+2*5 {
		t.Fatalf("%d lines, want a header and two for each of five games:\n%s", len(lines), out)
	}
	for i, want := range []string{
		"dice lowest w=9724 0.98990320", "dice highest 99/100",
		"limbo lowest 0.989999999999999458", "limbo highest 99/100",
		"roulette 36/37", "roulette 36/37",
		"mines lowest 0.98992000", "mines highest 99/100",
		"crash lowest 0.990000", "crash highest 0.99989999",
	} {
		for word := range strings.FieldsSeq(want) {
			if !strings.Contains(lines[1+i], word) {
				t.Errorf("%q lacks %q", lines[1+i], word)
			}
		}
	}
}

// TestRTPAtAStake: at 100 units OVER with 4951 winning rolls pays 199 of 100
// at 1.9995, so it returns 0.4951 * 1.99 = 985249/1000000.
func TestRTPAtAStake(t *testing.T) {
	_, out, _ := runOffline(t, "", "rtp", "--game", "dice", "--stake", "100", "--all", "--csv")
	rows, err := csv.NewReader(strings.NewReader(out)).ReadAll()
	if err != nil || len(rows) != 1+9800 {
		t.Fatal(len(rows), err)
	}
	found := false
	for _, row := range rows[1:] {
		exact, ok := new(big.Rat).SetString(row[6])
		if !ok || exact.Cmp(big.NewRat(99, 100)) > 0 {
			t.Fatalf("%v returns more than 0.99", row)
		}
		if row[2] == "w=4951" {
			found = true
			if row[6] != "985249/1000000" || row[5] != "0.98524900000000000000" || row[3] != "19995" || row[7] != "true" {
				t.Errorf("%v", row)
			}
		}
		// 99000000/9800 = 10102: at 100 units a win pays 101, at 98 of 100 rolls
		if row[2] == "w=9800" && (row[6] != "4949/5000" || row[7] != "true") {
			t.Errorf("%v", row)
		}
	}
	if !found {
		t.Error("no row for 4951 winning rolls")
	}
}

func TestRTPAsJSON(t *testing.T) {
	status, out, _ := runOffline(t, "", "rtp", "--game", "mines", "--all", "--json")
	lines := strings.Split(strings.TrimSpace(out), "\n")
	if status != 0 || len(lines) != 300 { // 24 + 23 + ... + 1 pairs of mines and picks
		t.Fatalf("status %d, %d lines", status, len(lines))
	}
	for _, line := range lines {
		var row struct {
			Game, Config, MultiplierE4, Chance, RTP, RTPExact string
			Accepted                                          bool
		}
		if err := json.Unmarshal([]byte(line), &row); err != nil {
			t.Fatal(err, line)
		}
		if row.Config == "m=24 k=1" && (row.MultiplierE4 != "247500" || row.Chance != "1/25" || row.RTPExact != "99/100") {
			t.Errorf("%+v", row)
		}
	}
}

// TestRTPOfRefusedBets: a stake at which no win pays more than the stake has
// no return.
func TestRTPOfRefusedBets(t *testing.T) {
	_, out, _ := runOffline(t, "", "rtp", "--game", "dice", "--stake", "1", "--all")
	if !strings.Contains(out, "refused  w=9800") || strings.Contains(out, "refused  w=4950 ") {
		t.Error("at a stake of 1 a bet is refused exactly when its multiplier is below 2")
	}
}

func TestRTPBadUsage(t *testing.T) {
	for _, args := range []string{"--game poker", "--stake 0", "--stake 1.5", "--stake 9007199254740992", "--json --csv", "--simulate", "dice"} {
		status, out, errs := runOffline(t, "", append([]string{"rtp"}, strings.Fields(args)...)...)
		if status != 2 || errs == "" {
			t.Errorf("%s: status %d\n%s%s", args, status, out, errs)
		}
	}
}
