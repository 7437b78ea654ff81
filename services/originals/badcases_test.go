package main

import (
	"fmt"
	"strings"
	"testing"
)

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
		"state=OPENED": "state", "state=open": "state", "state=1": "state", "state=STATE_UNSPECIFIED": "state", "state=": "state", "game=POKER": "game", "game=CRASH2": "game", "game=1": "game", "game=dice": "game",
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
