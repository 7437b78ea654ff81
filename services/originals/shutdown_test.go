package main

import (
	"bytes"
	"context"
	"io"
	"math/rand/v2"
	"net/http"
	"net/http/httptrace"
	"strings"
	"sync"
	"testing"
	"time"

	"google.golang.org/protobuf/encoding/protojson"

	"github.com/openoriginals/originals/internal/testenv"
	originalsv1 "github.com/openoriginals/originals/proto/originals/v1"
)

// callInFlight is a bet that a server works on.
type callInFlight struct {
	begun  chan struct{} // closed when the server has asked for the body
	status int
	body   []byte
	err    error
}

// start sends a bet over a connection of its own. The server asks for the body
// once a handler reads it, so that nothing has to be guessed.
func (c *callInFlight) start(url, token string, b wager) {
	text, err := protojson.Marshal(b.request)
	if err != nil {
		c.err = err
		return
	}
	var once sync.Once
	trace := &httptrace.ClientTrace{Got100Continue: func() { once.Do(func() { close(c.begun) }) }}
	req, err := http.NewRequestWithContext(httptrace.WithClientTrace(context.Background(), trace), http.MethodPost, url+b.path, bytes.NewReader(text))
	if err != nil {
		c.err = err
		return
	}
	req.Header = http.Header{
		"Authorization": {"Bearer " + token}, "Content-Type": {"application/json"}, "Expect": {"100-continue"},
	}
	client := &http.Client{Timeout: 30 * time.Second, Transport: &http.Transport{DisableKeepAlives: true, ExpectContinueTimeout: 30 * time.Second}}
	res, err := client.Do(req)
	if err != nil {
		c.err = err
		return
	}
	defer res.Body.Close()
	c.status = res.StatusCode
	c.body, c.err = io.ReadAll(res.Body)
}

// TestInMemoryRoundLosesStakesOnDeploy ends a process in good order while
// calls are in flight: they are answered, and the exit status is 0.
func TestInMemoryRoundLosesStakesOnDeploy(t *testing.T) {
	redis := testenv.Redis(t)
	site := newSite(t, redis.URL())
	p := site.oneProcess()
	s := site.session("last-minute")
	s.rotate(t.Context())

	redis.Pause()
	random := rand.New(rand.NewPCG(1, 1))
	var all sync.WaitGroup
	var calls []*callInFlight
	for i := range 8 {
		b := s.newWager(random, []string{"dice", "limbo", "roulette"}[i%3])
		s.notSure(b)
		c := &callInFlight{begun: make(chan struct{})}
		calls = append(calls, c)
		token := site.token("last-minute")
		all.Go(func() { c.start(p.URL(), token, b) })
	}
	for _, c := range calls {
		select {
		case <-c.begun:
		case <-time.After(30 * time.Second):
			t.Fatalf("a call was not taken: %v", c.err)
		}
	}
	p.Terminate()
	awaitReadiness(t, p.URL(), false)
	redis.Resume()
	all.Wait()
	if status := p.Wait(); status != 0 {
		t.Errorf("exit status %d:\n%s", status, p.Stderr())
	}
	for _, c := range calls {
		round := new(originalsv1.Round)
		if c.err != nil || c.status != http.StatusOK || protojson.Unmarshal(c.body, round) != nil || round.GetState() != originalsv1.Round_SETTLED {
			t.Errorf("a call in flight was answered with %d %s, %v", c.status, c.body, c.err)
		}
	}
	if _, err := http.Get(p.URL() + "/healthz"); err == nil {
		t.Error("it still answers")
	}

	site.restart(p)
	if a := s.audit(grantUnits); len(a.rounds) != len(calls) {
		t.Errorf("%d rounds, want %d", len(a.rounds), len(calls))
	}
}

// TestCallsAreTakenWhileLoadBalancersNotice wants a process with --drain to say 503 at once and to go on taking new connections
// until it is over; without it, the balancer's next calls would be refused.
func TestCallsAreTakenWhileLoadBalancersNotice(t *testing.T) {
	const drain = 3 * time.Second
	p := testenv.Serve(t, "--http", "127.0.0.1:0", "--grpc", "127.0.0.1:0", "--drain", drain.String())
	p.AwaitReady(p.URL())
	told := time.Now()
	p.Terminate()
	awaitReadiness(t, p.URL(), false)
	for path, want := range map[string]int{"/readyz": http.StatusServiceUnavailable, "/healthz": http.StatusOK, "/v1/games": http.StatusOK} {
		res, err := (&http.Client{Transport: &http.Transport{DisableKeepAlives: true}}).Get(p.URL() + path)
		if err != nil {
			t.Fatalf("%s while it drains: %v", path, err)
		}
		_ = res.Body.Close()
		if res.StatusCode != want {
			t.Errorf("%s while it drains: %d, want %d", path, res.StatusCode, want)
		}
	}
	if status := p.Wait(); status != 0 {
		t.Errorf("exit status %d:\n%s", status, p.Stderr())
	}
	if took := time.Since(told); took < drain {
		t.Errorf("it ended after %v", took)
	}
}

// TestEveryRoleEndsInGoodOrder ends each role of an installation, the vault
// last.
func TestEveryRoleEndsInGoodOrder(t *testing.T) {
	site := newSite(t, testenv.Redis(t).URL())
	site.fourProcesses()
	s := site.session("closing")
	s.rotate(t.Context())
	if s.place(t.Context(), s.newWager(rand.New(rand.NewPCG(1, 1)), "mines")) == nil {
		t.Fatal("no bet was taken")
	}
	for i := len(site.processes) - 1; i >= 0; i-- {
		p := site.processes[i]
		p.Terminate()
		if status := p.Wait(); status != 0 {
			t.Errorf("%s: exit status %d:\n%s", p.Name(), status, p.Stderr())
		}
	}
}

// TestTheLogSaysWhenAProcessBeganAndEnded wants it said once each, in order.
func TestTheLogSaysWhenAProcessBeganAndEnded(t *testing.T) {
	p := testenv.Serve(t, "--http", "127.0.0.1:0", "--grpc", "127.0.0.1:0")
	p.AwaitReady(p.URL())
	p.Terminate()
	if status := p.Wait(); status != 0 {
		t.Errorf("exit status %d", status)
	}
	log, said := p.Stderr(), []string{`"message":"started"`, `"message":"ending`, `"message":"ended"`}
	at := -1
	for _, words := range said {
		i := strings.Index(log, words)
		if i <= at || strings.Count(log, words) != 1 {
			t.Errorf("%s is not said once, after what comes before it:\n%s", words, log)
		}
		at = i
	}
}
