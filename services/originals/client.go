package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/urfave/cli/v3"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"
)

// client calls the public REST API as a front end does.
type client struct {
	url, token string
	http       *http.Client
}

func newClient(url, token string) *client {
	return &client{url: strings.TrimSuffix(url, "/"), token: token, http: &http.Client{Timeout: 30 * time.Second}}
}

// urlFlag is where a command finds the REST API.
func urlFlag(usage string) *cli.StringFlag {
	return &cli.StringFlag{Name: "url", Value: "http://127.0.0.1:8080", Sources: env("URL"), Validator: validURL, Usage: usage}
}

func validURL(text string) error {
	if u, err := url.Parse(text); err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" {
		return errors.New("must be such as http://127.0.0.1:8080")
	}
	return nil
}

// apiError is a refusal of the API.
type apiError struct {
	Message string `json:"message"`
	Details []struct {
		Reason   string            `json:"reason"`
		Metadata map[string]string `json:"metadata"`
	} `json:"details"`
	status int
}

func (e *apiError) Error() string {
	if len(e.Details) == 0 {
		return fmt.Sprintf("HTTP status %d: %s", e.status, e.Message)
	}
	return e.Details[0].Reason + ": " + e.Message
}

func (c *client) get(ctx context.Context, path string, answer proto.Message) error {
	return c.call(ctx, http.MethodGet, path, nil, answer)
}

func (c *client) post(ctx context.Context, path string, body, answer proto.Message) error {
	text, err := protojson.Marshal(body)
	if err != nil {
		return err
	}
	return c.call(ctx, http.MethodPost, path, text, answer)
}

func (c *client) call(ctx context.Context, method, path string, body []byte, answer proto.Message) error {
	res, err := c.do(ctx, method, path, body)
	if err != nil {
		return err
	}
	defer res.Body.Close()
	text, err := io.ReadAll(res.Body)
	if err != nil {
		return err
	}
	return protojson.Unmarshal(text, answer)
}

// do returns an answer of status 200; its body is the caller's to close.
func (c *client) do(ctx context.Context, method, path string, body []byte) (*http.Response, error) {
	req, err := http.NewRequestWithContext(ctx, method, c.url+path, bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	req.Header.Set("Authorization", "Bearer "+c.token)
	req.Header.Set("Content-Type", "application/json")
	res, err := c.http.Do(req)
	if err != nil {
		return nil, err
	}
	if res.StatusCode == http.StatusOK {
		return res, nil
	}
	defer res.Body.Close()
	refusal := &apiError{status: res.StatusCode}
	if err := json.NewDecoder(io.LimitReader(res.Body, 1<<20)).Decode(refusal); err != nil {
		return nil, fmt.Errorf("HTTP status %d", res.StatusCode)
	}
	return nil, refusal
}
