package config

import (
	"strings"
	"testing"
)

func TestChainsOfCrashTables(t *testing.T) {
	c, err := Parse([]byte(`
crash:
  drandUrls: [https://api.drand.sh, "http://127.0.0.1:8000"]
  tables:
    - {name: main, chainLength: 10_000_000, nextChainAt: 1, salt: drand}
    - {name: room-1, beacon: test}
    - {name: room-2, salt: byHand}
    - {name: plain}
`))
	if err != nil {
		t.Fatal(err)
	}
	want := []CrashTable{
		{Name: "main", ChainLength: 10_000_000, NextChainAt: 1, Salt: CrashSaltDrand}, {Name: "room-1", Beacon: CrashBeaconTest},
		{Name: "room-2", Salt: CrashSaltByHand}, {Name: "plain"},
	}
	if len(c.Crash.Tables) != len(want) || len(c.Crash.DrandURLs) != 2 {
		t.Fatalf("%+v", c.Crash)
	}
	for i, table := range c.Crash.Tables {
		if table != want[i] {
			t.Errorf("table %d is %+v, want %+v", i, table, want[i])
		}
	}
	if c, err = Parse([]byte("crash: {drandUrls: [https://api.drand.sh]}")); err != nil || len(c.Crash.Tables) != 1 || len(c.Crash.DrandURLs) != 1 {
		t.Errorf("without tables: %+v, %v", c.Crash, err)
	}
}

func TestChainsThatCannotBeMeant(t *testing.T) {
	for tables, problem := range map[string]string{
		"{name: main, salt: dice}":                    "crash.tables[0].salt must be selfChosen",
		"{name: main, salt: selfchosen}":              "crash.tables[0].salt must be selfChosen",
		"{name: main, beacon: quicknet}":              "crash.tables[0].beacon must be drand or test",
		"{name: main, beacon: drand, salt: drand}":    "crash.tables[0].salt has no meaning beside a beacon",
		"{name: main, chainLength: 10_000_001}":       "crash.tables[0].chainLength must be 1 to 10000000",
		"{name: main, nextChainAt: 1.5}":              "crash.tables[0].nextChainAt must be a whole number",
		"{name: main, chainLength: 010}":              "crash.tables[0].chainLength must be a whole number",
		"{name: main, tickMs: 99.5}":                  "crash.tables[0].tickMs must be a whole number",
		"{name: main}, {name: main-2}":                "crash.tables[1].name is kept for chain 2 of table main",
		"{name: main-13}, {name: main}":               "crash.tables[0].name is kept for chain 13 of table main",
		"{name: main}, {name: main-02}, {name: main}": "is the name of another table",
		"{name: main, beacn: drand}":                  "beacn",
	} {
		_, err := Parse([]byte("crash: {tables: [" + tables + "]}"))
		if err == nil || !strings.Contains(err.Error(), problem) {
			t.Errorf("%s: %v, want %s", tables, err, problem)
		}
	}
	for _, fine := range []string{"{name: main}, {name: main-1}", "{name: room-1}, {name: room-2}", "{name: main}, {name: main-02}", "{name: main}, {name: main-x2}"} {
		if _, err := Parse([]byte("crash: {tables: [" + fine + "]}")); err != nil {
			t.Errorf("%s: %v", fine, err)
		}
	}
	for _, address := range []string{"http://api.drand.sh", "api.drand.sh", "ftp://127.0.0.1"} {
		if _, err := Parse([]byte("crash: {drandUrls: [" + address + "]}")); err == nil || !strings.Contains(err.Error(), "crash.drandUrls[0] must be an https address") {
			t.Errorf("%s: %v", address, err)
		}
	}
}
