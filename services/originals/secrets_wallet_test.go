package main

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"sync/atomic"
	"testing"
	"time"

	"github.com/openoriginals/originals/internal/auth"
	originalsv1 "github.com/openoriginals/originals/proto/originals/v1"
)

// business is a run of all calls of wallets and of support about a player with
// open rounds, good ones and bad ones, by REST and by gRPC.
func (h *houseOfSecrets) business(name string) {
	t := h.t
	t.Helper()
	open := h.open[len(h.open)-2].GetRoundId() // of mines
	h.be("w", auth.Wallet)
	id, transfer := freshID(), `{"transferId":%q,"playerId":%q,"direction":%q,"money":{"currency":"FUN","amount":"%d"}}`
	for _, body := range []string{
		fmt.Sprintf(transfer, id, name, "DEPOSIT", 5), fmt.Sprintf(transfer, id, name, "DEPOSIT", 6), fmt.Sprintf(transfer, freshID(), name, "WITHDRAWAL", 1<<50),
	} {
		h.send("POST", "/v1/wallet/transfers", body)
	}
	h.call("GET", "/v1/wallet/transfers/"+id, "", new(originalsv1.Transfer))
	h.call("POST", "/v1/wallet/transfers/"+freshID()+":cancel", "{}", new(originalsv1.Transfer))
	h.call("GET", "/v1/wallet/players/"+name+"/balances", "", new(originalsv1.ListPlayerBalancesResponse))
	claim := freshID()
	var claimed originalsv1.ClaimSettlementsResponse
	h.call("POST", "/v1/wallet/settlements:claim", fmt.Sprintf(`{"claimId":%q,"consumer":"main","max":500,"leaseSeconds":60}`, claim), &claimed)
	if len(claimed.GetSettlements()) < 10 {
		t.Fatalf("%d settlements", len(claimed.GetSettlements()))
	}
	booked, dead := claimed.GetSettlements()[0], claimed.GetSettlements()[1]
	h.call("POST", "/v1/wallet/settlements:acknowledge", fmt.Sprintf(
		`{"items":[{"settlementId":%q,"walletTransactionId":"tx","result":"APPLIED"},{"settlementId":%q,"walletTransactionId":"","result":"REJECTED","rejectReason":"no"}]}`,
		booked.GetSettlementId(), dead.GetSettlementId()), new(originalsv1.AcknowledgeSettlementsResponse))
	h.call("GET", "/v1/wallet/rejected-settlements", "", new(originalsv1.ListRejectedResponse))
	h.call("POST", "/v1/wallet/settlements/"+dead.GetSettlementId()+":requeue", "{}", new(originalsv1.RequeueSettlementResponse))
	h.call("POST", "/v1/wallet/settlements:extend", fmt.Sprintf(`{"claimId":%q,"leaseSeconds":60}`, claim), new(originalsv1.ExtendClaimResponse))
	h.call("POST", "/v1/wallet/settlements:release", fmt.Sprintf(`{"claimId":%q}`, claim), new(originalsv1.ReleaseSettlementsResponse))
	h.call("GET", "/v1/wallet/settlements/"+booked.GetSettlementId(), "", new(originalsv1.Settlement))
	h.call("GET", fmt.Sprint("/v1/wallet/settlements?partition=", booked.GetPartition()), "", new(originalsv1.ListSettlementsResponse))
	h.call("GET", fmt.Sprintf("/v1/wallet/digests?partition=%d&day=%s", booked.GetPartition(), time.Now().UTC().Format(time.DateOnly)), "", new(originalsv1.Digest))
	h.send("GET", "/v1/wallet/settlements/"+open, "")
	if len(h.streamed("Bearer "+h.token, "")) < 10 {
		t.Error("the stream shows too little")
	}

	h.be("carol", auth.Support)
	support := originalsv1.NewSupportServiceClient(h.grpc)
	for _, err := range []error{
		second(support.GetPlayer(h.ctx, &originalsv1.GetPlayerRequest{PlayerId: name})),
		second(support.GetRoundTimeline(h.ctx, &originalsv1.GetRoundTimelineRequest{RoundId: open})),
		second(support.ListAuditLog(h.ctx, &originalsv1.ListAuditLogRequest{})),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	h.call("GET", "/v1/support/players/"+name, "", new(originalsv1.SupportPlayer))
	for _, r := range []string{open, booked.GetRoundId(), dead.GetRoundId()} {
		h.call("GET", "/v1/support/rounds/"+r, "", new(originalsv1.RoundTimeline))
	}
	h.send("POST", "/v1/support/seed-pairs/"+h.pair+":reveal", `{"reason":"the player asks","ticket":"T-1"}`) // a round is open
	h.call("GET", "/v1/support/audit-log", "", new(originalsv1.ListAuditLogResponse))
	for role, calls := range map[auth.Role][]staffCall{auth.Wallet: walletCalls(), auth.Support: supportCalls()} {
		h.be("somebody", role)
		for _, c := range calls {
			for _, q := range c.requests(t) {
				if b, ok := c.rest(t, q); ok {
					h.send(b.method, b.path, b.body)
				}
			}
		}
	}
	h.be(name, auth.Player)
}

// The secret that signs callbacks is in no log, answer, metric or store, and not
// in the callbacks.
func TestWebhookSecretInLogsAnswersMetricsAndRedis(t *testing.T) {
	key := bytes.Repeat([]byte{0xa7, 0x3e}, 16)
	bodies := new(logBuffer)
	var calls atomic.Int64
	receiver := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		if calls.Add(1) == 1 { // the first is refused, so that it is logged and repeated
			w.WriteHeader(http.StatusInternalServerError)
			return
		}
		fmt.Fprintln(bodies, r.Header, string(body))
	}))
	dir := t.TempDir()
	file, house := filepath.Join(dir, "a.whsec"), filepath.Join(dir, "house.yaml")
	public := filepath.Join(dir, "a.pem")
	keyOf(t, public, "demo")
	for path, text := range map[string]string{
		file:  "whsec_" + base64.StdEncoding.EncodeToString(key) + "\n",
		house: fmt.Sprintf("operators:\n  - name: demo\n    keys: [{file: %s}]\n    callback: {url: %q, secretFiles: [%s]}\n", public, receiver.URL, file),
	} {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	h := startHouseOfSecretsWith(t, func(s *settings) { s.config = house })
	h.play("alice")
	for end := time.Now().Add(20 * time.Second); calls.Load() < 2 && time.Now().Before(end); time.Sleep(20 * time.Millisecond) {
	}
	corpora := h.corpora()
	receiver.Close() // waits for what is under way
	if corpora["callbacks"] = bodies.bytes(); !bytes.Contains(corpora["callbacks"], []byte(h.pair)) {
		t.Fatalf("no callback came: %d calls", calls.Load())
	}
	if !bytes.Contains(corpora["metrics"], []byte(`originals_settlement_callbacks_total{result="refused"} 1`)) {
		t.Error("the first callback was not refused")
	}
	if places := find(ofBytes("the webhook secret", key), corpora); len(places) > 0 {
		t.Errorf("the webhook secret is in %v", places)
	}
}
