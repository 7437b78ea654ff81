package main

import (
	"bytes"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/openoriginals/originals/internal/auth"
	"github.com/openoriginals/originals/internal/testenv"
	originalsv1 "github.com/openoriginals/originals/proto/originals/v1"
)

// TestCallbackReachesTheOperator plays a round of an operator who wants
// callbacks, and checks the signature as a wallet does.
func TestCallbackReachesTheOperator(t *testing.T) {
	key := bytes.Repeat([]byte{7}, 32)
	type call struct {
		headers http.Header
		body    string
	}
	calls := make(chan call, 100)
	receiver := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		calls <- call{r.Header, string(body)}
	}))
	defer receiver.Close()

	s := newSite(t, testenv.Redis(t).URL())
	dir := t.TempDir()
	secret, public, house := filepath.Join(dir, "a.whsec"), filepath.Join(dir, "a.pem"), filepath.Join(dir, "house.yaml")
	for file, text := range map[string]string{
		secret: "whsec_" + base64.StdEncoding.EncodeToString(key) + "\n",
		house:  fmt.Sprintf("operators:\n  - name: demo\n    keys: [{file: %s}]\n    callback: {url: %q, secretFiles: [%s]}\n", public, receiver.URL, secret),
	} {
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	keyPair(t, public, "demo")
	address := testenv.FreeAddr(t)
	s.serve(address, append([]string{
		"--http", address, "--grpc", testenv.FreeAddr(t), "--dev-key", s.devKey, "--config", house, "--log-level", "warn",
	}, s.storeFlags()...)...)

	alice := s.session("alice")
	alice.rotate(t.Context())
	round := new(originalsv1.Round)
	if err := alice.player.Post(t.Context(), "/v1/dice/bets", &originalsv1.DiceServicePlaceBetRequest{
		BetId: "x", SeedPairId: alice.current(), Stake: fun(100), Target: 5000, Direction: originalsv1.Dice_OVER,
	}, round); err != nil {
		t.Fatal(err)
	}
	select {
	case c := <-calls:
		mac := hmac.New(sha256.New, key)
		fmt.Fprintf(mac, "%s.%s.%s", c.headers.Get("webhook-id"), c.headers.Get("webhook-timestamp"), c.body)
		want := "v1," + base64.StdEncoding.EncodeToString(mac.Sum(nil))
		if c.headers.Get("webhook-signature") != want || !strings.Contains(c.body, round.GetRoundId()) {
			t.Errorf("%v\n%s\nwant the signature %s", c.headers, c.body, want)
		}
	case <-time.After(20 * time.Second):
		t.Fatal("no callback came")
	}
	access := []string{"--url", s.gateways[0], "--token", s.tokenOf("wallet", auth.Wallet)}
	for deadline := time.Now().Add(10 * time.Second); ; time.Sleep(50 * time.Millisecond) {
		_, out, _ := testenv.Run(t, nil, slices.Concat([]string{"wallet", "settlement", "--settlement", round.GetRoundId()}, access)...)
		if strings.Contains(out, "msg_") {
			break
		}
		if time.Now().After(deadline) {
			t.Fatalf("the settlement is not acknowledged:\n%s", out)
		}
	}
}
