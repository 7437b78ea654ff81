package refwallet

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"
)

// maxAnswer bounds what is read of an answer, in bytes: 500 settlements are
// some 300 KB.
const maxAnswer = 16 << 20

// refusal is an answer of the platform that says no.
type refusal struct {
	status int
	reason string
}

func (r *refusal) Error() string { return fmt.Sprintf("HTTP status %d, reason %q", r.status, r.reason) }

// reasonOf returns the reason of a refusal; empty when err is anything else,
// so that nothing is known.
func reasonOf(err error) string {
	var r *refusal
	if errors.As(err, &r) {
		return r.reason
	}
	return ""
}

// platform calls the Wallet API. Each method makes one call, and repeats
// nothing.
type platform struct {
	url, token string
	http       *http.Client
}

func (p *platform) claim(ctx context.Context, c claimRequest) (page settlementPage, err error) {
	err = p.post(ctx, "/v1/wallet/settlements:claim", c, &page)
	return page, err
}

func (p *platform) list(ctx context.Context, partition int, after int64) (page settlementPage, err error) {
	query := url.Values{
		"partition": {strconv.Itoa(partition)}, "afterSequence": {strconv.FormatInt(after, 10)}, "pageSize": {"200"},
	}
	err = p.call(ctx, http.MethodGet, "/v1/wallet/settlements?"+query.Encode(), nil, &page)
	return page, err
}

func (p *platform) acknowledge(ctx context.Context, items []acknowledgement) (answer acknowledgeAnswer, err error) {
	err = p.post(ctx, "/v1/wallet/settlements:acknowledge", acknowledgeRequest{items}, &answer)
	return answer, err
}

func (p *platform) transfer(ctx context.Context, t transferRequest) (answer transferAnswer, err error) {
	err = p.post(ctx, "/v1/wallet/transfers", t, &answer)
	return answer, err
}

func (p *platform) cancel(ctx context.Context, id string) (answer transferAnswer, err error) {
	err = p.post(ctx, "/v1/wallet/transfers/"+url.PathEscape(id)+":cancel", struct{}{}, &answer)
	return answer, err
}

func (p *platform) post(ctx context.Context, path string, request, answer any) error {
	body, err := json.Marshal(request)
	if err != nil {
		return err
	}
	return p.call(ctx, http.MethodPost, path, body, answer)
}

// call returns nil only when the whole answer of status 200 was read and
// understood. Any other error than a refusal with a reason says nothing about
// what the platform did.
func (p *platform) call(ctx context.Context, method, path string, body []byte, answer any) error {
	req, err := http.NewRequestWithContext(ctx, method, strings.TrimSuffix(p.url, "/")+path, bytes.NewReader(body))
	if err != nil {
		return err
	}
	req.Header.Set("Authorization", "Bearer "+p.token)
	req.Header.Set("Content-Type", "application/json")
	req.GetBody = nil // the transport repeats nothing by itself either
	res, err := p.http.Do(req)
	if err != nil {
		return err
	}
	defer res.Body.Close()
	text, err := io.ReadAll(io.LimitReader(res.Body, maxAnswer))
	if err != nil {
		return err
	}
	if res.StatusCode != http.StatusOK {
		return readRefusal(res.StatusCode, text)
	}
	if err := json.Unmarshal(text, answer); err != nil {
		return fmt.Errorf("answer of %s: %w", path, err)
	}
	return nil
}

func readRefusal(status int, text []byte) error {
	var body struct {
		Details []struct {
			Reason string `json:"reason"`
		} `json:"details"`
	}
	r := &refusal{status: status}
	if err := json.Unmarshal(text, &body); err == nil && len(body.Details) > 0 {
		r.reason = body.Details[0].Reason
	}
	return r
}
