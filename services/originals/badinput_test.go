package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"

	"github.com/openoriginals/originals/internal/auth"
	"github.com/openoriginals/originals/internal/reason"
	originalsv1 "github.com/openoriginals/originals/proto/originals/v1"
)

// allInOne is every role in this process, and one player who speaks both
// protocols to it.
type allInOne struct {
	t     *testing.T
	p     *process
	url   string
	logs  *logBuffer
	dial  func(ctx context.Context, network, address string) (net.Conn, error)
	http  *http.Client
	grpc  *grpc.ClientConn
	token string
	ctx   context.Context // carries the token for gRPC

	pair, next string
}

// logBuffer gathers a log that is written to while it is read.
type logBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

// Write implements io.Writer.
func (l *logBuffer) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

func (l *logBuffer) bytes() []byte {
	l.mu.Lock()
	defer l.mu.Unlock()
	return bytes.Clone(l.b.Bytes())
}

// startAllInOne serves until the test ends. The network is dialed by dial, nil
// for the ordinary way.
func startAllInOne(t *testing.T, change func(*settings), dial func(context.Context, string, string) (net.Conn, error)) *allInOne {
	t.Helper()
	s := settings{
		roles: allRoles, http: "127.0.0.1:0", grpc: "127.0.0.1:0",
		demoBalance: 1_000_000, minesExpiry: time.Hour, logLevel: "debug",
	}
	change(&s)
	a := &allInOne{t: t, logs: new(logBuffer), dial: dial}
	if dial == nil {
		a.dial = new(net.Dialer).DialContext
	}
	var err error
	if a.p, err = newProcess(t.Context(), s, a.logs); err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(context.Background())
	served := make(chan error, 1)
	go func() { served <- a.p.group.Serve(ctx) }()
	t.Cleanup(func() {
		stop()
		if err := <-served; err != nil {
			t.Error(err)
		}
		if err := a.p.close(); err != nil {
			t.Error(err)
		}
	})
	a.url = "http://" + a.p.address("http")
	a.http = &http.Client{Timeout: time.Minute, Transport: &http.Transport{DialContext: a.dial, DisableCompression: true}}
	a.grpc, err = grpc.NewClient("passthrough:///"+a.p.address("grpc"), grpc.WithTransportCredentials(insecure.NewCredentials()),
		grpc.WithContextDialer(func(ctx context.Context, address string) (net.Conn, error) { return a.dial(ctx, "tcp", address) }))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = a.grpc.Close() })
	a.be("alice", auth.Player)
	return a
}

// be makes the calls after it those of somebody else.
func (a *allInOne) be(name string, role auth.Role) {
	a.t.Helper()
	a.token = a.mint(auth.Identity{Subject: name, Role: role}, time.Hour)
	a.ctx = metadata.AppendToOutgoingContext(a.t.Context(), "authorization", "Bearer "+a.token)
}

func (a *allInOne) mint(id auth.Identity, ttl time.Duration) string {
	a.t.Helper()
	token, err := a.p.devKey.Mint(id, ttl, time.Now())
	if err != nil {
		a.t.Fatal(err)
	}
	return token
}

// send makes a REST call with the player's token.
func (a *allInOne) send(method, path, body string) (int, string) {
	a.t.Helper()
	return a.sendAs("Bearer "+a.token, method, path, strings.NewReader(body))
}

func (a *allInOne) sendAs(authorization, method, path string, body io.Reader) (int, string) {
	a.t.Helper()
	req, err := http.NewRequestWithContext(a.t.Context(), method, a.url+path, body)
	if err != nil {
		a.t.Fatal(err)
	}
	if authorization != "" {
		req.Header.Set("Authorization", authorization)
	}
	req.Header.Set("Content-Type", "application/json")
	res, err := a.http.Do(req)
	if err != nil {
		a.t.Fatal(err)
	}
	defer res.Body.Close()
	text, err := io.ReadAll(res.Body)
	if err != nil {
		a.t.Fatal(err)
	}
	return res.StatusCode, string(text)
}

// call is a REST call that must succeed.
func (a *allInOne) call(method, path, body string, answer proto.Message) {
	a.t.Helper()
	code, text := a.send(method, path, body)
	if code != http.StatusOK {
		a.t.Fatalf("%s %s: %d %s", method, path, code, text)
	}
	if err := protojson.Unmarshal([]byte(text), answer); err != nil {
		a.t.Fatal(err)
	}
}

// rotate shows the player a commitment and activates it.
func (a *allInOne) rotate() *originalsv1.RotateSeedPairResponse {
	a.t.Helper()
	var shown originalsv1.GetSeedPairResponse
	a.call("GET", "/v1/seed-pair", "", &shown)
	var rotated originalsv1.RotateSeedPairResponse
	a.call("POST", "/v1/seed-pair:rotate", fmt.Sprintf(`{"clientSeed":%q,"nextCommitment":%q}`, newClientSeed(), shown.GetNextCommitment()), &rotated)
	a.pair, a.next = rotated.GetActive().GetSeedPairId(), rotated.GetNextCommitment()
	return &rotated
}

// state is everything that a refused call must leave as it was.
func (a *allInOne) state() string {
	a.t.Helper()
	var all strings.Builder
	for _, path := range []string{"/v1/seed-pair", "/v1/balances", "/v1/rounds", "/v1/seed-pairs"} {
		code, text := a.send("GET", path, "")
		fmt.Fprintln(&all, code, text)
	}
	return all.String()
}

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

var bodies int

func freshID() string { bodies++; return fmt.Sprintf("id-%d", bodies) }

func diceBody(pair string) string {
	return fmt.Sprintf(`{"betId":%q,"seedPairId":%q,"stake":{"currency":"FUN","amount":"100"},"target":5000,"direction":"UNDER"}`, freshID(), pair)
}

func limboBody(pair string) string {
	return fmt.Sprintf(`{"betId":%q,"seedPairId":%q,"stake":{"currency":"FUN","amount":"100"},"targetE2":200}`, freshID(), pair)
}

func rouletteBody(pair string) string {
	return fmt.Sprintf(`{"betId":%q,"seedPairId":%q,"currency":"FUN","chips":[{"kind":"RED","amount":"100"},{"kind":"STRAIGHT","numbers":[7],"amount":"5"}]}`, freshID(), pair)
}

func minesBody(pair string) string {
	return fmt.Sprintf(`{"betId":%q,"seedPairId":%q,"stake":{"currency":"FUN","amount":"100"},"mineCount":3}`, freshID(), pair)
}

// spoil replaces a part of a good body, once.
func spoil(t *testing.T, body, old, new string) string {
	t.Helper()
	if strings.Count(body, old) < 1 {
		t.Fatalf("%s is not in %s", old, body)
	}
	return strings.Replace(body, old, new, 1)
}

// badAmounts are no amounts of money.
var badAmounts = []string{
	`"0"`, `0`, `-1`, `"-1"`, `"-0"`, `-0`, `1.5`, `"1.5"`, `1.0`, `1e2`, `"1e2"`, `1E2`, `1e400`, `1e-1`, `"NaN"`, `"Infinity"`, `"-Infinity"`,
	`9007199254740992`, `"9007199254740992"`, `"9223372036854775807"`, `"9223372036854775808"`, `"-9223372036854775808"`,
	`"18446744073709551616"`, `"99999999999999999999999999"`, `""`, `" 100"`, `"100 "`, `"+100"`, `"0100"`, `"0x64"`, `"1_000"`, `"１００"`, `true`, `null`, `[]`, `{}`, `"100\u0000"`,
}

// everyGame returns the faults that bets of all games share.
func everyGame(t *testing.T, pair string) (all []bad) {
	for path, body := range map[string]func(string) string{
		"/v1/dice/bets": diceBody, "/v1/limbo/bets": limboBody, "/v1/roulette/bets": rouletteBody, "/v1/mines/rounds": minesBody,
	} {
		add := func(name, field, old, new string) {
			all = append(all, bad{name, "POST", path, spoil(t, body(pair), old, new), field})
		}
		for _, amount := range badAmounts {
			add("amount "+amount, "amount", `"amount":"100"`, `"amount":`+amount)
		}
		add("amount NaN", "amount", `"amount":"100"`, `"amount":NaN`)
		add("amount +1", "amount", `"amount":"100"`, `"amount":+1`)
		add("amount 01", "amount", `"amount":"100"`, `"amount":01`)
		add("amount missing", "amount", `"amount":"100"`, `"amount":""`)
		for _, currency := range []string{`"DOGE"`, `"fun"`, `"F"`, `""`, `"FUNFUNFUN"`, `"FÜN"`, `"FUN "`, `"FUN\u0000"`, `5`, `null`, `{}`} {
			add("currency "+currency, "currency", `"currency":"FUN"`, `"currency":`+currency)
		}
		for _, id := range []string{`""`, `"` + strings.Repeat("b", 41) + `"`, `"a b"`, `"a/b"`, `"{p1}"`, `"ä"`, `"a\n"`, `"a\u0000"`, `7`, `null`, `[]`} {
			add("betId "+id, "betId", `"betId":"`+fmt.Sprintf("id-%d", bodies+1)+`"`, `"betId":`+id)
		}
		for _, id := range []string{`""`, `"` + strings.Repeat("a", 65) + `"`, `"UPPER"`, `"a b"`, `"../a"`, `"{p1}"`, `"ä"`, `"a\n"`, `7`, `null`} {
			add("seedPairId "+id, "seedPairId", `"seedPairId":"`+pair+`"`, `"seedPairId":`+id)
		}
		add("unknown field", "extra", `{"betId"`, `{"extra":1,"betId"`)
		add("field in another case", "BetId", `{"betId"`, `{"BetId":"a","betId"`)
		add("field in its other spelling", "bet_id", `"betId"`, `"bet_id"`)
		add("field twice", "seedPairId", `"seedPairId"`, `"seedPairId":"a","seedPairId"`)
		add("player of its own choice", "playerId", `{"betId"`, `{"playerId":"bob","betId"`)
		add("trailing garbage", "body", `{"betId"`, `{} {"betId"`)
		if path != "/v1/roulette/bets" {
			add("stake missing", "stake", `"stake":{"currency":"FUN","amount":"100"},`, ``)
			add("stake null", "stake", `{"currency":"FUN","amount":"100"}`, `null`)
			add("stake a list", "stake", `{"currency":"FUN","amount":"100"}`, `[]`)
			add("stake a number", "stake", `{"currency":"FUN","amount":"100"}`, `100`)
			add("stake with more", "tip", `{"currency":"FUN"`, `{"tip":1,"currency":"FUN"`)
		}
		for name, whole := range map[string]string{
			"empty": "", "null": "null", "list": "[]", "text": `"x"`, "number": "1", "cut": `{"betId":"a"`, "not UTF-8": "{\"betId\":\"\xff\"}",
			"byte order mark": "\ufeff{}", "comment": "{/**/}", "single quotes": "{'betId':'a'}", "deep": strings.Repeat(`{"stake":`, 5000) + "1" + strings.Repeat("}", 5000),
			"deep lists": strings.Repeat("[", 10000) + strings.Repeat("]", 10000),
		} {
			field := "body"
			if name == "deep" {
				field = "*"
			}
			all = append(all, bad{"body " + name, "POST", path, whole, field})
		}
		all = append(all, bad{"nothing but braces", "POST", path, "{}", "*"})
	}
	return all
}

// eachGame returns the faults of each game's own parameters.
func eachGame(t *testing.T, pair, round string) (all []bad) {
	add := func(path, body, field, old, new string) {
		all = append(all, bad{new, "POST", path, spoil(t, body, old, new), field})
	}
	for _, target := range []string{`0`, `9801`, `-1`, `1.5`, `1e3`, `4294967296`, `9007199254740993`, `true`, `null`, `[]`, `"x"`, `""`, `"-1"`} {
		add("/v1/dice/bets", diceBody(pair), "target", `"target":5000`, `"target":`+target)
	}
	for _, target := range []string{`198`, `9999`} {
		all = append(all, bad{"OVER " + target, "POST", "/v1/dice/bets",
			strings.NewReplacer("UNDER", "OVER", "5000", target).Replace(diceBody(pair)), "target"})
	}
	for _, direction := range []string{`"SIDEWAYS"`, `"over"`, `"DIRECTION_UNSPECIFIED"`, `""`, `99`, `1`, `0`, `null`, `["OVER"]`} {
		add("/v1/dice/bets", diceBody(pair), "direction", `"direction":"UNDER"`, `"direction":`+direction)
	}
	add("/v1/dice/bets", diceBody(pair), "target", `"target":5000,`, ``)
	add("/v1/dice/bets", diceBody(pair), "direction", `,"direction":"UNDER"`, ``)
	for _, target := range []string{`0`, `100`, `1000001`, `-5`, `2.5`, `4294967296`, `"x"`, `null`} {
		add("/v1/limbo/bets", limboBody(pair), "targetE2", `"targetE2":200`, `"targetE2":`+target)
	}
	add("/v1/limbo/bets", limboBody(pair), "targetE2", `,"targetE2":200`, ``)
	for _, kind := range []string{`"PURPLE"`, `"red"`, `"KIND_UNSPECIFIED"`, `0`, `10`, `16`, `null`} {
		add("/v1/roulette/bets", rouletteBody(pair), "kind", `"kind":"RED"`, `"kind":`+kind)
	}
	for _, numbers := range []string{`[37]`, `[]`, `[1,2]`, `[-1]`, `[1.5]`, `[256]`, `[4294967296]`, `null`, `7`, `{}`, `["x"]`} {
		add("/v1/roulette/bets", rouletteBody(pair), "numbers", `"numbers":[7]`, `"numbers":`+numbers)
	}
	chip := `{"kind":"RED","amount":"1"}`
	for _, chips := range []string{`[]`, `null`, `{}`, `7`, `[` + strings.Repeat(chip+",", 32) + chip + `]`} {
		all = append(all, bad{"chips " + chips[:min(20, len(chips))], "POST", "/v1/roulette/bets",
			fmt.Sprintf(`{"betId":%q,"seedPairId":%q,"currency":"FUN","chips":%s}`, freshID(), pair, chips), "chips"})
	}
	for _, count := range []string{`0`, `25`, `-1`, `3.5`, `1e1`, `4294967296`, `259`, `"x"`, `null`} {
		add("/v1/mines/rounds", minesBody(pair), "mineCount", `"mineCount":3`, `"mineCount":`+count)
	}
	pick := "/v1/mines/rounds/" + round + ":pick"
	for _, tile := range []string{`25`, `-1`, `1.5`, `256`, `4294967296`, `"x"`, `null`, `[]`, `true`} {
		all = append(all, bad{"tile " + tile, "POST", pick, `{"tile":` + tile + `}`, "tile"})
	}
	return append(all,
		bad{"no tile", "POST", pick, `{}`, "tile"},
		bad{"tiles", "POST", pick, `{"tile":1,"tiles":[2]}`, "tiles"},
		bad{"tile twice", "POST", pick, `{"tile":1,"tile":2}`, "tile"},
		bad{"round twice", "POST", pick, `{"roundId":"other","tile":1}`, "roundId"},
		bad{"no body", "POST", pick, ``, "body"},
		bad{"cash-out with more", "POST", "/v1/mines/rounds/" + round + ":cashOut", `{"multiplierE4":"990000"}`, "multiplierE4"},
		bad{"cash-out of a payout", "POST", "/v1/mines/rounds/" + round + ":cashOut", `{"payout":{"amount":"1"}}`, "payout"},
	)
}

// seedsAndLists returns the faults of rotations, ids in paths and queries.
func seedsAndLists(next string) (all []bad) {
	rotate := func(name, clientSeed, commitment, field string) {
		all = append(all, bad{name, "POST", "/v1/seed-pair:rotate", fmt.Sprintf(`{"clientSeed":%s,"nextCommitment":%s}`, clientSeed, commitment), field})
	}
	good := `"` + next + `"`
	for _, clientSeed := range []string{
		`""`, `" "`, `"a b"`, `"a\tb"`, `"a\n"`, `" a"`, `"a "`, `"\u007f"`, `"\u001f"`, `"\u0000"`, `"é"`, `"日本"`, `"a\u200bb"`, `"\ud83d\ude00"`, `"ａ"`,
		`"` + strings.Repeat("x", 65) + `"`, `"` + strings.Repeat("x", 5000) + `"`, `null`, `7`, `[]`, `{}`, `true`,
	} {
		rotate("client seed "+clientSeed[:min(20, len(clientSeed))], clientSeed, good, "clientSeed")
	}
	rotate("half a surrogate", `"\ud800"`, good, "*")
	for _, commitment := range []string{
		`""`, `"` + strings.ToUpper(next) + `"`, `"` + next[:63] + `"`, `"` + next + `0"`, `"` + next + `\n"`, `" ` + next[1:] + `"`, `"0x` + next[2:] + `"`,
		`"` + strings.Repeat("g", 64) + `"`, `"` + strings.Repeat("0", 64) + `"`, `null`, `7`, `[]`,
	} {
		rotate("commitment "+commitment[:min(20, len(commitment))], `"a-new-client-seed"`, commitment, "nextCommitment")
	}
	all = append(all,
		bad{"no client seed", "POST", "/v1/seed-pair:rotate", `{"nextCommitment":` + good + `}`, "clientSeed"},
		bad{"no commitment", "POST", "/v1/seed-pair:rotate", `{"clientSeed":"x"}`, "nextCommitment"},
		bad{"server seed of its own", "POST", "/v1/seed-pair:rotate", `{"clientSeed":"x","nextCommitment":` + good + `,"serverSeed":"y"}`, "serverSeed"},
	)
	for query, field := range map[string]string{
		"pageSize=0": "pageSize", "pageSize=-1": "pageSize", "pageSize=201": "pageSize", "pageSize=1.5": "pageSize", "pageSize=abc": "pageSize", "pageSize=": "pageSize",
		"pageSize=%201": "pageSize", "pageSize=1e1": "pageSize", "pageSize=99999999999": "pageSize", "pageSize=1&pageSize=2": "pageSize", "page_size=1": "page_size", "pagesize=1": "pagesize",
		"pageToken=!!": "pageToken", "pageToken=AAAA": "pageToken", "pageToken=": "pageToken", "pageToken=" + strings.Repeat("A", 4000): "pageToken",
		"unknown=1": "unknown", "playerId=bob": "playerId", "%zz": "query", "a;b": "query",
	} {
		all = append(all, bad{query[:min(20, len(query))], "GET", "/v1/rounds?" + query, "", field}, bad{query[:min(20, len(query))], "GET", "/v1/seed-pairs?" + query, "", field})
	}
	for query, field := range map[string]string{
		"state=OPENED": "state", "state=open": "state", "state=1": "state", "state=STATE_UNSPECIFIED": "state", "state=": "state", "game=POKER": "game", "game=CRASH": "game", "game=1": "game", "game=dice": "game",
		"seedPairId=UPPER": "seedPairId", "seedPairId=" + strings.Repeat("a", 65): "seedPairId", "seedPairId=": "seedPairId",
	} {
		all = append(all, bad{query[:min(20, len(query))], "GET", "/v1/rounds?" + query, "", field})
	}
	for _, id := range []string{"UPPER", "a%20b", "a%00", "%C3%A4", strings.Repeat("a", 65), "a.b", "a_b", "%7Bp1%7D"} {
		all = append(all,
			bad{"round " + id[:min(10, len(id))], "GET", "/v1/rounds/" + id, "", "roundId"},
			bad{"pair " + id[:min(10, len(id))], "GET", "/v1/seed-pairs/" + id, "", "seedPairId"},
			bad{"evidence " + id[:min(10, len(id))], "GET", "/v1/seed-pairs/" + id + "/evidence", "", "seedPairId"},
			bad{"pick " + id[:min(10, len(id))], "POST", "/v1/mines/rounds/" + id + ":pick", `{"tile":1}`, "roundId"},
			bad{"cash-out " + id[:min(10, len(id))], "POST", "/v1/mines/rounds/" + id + ":cashOut", `{}`, "roundId"})
	}
	return all
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
		{"game", list(&originalsv1.ListRoundsRequest{Game: 5})},
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
