package walletcheck

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
	"os/exec"
	"strings"
	"sync"
	"time"
)

// child is a process of the wallet under test.
type child struct {
	command string
	listen  string
	env     []string
	output  *tail

	cmd  *exec.Cmd
	done chan struct{}
	http *http.Client
}

func newChild(command, dir, listen, url, grpcAddr, token string) *child {
	return &child{
		command: command, listen: listen, output: new(tail),
		env: []string{
			"ORIGINALS_URL=" + url, "ORIGINALS_GRPC=" + grpcAddr, "ORIGINALS_TOKEN=" + token,
			"WALLET_LISTEN=" + listen, "WALLET_DIR=" + dir,
		},
		http: &http.Client{Timeout: 10 * time.Second, Transport: &http.Transport{DisableKeepAlives: true}},
	}
}

// start starts the process. The wallet sees no other variable of ours.
func (c *child) start() error {
	c.cmd = exec.Command("/bin/sh", "-c", c.command)
	for _, v := range os.Environ() {
		if !strings.HasPrefix(v, "ORIGINALS_") && !strings.HasPrefix(v, "WALLET_") {
			c.cmd.Env = append(c.cmd.Env, v)
		}
	}
	c.cmd.Env = append(c.cmd.Env, c.env...)
	c.cmd.Stdout, c.cmd.Stderr = c.output, c.output
	c.cmd.WaitDelay = time.Second
	inOwnGroup(c.cmd)
	if err := c.cmd.Start(); err != nil {
		return fmt.Errorf("start of the wallet: %w", err)
	}
	c.done = make(chan struct{})
	cmd, done := c.cmd, c.done
	go func() {
		_ = cmd.Wait()
		close(done)
	}()
	return nil
}

// kill9 ends the process, and what it started, as a crash does.
func (c *child) kill9() {
	if c.cmd == nil || c.cmd.Process == nil {
		return
	}
	killGroup(c.cmd)
	<-c.done
}

func (c *child) setToken(token string) {
	for i, v := range c.env {
		if strings.HasPrefix(v, "ORIGINALS_TOKEN=") {
			c.env[i] = "ORIGINALS_TOKEN=" + token
		}
	}
}

var errChildEnded = errors.New("the wallet's process has ended")

// awaitHealthy waits until the wallet's face answers.
func (c *child) awaitHealthy(ctx context.Context) error {
	for {
		if err := c.get(ctx, "/healthz", nil); err == nil {
			return nil
		}
		select {
		case <-c.done:
			return fmt.Errorf("%w:\n%s", errChildEnded, c.output)
		case <-ctx.Done():
			return fmt.Errorf("GET /healthz was never answered with 200:\n%s", c.output)
		case <-time.After(5 * time.Millisecond):
		}
	}
}

func (c *child) get(ctx context.Context, path string, answer any) error {
	return c.call(ctx, http.MethodGet, path, nil, answer)
}

// order is the body of POST /deposit, /withdraw and /cancel.
type order struct {
	ID       string `json:"requestId"`
	Player   string `json:"playerId,omitempty"`
	Currency string `json:"currency,omitempty"`
	Amount   string `json:"amount,omitempty"`
}

func (c *child) post(ctx context.Context, path string, o order) error {
	body, err := json.Marshal(o)
	if err != nil {
		return err
	}
	return c.call(ctx, http.MethodPost, path, body, nil)
}

// statusError is an answer of the wallet's face that is not 200.
type statusError struct {
	status int
	text   string
}

func (e *statusError) Error() string { return fmt.Sprintf("HTTP status %d: %.200s", e.status, e.text) }

func (c *child) call(ctx context.Context, method, path string, body []byte, answer any) error {
	req, err := http.NewRequestWithContext(ctx, method, "http://"+c.listen+path, bytes.NewReader(body))
	if err != nil {
		return err
	}
	req.Header.Set("Content-Type", "application/json")
	res, err := c.http.Do(req)
	if err != nil {
		return err
	}
	defer res.Body.Close()
	text, err := io.ReadAll(res.Body)
	if err != nil {
		return err
	}
	if res.StatusCode != http.StatusOK {
		return &statusError{res.StatusCode, string(text)}
	}
	if answer == nil {
		return nil
	}
	return json.Unmarshal(text, answer)
}

// books is the answer of GET /books.
type books struct {
	Accounts []struct {
		Player   string `json:"playerId"`
		Currency string `json:"currency"`
		Wallet   int64  `json:"walletAmount,string"`
		Transit  int64  `json:"transitAmount,string"`
		Game     int64  `json:"gameAmount,string"`
		Bookings int    `json:"bookings"`
	} `json:"accounts"`
	Alarms []struct {
		Subject string `json:"subject"`
		Cause   string `json:"cause"`
	} `json:"alarms"`
	Bookings []struct {
		Settlement  string `json:"settlementId"`
		Transaction string `json:"walletTransactionId"`
		Amount      int64  `json:"amount,string"`
	} `json:"bookings"`
}

// tail keeps the last of what a process prints.
type tail struct {
	mu   sync.Mutex
	text []byte
}

// Write appends, and forgets what is far back.
func (t *tail) Write(b []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.text = append(t.text, b...)
	t.text = t.text[max(0, len(t.text)-4000):]
	return len(b), nil
}

// String returns what is kept.
func (t *tail) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return string(t.text)
}

// ports are those that wallets and platforms listen at. They are below those that
// the kernel gives to clients, so that one stays free while its owner is away.
var ports = struct {
	sync.Mutex
	next int
}{next: 12000 + os.Getpid()%80*100}

func freeAddr() (string, error) {
	ports.Lock()
	defer ports.Unlock()
	for range 8000 {
		if ports.next++; ports.next >= 20000 {
			ports.next = 12000
		}
		addr := fmt.Sprintf("127.0.0.1:%d", ports.next)
		if l, err := net.Listen("tcp", addr); err == nil {
			return addr, l.Close()
		}
	}
	return "", errors.New("no free port")
}
