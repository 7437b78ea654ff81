package gateway

import (
	"encoding/hex"
	"encoding/json"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/openoriginals/originals/internal/beacon"
)

// crashRow is a round of the shared vectors, which JavaScript and Python made.
type crashRow struct {
	ID, Table, Hash, Salt, Terminal, Digest string
	Number, CrashE2                         uint32
	BeaconRound, BeaconSignature            string
}

func crashRows(t *testing.T) []crashRow {
	t.Helper()
	text, err := os.ReadFile("../../internal/vectors/crash-v1.json")
	if err != nil {
		t.Fatal(err)
	}
	var file struct{ Rows []crashRow }
	if err := json.Unmarshal(text, &file); err != nil {
		t.Fatal(err)
	}
	if len(file.Rows) != 142 {
		t.Fatalf("%d rows", len(file.Rows))
	}
	return file.Rows
}

// request asks for the row with more parameters in its object.
func (r crashRow) request(pairs ...any) map[string]any {
	object := map[string]any{"table": r.Table, "number": r.Number, "salt": r.Salt}
	request := map[string]any{"scheme": "crash-v1", "serverSeed": r.Hash, "crash": with(object, pairs...)}
	if r.Terminal != "" {
		request["commitment"] = r.Terminal
	}
	return request
}

func TestVerifyCrashRounds(t *testing.T) {
	url := serveFakes(t, &fakes{}, nil)
	verified := 0
	for _, row := range crashRows(t) {
		if row.Number > 1_000_000 {
			continue
		}
		request := row.request("targetE2", row.CrashE2)
		if row.CrashE2 < 101 {
			request = row.request("targetE2", 101)
		}
		wins := row.CrashE2 >= 101
		request["stakeUnits"] = "300"
		request["claimed"] = claimed("crashE2", strconv.Itoa(int(row.CrashE2)), "win", strconv.FormatBool(wins))
		r := send(t, "POST", url+"/v1/verify", encode(t, request))
		var got struct {
			Verdict, Commitment, Signature, MultiplierE4, PayoutUnits string
			Crash                                                     struct {
				Table                                     string
				Number, AutoCashOutE2, CashOutE2, CrashE2 uint32
			}
		}
		if err := json.Unmarshal([]byte(r.body), &got); err != nil || r.status != 200 {
			t.Fatalf("%s: %d %s", row.ID, r.status, r.body)
		}
		cashed, payout := uint32(0), uint64(0)
		if wins {
			cashed, payout = row.CrashE2, 3*uint64(row.CrashE2)
		}
		if got.Crash.CrashE2 != row.CrashE2 || got.Signature != row.Digest || got.Crash.Table != row.Table || got.Crash.Number != row.Number || got.Crash.CashOutE2 != cashed ||
			got.MultiplierE4 != strconv.Itoa(int(cashed)*100) || got.PayoutUnits != strconv.FormatUint(payout, 10) {
			t.Errorf("%s: %s", row.ID, r.body)
		}
		if row.Terminal == "" {
			if got.Verdict != "CONSISTENT" {
				t.Errorf("%s: %s", row.ID, r.body)
			}
			continue
		}
		if got.Verdict != "VERIFIED" || got.Commitment != row.Terminal {
			t.Errorf("%s: %s", row.ID, r.body)
		}
		verified++
	}
	if verified < 110 {
		t.Errorf("%d verified", verified)
	}
}

// chainRows are two rounds of one chain of the vectors, the earlier first.
func chainRows(t *testing.T) (earlier, later crashRow) {
	t.Helper()
	for _, row := range crashRows(t) {
		switch row.ID {
		case "chain-7":
			earlier = row
		case "chain-20":
			later = row
		}
	}
	if earlier.Hash == "" || later.Hash == "" {
		t.Fatal("no chain")
	}
	return earlier, later
}

func TestVerifyCrashNamesMistakes(t *testing.T) {
	url := serveFakes(t, &fakes{}, nil)
	earlier, row := chainRows(t)
	point := strconv.Itoa(int(row.CrashE2))
	for name, c := range map[string]struct {
		request map[string]any
		want    string // mistakes
	}{
		"as it is":          {row.request(), ""},
		"an anchor":         {with(row.request("anchorNumber", 7), "commitment", earlier.Hash), ""},
		"a wrong anchor":    {with(row.request("anchorNumber", 8), "commitment", earlier.Hash), "commitment:NONCE_OFF_BY_ONE"},
		"number one less":   {row.request("number", 19), "commitment:NONCE_OFF_BY_ONE"},
		"another chain":     {with(row.request(), "commitment", strings.Repeat("ab", 32)), "commitment:SEED_OF_ANOTHER_PAIR"},
		"terminal as hash":  {with(row.request(), "serverSeed", row.Terminal), "commitment:HASH_FOR_SERVER_SEED"},
		"the two swapped":   {with(row.request(), "serverSeed", row.Terminal, "commitment", row.Hash), "commitment:COMMITMENT_AND_SERVER_SEED_SWAPPED"},
		"another point":     {with(row.request(), "claimed", claimed("crashE2", "1000000")), "outcome:"},
		"bustabit's point":  {with(row.request(), "claimed", claimed("crashE2", "145")), "outcome:WRONG_HOUSE"}, // by Python
		"a win that is not": {with(row.request("targetE2", 1_000_000), "claimed", claimed("crashE2", point, "win", "true")), "win:"},
	} {
		got := verdictOn(t, url, c.request)
		want := "FAILED"
		if c.want == "" {
			want = "VERIFIED"
		}
		if got.mistakes() != c.want || got.Verdict != want {
			t.Errorf("%s: %s %+v, want %s", name, got.Verdict, got.Checks, c.want)
		}
		if len(got.Notes) == 0 {
			t.Errorf("%s: nothing is said of the salt", name)
		}
	}
}

func TestVerifyCrashChecksTheBeacon(t *testing.T) {
	url := serveFakes(t, &fakes{}, nil)
	count := 0
	for _, row := range crashRows(t) {
		if row.BeaconSignature == "" {
			continue
		}
		count++
		request := row.request("beaconRound", row.BeaconRound, "beaconSignature", row.BeaconSignature)
		delete(request["crash"].(map[string]any), "salt")
		if got := verdictOn(t, url, request); got.Verdict != "VERIFIED" {
			t.Errorf("%s: %+v", row.ID, got)
		}
		if got := verdictOn(t, url, row.request("beaconRound", "27798177", "beaconSignature", row.BeaconSignature)); got.mistakes() != "commitment:" {
			t.Errorf("%s: the signature of another round: %+v", row.ID, got)
		}
	}
	if count != 3 {
		t.Errorf("%d rows", count)
	}
}

// TestTestBeaconProtectsNobody: its signatures are checked, and it is called what it is.
func TestTestBeaconProtectsNobody(t *testing.T) {
	url := serveFakes(t, &fakes{}, nil)
	entry, err := beacon.Test(time.Now).Fetch(t.Context(), 1000)
	if err != nil {
		t.Fatal(err)
	}
	_, row := chainRows(t)
	pairs := []any{"beaconRound", "1000", "beaconSignature", hex.EncodeToString(entry.Signature), "beaconNetwork", beacon.TestHash, "salt", string(entry.Randomness)}
	got := verdictOn(t, url, row.request(pairs...))
	if got.Verdict != "VERIFIED" || !strings.Contains(strings.Join(got.Notes, "\n"), "is not drand's quicknet: whoever runs it could know") {
		t.Errorf("%+v", got)
	}
	pairs[1] = "1001"
	if got := verdictOn(t, url, row.request(pairs...)); got.mistakes() != "commitment:" {
		t.Errorf("the signature of another round: %+v", got)
	}
	pairs[5] = strings.Repeat("ab", 32)
	if got := verdictOn(t, url, row.request(pairs...)); got.Verdict != "VERIFIED" || !strings.Contains(strings.Join(got.Notes, "\n"), "was not checked") {
		t.Errorf("a network that nobody knows: %+v", got)
	}
}

func TestVerifyCrashRefuses(t *testing.T) {
	url := serveFakes(t, &fakes{}, nil)
	_, row := chainRows(t)
	signature := strings.Repeat("ab", 48)
	for name, c := range map[string]struct {
		request map[string]any
		field   string
	}{
		"another scheme":        {with(row.request(), "scheme", "originals-v1"), "scheme"},
		"a client seed":         {with(row.request(), "clientSeed", "x"), "clientSeed"},
		"a nonce":               {with(row.request(), "nonce", 0), "nonce"},
		"number 0":              {row.request("number", 0), "number"},
		"a table in upper case": {row.request("table", "Main"), "table"},
		"a short hash":          {with(row.request(), "serverSeed", "ab"), "serverSeed"},
		"a short terminal":      {with(row.request(), "commitment", "ab"), "commitment"},
		"a short salt":          {row.request("salt", "ab"), "salt"},
		"a target of 1.00":      {row.request("targetE2", 100), "targetE2"},
		"a target too large":    {row.request("targetE2", 1_000_001), "targetE2"},
		"stake without target":  {with(row.request(), "stakeUnits", "1"), "stakeUnits"},
		"no stake":              {with(row.request("targetE2", 200), "stakeUnits", "0"), "stakeUnits"},
		"a payout too large":    {with(row.request("targetE2", 101), "stakeUnits", "9007199254740991"), "stakeUnits"},
		"a late anchor":         {row.request("anchorNumber", 20), "anchorNumber"},
		"a far terminal":        {row.request("number", 1_000_001), "anchorNumber"},
		"a signature alone":     {row.request("beaconSignature", signature), "beaconRound"},
		"a beacon round alone":  {row.request("beaconRound", "1"), "beaconRound"},
		"a short signature":     {row.request("beaconRound", "1", "beaconSignature", "ab"), "beaconSignature"},
		"a network alone":       {row.request("beaconNetwork", strings.Repeat("ab", 32)), "beaconNetwork"},
		"a short network":       {row.request("beaconNetwork", "ab", "beaconRound", "1", "beaconSignature", signature), "beaconNetwork"},
		"beacon round 0":        {row.request("beaconRound", "0", "beaconSignature", signature), "beaconRound"},
		"a name of dice":        {with(row.request(), "claimed", claimed("roll", "1")), "claimed"},
		"a win without a bet":   {with(row.request(), "claimed", claimed("win", "true")), "claimed"},
	} {
		if c.field == "stakeUnits" && name == "a payout too large" && row.CrashE2 < 101 {
			t.Fatal("the round of this test has to be won at 1.01")
		}
		r := send(t, "POST", url+"/v1/verify", encode(t, c.request))
		if r.status != 400 || !strings.Contains(r.body, `"field":"`+c.field+`"`) {
			t.Errorf("%s: %d %s, want the field %s", name, r.status, r.body, c.field)
		}
	}
	noSalt := row.request()
	delete(noSalt["crash"].(map[string]any), "salt")
	if r := send(t, "POST", url+"/v1/verify", encode(t, noSalt)); r.status != 400 || !strings.Contains(r.body, `"field":"salt"`) {
		t.Errorf("no salt: %d %s", r.status, r.body)
	}
}

// TestWalksOfChainsWaitForTheirTurn: those who need no token cannot take all
// processors.
func TestWalksOfChainsWaitForTheirTurn(t *testing.T) {
	w := newWalks()
	done, err := w.take(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	taken := make(chan func(), maxWaiting)
	for range maxWaiting {
		go func() {
			done, err := w.take(t.Context())
			if err != nil {
				t.Error(err)
				done = func() {}
			}
			taken <- done
		}()
	}
	for end := time.Now().Add(10 * time.Second); len(w.waiting) < maxWaiting && time.Now().Before(end); {
		time.Sleep(time.Millisecond)
	}
	if _, err := w.take(t.Context()); err == nil || !strings.Contains(err.Error(), "too many verify") {
		t.Errorf("one more is not refused: %v", err)
	}
	done()
	for range maxWaiting {
		(<-taken)()
	}
	if done, err := w.take(t.Context()); err != nil {
		t.Error(err)
	} else {
		done()
	}
}
