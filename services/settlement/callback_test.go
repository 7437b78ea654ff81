package settlement_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/zap"

	"github.com/openoriginals/originals/internal/ledger"
	"github.com/openoriginals/originals/services/settlement"
)

// The example of the Standard Webhooks specification.
const (
	exampleSecret = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"
	exampleID     = "msg_p5jXN8AQM9LWM0D4loKWxJek"
	exampleBody   = `{"test": 2432232314}`
	exampleSigned = "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE="
)

func secret(t *testing.T, text string) settlement.WebhookSecret {
	t.Helper()
	s, err := settlement.ParseWebhookSecret(text)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestCallbackIsSignedByTheSpecification(t *testing.T) {
	if got := secret(t, exampleSecret).Sign(exampleID, "1614265330", exampleBody); got != exampleSigned {
		t.Errorf("%s, want %s", got, exampleSigned)
	}
	other := secret(t, "whsec_"+strings.Repeat("QUJD", 8))
	h := settlement.WebhookHeaders(exampleID, exampleBody, time.Unix(1614265330, 999), other, secret(t, exampleSecret))
	signatures := strings.Split(h.Get("webhook-signature"), " ")
	if len(signatures) != 2 || signatures[1] != exampleSigned || signatures[0] == exampleSigned ||
		h.Get("webhook-id") != exampleID || h.Get("webhook-timestamp") != "1614265330" {
		t.Errorf("headers %v", h)
	}
}

func TestWebhookSecretsAreStrictAndHidden(t *testing.T) {
	for _, text := range []string{
		"", "whsec_", "MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw", exampleSecret + "\n", exampleSecret[:len(exampleSecret)-4],
		"whsec_" + strings.Repeat("QUJD", 22), "whsec_!fKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw",
	} {
		if _, err := settlement.ParseWebhookSecret(text); err == nil {
			t.Errorf("%q was taken", text)
		}
	}
	c := settlement.Callback{Secrets: []settlement.WebhookSecret{secret(t, exampleSecret)}}
	text, _ := json.Marshal(c)
	all := fmt.Sprintf("%v %+v %#v %x %s %q", c, c, c, c, c, c) + string(text)
	if strings.Contains(all, "MfKQ") || strings.Contains(all, "31f290f6bf06") {
		t.Error("a secret was printed:", all)
	}
}

func TestCallbackDelaysGrow(t *testing.T) {
	for attempt, full := range []time.Duration{1, 2, 4, 8, 16, 32, 64, 128, 256, 300, 300} {
		full *= time.Second
		d := settlement.Delay("msg_a", attempt)
		if d > full || d < full/2 || d != settlement.Delay("msg_a", attempt) {
			t.Errorf("attempt %d: %v of %v", attempt, d, full)
		}
	}
	if settlement.Delay("msg_a", 5) == settlement.Delay("msg_b", 5) {
		t.Error("all batches come back together")
	}
	if d := settlement.Delay("msg_a", 1<<30); d < 150*time.Second || d > 300*time.Second {
		t.Errorf("after very many attempts %v", d)
	}
}

// receiver is the operator's side, as a transport: it notes what it gets and
// answers as it is told.
type receiver struct {
	t      *testing.T
	answer func(attempt int, ids []string) (status int, err error)

	mu       sync.Mutex
	attempts int
	webhooks []string            // ids of messages, in the order of their attempts
	booked   map[string][]string // settlement -> ids of messages that were answered with 2xx
	order    map[string][]int    // player -> sequences, in the order of their booking
}

func newReceiver(t *testing.T, answer func(attempt int, ids []string) (int, error)) *receiver {
	return &receiver{t: t, answer: answer, booked: make(map[string][]string), order: make(map[string][]int)}
}

func (r *receiver) RoundTrip(req *http.Request) (*http.Response, error) {
	text, _ := io.ReadAll(req.Body)
	var body struct {
		Type, Timestamp string
		Data            struct {
			Settlements []struct {
				SettlementID, PlayerID string
				Sequence               int `json:",string"`
			}
		}
	}
	if err := json.Unmarshal(text, &body); err != nil || body.Type != "settlements" || len(body.Data.Settlements) == 0 {
		r.t.Errorf("%v: %s", err, text)
	}
	timestamp, id := req.Header.Get("webhook-timestamp"), req.Header.Get("webhook-id")
	if signed := secret(r.t, exampleSecret).Sign(id, timestamp, string(text)); req.Header.Get("webhook-signature") != signed {
		r.t.Errorf("signature %q, want %q", req.Header.Get("webhook-signature"), signed)
	}
	if timestamp != fmt.Sprint(time.Now().Unix()) {
		r.t.Errorf("timestamp %s at %d", timestamp, time.Now().Unix())
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.attempts++
	r.webhooks = append(r.webhooks, id)
	var ids []string
	for _, s := range body.Data.Settlements {
		ids = append(ids, s.SettlementID)
	}
	status, err := r.answer(r.attempts, ids)
	if status/100 == 2 {
		for _, s := range body.Data.Settlements {
			if !slices.Contains(r.booked[s.SettlementID], id) {
				r.booked[s.SettlementID] = append(r.booked[s.SettlementID], id)
				r.order[s.PlayerID] = append(r.order[s.PlayerID], s.Sequence)
			}
		}
	}
	if err != nil {
		return nil, err
	}
	return &http.Response{StatusCode: status, Body: http.NoBody, Request: req}, nil
}

var quiet = zap.NewNop()

// deliver runs callbacks for a while of fake time.
func deliver(t *testing.T, store settlement.Store, to http.RoundTripper, instance string, d time.Duration) *observer {
	t.Helper()
	seen := new(observer)
	s := settlement.New(settlement.Options{Store: store, Log: quiet, Observer: seen})
	client := settlement.NewCallbackClient()
	client.Transport = to
	ctx, cancel := context.WithTimeout(t.Context(), d)
	defer cancel()
	s.Deliver(ctx, settlement.Callback{
		Operator: "north", URL: "https://wallet.example/hook", Timeout: 10 * time.Second,
		Secrets: []settlement.WebhookSecret{secret(t, exampleSecret)},
	}, settlement.CallbackOptions{Client: client, Now: time.Now, Instance: instance})
	return seen
}

// settleSome ends some rounds of some players, and returns how many.
func settleSome(b *books) int {
	for i := range 60 {
		b.settle(player("north", fmt.Sprint("p", i%7)), 0)
		b.settle(player("south", "stranger"), 0)
	}
	return 60
}

// A callback is repeated until it is answered with 2xx, in the order of each
// player, and then acknowledged.
func TestCallbackIsRepeatedUntilItIsTaken(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBooks()
		n := settleSome(b)
		r := newReceiver(t, func(attempt int, _ []string) (int, error) {
			switch {
			case attempt%4 == 1:
				return 500, nil
			case attempt%4 == 2:
				return 302, nil // a redirect is no 2xx, and is not followed
			case attempt%4 == 3:
				return 0, errors.New("connection reset")
			}
			return 204, nil
		})
		seen := deliver(t, b, r, "a", 10*time.Minute)
		if left := b.unbooked("north"); len(left) != 0 || len(r.booked) != n {
			t.Errorf("%d booked, left are %v", len(r.booked), left)
		}
		for id, messages := range r.booked {
			if len(messages) != 1 {
				t.Errorf("%s was taken in %v", id, messages)
			}
		}
		for name, order := range r.order {
			if !slices.IsSorted(order) {
				t.Errorf("player %s: %v", name, order)
			}
		}
		if seen.count("callback refused") == 0 || seen.count("callback failed") == 0 || seen.count("callback delivered") == 0 || seen.count("ACKNOWLEDGED") != n {
			t.Errorf("counted %v", seen.counts)
		}
		if left := b.unbooked("south"); len(left) != 60 {
			t.Errorf("another operator has %d left", len(left))
		}
	})
}

// The answer to a callback is lost, or the process dies before it acknowledges:
// the same batch comes again under the same id.
func TestCallbackKeepsItsID(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBooks()
		b.settle(player("north", "alice"), 0)
		r := newReceiver(t, func(attempt int, _ []string) (int, error) {
			if attempt == 1 {
				return 200, errors.New("the answer is lost") // booked, and not known here
			}
			return 200, nil
		})
		deliver(t, b, r, "a", time.Minute)
		if len(r.webhooks) != 2 || r.webhooks[0] != r.webhooks[1] {
			t.Errorf("messages %v", r.webhooks)
		}
		for _, messages := range r.booked {
			if len(messages) != 1 {
				t.Errorf("booked in %v", messages)
			}
		}
		if left := b.unbooked("north"); len(left) != 0 {
			t.Errorf("left are %v", left)
		}
	})
	id := ledger.RoundID{Pair: "00-aaaaaaaaaaaaaaaa", Nonce: 1}
	rounds := []ledger.SettledRound{{Round: id, Token: 1, Attempt: 1}}
	first, err := settlement.WebhookID("north", rounds)
	if err != nil {
		t.Fatal(err)
	}
	rounds[0].Token, rounds[0].Attempt = 2, 2
	if again, err := settlement.WebhookID("north", rounds); err != nil || again != first {
		t.Errorf("%q after a crash, before %q: %v", again, first, err)
	}
	if other, err := settlement.WebhookID("south", rounds); err != nil || other == first {
		t.Errorf("%q for another operator: %v", other, err)
	}
}

// A batch that is refused for ever holds back its own player alone.
func TestARefusedBatchHoldsBackNobodyElse(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBooks()
		stuck := b.settle(player("north", "stuck"), 0).Round.String()
		r := newReceiver(t, func(_ int, ids []string) (int, error) {
			if slices.Contains(ids, stuck) {
				return 422, nil
			}
			return 200, nil
		})
		done := make(chan struct{})
		go func() {
			deliver(t, b, r, "a", 30*time.Minute)
			close(done)
		}()
		time.Sleep(time.Minute)
		for i := range 20 {
			b.settle(player("north", fmt.Sprint("p", i)), 0)
		}
		time.Sleep(time.Minute)
		if left := b.unbooked("north"); len(left) != 1 {
			t.Errorf("left are %v", left)
		}
		<-done
	})
}

// A process that ends gives back what it still held: another delivers it at once,
// and not when the lease has ended.
func TestAProcessThatEndsGivesItsBatchesBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBooks()
		n := settleSome(b)
		refuses := newReceiver(t, func(int, []string) (int, error) { return 503, nil })
		deliver(t, b, refuses, "a", 30*time.Second)
		takes := newReceiver(t, func(int, []string) (int, error) { return 200, nil })
		deliver(t, b, takes, "b", 5*time.Second)
		if refuses.attempts == 0 || len(takes.booked) != n {
			t.Errorf("after %d refusals %d of %d were booked", refuses.attempts, len(takes.booked), n)
		}
	})
}

// What the wallet has rejected is for a person to look at. What was claimed in
// vain too often is delivered again.
func TestARejectedSettlementIsNotDeliveredAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBooks()
		rejected, given := b.settle(player("north", "alice"), 0), b.settle(player("north", "bob"), 0)
		for _, a := range []ledger.Ack{{Round: rejected.Round, Rejected: true, Reason: "the account is closed"}, {Round: given.Round, Rejected: true, Reason: "attempts"}} {
			if _, err := b.Acknowledge(t.Context(), "north", []ledger.Ack{a}); err != nil {
				t.Fatal(err)
			}
		}
		r := newReceiver(t, func(int, []string) (int, error) { return 200, nil })
		deliver(t, b, r, "a", 5*time.Minute)
		if len(r.booked) != 1 || len(r.booked[given.Round.String()]) != 1 {
			t.Errorf("booked %v, want %s alone", r.booked, given.Round)
		}
	})
}

func TestCallbackGoesNowhereElse(t *testing.T) {
	var elsewhere int
	other := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { elsewhere++ }))
	defer other.Close()
	first := httptest.NewServer(http.RedirectHandler(other.URL, http.StatusTemporaryRedirect))
	defer first.Close()
	res, err := settlement.NewCallbackClient().Post(first.URL, "application/json", strings.NewReader("{}"))
	if err != nil || res.StatusCode != http.StatusTemporaryRedirect || elsewhere != 0 {
		t.Errorf("%v, %v, followed %d times", res, err, elsewhere)
	}
	if err == nil {
		_ = res.Body.Close()
	}
}
