package walletcheck_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/openoriginals/originals/internal/refwallet"
)

// walletVariable makes the test's own program a wallet: the reference wallet,
// with the named habit broken. "none" leaves it whole.
const walletVariable = "BROKEN_HABIT"

func TestMain(m *testing.M) {
	habit := os.Getenv(walletVariable)
	if habit == "" {
		os.Exit(m.Run())
	}
	if err := runWallet(habit); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// command starts a wallet with a broken habit.
func command(t *testing.T, habit string) string {
	t.Helper()
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return "env " + walletVariable + "=" + habit + " " + program
}

func runWallet(habit string) error {
	listener, err := net.Listen("tcp", os.Getenv("WALLET_LISTEN"))
	if err != nil {
		return err
	}
	dir := os.Getenv("WALLET_DIR")
	if habit == "loses-books-on-kill" {
		if dir, err = os.MkdirTemp(dir, "life-"); err != nil {
			return err
		}
	}
	_, port, _ := net.SplitHostPort(os.Getenv("WALLET_LISTEN"))
	return refwallet.Run(context.Background(), refwallet.Options{
		Dir: dir, URL: os.Getenv("ORIGINALS_URL"), Token: os.Getenv("ORIGINALS_TOKEN"), Consumer: "wallet-" + port,
		Listener: listener, Poll: 20 * time.Millisecond,
		HTTP:   &http.Client{Timeout: 400 * time.Millisecond, Transport: &habits{broken: broken[habit], seen: make(map[string]int)}},
		Failed: func(step string, err error) { fmt.Fprintln(os.Stderr, step, err) },
	})
}

// exchange is a call of the wallet that a broken habit changes on its way, there
// or back.
type exchange struct {
	*habits
	path    string
	request map[string]any
	send    func(path string, request any) (status int, answer map[string]any, err error)
}

func (x *exchange) claims() bool       { return strings.HasSuffix(x.path, "settlements:claim") }
func (x *exchange) acknowledges() bool { return strings.HasSuffix(x.path, "settlements:acknowledge") }
func (x *exchange) transfers() bool    { return strings.HasSuffix(x.path, "/transfers") }
func (x *exchange) cancels() bool      { return strings.HasSuffix(x.path, ":cancel") }

func (x *exchange) forward() (int, map[string]any, error) { return x.send(x.path, x.request) }

// count returns how often it was asked for a key, from 1.
func (x *exchange) count(key string) int {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.seen[key]++
	return x.seen[key]
}

type habit func(x *exchange) (status int, answer map[string]any, err error)

// habits is the way from the wallet to the platform.
type habits struct {
	broken habit
	mu     sync.Mutex
	seen   map[string]int
}

// RoundTrip sends a call, as the broken habit has it.
func (h *habits) RoundTrip(req *http.Request) (*http.Response, error) {
	if h.broken == nil || req.Method != http.MethodPost {
		return http.DefaultTransport.RoundTrip(req)
	}
	x := &exchange{habits: h, path: req.URL.Path}
	if err := json.NewDecoder(req.Body).Decode(&x.request); err != nil {
		return nil, err
	}
	x.send = func(path string, request any) (int, map[string]any, error) { return send(req, path, request) }
	status, answer, err := h.broken(x)
	if err != nil {
		return nil, err
	}
	text, err := json.Marshal(answer)
	if err != nil {
		return nil, err
	}
	return &http.Response{
		StatusCode: status, Request: req, Header: make(http.Header),
		Body: io.NopCloser(bytes.NewReader(text)), ContentLength: int64(len(text)),
	}, nil
}

func send(like *http.Request, path string, request any) (int, map[string]any, error) {
	body, err := json.Marshal(request)
	if err != nil {
		return 0, nil, err
	}
	req := like.Clone(like.Context())
	req.URL.Path, req.ContentLength, req.Body = path, int64(len(body)), io.NopCloser(bytes.NewReader(body))
	res, err := http.DefaultTransport.RoundTrip(req)
	if err != nil {
		return 0, nil, err
	}
	defer res.Body.Close()
	var answer map[string]any
	text, err := io.ReadAll(res.Body)
	if err == nil {
		err = json.Unmarshal(text, &answer)
	}
	if err != nil && res.StatusCode != http.StatusOK {
		return res.StatusCode, map[string]any{}, nil
	}
	return res.StatusCode, answer, err
}

func list(m map[string]any, name string) []map[string]any {
	var all []map[string]any
	items, _ := m[name].([]any)
	for _, item := range items {
		if object, ok := item.(map[string]any); ok {
			all = append(all, object)
		}
	}
	return all
}

// keep returns a habit that sees only some settlements of a claim. What it does
// not see is acknowledged all the same, or not.
func keep(acknowledge bool, wanted func(item map[string]any) bool) habit {
	return func(x *exchange) (int, map[string]any, error) {
		status, answer, err := x.forward()
		if !x.claims() || err != nil {
			return status, answer, err
		}
		kept, gone := []any{}, []map[string]any{}
		for _, item := range list(answer, "settlements") {
			if wanted(item) {
				kept = append(kept, item)
			} else {
				gone = append(gone, item)
			}
		}
		answer["settlements"] = kept
		if acknowledge && len(gone) > 0 {
			_, _, err = x.send("/v1/wallet/settlements:acknowledge", acknowledgeAll(gone))
		}
		return status, answer, err
	}
}

func acknowledgeAll(items []map[string]any) map[string]any {
	var acks []any
	for _, item := range items {
		id := item["settlementId"].(string)
		acks = append(acks, map[string]any{
			"settlementId": id, "fencingToken": item["fencingToken"],
			"walletTransactionId": refwallet.WalletTransactionID(id), "result": "APPLIED",
		})
	}
	return map[string]any{"items": acks}
}

func amountOf(item map[string]any, name string) map[string]any { return item[name].(map[string]any) }

// broken are the habits that wallets were seen to lack.
var broken = map[string]habit{
	"books-redelivered-again": func(x *exchange) (int, map[string]any, error) {
		for _, item := range list(x.request, "items") {
			id := strings.TrimSuffix(item["settlementId"].(string), "-again")
			item["settlementId"], item["walletTransactionId"] = id, refwallet.WalletTransactionID(id)
		}
		status, answer, err := x.forward()
		for _, item := range list(answer, "settlements") {
			id := item["settlementId"].(string)
			if n, attempt := x.count(id), item["attempt"].(float64); n > 1 && attempt > 1 {
				item["settlementId"] = id + "-again"
			}
		}
		return status, answer, err
	},
	"acknowledges-before-booking": func(x *exchange) (int, map[string]any, error) {
		status, answer, err := x.forward()
		if items := list(answer, "settlements"); x.claims() && err == nil && len(items) > 0 {
			_, _, err = x.send("/v1/wallet/settlements:acknowledge", acknowledgeAll(items))
		}
		return status, answer, err
	},
	"new-transaction-id-on-retry": func(x *exchange) (int, map[string]any, error) {
		for _, item := range list(x.request, "items") {
			id := item["settlementId"].(string)
			item["walletTransactionId"] = fmt.Sprintf("%v-%d", item["walletTransactionId"], x.count(id))
		}
		return x.forward()
	},
	"drops-zero-payouts": keep(false, func(item map[string]any) bool { return amountOf(item, "payout")["amount"] != "0" }),
	"ignores-void":       keep(true, func(item map[string]any) bool { return item["result"] != "VOID" }),
	"float-money": func(x *exchange) (int, map[string]any, error) {
		status, answer, err := x.forward()
		for _, item := range list(answer, "settlements") {
			for _, name := range []string{"stake", "payout"} {
				units, _ := strconv.ParseFloat(amountOf(item, name)["amount"].(string), 64)
				dollars := units / 100
				amountOf(item, name)["amount"] = strconv.FormatInt(int64(dollars*100), 10)
			}
		}
		return status, answer, err
	},
	"new-transfer-id-on-retry": func(x *exchange) (int, map[string]any, error) {
		if !x.transfers() {
			return x.forward()
		}
		id := x.request["transferId"].(string)
		if n := x.count(id); n > 1 {
			x.request["transferId"] = fmt.Sprintf("%s-%d", id, n)
		}
		status, answer, err := x.forward()
		if err == nil {
			answer["transferId"] = id
		}
		return status, answer, err
	},
	"no-answer-is-a-refusal": func(x *exchange) (int, map[string]any, error) {
		status, answer, err := x.forward()
		if err != nil && x.transfers() {
			return http.StatusOK, map[string]any{"transferId": x.request["transferId"], "state": "REFUSED"}, nil
		}
		return status, answer, err
	},
	"an-error-is-a-refusal": func(x *exchange) (int, map[string]any, error) {
		status, answer, err := x.forward()
		if err == nil && status != http.StatusOK && x.transfers() {
			return http.StatusOK, map[string]any{"transferId": x.request["transferId"], "state": "REFUSED"}, nil
		}
		return status, answer, err
	},
	"a-repeat-ends-what-was-refused": func(x *exchange) (int, map[string]any, error) {
		status, answer, err := x.forward()
		if err == nil && x.transfers() && answer["replayed"] == true {
			answer["state"] = "APPLIED"
		}
		return status, answer, err
	},
	"cancels-without-asking": func(x *exchange) (int, map[string]any, error) {
		if !x.cancels() {
			return x.forward()
		}
		id := strings.TrimSuffix(x.path[strings.LastIndexByte(x.path, '/')+1:], ":cancel")
		return http.StatusOK, map[string]any{"transferId": id, "state": "CANCELLED"}, nil
	},
	"takes-any-answer": func(x *exchange) (int, map[string]any, error) {
		status, answer, err := x.forward()
		if err == nil && status == http.StatusOK && x.transfers() {
			answer["transferId"] = x.request["transferId"]
			if answer["state"] != "APPLIED" && answer["state"] != "REFUSED" {
				answer["state"] = "APPLIED"
			}
		}
		return status, answer, err
	},
	"ignores-conflict": func(x *exchange) (int, map[string]any, error) {
		status, answer, err := x.forward()
		for _, result := range list(answer, "results") {
			if result["status"] == "CONFLICT" {
				result["status"] = "ACKNOWLEDGED"
			}
		}
		return status, answer, err
	},
	"does-not-report-what-it-booked-before": func(x *exchange) (int, map[string]any, error) {
		if !x.acknowledges() {
			return x.forward()
		}
		first, results := []any{}, []any{}
		for _, item := range list(x.request, "items") {
			if x.count(item["settlementId"].(string)) == 1 {
				first = append(first, item)
			}
			results = append(results, map[string]any{"settlementId": item["settlementId"], "status": "ACKNOWLEDGED"})
		}
		if len(first) > 0 {
			if _, _, err := x.send(x.path, map[string]any{"items": first}); err != nil {
				return 0, nil, err
			}
		}
		return http.StatusOK, map[string]any{"results": results}, nil
	},
	"books-in-any-order": func(x *exchange) (int, map[string]any, error) {
		status, answer, err := x.forward()
		if items, ok := answer["settlements"].([]any); ok {
			for i, j := 0, len(items)-1; i < j; i, j = i+1, j-1 {
				items[i], items[j] = items[j], items[i]
			}
		}
		return status, answer, err
	},
	"refuses-new-fields": func(x *exchange) (int, map[string]any, error) {
		status, answer, err := x.forward()
		if _, extra := answer["newField"]; extra {
			return 0, nil, errors.New("unknown field")
		}
		return status, answer, err
	},
	"ends-at-the-first-refused-token": func(x *exchange) (int, map[string]any, error) {
		status, answer, err := x.forward()
		if status == http.StatusUnauthorized {
			os.Exit(3)
		}
		return status, answer, err
	},
}
