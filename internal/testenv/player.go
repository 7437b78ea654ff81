package testenv

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"sync/atomic"
	"time"

	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"

	"github.com/openoriginals/originals/internal/reason"
)

// playerTimeout is above every timeout of a server, so that a call that the
// player gives up is no longer at work anywhere.
const playerTimeout = 20 * time.Second

// Player calls the REST API as one player, by turns at one gateway or several.
// It is safe for concurrent use.
type Player struct {
	token string
	urls  []string
	turn  atomic.Uint64
	http  *http.Client

	timeout time.Duration // told to the gateway; 0 for its own
}

// NewPlayer returns the player whom a token names.
func NewPlayer(token string, urls ...string) *Player {
	return &Player{token: token, urls: urls, http: &http.Client{
		Timeout:   playerTimeout,
		Transport: &http.Transport{MaxIdleConnsPerHost: 64},
	}}
}

// WithTimeout returns the same player, who tells the gateway how long each call
// may take, in whole milliseconds.
func (p *Player) WithTimeout(d time.Duration) *Player {
	return &Player{token: p.token, urls: p.urls, http: p.http, timeout: d}
}

// Close ends idle connections.
func (p *Player) Close() { p.http.CloseIdleConnections() }

// Refusal is an answer that is not of status 200.
type Refusal struct {
	Status   int // of HTTP
	Reason   reason.Reason
	Message  string
	Metadata map[string]string
}

// Error returns status, reason and message.
func (r *Refusal) Error() string {
	return fmt.Sprintf("%d %s: %s %v", r.Status, r.Reason, r.Message, r.Metadata)
}

// Refused returns the reason of a refusal; empty for any other error and for
// none.
func Refused(err error) reason.Reason {
	var r *Refusal
	if errors.As(err, &r) {
		return r.Reason
	}
	return ""
}

// Definite reports whether there is no use in a repeat: the call surely had no
// effect, or it met a fault of the system, which is not to be hidden by one.
func Definite(err error) bool {
	var r *Refusal
	return errors.As(err, &r) && (r.Reason.Known() || r.Status == http.StatusInternalServerError)
}

// Get reads an answer.
func (p *Player) Get(ctx context.Context, path string, answer proto.Message) error {
	text, err := p.Do(ctx, http.MethodGet, path, nil)
	if err != nil {
		return err
	}
	return protojson.Unmarshal(text, answer)
}

// Post sends a request and reads its answer.
func (p *Player) Post(ctx context.Context, path string, request, answer proto.Message) error {
	body, err := protojson.Marshal(request)
	if err != nil {
		return err
	}
	text, err := p.Do(ctx, http.MethodPost, path, body)
	if err != nil {
		return err
	}
	return protojson.Unmarshal(text, answer)
}

// Insist posts until an answer is definite, and reports how many were not. It
// gives up when ctx ends.
func (p *Player) Insist(ctx context.Context, path string, request, answer proto.Message) (unknown int, err error) {
	for {
		proto.Reset(answer)
		err = p.Post(ctx, path, request, answer)
		if err == nil || Definite(err) || ctx.Err() != nil {
			return unknown, err
		}
		unknown++
		time.Sleep(time.Duration(min(unknown, 10)) * 10 * time.Millisecond)
	}
}

// Do makes a call and returns the body of its answer.
func (p *Player) Do(ctx context.Context, method, path string, body []byte) ([]byte, error) {
	url := p.urls[p.turn.Add(1)%uint64(len(p.urls))]
	req, err := http.NewRequestWithContext(ctx, method, url+path, bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	req.Header.Set("Authorization", "Bearer "+p.token)
	req.Header.Set("Content-Type", "application/json")
	if p.timeout > 0 {
		req.Header.Set("Grpc-Timeout", fmt.Sprintf("%dm", p.timeout.Milliseconds()))
	}
	res, err := p.http.Do(req)
	if err != nil {
		return nil, err
	}
	defer res.Body.Close()
	text, err := io.ReadAll(res.Body)
	if err != nil {
		return nil, err
	}
	if res.StatusCode != http.StatusOK {
		return nil, readRefusal(res.StatusCode, text)
	}
	return text, nil
}

func readRefusal(status int, text []byte) error {
	var body struct {
		Message string
		Details []struct {
			Reason   reason.Reason
			Metadata map[string]string
		}
	}
	if err := json.Unmarshal(text, &body); err != nil || len(body.Details) != 1 {
		return fmt.Errorf("status %d with a body that is no refusal: %q", status, text)
	}
	return &Refusal{status, body.Details[0].Reason, body.Message, body.Details[0].Metadata}
}
