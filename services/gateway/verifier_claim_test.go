package gateway

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/openoriginals/originals/internal/mistake"
	originalsv1 "github.com/openoriginals/originals/proto/originals/v1"
)

// verdict is what POST /v1/verify says of what a player was shown.
type verdict struct {
	Verdict     string
	Checks      []verifyCheck
	Notes       []string
	PayoutUnits *string
}

type verifyCheck struct {
	Name    string
	Passed  bool
	Words   string
	Mistake *string
}

// mistakes lists the checks that do not hold, with their mistakes.
func (v verdict) mistakes() string {
	var all []string
	for _, c := range v.Checks {
		switch {
		case c.Passed:
		case c.Mistake == nil:
			all = append(all, c.Name+":")
		default:
			all = append(all, c.Name+":"+*c.Mistake)
		}
	}
	return strings.Join(all, " ")
}

func verdictOn(t *testing.T, url string, request map[string]any) verdict {
	t.Helper()
	r := send(t, "POST", url+"/v1/verify", encode(t, request))
	var got verdict
	if err := json.Unmarshal([]byte(r.body), &got); err != nil || r.status != 200 {
		t.Fatalf("%s: %d %s", encode(t, request), r.status, r.body)
	}
	return got
}

func claimed(pairs ...string) []map[string]string {
	list := []map[string]string{}
	for i := 0; i < len(pairs); i += 2 {
		list = append(list, map[string]string{"name": pairs[i], "value": pairs[i+1]})
	}
	return list
}

// with returns a copy of a request with other fields.
func with(request map[string]any, pairs ...any) map[string]any {
	other := map[string]any{}
	for name, value := range request {
		other[name] = value
	}
	for i := 0; i < len(pairs); i += 2 {
		other[pairs[i].(string)] = pairs[i+1]
	}
	return other
}

// diceRow is a dice bet of the shared vectors whose neighbours have other rolls, and the vector itself.
func diceRow(t *testing.T, url string) (map[string]any, row) {
	for _, r := range vectorRows(t) {
		nonce, err := r.Nonce.Int64()
		if r.Game != "dice" || err != nil || nonce < 1 || nonce > 1000 || len(r.ClientSeed) < 16 {
			continue
		}
		return verifyRequest(t, r), r
	}
	t.Fatal("no dice bet")
	return nil, row{}
}

func TestVerifyComparesWhatOurPlayerWasShown(t *testing.T) {
	url := serveFakes(t, &fakes{}, nil)
	rows := 0
	for _, r := range vectorRows(t) {
		if r.Game != "dice" && r.Game != "limbo" {
			continue
		}
		name := map[string]string{"dice": "roll", "limbo": "outcomeE2"}[r.Game]
		outcome := encode(t, r.parameters()[name])
		request := with(verifyRequest(t, r), "commitment", r.Commitment, "claimed",
			claimed(name, outcome, "win", encode(t, r.parameters()["win"]), "multiplierE4", r.MultiplierE4))
		if got := verdictOn(t, url, request); got.Verdict != "VERIFIED" || len(got.Checks) != 4 || got.mistakes() != "" {
			t.Errorf("%s: %+v", r.ID, got)
		}
		delete(request, "commitment")
		if got := verdictOn(t, url, request); got.Verdict != "CONSISTENT" || len(got.Checks) != 3 || !strings.Contains(strings.Join(got.Notes, "\n"), "commitment") {
			t.Errorf("%s: %+v", r.ID, got)
		}
		if got := verdictOn(t, url, with(request, "claimed", claimed(name, outcome+"1"))); got.Verdict != "FAILED" || !strings.HasPrefix(got.mistakes(), "outcome:") {
			t.Errorf("%s: %+v", r.ID, got)
		}
		rows++
	}
	if rows < 100 {
		t.Errorf("%d rows", rows)
	}
}

func TestVerifyComparesAPayout(t *testing.T) {
	url := serveFakes(t, &fakes{}, nil)
	request := map[string]any{
		"scheme": "originals-v1", "serverSeed": strings.Repeat("0", 64), "clientSeed": "player-0123456789", "nonce": 0,
		"mines": map[string]any{"mineCount": 3, "picks": []int{}}, "stakeUnits": 1000, "claimed": claimed("payout", "0"),
	}
	if got := verdictOn(t, url, request); got.Verdict != "CONSISTENT" || got.PayoutUnits == nil || *got.PayoutUnits != "0" || len(got.Checks) != 1 || got.Checks[0].Name != "payout" {
		t.Errorf("%+v", got)
	}
	if got := verdictOn(t, url, with(request, "claimed", claimed("payout", "1"))); got.mistakes() != "payout:" {
		t.Errorf("%+v", got)
	}
	for _, c := range []struct {
		request map[string]any
		field   string
	}{
		{with(request, "stakeUnits", 0), "stakeUnits"},
		{with(request, "stakeUnits", "9007199254740992"), "stakeUnits"},
		{with(request, "claimed", claimed("payout", "0", "payout", "0")), "claimed"},
		{with(request, "claimed", claimed("roll", "0")), "claimed"},
		{with(request, "claimed", claimed("", "0")), "claimed"},
		{with(request, "claimed", make([]map[string]string, 17)), "claimed"},
		{with(request, "commitment", ""), "commitment"},
	} {
		r := send(t, "POST", url+"/v1/verify", encode(t, c.request))
		if _, why, metadata := failureOf(t, r); why != "INVALID_FIELD" || metadata["field"] != c.field {
			t.Errorf("%s: %s", encode(t, c.request), r.body)
		}
	}
	delete(request, "stakeUnits")
	if r := send(t, "POST", url+"/v1/verify", encode(t, request)); r.status != 400 || !strings.Contains(r.body, "stakeUnits") {
		t.Errorf("a payout without a stake: %s", r.body)
	}
}

// TestVerifyNamesTheUsualMistakesWithOurBets: each mistake has its name where the answer is a verdict, and where a text is
// refused.
func TestVerifyNamesTheUsualMistakesWithOurBets(t *testing.T) {
	url := serveFakes(t, &fakes{}, nil)
	bet, r := diceRow(t, url)
	nonce, _ := r.Nonce.Int64()
	roll := encode(t, r.Dice["roll"])
	bet = with(bet, "commitment", r.Commitment, "claimed", claimed("roll", roll))
	for _, c := range []struct {
		name    string
		request map[string]any
		want    string
	}{
		{"nothing wrong", bet, ""},
		{"hash for seed", with(bet, "serverSeed", r.Commitment), "commitment:HASH_FOR_SERVER_SEED outcome:"},
		{"hash and seed in each other's place", with(bet, "serverSeed", r.Commitment, "commitment", r.ServerSeed), "commitment:COMMITMENT_AND_SERVER_SEED_SWAPPED outcome:"},
		{"seed of another pair", with(bet, "serverSeed", strings.Repeat("ab", 32)), "commitment:SEED_OF_ANOTHER_PAIR outcome:"},
		{"nonce one too small", with(bet, "nonce", nonce-1), "outcome:NONCE_OFF_BY_ONE"},
		{"nonce one too large", with(bet, "nonce", nonce+1), "outcome:NONCE_OFF_BY_ONE"},
	} {
		if got := verdictOn(t, url, c.request); got.mistakes() != c.want || (got.Verdict == "VERIFIED") != (c.want == "") {
			t.Errorf("%s: %+v, want %s", c.name, got, c.want)
		}
	}
	for _, c := range []struct {
		name, field, value string
		mistake            mistake.Mistake
	}{
		{"upper-case hex", "serverSeed", strings.ToUpper(r.ServerSeed), mistake.UpperCaseHex},
		{"stray white space", "serverSeed", r.ServerSeed + " ", mistake.StrayWhiteSpace},
		{"0x", "serverSeed", "0x" + r.ServerSeed, mistake.HexPrefix},
		{"hash for seed, in capitals", "serverSeed", strings.ToUpper(r.Commitment), mistake.HashForServerSeed},
		{"white space around the client seed", "clientSeed", " " + r.ClientSeed, mistake.StrayWhiteSpace},
		{"upper-case commitment", "commitment", strings.ToUpper(r.Commitment), mistake.UpperCaseHex},
		{"white space around the commitment", "commitment", r.Commitment + "\n", mistake.StrayWhiteSpace},
		{"a short seed", "serverSeed", r.ServerSeed[1:], ""},
	} {
		refused := send(t, "POST", url+"/v1/verify", encode(t, with(bet, c.field, c.value)))
		if _, why, metadata := failureOf(t, refused); why != "INVALID_FIELD" || metadata["field"] != c.field || metadata["mistake"] != string(c.mistake) {
			t.Errorf("%s: %s", c.name, refused.body)
		}
	}
}

// TestVerifyNamesTheUsualMistakesWithForeignBets: the published bet of stake's mines; the other numbers by Python.
func TestVerifyNamesTheUsualMistakesWithForeignBets(t *testing.T) {
	url := serveFakes(t, &fakes{}, nil)
	const serverSeed = "e8c495e2af38633f6ad42e0da12c8e3de7420d5284d054e36e83fdd2f13db44d"
	const commitment = "ec8cb86c52ac4bfeb60ce5bc2d5d7b7d91036dc543c006febf7ad46ea0636b50"
	bet := map[string]any{
		"scheme": "stake", "serverSeed": serverSeed, "clientSeed": "huoauPze", "nonce": 1, "commitment": commitment,
		"foreign": map[string]any{"game": "mines", "mineCount": 3}, "claimed": claimed("mines", "2,12,5"),
	}
	for _, c := range []struct {
		name    string
		request map[string]any
		want    string
	}{
		{"nothing wrong", bet, ""},
		{"another order", with(bet, "claimed", claimed("mines", "2,5,12")), ""},
		{"hash for seed", with(bet, "serverSeed", commitment), "commitment:HASH_FOR_SERVER_SEED outcome:SEED_OF_ANOTHER_PAIR"},
		{"hash and seed in each other's place", with(bet, "serverSeed", commitment, "commitment", serverSeed), "commitment:COMMITMENT_AND_SERVER_SEED_SWAPPED outcome:SEED_OF_ANOTHER_PAIR"},
		{"seed of another pair", with(bet, "serverSeed", strings.Repeat("ab", 32)), "commitment:SEED_OF_ANOTHER_PAIR outcome:SEED_OF_ANOTHER_PAIR"},
		{"nonce off by one", with(bet, "nonce", 2), "outcome:NONCE_OFF_BY_ONE"},
		{"upper-case hex", with(bet, "serverSeed", strings.ToUpper(serverSeed)), "commitment:UPPER_CASE_HEX outcome:UPPER_CASE_HEX"},
		{"stray white space", with(bet, "clientSeed", "huoauPze "), "outcome:STRAY_WHITE_SPACE"},
		{"tiles counted from 1", with(bet, "claimed", claimed("mines", "3,13,6")), "outcome:TILES_NUMBERED_OTHERWISE"},
		{"wrong house", with(bet, "scheme", "duel.com"), "commitment:WRONG_HOUSE outcome:WRONG_HOUSE"},
		{"no mistake that is known", with(bet, "claimed", claimed("mines", "1,2,3")), "outcome:"},
	} {
		got := verdictOn(t, url, c.request)
		if got.mistakes() != c.want || (got.Verdict == "VERIFIED") != (c.want == "") {
			t.Errorf("%s: %+v, want %s", c.name, got, c.want)
		}
		for _, check := range got.Checks {
			if check.Passed != (check.Words == "") {
				t.Errorf("%s: %+v", c.name, check)
			}
		}
	}
	for _, c := range []struct {
		name, field string
		request     map[string]any
		mistake     mistake.Mistake
	}{
		{"white space around the seed", "serverSeed", with(bet, "serverSeed", serverSeed+" "), mistake.StrayWhiteSpace},
		{"upper-case bytes", "serverSeed", with(bet, "scheme", "duel.com", "serverSeed", strings.ToUpper(serverSeed)), mistake.UpperCaseHex},
		{"upper-case commitment", "commitment", with(bet, "commitment", strings.ToUpper(commitment)), mistake.UpperCaseHex},
		{"an empty commitment", "commitment", with(bet, "commitment", ""), ""},
		{"a value of another game", "claimed", with(bet, "claimed", claimed("pocket", "1")), ""},
		{"a stake in units", "stakeUnits", with(bet, "stakeUnits", 1), ""},
	} {
		refused := send(t, "POST", url+"/v1/verify", encode(t, c.request))
		if _, why, metadata := failureOf(t, refused); why != "INVALID_FIELD" || metadata["field"] != c.field || metadata["mistake"] != string(c.mistake) {
			t.Errorf("%s: %s", c.name, refused.body)
		}
	}
}

// TestVerifyNamesABetOfOurs: a bet of ours that is taken for one of another house, and the reverse.
func TestVerifyNamesABetOfOurs(t *testing.T) {
	url := serveFakes(t, &fakes{}, nil)
	_, r := diceRow(t, url)
	nonce, _ := r.Nonce.Int64()
	ours := map[string]any{
		"scheme": "stake", "serverSeed": r.ServerSeed, "clientSeed": r.ClientSeed, "nonce": nonce,
		"foreign": map[string]any{"game": "dice"}, "claimed": claimed("rollE2", encode(t, r.Dice["roll"])),
	}
	if got := verdictOn(t, url, ours); got.mistakes() != "outcome:WRONG_HOUSE" {
		t.Errorf("%+v", got)
	}
	theirs := map[string]any{ // a real bet of stake
		"scheme": "originals-v1", "serverSeed": "e8c495e2af38633f6ad42e0da12c8e3de7420d5284d054e36e83fdd2f13db44d", "clientSeed": "huoauPze", "nonce": 1,
		"mines": map[string]any{"mineCount": 3, "picks": []int{}}, "claimed": claimed("mines", "2,12,5"),
	}
	if got := verdictOn(t, url, theirs); got.mistakes() != "outcome:WRONG_HOUSE" || !strings.Contains(strings.Join(got.Notes, "\n"), "stake-mines") {
		t.Errorf("%+v", got)
	}
}

// TestEveryMistakeIsInTheAPI: none is lost on its way to an answer.
func TestEveryMistakeIsInTheAPI(t *testing.T) {
	for _, m := range mistake.All() {
		if originalsv1.VerifyCheck_Mistake_value[string(m)] == 0 {
			t.Errorf("%s is not in VerifyCheck.Mistake", m)
		}
	}
	if len(originalsv1.VerifyCheck_Mistake_value) != len(mistake.All())+1 {
		t.Error("VerifyCheck.Mistake has one that nothing names")
	}
}
