package gateway

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"testing"

	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/timestamppb"

	originalsv1 "github.com/openoriginals/originals/proto/originals/v1"
)

func TestNewRefusesWhatCannotBeMeant(t *testing.T) {
	conn := &conn{}
	for name, o := range map[string]Options{
		"no connection":         {},
		"negative body":         {Conn: conn, MaxBody: -1},
		"negative timeout":      {Conn: conn, Timeout: -1},
		"origin for all":        {Conn: conn, CORS: []string{"*"}},
		"origin pattern":        {Conn: conn, CORS: []string{"https://*.casino.example"}},
		"origin null":           {Conn: conn, CORS: []string{"null"}},
		"origin without scheme": {Conn: conn, CORS: []string{"casino.example"}},
		"origin with a path":    {Conn: conn, CORS: []string{"https://casino.example/"}},
		"origin in capitals":    {Conn: conn, CORS: []string{"https://Casino.example"}},
		"origin with a user":    {Conn: conn, CORS: []string{"https://me@casino.example"}},
		"origin of a file":      {Conn: conn, CORS: []string{"file://casino"}},
		"origin empty":          {Conn: conn, CORS: []string{""}},
	} {
		if _, err := New(o); err == nil {
			t.Errorf("%s: accepted", name)
		}
	}
	if _, err := New(Options{Conn: conn, CORS: []string{"https://casino.example", "http://127.0.0.1:5173"}}); err != nil {
		t.Error(err)
	}
}

// routes are all routes of the contract with a request of each, and what must
// reach the service.
var routes = []struct {
	method, path, body string
	want               proto.Message
}{
	{"GET", "/v1/seed-pair", "", &originalsv1.GetSeedPairRequest{}},
	{"POST", "/v1/seed-pair:rotate", `{"clientSeed":"c","nextCommitment":"d"}`,
		&originalsv1.RotateSeedPairRequest{ClientSeed: "c", NextCommitment: "d"}},
	{"GET", "/v1/seed-pairs", "", &originalsv1.ListSeedPairsRequest{}},
	{"GET", "/v1/seed-pairs?pageSize=7&pageToken=t%2B", "",
		&originalsv1.ListSeedPairsRequest{PageSize: proto.Int32(7), PageToken: "t+"}},
	{"GET", "/v1/seed-pairs/p-1", "", &originalsv1.GetSeedPairByIdRequest{SeedPairId: "p-1"}},
	{"GET", "/v1/seed-pairs/p-1/evidence", "", &originalsv1.GetEvidenceRequest{SeedPairId: "p-1", PageSize: proto.Int32(200)}},
	{"POST", "/v1/dice/bets", `{"betId":"b","seedPairId":"p","stake":{"currency":"FUN","amount":"5"},"target":1,"direction":"UNDER"}`,
		&originalsv1.DiceServicePlaceBetRequest{BetId: "b", SeedPairId: "p", Stake: &originalsv1.Money{Currency: "FUN", Amount: 5},
			Target: 1, Direction: originalsv1.Dice_UNDER}},
	{"POST", "/v1/limbo/bets", `{"targetE2":101}`, &originalsv1.LimboServicePlaceBetRequest{TargetE2: 101}},
	{"POST", "/v1/roulette/bets", `{"currency":"FUN","chips":[{"kind":"RED","amount":"1"}]}`,
		&originalsv1.RouletteServicePlaceBetRequest{Currency: "FUN", Chips: []*originalsv1.Chip{{Kind: originalsv1.Chip_RED, Amount: 1}}}},
	{"POST", "/v1/mines/rounds", `{"mineCount":3}`, &originalsv1.StartRoundRequest{MineCount: 3}},
	{"POST", "/v1/mines/rounds/p-1-0:pick", `{"tile":0}`, &originalsv1.PickRequest{RoundId: "p-1-0", Tile: proto.Uint32(0)}},
	{"POST", "/v1/mines/rounds/p-1-0:cashOut", `{}`, &originalsv1.MinesServiceCashOutRequest{RoundId: "p-1-0"}},
	{"GET", "/v1/rounds/p-1-0", "", &originalsv1.GetRoundRequest{RoundId: "p-1-0"}},
	{"GET", "/v1/rounds", "", &originalsv1.ListRoundsRequest{}},
	{"GET", "/v1/rounds?game=MINES&seedPairId=p&state=OPEN&pageSize=200&pageToken=x", "",
		&originalsv1.ListRoundsRequest{Game: originalsv1.Game_MINES, SeedPairId: "p", State: originalsv1.Round_OPEN,
			PageSize: proto.Int32(200), PageToken: "x"}},
	{"GET", "/v1/balances", "", &originalsv1.ListBalancesRequest{}},
	{"GET", "/v1/games", "", &originalsv1.ListGamesRequest{}},
	{"POST", "/v1/duels", `{"requestId":"g","white":"a","black":"b","mode":"PLAIN","graceSeconds":7,"expirySeconds":3600}`,
		&originalsv1.CreateDuelRequest{RequestId: "g", White: "a", Black: "b", Mode: originalsv1.Duel_PLAIN.Enum(), GraceSeconds: proto.Uint32(7), ExpirySeconds: proto.Uint32(3600)}},
	{"POST", "/v1/duels/d-1/seats/white:commit", `{"clientSeedHash":"h"}`, &originalsv1.CommitSeatRequest{DuelId: "d-1", Seat: "white", ClientSeedHash: "h"}},
	{"POST", "/v1/duels/d-1/seats/black:seed", `{"clientSeed":"s"}`, &originalsv1.SeedSeatRequest{DuelId: "d-1", Seat: "black", ClientSeed: "s"}},
	{"POST", "/v1/duels/d-1:roll", `{"ply":0}`, &originalsv1.RollRequest{DuelId: "d-1", Ply: proto.Uint32(0)}},
	{"POST", "/v1/duels/d-1:end", `{}`, &originalsv1.EndDuelRequest{DuelId: "d-1"}},
	{"GET", "/v1/duels/d-1", "", &originalsv1.GetDuelRequest{DuelId: "d-1"}},
	{"POST", "/v1/verify", `{"scheme":"s","nonce":0,"limbo":{"targetE2":200}}`,
		&originalsv1.VerifyRequest{Scheme: "s", Nonce: proto.Uint32(0),
			Parameters: &originalsv1.VerifyRequest_Limbo{Limbo: &originalsv1.LimboParameters{TargetE2: 200}}}},
}

func TestEveryRouteReachesItsService(t *testing.T) {
	f := &fakes{answer: func(context.Context, proto.Message) (proto.Message, error) { return nil, errors.New("noted") }}
	url := serveFakes(t, f, nil)
	for _, c := range routes {
		send(t, c.method, url+c.path, c.body)
		got, _ := f.last(t)
		if !proto.Equal(got, c.want) {
			t.Errorf("%s %s:\n got %T %v\nwant %T %v", c.method, c.path, got, got, c.want, c.want)
		}
	}
	if f.calls() != len(routes) {
		t.Errorf("%d calls for %d requests", f.calls(), len(routes))
	}
}

func TestZeroValuesVanish(t *testing.T) {
	f := &fakes{answer: func(context.Context, proto.Message) (proto.Message, error) {
		return &originalsv1.Round{
			State: originalsv1.Round_SETTLED, Game: originalsv1.Game_DICE,
			Stake: &originalsv1.Money{Currency: "FUN", Amount: 5}, Payout: &originalsv1.Money{Currency: "FUN"},
			CreateTime: &timestamppb.Timestamp{Seconds: 1800000000, Nanos: 5000000},
			Dice:       &originalsv1.Dice{Target: 5, Direction: originalsv1.Dice_OVER, Roll: proto.Uint32(0), Win: proto.Bool(false)},
		}, nil
	}}
	r := send(t, "GET", serveFakes(t, f, nil)+"/v1/rounds/p-0", "")
	if r.status != http.StatusOK || r.header.Get("Content-Type") != "application/json" || r.header.Get("Cache-Control") != "no-store" {
		t.Errorf("status %d, header %v", r.status, r.header)
	}
	body := strings.ReplaceAll(r.body, " ", "")
	want := `{"roundId":"","betId":"","game":"DICE","scheme":"","state":"SETTLED","seedPairId":"","commitment":"","clientSeed":"","nonce":0,` +
		`"stake":{"currency":"FUN","amount":"5"},"payout":{"currency":"FUN","amount":"0"},"multiplierE4":"0","createTime":"2027-01-15T08:00:00.005Z",` +
		`"dice":{"target":5,"direction":"OVER","roll":0,"win":false}}`
	if body != want {
		t.Errorf("\n got %s\nwant %s", body, want)
	}
}

func TestSixtyFourBitIntegersInJSON(t *testing.T) {
	f := &fakes{answer: func(context.Context, proto.Message) (proto.Message, error) {
		return &originalsv1.ListBalancesResponse{Balances: []*originalsv1.Money{{Currency: "ETH", Amount: 1<<53 - 1}}}, nil
	}}
	r := send(t, "GET", serveFakes(t, f, nil)+"/v1/balances", "")
	if got := strings.ReplaceAll(r.body, " ", ""); got != `{"balances":[{"currency":"ETH","amount":"9007199254740991"}]}` {
		t.Errorf("got %s", r.body)
	}
}

func TestEmptyListsAreListsAndAbsentMessagesAreAbsent(t *testing.T) {
	f := &fakes{answer: func(_ context.Context, request proto.Message) (proto.Message, error) {
		if _, ok := request.(*originalsv1.ListRoundsRequest); ok {
			return &originalsv1.ListRoundsResponse{}, nil
		}
		return &originalsv1.GetSeedPairResponse{NextCommitment: "c", NextScheme: "originals-v1"}, nil
	}}
	url := serveFakes(t, f, nil)
	for path, want := range map[string]string{
		"/v1/rounds":    `{"rounds":[],"nextPageToken":""}`,
		"/v1/seed-pair": `{"nextCommitment":"c","nextScheme":"originals-v1"}`,
	} {
		if got := strings.ReplaceAll(send(t, "GET", url+path, "").body, " ", ""); got != want {
			t.Errorf("%s: got %s, want %s", path, got, want)
		}
	}
}

// badBodies are refused on every POST route, before any service hears of them.
var badBodies = []struct{ name, body, field string }{
	{"empty", ``, "body"},
	{"null", `null`, "body"},
	{"list", `[]`, "body"},
	{"trailing garbage", `{} x`, "body"},
	{"not UTF-8", "{\"a\":\"\xff\"}", "body"},
	{"unknown field", `{"amount":1}`, "amount"},
	{"player named by the body", `{"player":"eve"}`, "player"},
	{"long name", `{"` + strings.Repeat("x", 5000) + `":1}`, strings.Repeat("x", 64)},
}

func TestBadBodiesReachNoService(t *testing.T) {
	f := &fakes{}
	url := serveFakes(t, f, nil)
	posts := 0
	for _, route := range routes {
		if route.method != http.MethodPost {
			continue
		}
		posts++
		for _, c := range badBodies {
			r := send(t, "POST", url+route.path, c.body)
			code, why, metadata := failureOf(t, r)
			if r.status != 400 || code != 3 || why != "INVALID_FIELD" || metadata["field"] != c.field {
				t.Errorf("%s, %s: %d %s", route.path, c.name, r.status, r.body)
			}
		}
		for _, name := range fieldsOf(route.want) {
			r := send(t, "POST", url+route.path, `{"`+name+`":null}`)
			if _, _, metadata := failureOf(t, r); r.status != 400 || metadata["field"] != name {
				t.Errorf("%s, %s null: %d %s", route.path, name, r.status, r.body)
			}
		}
	}
	if posts != 13 || f.calls() != 0 {
		t.Errorf("%d routes, %d calls reached a service", posts, f.calls())
	}
}

// fieldsOf lists the JSON names of a request.
func fieldsOf(m proto.Message) []string {
	fields := m.ProtoReflect().Descriptor().Fields()
	var names []string
	for i := range fields.Len() {
		names = append(names, fields.Get(i).JSONName())
	}
	return names
}

func TestPathParameterInTheBodyIsRefused(t *testing.T) {
	f := &fakes{}
	url := serveFakes(t, f, nil)
	for _, c := range [][2]string{{"pick", `{"tile":1,"roundId":"p-9"}`}, {"cashOut", `{"roundId":"p-9"}`}} {
		r := send(t, "POST", url+"/v1/mines/rounds/p-1:"+c[0], c[1])
		if _, _, metadata := failureOf(t, r); r.status != 400 || metadata["field"] != "roundId" {
			t.Errorf("%s: %d %s", c[0], r.status, r.body)
		}
	}
	if f.calls() != 0 {
		t.Error("a service was called")
	}
}

func TestQueriesAreStrict(t *testing.T) {
	f := &fakes{}
	url := serveFakes(t, f, nil)
	for _, c := range []struct{ method, path, field string }{
		{"GET", "/v1/rounds?page_size=3", "page_size"},
		{"GET", "/v1/rounds?PageSize=3", "PageSize"},
		{"GET", "/v1/rounds?limit=3", "limit"},
		{"GET", "/v1/rounds?seed_pair_id=p", "seed_pair_id"},
		{"GET", "/v1/rounds?pageSize=3&pageSize=4", "pageSize"},
		{"GET", "/v1/rounds?pageSize=", "pageSize"},
		{"GET", "/v1/rounds?pageSize", "pageSize"},
		{"GET", "/v1/rounds?pageSize=x", "pageSize"},
		{"GET", "/v1/rounds?pageSize=1.0", "pageSize"},
		{"GET", "/v1/rounds?pageSize=1e2", "pageSize"},
		{"GET", "/v1/rounds?pageSize=0x1", "pageSize"},
		{"GET", "/v1/rounds?pageSize=%2B1", "pageSize"},
		{"GET", "/v1/rounds?pageSize=01", "pageSize"},
		{"GET", "/v1/rounds?pageSize=2147483648", "pageSize"},
		{"GET", "/v1/rounds?game=1", "game"},
		{"GET", "/v1/rounds?game=dice", "game"},
		{"GET", "/v1/rounds?game=GAME_UNSPECIFIED", "game"},
		{"GET", "/v1/rounds?game=99", "game"},
		{"GET", "/v1/rounds?game=", "game"},
		{"GET", "/v1/rounds?state=STATE_UNSPECIFIED", "state"},
		{"GET", "/v1/rounds?state=ACTIVE", "state"},
		{"GET", "/v1/rounds?seedPairId=", "seedPairId"},
		{"GET", "/v1/rounds?seedPairId=%ff", "seedPairId"},
		{"GET", "/v1/rounds?a;b", "query"},
		{"GET", "/v1/rounds?%zz", "query"},
		{"GET", "/v1/rounds?" + strings.Repeat("x", 65) + "=1", "query"},
		{"GET", "/v1/rounds?%ff=1", "query"},
		{"GET", "/v1/seed-pairs?game=DICE", "game"},
		{"GET", "/v1/seed-pairs/p?seedPairId=q", "seedPairId"},
		{"GET", "/v1/seed-pairs/p/evidence?pageSize=5", "pageSize"},
		{"GET", "/v1/rounds/p-0?roundId=q", "roundId"},
		{"GET", "/v1/balances?player=eve", "player"},
		{"GET", "/v1/games?x=1", "x"},
		{"GET", "/v1/duels/d-1?duelId=e", "duelId"},
		{"GET", "/v1/duels/d-1:watch?afterEvent=1", "afterEvent"},
		{"POST", "/v1/duels/d-1:roll?ply=1", "ply"},
		{"POST", "/v1/dice/bets?betId=b", "betId"},
		{"POST", "/v1/verify?pageSize=1", "pageSize"},
	} {
		r := send(t, c.method, url+c.path, map[string]string{"POST": "{}"}[c.method])
		_, why, metadata := failureOf(t, r)
		if r.status != 400 || why != "INVALID_FIELD" || metadata["field"] != c.field {
			t.Errorf("%s: %d %s", c.path, r.status, r.body)
		}
	}
	if f.calls() != 0 {
		t.Errorf("%d calls reached a service", f.calls())
	}
}

// The message says how a parameter is spelt, not only that it is wrong.
func TestMisspeltParameterIsExplained(t *testing.T) {
	url := serveFakes(t, &fakes{}, nil)
	for query, want := range map[string]string{
		"pageToken=":   "pageToken is empty: leave it out instead",
		"pageSize=x":   "pageSize must be a whole number",
		"state=open":   "state must be one of OPEN, SETTLED, VOID",
		"state=":       "state is empty: leave it out instead",
		"pageSize=1.0": "pageSize must be a whole number",
	} {
		r := send(t, "GET", url+"/v1/rounds?"+query, "")
		if !strings.Contains(r.body, `"message":"`+want+`"`) {
			t.Errorf("%s: %s, want %s", query, r.body, want)
		}
	}
}

func TestBodyOfAGetIsRefused(t *testing.T) {
	f := &fakes{}
	r := send(t, "GET", serveFakes(t, f, nil)+"/v1/games", `{}`)
	if _, _, metadata := failureOf(t, r); r.status != 400 || metadata["field"] != "body" || f.calls() != 0 {
		t.Errorf("%d %s", r.status, r.body)
	}
}

func TestAnswersAreReadableByProtobuf(t *testing.T) {
	want := &originalsv1.ListRoundsResponse{Rounds: []*originalsv1.Round{{RoundId: "p-0", Nonce: 1<<32 - 2, ClientSeed: `<"&>`}}, NextPageToken: "n"}
	f := &fakes{answer: func(context.Context, proto.Message) (proto.Message, error) { return want, nil }}
	r := send(t, "GET", serveFakes(t, f, nil)+"/v1/rounds", "")
	var got originalsv1.ListRoundsResponse
	if err := protojson.Unmarshal([]byte(r.body), &got); err != nil || !proto.Equal(&got, want) {
		t.Errorf("%v: got %v", err, &got)
	}
}
