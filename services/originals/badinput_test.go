package main

import (
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"

	"github.com/openoriginals/originals/internal/auth"
	"github.com/openoriginals/originals/internal/reason"
	originalsv1 "github.com/openoriginals/originals/proto/originals/v1"
)

// refusal reads the reason and the field of an error.
func refusal(t *testing.T, text string) (reason.Reason, string) {
	t.Helper()
	var body struct {
		Details []struct {
			Reason, Domain string
			Metadata       map[string]string
		}
	}
	if err := json.Unmarshal([]byte(text), &body); err != nil || len(body.Details) != 1 || body.Details[0].Domain != "originals" {
		t.Errorf("no ErrorInfo in %.300s", text)
		return "", ""
	}
	return reason.Reason(body.Details[0].Reason), body.Details[0].Metadata["field"]
}

// bad is a request with one fault.
type bad struct{ name, method, path, body, field string }

// playing is an all-in-one whose player has an active pair, a settled bet and
// an open mines round.
func playing(t *testing.T) (a *allInOne, round string) {
	t.Helper()
	a = startAllInOne(t, func(*settings) {}, nil)
	a.rotate()
	var settled, open originalsv1.Round
	a.call("POST", "/v1/dice/bets", diceBody(a.pair), &settled)
	a.call("POST", "/v1/mines/rounds", minesBody(a.pair), &open)
	return a, open.GetRoundId()
}

func TestBadInputOverREST(t *testing.T) {
	a, round := playing(t)
	all := append(everyGame(t, a.pair), eachGame(t, a.pair, round)...)
	all = append(all, seedsAndLists(a.next)...)
	if len(all) < 500 {
		t.Fatalf("%d cases", len(all))
	}
	before := a.state()
	for _, c := range all {
		code, text := a.send(c.method, c.path, c.body)
		why, field := refusal(t, text)
		if code != http.StatusBadRequest || why != reason.InvalidField || field == "" || c.field != "*" && field != c.field {
			t.Errorf("%s %s, %s: %d %s, field %q, want %q\nbody %.200s", c.method, c.path, c.name, code, why, field, c.field, c.body)
		}
	}
	if after := a.state(); after != before {
		t.Errorf("bad input had an effect:\n%s\n%s", before, after)
	}
	var next originalsv1.Round
	a.call("POST", "/v1/dice/bets", diceBody(a.pair), &next)
	if next.GetNonce() != 2 {
		t.Errorf("the next nonce is %d, want 2", next.GetNonce())
	}
}

func TestBadInputOverGRPC(t *testing.T) {
	a, round := playing(t)
	dice, limbo := originalsv1.NewDiceServiceClient(a.grpc), originalsv1.NewLimboServiceClient(a.grpc)
	roulette, mines := originalsv1.NewRouletteServiceClient(a.grpc), originalsv1.NewMinesServiceClient(a.grpc)
	pairs, rounds := originalsv1.NewSeedPairServiceClient(a.grpc), originalsv1.NewRoundServiceClient(a.grpc)
	type request = originalsv1.DiceServicePlaceBetRequest
	diceWith := func(change func(*request)) func() error {
		return func() error {
			q := &request{BetId: freshID(), SeedPairId: a.pair, Stake: &originalsv1.Money{Currency: "FUN", Amount: 100}, Target: 5000, Direction: originalsv1.Dice_UNDER}
			change(q)
			_, err := dice.PlaceBet(a.ctx, q)
			return err
		}
	}
	chip := func(c *originalsv1.Chip, more ...*originalsv1.Chip) func() error {
		return func() error {
			_, err := roulette.PlaceBet(a.ctx, &originalsv1.RouletteServicePlaceBetRequest{BetId: freshID(), SeedPairId: a.pair, Currency: "FUN", Chips: append(more, c)})
			return err
		}
	}
	pick := func(id string, tile *uint32) func() error {
		return func() error {
			_, err := mines.Pick(a.ctx, &originalsv1.PickRequest{RoundId: id, Tile: tile})
			return err
		}
	}
	rotate := func(clientSeed, commitment string) func() error {
		return func() error {
			_, err := pairs.RotateSeedPair(a.ctx, &originalsv1.RotateSeedPairRequest{ClientSeed: clientSeed, NextCommitment: commitment})
			return err
		}
	}
	list := func(q *originalsv1.ListRoundsRequest) func() error {
		return func() error { _, err := rounds.ListRounds(a.ctx, q); return err }
	}
	number := func(n uint32) *uint32 { return &n }
	page := func(n int32) *int32 { return &n }
	type call struct {
		field string
		send  func() error
	}
	all := []call{
		{"stake", diceWith(func(q *request) { q.Stake = nil })},
		{"currency", diceWith(func(q *request) { q.Stake = &originalsv1.Money{} })},
		{"currency", diceWith(func(q *request) { q.Stake.Currency = "DOGE" })},
		{"currency", diceWith(func(q *request) { q.Stake.Currency = "fun" })},
		{"currency", diceWith(func(q *request) { q.Stake.Currency = strings.Repeat("F", 4000) })},
		{"direction", diceWith(func(q *request) { q.Direction = 0 })},
		{"direction", diceWith(func(q *request) { q.Direction = 3 })},
		{"direction", diceWith(func(q *request) { q.Direction = -1 })},
		{"target", diceWith(func(q *request) { q.Target = 0 })},
		{"target", diceWith(func(q *request) { q.Target = 1<<32 - 1 })},
		{"amount", chip(&originalsv1.Chip{Kind: originalsv1.Chip_RED, Amount: -1})},
		{"amount", chip(&originalsv1.Chip{Kind: originalsv1.Chip_RED})},
		{"amount", chip(&originalsv1.Chip{Kind: originalsv1.Chip_RED, Amount: 1 << 53})},
		{"amount", chip(&originalsv1.Chip{Kind: originalsv1.Chip_RED, Amount: 1<<63 - 1}, &originalsv1.Chip{Kind: originalsv1.Chip_ODD, Amount: 1<<63 - 1})},
		{"kind", chip(&originalsv1.Chip{Amount: 5})},
		{"kind", chip(&originalsv1.Chip{Kind: 16, Amount: 5})},
		{"kind", chip(&originalsv1.Chip{Kind: 256 + 10, Amount: 5})},
		{"numbers", chip(&originalsv1.Chip{Kind: originalsv1.Chip_STRAIGHT, Numbers: []uint32{256 + 7}, Amount: 5})},
		{"numbers", chip(&originalsv1.Chip{Kind: originalsv1.Chip_RED, Numbers: []uint32{1}, Amount: 5})},
		{"numbers", chip(&originalsv1.Chip{Kind: originalsv1.Chip_SPLIT, Numbers: []uint32{2, 1}, Amount: 5})},
		{"numbers", chip(&originalsv1.Chip{Kind: originalsv1.Chip_SPLIT, Numbers: make([]uint32, 5000), Amount: 5})},
		{"tile", pick(round, nil)},
		{"tile", pick(round, number(25))},
		{"tile", pick(round, number(256))},
		{"tile", pick(round, number(1<<32-1))},
		{"roundId", pick("", number(1))},
		{"roundId", pick("UPPER", number(1))},
		{"roundId", pick(strings.Repeat("a", 65), number(1))},
		{"nextCommitment", rotate("x", strings.ToUpper(a.next))},
		{"nextCommitment", rotate("x", "")},
		{"pageSize", list(&originalsv1.ListRoundsRequest{PageSize: page(0)})},
		{"pageSize", list(&originalsv1.ListRoundsRequest{PageSize: page(-1 << 31)})},
		{"pageToken", list(&originalsv1.ListRoundsRequest{PageToken: "\x00"})},
		{"game", list(&originalsv1.ListRoundsRequest{Game: 6})},
		{"state", list(&originalsv1.ListRoundsRequest{State: 4})},
		{"targetE2", func() error {
			_, err := limbo.PlaceBet(a.ctx, &originalsv1.LimboServicePlaceBetRequest{BetId: freshID(), SeedPairId: a.pair, Stake: &originalsv1.Money{Currency: "FUN", Amount: 100}})
			return err
		}},
		{"mineCount", func() error {
			_, err := mines.StartRound(a.ctx, &originalsv1.StartRoundRequest{BetId: freshID(), SeedPairId: a.pair, Stake: &originalsv1.Money{Currency: "FUN", Amount: 100}, MineCount: 256 + 3})
			return err
		}},
		{"seedPairId", func() error {
			_, err := pairs.GetSeedPairById(a.ctx, &originalsv1.GetSeedPairByIdRequest{})
			return err
		}},
	}
	for _, amount := range []int64{0, -1, -1 << 63, 1 << 53, 1<<63 - 1} {
		all = append(all, call{"amount", diceWith(func(q *request) { q.Stake.Amount = amount })})
	}
	for _, id := range []string{"", " ", "a b", "ä", "a\n", "a\x00", "{p1}", strings.Repeat("a", 41)} {
		all = append(all, call{"betId", diceWith(func(q *request) { q.BetId = id })}, call{"seedPairId", diceWith(func(q *request) { q.SeedPairId = "A" + id })})
	}
	for _, clientSeed := range []string{"", " ", "a b", "a\n", "\x7f", "\x1f", "\x00", "é", "😀", strings.Repeat("x", 65), strings.Repeat("x", 60000)} {
		all = append(all, call{"clientSeed", rotate(clientSeed, a.next)})
	}
	before := a.state()
	for i, c := range all {
		err := c.send()
		e, ok := reason.From(err)
		if status.Code(err) != codes.InvalidArgument || !ok || e.Reason != reason.InvalidField || e.Metadata["field"] != c.field {
			t.Errorf("case %d: %v, %+v; want field %s", i, err, e, c.field)
		}
	}
	if _, err := pairs.RotateSeedPair(a.ctx, &originalsv1.RotateSeedPairRequest{ClientSeed: strings.Repeat("x", 1<<20), NextCommitment: a.next}); status.Code(err) != codes.ResourceExhausted {
		t.Errorf("an oversized message: %v", err)
	}
	if after := a.state(); after != before {
		t.Errorf("bad input had an effect:\n%s\n%s", before, after)
	}
}

func TestMalformedExpiredAndForeignTokens(t *testing.T) {
	a, _ := playing(t)
	foreign, err := auth.NewDevKey("")
	if err != nil {
		t.Fatal(err)
	}
	stranger, err := foreign.Mint(auth.Identity{Subject: "alice", Role: auth.Player}, time.Hour, time.Now())
	if err != nil {
		t.Fatal(err)
	}
	old, err := a.p.devKey.Mint(auth.Identity{Subject: "alice", Role: auth.Player}, time.Minute, time.Now().Add(-time.Hour))
	if err != nil {
		t.Fatal(err)
	}
	parts := strings.Split(a.token, ".")
	none := "eyJhbGciOiJub25lIn0." + parts[1] + "."
	before := a.state()
	body := diceBody(a.pair)
	for name, authorization := range map[string]string{
		"none": "", "empty": "Bearer ", "no scheme": a.token, "basic": "Basic " + a.token, "garbage": "Bearer garbage", "cut": "Bearer " + a.token[:len(a.token)-5],
		"altered": "Bearer " + parts[0] + "." + parts[1][:10] + "A" + parts[1][11:] + "." + parts[2], "no signature": "Bearer " + parts[0] + "." + parts[1] + ".",
		"alg none": "Bearer " + none, "foreign key": "Bearer " + stranger, "expired": "Bearer " + old, "two": "Bearer " + a.token + " " + a.token,
		"huge": "Bearer " + strings.Repeat("a", 9<<10),
	} {
		t.Run(name, func(t *testing.T) {
			code, text := a.sendAs(authorization, "POST", "/v1/dice/bets", strings.NewReader(body))
			if why, _ := refusal(t, text); code != http.StatusUnauthorized || why != reason.TokenInvalid {
				t.Errorf("%d %s", code, text)
			}
			if len(authorization) > 20 && strings.Contains(text, authorization[len(authorization)-12:]) {
				t.Errorf("the answer repeats the token: %s", text)
			}
			ctx := t.Context()
			if authorization != "" {
				ctx = metadata.AppendToOutgoingContext(ctx, "authorization", authorization)
			}
			_, err := originalsv1.NewRoundServiceClient(a.grpc).ListBalances(ctx, &originalsv1.ListBalancesRequest{})
			if status.Code(err) != codes.Unauthenticated || reason.Of(err) != reason.TokenInvalid {
				t.Errorf("gRPC: %v", err)
			}
		})
	}
	for _, role := range []auth.Role{auth.Wallet, auth.Support} {
		token := a.mint(auth.Identity{Subject: "alice", Role: role}, time.Hour)
		code, text := a.sendAs("Bearer "+token, "POST", "/v1/dice/bets", strings.NewReader(body))
		if why, _ := refusal(t, text); code != http.StatusForbidden || why != reason.RoleRequired {
			t.Errorf("%s: %d %s", role, code, text)
		}
	}
	if after := a.state(); after != before {
		t.Errorf("bad tokens had an effect:\n%s\n%s", before, after)
	}
	a.call("POST", "/v1/dice/bets", body, &originalsv1.Round{})
}

func TestOversizedBodies(t *testing.T) {
	a, _ := playing(t)
	before := a.state()
	good := diceBody(a.pair)
	for name, body := range map[string]string{
		"spaces":     good + strings.Repeat(" ", 1<<20),
		"long id":    spoil(t, good, `"betId":"`, `"betId":"`+strings.Repeat("x", 1<<20)),
		"many chips": `{"chips":[` + strings.Repeat(`{"kind":"RED","amount":"1"},`, 50000) + `{}]}`,
	} {
		code, text := a.send("POST", "/v1/dice/bets", body)
		if why, field := refusal(t, text); code != http.StatusRequestEntityTooLarge || why != reason.InvalidField || field != "body" {
			t.Errorf("%s: %d %.200s", name, code, text)
		}
	}
	// A body of unknown length, in pieces.
	code, text := a.sendAs("Bearer "+a.token, "POST", "/v1/dice/bets", io.MultiReader(strings.NewReader(good), strings.NewReader(strings.Repeat(" ", 1<<20))))
	if why, _ := refusal(t, text); code != http.StatusRequestEntityTooLarge || why != reason.InvalidField {
		t.Errorf("in pieces: %d %.200s", code, text)
	}
	if after := a.state(); after != before {
		t.Error("an oversized body had an effect")
	}
}

// A client that sends its request a byte at a time is cut off.
func TestSlowClientsAreBounded(t *testing.T) {
	a, _ := playing(t)
	before := a.state()
	body := diceBody(a.pair)
	head := fmt.Sprintf("POST /v1/dice/bets HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer %s\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n", a.token, len(body))
	var all sync.WaitGroup
	for name, start := range map[string]string{"nothing": "", "half a header": head[:40], "half a body": head + body[:20]} {
		all.Go(func() {
			c, err := net.Dial("tcp", a.p.address("http"))
			if err != nil {
				t.Error(err)
				return
			}
			defer c.Close()
			if _, err := io.WriteString(c, start); err != nil {
				t.Error(err)
			}
			begin := time.Now()
			if err := c.SetReadDeadline(begin.Add(time.Minute)); err != nil {
				t.Error(err)
			}
			if _, err := io.Copy(io.Discard, c); err != nil && time.Since(begin) > 50*time.Second {
				t.Errorf("%s: still connected after a minute: %v", name, err)
			}
		})
	}
	all.Wait()
	if after := a.state(); after != before {
		t.Error("half a request had an effect")
	}
}
