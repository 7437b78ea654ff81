package main

import (
	"bufio"
	"context"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/openoriginals/originals/internal/auth"
	"github.com/openoriginals/originals/internal/reason"
	originalsv1 "github.com/openoriginals/originals/proto/originals/v1"
)

// estate is what one operator has, by its ids.
type estate struct {
	pair, retired, round, settlement, dead, cursor, deadPage, auditPage string
	partition                                                           uint32
	token                                                               int64
}

const northerner = "northerner" // a player whose name no answer to the other may show

// twoOperators is a house whose operator demo has played, and been paid, claimed,
// rejected, looked at and revealed; and another one, who knows all its ids.
func twoOperators(t *testing.T) (h *houseOfSecrets, north estate, rival func(sub, role string) string) {
	t.Helper()
	dir := t.TempDir()
	house := filepath.Join(dir, "house.yaml")
	rival = keyOf(t, filepath.Join(dir, "rival.pem"), "rival")
	if err := os.WriteFile(house, []byte("operators:\n  - name: rival\n    keys: [{file: "+filepath.Join(dir, "rival.pem")+"}]\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	h = startHouseOfSecretsWith(t, func(s *settings) { s.config = house })
	h.be(northerner, auth.Player)
	h.rotate()
	north.retired = h.pair
	h.rotate()
	north.pair = h.pair
	for range 5 {
		var r originalsv1.Round
		h.call("POST", "/v1/dice/bets", diceBody(h.pair), &r)
		north.round = r.GetRoundId()
	}
	h.be("w", auth.Wallet)
	h.call("POST", "/v1/wallet/transfers", `{"transferId":"t1","playerId":"`+northerner+`","direction":"DEPOSIT","money":{"currency":"FUN","amount":"5"}}`, new(originalsv1.Transfer))
	var claimed originalsv1.ClaimSettlementsResponse
	h.call("POST", "/v1/wallet/settlements:claim", `{"claimId":"c1","consumer":"main","max":4,"leaseSeconds":600}`, &claimed)
	if len(claimed.GetSettlements()) != 4 {
		t.Fatalf("claimed %v", &claimed)
	}
	for _, s := range claimed.GetSettlements()[:2] {
		h.call("POST", "/v1/wallet/settlements:acknowledge", fmt.Sprintf(`{"items":[{"settlementId":%q,"walletTransactionId":"","result":"REJECTED"}]}`, s.GetSettlementId()), new(originalsv1.AcknowledgeSettlementsResponse))
	}
	held := claimed.GetSettlements()[3]
	north.settlement, north.token, north.partition = held.GetSettlementId(), held.GetFencingToken(), held.GetPartition()
	var letters originalsv1.ListRejectedResponse
	h.call("GET", "/v1/wallet/rejected-settlements?pageSize=1", "", &letters)
	north.dead, north.deadPage = letters.GetSettlements()[0].GetSettlementId(), letters.GetNextPageToken()
	north.cursor = h.streamed("Bearer "+h.token, "")[0].id
	h.be("carol", auth.Support)
	h.call("GET", "/v1/support/players/"+northerner, "", new(originalsv1.SupportPlayer))
	h.call("POST", "/v1/support/seed-pairs/"+north.retired+":reveal", `{"reason":"asked","ticket":"T-1"}`, new(originalsv1.SeedPair))
	var log originalsv1.ListAuditLogResponse
	h.call("GET", "/v1/support/audit-log?pageSize=1", "", &log)
	if north.auditPage = log.GetNextPageToken(); north.auditPage == "" || north.deadPage == "" {
		t.Fatalf("no pages: %v %v", &letters, &log)
	}
	return h, north, rival
}

type streamEvent struct{ id, data string }

// streamed returns what a stream of settlements has after a cursor, as far as it
// comes within some time.
func (h *houseOfSecrets) streamed(authorization, cursor string) (events []streamEvent) {
	h.t.Helper()
	ctx, cancel := context.WithTimeout(h.t.Context(), 700*time.Millisecond)
	defer cancel()
	address := h.url + "/v1/wallet/settlements:stream"
	if cursor != "" {
		address += "?cursor=" + cursor
	}
	req, err := http.NewRequestWithContext(ctx, "GET", address, nil)
	if err != nil {
		h.t.Fatal(err)
	}
	req.Header.Set("Authorization", authorization)
	res, err := h.http.Do(req)
	if err != nil {
		h.t.Fatal(err)
	}
	defer res.Body.Close()
	if res.StatusCode != http.StatusOK {
		h.t.Fatalf("stream after %q: %d", cursor, res.StatusCode)
	}
	var e streamEvent
	for lines := bufio.NewScanner(res.Body); lines.Scan(); {
		if id, ok := strings.CutPrefix(lines.Text(), "id: "); ok {
			e.id = id
		}
		if data, ok := strings.CutPrefix(lines.Text(), "data: "); ok {
			e.data = data
		}
		if lines.Text() == "" && e.data != "" {
			events = append(events, e)
			e = streamEvent{}
		}
	}
	return events
}

// of is all that the store holds of the operator demo.
func (h *houseOfSecrets) ofDemo() string {
	return string(h.dumpOf(regexp.MustCompile(`^\{p\d+\}:(s|r|b|c|a):|:demo\b`)))
}

// One operator never sees or moves what is another's over REST, whatever ids,
// page tokens, cursors and fencing tokens it knows.
func TestOperatorsAreKeptApartOverREST(t *testing.T) {
	h, north, rival := twoOperators(t)
	wallet, staff := "Bearer "+rival("w", "wallet"), "Bearer "+rival("carol", "support")
	post := func(authorization, path, body string) (int, string) {
		return h.sendAs(authorization, "POST", path, strings.NewReader(body))
	}
	// The rival has a player of its own, with the same name, and a settlement.
	h.token = rival(northerner, "player")
	h.rotate()
	var own originalsv1.Round
	post("Bearer "+h.token, "/v1/dice/bets", diceBody(h.pair))
	h.call("POST", "/v1/dice/bets", diceBody(h.pair), &own)
	h.sendAs(wallet, "GET", "/v1/wallet/settlements/"+own.GetRoundId(), strings.NewReader("")) // which sorts its own
	before := h.ofDemo()

	for _, c := range []struct {
		authorization, method, path, body string
		code                              int
		why                               reason.Reason
	}{
		{wallet, "GET", "/v1/wallet/transfers/t1", "", 404, reason.TransferNotFound},
		{wallet, "GET", "/v1/wallet/settlements/" + north.settlement, "", 404, reason.SettlementNotFound},
		{wallet, "GET", "/v1/wallet/settlements/" + north.dead, "", 404, reason.SettlementNotFound},
		{wallet, "POST", "/v1/wallet/settlements/" + north.dead + ":requeue", "{}", 404, reason.SettlementNotFound},
		{wallet, "GET", "/v1/wallet/rejected-settlements?pageToken=" + north.deadPage, "", 400, reason.InvalidField},
		{staff, "GET", "/v1/support/audit-log?pageToken=" + north.auditPage, "", 400, reason.InvalidField},
		{staff, "GET", "/v1/support/rounds/" + north.round, "", 404, reason.RoundNotFound},
		{staff, "POST", "/v1/support/seed-pairs/" + north.pair + ":reveal", `{"reason":"asked","ticket":"T-1"}`, 404, reason.SeedPairNotFound},
		{staff, "POST", "/v1/support/seed-pairs/" + north.retired + ":reveal", `{"reason":"asked","ticket":"T-1"}`, 404, reason.SeedPairNotFound},
		{"Bearer " + h.token, "GET", "/v1/rounds/" + north.round, "", 404, reason.RoundNotFound},
		{"Bearer " + h.token, "GET", "/v1/seed-pairs/" + north.pair, "", 404, reason.SeedPairNotFound},
		{"Bearer " + h.token, "GET", "/v1/seed-pairs/" + north.retired + "/evidence", "", 404, reason.SeedPairNotFound},
	} {
		code, text := h.sendAs(c.authorization, c.method, c.path, strings.NewReader(c.body))
		if why, _ := refusal(t, text); code != c.code || why != c.why {
			t.Errorf("%s %s: %d %s, want %d %s", c.method, c.path, code, why, c.code, c.why)
		}
	}
	// What is answered has nothing of the other's.
	var answers []string
	answer := func(authorization, method, path, body string) string {
		t.Helper()
		code, text := h.sendAs(authorization, method, path, strings.NewReader(body))
		if code != http.StatusOK {
			t.Errorf("%s %s: %d %s", method, path, code, text)
		}
		answers = append(answers, text)
		return text
	}
	for partition := range 64 {
		answer(wallet, "GET", fmt.Sprint("/v1/wallet/settlements?partition=", partition), "")
	}
	answer(wallet, "GET", "/v1/wallet/rejected-settlements", "")
	answer(wallet, "GET", fmt.Sprintf("/v1/wallet/digests?partition=%d&day=%s", north.partition, time.Now().UTC().Format("2006-01-02")), "")
	answer(wallet, "GET", "/v1/wallet/players/"+northerner+"/balances", "")
	answer(staff, "GET", "/v1/support/players/"+northerner, "")
	for _, e := range h.streamed(wallet, "") {
		answers = append(answers, e.data)
	}
	ack := fmt.Sprintf(`{"items":[{"settlementId":%q,"fencingToken":"%d","walletTransactionId":"x","result":"APPLIED"}]}`, north.settlement, north.token)
	if text := answer(wallet, "POST", "/v1/wallet/settlements:acknowledge", ack); !strings.Contains(text, `"NOT_FOUND"`) {
		t.Errorf("acknowledged the other's: %s", text)
	}
	answers = answers[:len(answers)-1] // it names the id that was asked for
	if text := answer(wallet, "POST", "/v1/wallet/settlements:release", `{"claimId":"c1"}`); !strings.Contains(text, `"released":0`) {
		t.Errorf("released the other's: %s", text)
	}
	if text := answer(wallet, "POST", "/v1/wallet/settlements:extend", `{"claimId":"c1","leaseSeconds":1}`); !strings.Contains(text, `"extended":0`) {
		t.Errorf("extended the other's: %s", text)
	}
	answer(wallet, "POST", "/v1/wallet/settlements:claim", `{"claimId":"c1","consumer":"other","max":500,"leaseSeconds":5}`)
	answer(wallet, "POST", "/v1/wallet/transfers/t1:cancel", `{}`)
	found := 0
	for _, text := range answers {
		found += strings.Count(text, own.GetRoundId())
		for _, secret := range []string{north.pair, north.retired, north.round, north.settlement, north.dead} {
			if strings.Contains(text, secret) {
				t.Errorf("the other operator is told of %s: %.300s", secret, text)
			}
		}
	}
	if found < 3 {
		t.Errorf("its own settlement stands in %d answers: they show too little", found)
	}
	var log originalsv1.ListAuditLogResponse
	h.token = strings.TrimPrefix(staff, "Bearer ")
	h.call("GET", "/v1/support/audit-log?pageSize=200", "", &log)
	for _, e := range log.GetEntries() {
		if e.GetAction() == "REVEAL_DONE" || e.GetPlayerId() == northerner && e.GetAction() != "VIEW_PLAYER" {
			t.Errorf("the log has %v", e)
		}
	}
	// A cursor of the other's is ahead of what there is.
	if code, text := h.sendAs(wallet, "GET", "/v1/wallet/settlements:stream?cursor="+north.cursor, strings.NewReader("")); code != http.StatusBadRequest {
		t.Errorf("the other's cursor: %d %s", code, text)
	}
	if after := h.ofDemo(); after != before {
		t.Errorf("the other operator changed something:\n%s", difference(before, after))
	}
}

// A key is bound to one operator: whoever it signs for, its tokens are no other's.
func TestAKeySignsForItsOwnOperatorAlone(t *testing.T) {
	dir := t.TempDir()
	house := filepath.Join(dir, "house.yaml")
	mint := keyOf(t, filepath.Join(dir, "rival.pem"), "demo") // claims to be the other's
	if err := os.WriteFile(house, []byte("operators:\n  - name: rival\n    keys: [{file: "+filepath.Join(dir, "rival.pem")+"}]\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	h := startHouseOfSecretsWith(t, func(s *settings) { s.config = house })
	for _, c := range []struct{ role, path string }{
		{"wallet", "/v1/wallet/settlements?partition=1"}, {"support", "/v1/support/audit-log"}, {"player", "/v1/balances"}, {"wallet", "/v1/wallet/settlements:stream"},
	} {
		code, text := h.sendAs("Bearer "+mint("w", c.role), "GET", c.path, strings.NewReader(""))
		if why, _ := refusal(t, text); code != http.StatusUnauthorized || why != reason.TokenInvalid {
			t.Errorf("%s: %d %s", c.path, code, text)
		}
	}
}
