package settlement

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/base32"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"

	"go.uber.org/zap"
	"google.golang.org/protobuf/encoding/protojson"

	"github.com/openoriginals/originals/internal/ledger"
)

// Bounds of callbacks.
const (
	callbackWorkers = 8                      // deliveries of one operator under way at once
	callbackBatch   = 100                    // settlements in one delivery
	callbackLease   = 60 * time.Second       // after a crash others wait that long
	callbackLook    = 500 * time.Millisecond // between two looks for new settlements
	callbackIdle    = 10 * time.Second       // then a claim is tried without news: leases end, too
	callbackRevive  = time.Minute
	callbackAnswer  = 64 << 10 // bytes of an answer that are read
	firstDelay      = time.Second
	lastDelay       = 5 * time.Minute
)

// Callback is where the settlements of an operator are pushed to.
type Callback struct {
	Operator string
	URL      string
	Secrets  []WebhookSecret // one, or two while they are exchanged
	Timeout  time.Duration   // of one delivery, at most 30 s
}

// CallbackOptions are the surroundings of callbacks.
type CallbackOptions struct {
	// Client makes the calls. It must not follow redirects: NewCallbackClient.
	Client *http.Client
	Now    func() time.Time
	// Instance tells this process from all others, at any time: up to 20 of a-z
	// and 0-9.
	Instance string
}

// NewCallbackClient returns a client that takes a redirect as the answer: where
// a delivery goes, the operator says in the configuration alone.
func NewCallbackClient() *http.Client {
	return &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
}

// Deliver pushes an operator's settlements until ctx ends: each claim is one
// signed POST by the Standard Webhooks specification, repeated with growing
// delay until it is answered with 2xx, and then acknowledged with the webhook's
// id as the wallet transaction. Several processes may deliver at once. A batch
// that is refused holds back its own players alone, as long as fewer than eight
// are.
func (s *Service) Deliver(ctx context.Context, c Callback, o CallbackOptions) {
	n := &news{changed: make(chan struct{})}
	var workers sync.WaitGroup
	workers.Go(func() { s.watchHeads(ctx, c.Operator, n) })
	workers.Go(func() { s.revive(ctx, c.Operator) })
	for i := range callbackWorkers {
		d := &delivery{s: s, c: c, o: o, news: n, name: fmt.Sprintf("cb-%s-%d", o.Instance, i)}
		workers.Go(func() { d.run(ctx) })
	}
	workers.Wait()
}

// news wakes those who wait for settlements.
type news struct {
	mu      sync.Mutex
	changed chan struct{} // closed, and replaced, by each change
}

func (n *news) next() <-chan struct{} {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.changed
}

func (n *news) tell() {
	n.mu.Lock()
	defer n.mu.Unlock()
	close(n.changed)
	n.changed = make(chan struct{})
}

// watchHeads wakes the workers when there are new settlements, so that they need
// not ask 64 partitions again and again.
func (s *Service) watchHeads(ctx context.Context, operator string, n *news) {
	var before heads
	for wait(ctx, callbackLook) {
		step, cancel := context.WithTimeout(ctx, stepTime)
		now, err := s.o.Store.Heads(step, operator)
		cancel()
		if err == nil && now != before {
			before = now
			n.tell()
		}
	}
}

// revive requeues what became a dead letter because it was claimed in vain too
// often: a callback is repeated until it is taken.
func (s *Service) revive(ctx context.Context, operator string) {
	for {
		for partition := range ledger.Partitions {
			step, cancel := context.WithTimeout(ctx, stepTime)
			s.revivePartition(step, operator, partition)
			cancel()
		}
		if !wait(ctx, callbackRevive) {
			return
		}
	}
}

func (s *Service) revivePartition(ctx context.Context, operator string, partition int) {
	for after := uint64(0); ; {
		dead, err := s.o.Store.Rejected(ctx, operator, partition, after, callbackBatch)
		if err != nil {
			return // the next round asks again
		}
		for _, r := range dead {
			after = r.Sequence
			if r.RejectReason == attemptsReason {
				_ = s.o.Store.Requeue(ctx, operator, r.Round) // gone is as good, and the next round asks again
			}
		}
		if len(dead) < callbackBatch {
			return
		}
	}
}

// attemptsReason is why a settlement is a dead letter that nobody rejected.
const attemptsReason = "attempts"

// delivery is one worker: one claim after the other.
type delivery struct {
	s    *Service
	c    Callback
	o    CallbackOptions
	news *news
	name string

	claims int
}

func (d *delivery) run(ctx context.Context) {
	for ctx.Err() == nil {
		changed := d.news.next()
		d.claims++
		claim := d.name + "-" + strconv.Itoa(d.claims)
		rounds, err := d.claim(ctx, claim)
		if err == nil && len(rounds) > 0 {
			d.push(ctx, claim, rounds)
			continue
		}
		d.idle(ctx, changed) // a store that does not answer is asked again, and shows in its own metrics
	}
}

func (d *delivery) idle(ctx context.Context, changed <-chan struct{}) {
	t := time.NewTimer(callbackIdle)
	defer t.Stop()
	select {
	case <-changed:
	case <-t.C:
	case <-ctx.Done():
	}
}

func (d *delivery) claim(ctx context.Context, id string) ([]ledger.SettledRound, error) {
	step, cancel, err := detached(ctx)
	if err != nil {
		return nil, err
	}
	defer cancel()
	return d.s.claim(step, ledger.Claim{
		Operator: d.c.Operator, ID: id, Consumer: "callback", Max: callbackBatch, Lease: callbackLease,
	})
}

// push delivers one batch until it is taken. It gives up when ctx ends or the
// claim is no longer its own: then the settlements are claimed again, by anyone.
func (d *delivery) push(ctx context.Context, claim string, rounds []ledger.SettledRound) {
	message, err := newWebhook(d.c.Operator, rounds, d.o.Now())
	if err != nil {
		d.s.o.Log.Error("a callback could not be written", zap.String("operator", d.c.Operator), zap.Error(err))
		wait(ctx, lastDelay)
		return
	}
	for attempt := 0; ; attempt++ {
		if d.post(ctx, message) {
			d.taken(ctx, message, rounds)
			return
		}
		if !d.hold(ctx, claim, message.delay(attempt)) {
			return
		}
	}
}

// hold waits, and keeps the claim meanwhile. It reports whether the claim is
// still held in full.
func (d *delivery) hold(ctx context.Context, claim string, delay time.Duration) bool {
	for {
		part := min(delay, callbackLease/3)
		if !wait(ctx, part) {
			d.release(ctx, claim)
			return false
		}
		held, err := d.extend(ctx, claim)
		if err != nil || held == 0 {
			return false
		}
		if delay -= part; delay <= 0 {
			return true
		}
	}
}

func (d *delivery) extend(ctx context.Context, claim string) (int, error) {
	step, cancel, err := detached(ctx)
	if err != nil {
		return 0, err
	}
	defer cancel()
	held, _, err := d.s.o.Store.Extend(step, d.c.Operator, claim, callbackLease)
	return held, err
}

// release lets others deliver at once what this process no longer will.
func (d *delivery) release(ctx context.Context, claim string) {
	step, cancel := context.WithTimeout(context.WithoutCancel(ctx), stepTime)
	defer cancel()
	if _, err := d.s.o.Store.Release(step, d.c.Operator, claim); err != nil {
		d.s.o.Log.Warn("a claim was not released and ends with its lease", zap.String("operator", d.c.Operator), zap.Error(err))
	}
}

// taken acknowledges a batch that was answered with 2xx, whatever ctx says.
func (d *delivery) taken(ctx context.Context, w webhook, rounds []ledger.SettledRound) {
	step, cancel := context.WithTimeout(context.WithoutCancel(ctx), stepTime)
	defer cancel()
	acks := make([]ledger.Ack, len(rounds))
	for i, r := range rounds {
		acks[i] = ledger.Ack{Round: r.Round, Token: r.Token, WalletTransaction: w.id}
	}
	if _, err := d.s.acknowledge(step, d.c.Operator, acks); err != nil {
		d.s.o.Log.Warn("a callback was taken and not acknowledged: it will be sent again",
			zap.String("operator", d.c.Operator), zap.String("webhook_id", w.id), zap.Error(err))
	}
}

// post makes one attempt and reports whether it was answered with 2xx.
func (d *delivery) post(ctx context.Context, w webhook) bool {
	ctx, cancel := context.WithTimeout(ctx, d.c.Timeout)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, d.c.URL, bytes.NewReader(w.body))
	if err != nil {
		d.s.o.Observer.CalledBack("failed")
		return false
	}
	w.sign(req.Header, d.c.Secrets, d.o.Now())
	res, err := d.o.Client.Do(req)
	if err != nil {
		d.s.o.Observer.CalledBack("failed")
		return false
	}
	_, _ = io.Copy(io.Discard, io.LimitReader(res.Body, callbackAnswer))
	_ = res.Body.Close()
	if res.StatusCode/100 != 2 {
		d.s.o.Observer.CalledBack("refused")
		return false
	}
	d.s.o.Observer.CalledBack("delivered")
	return true
}

// wait reports whether the time passed before ctx ended.
func wait(ctx context.Context, d time.Duration) bool {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return true
	case <-ctx.Done():
		return false
	}
}

// webhook is one message, the same at every attempt.
type webhook struct {
	id   string
	body []byte
}

// newWebhook writes the message of a batch. Its id follows from the operator and
// the settlements, so that a batch which is sent again after a crash has the same
// one.
func newWebhook(operator string, rounds []ledger.SettledRound, now time.Time) (webhook, error) {
	sum := sha256.New()
	fmt.Fprintf(sum, "%s\n", operator)
	list := make([]json.RawMessage, len(rounds))
	for i, r := range rounds {
		fmt.Fprintf(sum, "%s\n", r.Round)
		var err error
		if list[i], err = (protojson.MarshalOptions{EmitDefaultValues: true}).Marshal(settlement(r)); err != nil {
			return webhook{}, fmt.Errorf("settlement: callback: %w", err)
		}
	}
	type data struct {
		Settlements []json.RawMessage `json:"settlements"`
	}
	body, err := json.Marshal(struct {
		Type      string `json:"type"`
		Timestamp string `json:"timestamp"`
		Data      data   `json:"data"`
	}{"settlements", now.UTC().Format(time.RFC3339), data{list}})
	if err != nil {
		return webhook{}, fmt.Errorf("settlement: callback: %w", err)
	}
	id := base32.StdEncoding.WithPadding(base32.NoPadding).EncodeToString(sum.Sum(nil)[:15])
	return webhook{"msg_" + strings.ToLower(id), body}, nil
}

// delay returns how long to wait after an attempt, counted from 0: 1 s, doubling
// up to 5 minutes, of which up to a half is taken off so that batches do not come
// back together. What is taken off follows from the id: the same for each run.
func (w webhook) delay(attempt int) time.Duration {
	full := lastDelay
	if attempt < 9 {
		full = min(firstDelay<<attempt, lastDelay)
	}
	sum := sha256.Sum256(fmt.Appendf(nil, "%s %d", w.id, attempt))
	return full - time.Duration(binary.BigEndian.Uint16(sum[:2]))*(full/2)/(1<<16)
}

// sign sets the headers of the Standard Webhooks specification: the signature of
// each live secret is over id, timestamp and the body as it is sent.
func (w webhook) sign(h http.Header, secrets []WebhookSecret, now time.Time) {
	timestamp := strconv.FormatInt(now.Unix(), 10)
	signatures := make([]string, len(secrets))
	for i, s := range secrets {
		signatures[i] = s.sign(w.id, timestamp, w.body)
	}
	h.Set("Content-Type", "application/json")
	h.Set("Webhook-Id", w.id)
	h.Set("Webhook-Timestamp", timestamp)
	h.Set("Webhook-Signature", strings.Join(signatures, " "))
}

var errWebhookSecret = errors.New("settlement: a webhook secret is whsec_ and 24 to 64 bytes in base64")
