package beacon

import (
	"context"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
)

// DrandURLs are the public relays of drand.
var DrandURLs = []string{"https://api.drand.sh", "https://api2.drand.sh", "https://api3.drand.sh", "https://drand.cloudflare.com"}

// maxAnswer bounds what is read of an answer: a round takes some 250 bytes.
const maxAnswer = 4 << 10

// Client fetches rounds over HTTP from relays. None of them is trusted: a forged signature is ErrSignature. It is safe
// for concurrent use.
type Client struct {
	network *Network
	urls    []string
	http    *http.Client
}

// NewClient returns a Client that asks the relays in this order until one answers. The caller's http.Client bounds the
// time of one request.
func NewClient(n *Network, urls []string, c *http.Client) *Client { return &Client{n, urls, c} }

// Network returns the network whose rounds these are.
func (c *Client) Network() *Network { return c.network }

// Fetch implements Source.
func (c *Client) Fetch(ctx context.Context, round uint64) (Entry, error) {
	var errs []error
	for _, url := range c.urls {
		entry, err := c.ask(ctx, url, round)
		if err == nil {
			return entry, nil
		}
		errs = append(errs, fmt.Errorf("%s: %w", url, err))
		if ctx.Err() != nil {
			break
		}
	}
	return Entry{}, errors.Join(errs...)
}

func (c *Client) ask(ctx context.Context, url string, round uint64) (Entry, error) {
	address := fmt.Sprintf("%s/%s/public/%d", strings.TrimSuffix(url, "/"), c.network.hash, round)
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return Entry{}, err
	}
	answer, err := c.http.Do(request)
	if err != nil {
		return Entry{}, err
	}
	defer answer.Body.Close()
	switch answer.StatusCode {
	case http.StatusOK:
	case http.StatusNotFound, http.StatusTooEarly:
		return Entry{}, ErrUnpublished
	default:
		return Entry{}, fmt.Errorf("beacon: answered %s", answer.Status)
	}
	body, err := io.ReadAll(io.LimitReader(answer.Body, maxAnswer))
	if err != nil {
		return Entry{}, err
	}
	return c.network.parse(body, round)
}

// parse reads a relay's answer and believes none of it that the signature does not prove.
func (n *Network) parse(body []byte, round uint64) (Entry, error) {
	var answer struct {
		Round     uint64 `json:"round"`
		Signature string `json:"signature"`
	}
	if err := json.Unmarshal(body, &answer); err != nil {
		return Entry{}, fmt.Errorf("beacon: %w", err)
	}
	if answer.Round != round {
		return Entry{}, fmt.Errorf("beacon: asked for round %d and got %d", round, answer.Round)
	}
	signature, err := hex.DecodeString(answer.Signature)
	if err != nil {
		return Entry{}, ErrSignature
	}
	randomness, err := n.Verify(round, signature)
	if err != nil {
		return Entry{}, err
	}
	return Entry{round, signature, randomness}, nil
}
