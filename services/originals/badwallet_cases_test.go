package main

import "strings"

// staffCall is a call of wallets or of support: its route, a good request as JSON,
// and values of each field that are none.
type staffCall struct {
	rpc, method, route string
	good               string
	faults             map[string][]string // field, by its JSON name -> values
	also               map[string]string   // whole requests -> field
}

// texts are no ids that a caller chose, of at most 40 characters.
var badIDs = []string{`""`, `"` + strings.Repeat("b", 41) + `"`, `"a b"`, `"{p1}"`, `"ä"`, `"a\n"`, `"a\u0000"`, `"a.b"`, `7`, `null`, `[]`, `{}`}

// badOwnIDs are no ids that the house made.
var badOwnIDs = []string{`""`, `"` + strings.Repeat("a", 65) + `"`, `"UPPER"`, `"a b"`, `"a.b"`, `"{p1}"`, `"ä"`, `"a\n"`, `7`, `null`}

var badPlayers = []string{`""`, `"` + strings.Repeat("p", 129) + `"`, `"a b"`, `"ä"`, `"a\n"`, `"\u007f"`, `7`, `null`}

var badSizes = []string{`0`, `-1`, `201`, `1.5`, `"x"`, `99999999999`}

var badNumbers = []string{`-1`, `9007199254740992`, `"9223372036854775808"`, `1.5`, `"x"`, `true`}

const (
	goodItem  = `{"settlementId":"17-aaaaaaaaaaaaaaaa-0","fencingToken":"7","walletTransactionId":"t","result":"APPLIED"}`
	goodMoney = `{"currency":"FUN","amount":"100"}`
)

func walletCalls() []staffCall {
	badTransactions := []string{`""`, `"a b"`, `"` + strings.Repeat("t", 65) + `"`, `"ä"`, `"a\n"`, `7`}
	badReasons := []string{`"` + strings.Repeat("r", 201) + `"`, `"a\nb"`, `"ä"`, `7`}
	item := func(old, new string) string {
		return `{"items":[` + strings.Replace(goodItem, old, new, 1) + `]}`
	}
	items := map[string]string{
		item(`"t","result"`, `"t","rejectReason":"for APPLIED","result"`):  "rejectReason",
		`{"items":[` + goodItem + `,` + goodItem + `]}`:                    "settlementId",
		`{"items":[` + strings.Repeat(goodItem+`,`, 500) + goodItem + `]}`: "items",
		item(`"settlementId"`, `"extra":1,"settlementId"`):                 "extra",
	}
	for _, v := range badOwnIDs {
		items[item(`"17-aaaaaaaaaaaaaaaa-0"`, v)] = "settlementId"
	}
	for _, v := range []string{`"0"`, `-1`, `9007199254740992`, `1.5`, `"x"`, `null`} {
		items[item(`"7"`, v)] = "fencingToken"
	}
	for _, v := range badTransactions {
		items[item(`"t"`, v)] = "walletTransactionId"
	}
	for _, v := range []string{`"applied"`, `""`, `"RESULT_UNSPECIFIED"`, `0`, `3`, `null`} {
		items[item(`"APPLIED"`, v)] = "result"
	}
	for _, v := range badReasons {
		items[item(`"APPLIED"`, `"REJECTED","rejectReason":`+v)] = "rejectReason"
	}
	money := map[string]string{
		`{"transferId":"x","playerId":"alice","direction":"DEPOSIT"}`: "money",
	}
	with := func(m string) string {
		return `{"transferId":"x","playerId":"alice","direction":"DEPOSIT","money":` + m + `}`
	}
	for _, v := range badAmounts {
		money[with(strings.Replace(goodMoney, `"100"`, v, 1))] = "amount"
	}
	for _, v := range []string{`"DOGE"`, `"fun"`, `""`, `"FUN "`, `5`, `null`} {
		money[with(strings.Replace(goodMoney, `"FUN"`, v, 1))] = "currency"
	}
	for _, v := range []string{`null`, `[]`, `100`} {
		money[with(v)] = "money"
	}
	money[with(`{"tip":1,"currency":"FUN","amount":"100"}`)] = "tip"
	leases := []string{`0`, `-1`, `3601`, `1.5`, `"x"`, `null`}
	return []staffCall{
		{"CreateTransfer", "POST", "/v1/wallet/transfers", with(goodMoney), map[string][]string{
			"transferId": badIDs, "playerId": badPlayers, "direction": {`"deposit"`, `""`, `"DIRECTION_UNSPECIFIED"`, `0`, `3`, `null`},
		}, money},
		{"GetTransfer", "GET", "/v1/wallet/transfers/{transferId}", `{"transferId":"x"}`, map[string][]string{"transferId": badIDs}, nil},
		{"CancelTransfer", "POST", "/v1/wallet/transfers/{transferId}:cancel", `{"transferId":"x"}`, map[string][]string{"transferId": badIDs}, nil},
		{"ListPlayerBalances", "GET", "/v1/wallet/players/{playerId}/balances", `{"playerId":"alice"}`, map[string][]string{"playerId": badPlayers}, nil},
		{"ListSettlements", "GET", "/v1/wallet/settlements", `{"partition":3}`, map[string][]string{
			"partition": {`64`, `-1`, `4294967296`, `1.5`, `"x"`}, "afterSequence": badNumbers, "pageSize": badSizes,
		}, nil},
		{"GetSettlement", "GET", "/v1/wallet/settlements/{settlementId}", `{"settlementId":"17-aaaaaaaaaaaaaaaa-0"}`, map[string][]string{"settlementId": badOwnIDs}, nil},
		{"StreamSettlements", "GET", "/v1/wallet/settlements:stream", `{}`, map[string][]string{
			"cursor": {`"x"`, `"1"`, `"2."`, `"1.AA"`, `"1.!!"`, `"1..64.1"`, `"1..3.7"`, `"1..3.99999999999999999999"`, `"` + strings.Repeat("A", 3000) + `"`},
			"batch":  {`-1`, `257`, `1.5`, `"x"`},
		}, nil},
		{"ClaimSettlements", "POST", "/v1/wallet/settlements:claim", `{"claimId":"c","consumer":"main","max":5,"leaseSeconds":60}`, map[string][]string{
			"claimId": badIDs, "consumer": {`""`, `"a b"`, `"` + strings.Repeat("c", 65) + `"`, `7`, `null`}, "max": {`0`, `-1`, `501`, `1.5`, `"x"`, `null`}, "leaseSeconds": leases,
		}, nil},
		{"AcknowledgeSettlements", "POST", "/v1/wallet/settlements:acknowledge", item("", ""), map[string][]string{"items": {`[]`, `null`, `{}`, `7`}}, items},
		{"ReleaseSettlements", "POST", "/v1/wallet/settlements:release", `{"claimId":"c"}`, map[string][]string{"claimId": badIDs}, nil},
		{"ExtendClaim", "POST", "/v1/wallet/settlements:extend", `{"claimId":"c","leaseSeconds":60}`, map[string][]string{"claimId": badIDs, "leaseSeconds": leases}, nil},
		{"ListRejected", "GET", "/v1/wallet/rejected-settlements", `{}`, map[string][]string{"pageSize": badSizes, "pageToken": {`"!!"`, `"AAAA"`, `"x"`}}, nil},
		{"RequeueSettlement", "POST", "/v1/wallet/settlements/{settlementId}:requeue", `{"settlementId":"17-aaaaaaaaaaaaaaaa-0"}`, map[string][]string{"settlementId": badOwnIDs}, nil},
		{"GetDigest", "GET", "/v1/wallet/digests", `{"partition":3,"hour":"2026-01-31T07","firstSequence":"1","count":"1"}`, map[string][]string{
			"partition": {`64`, `-1`, `1.5`, `"x"`}, "hour": {`"2026-01-31"`, `"2026-01-31T24"`, `"2026-01-31T7"`, `"2026-01-31T07Z"`, `"now"`, `""`},
			"day": {`"2026-01-31"`, `"2026-02-30"`, `"x"`}, "firstSequence": append([]string{`"0"`}, badNumbers...), "count": badNumbers,
		}, map[string]string{`{"partition":3,"day":"2026-02-30"}`: "day", `{"partition":3}`: "hour", `{"partition":3,"day":"2026-01-31","count":"5"}`: "firstSequence"}},
	}
}

func supportCalls() []staffCall {
	return []staffCall{
		{"GetPlayer", "GET", "/v1/support/players/{playerId}", `{"playerId":"alice"}`, map[string][]string{"playerId": badPlayers}, nil},
		{"GetRoundTimeline", "GET", "/v1/support/rounds/{roundId}", `{"roundId":"17-aaaaaaaaaaaaaaaa-0"}`, map[string][]string{"roundId": badOwnIDs}, nil},
		{"RevealSeedPair", "POST", "/v1/support/seed-pairs/{seedPairId}:reveal", `{"seedPairId":"17-aaaaaaaaaaaaaaaa","reason":"asked","ticket":"T-1"}`, map[string][]string{
			"seedPairId": badOwnIDs, "reason": {`""`, `" "`, `"` + strings.Repeat("r", 201) + `"`, `"a\nb"`, `"ä"`, `7`, `null`},
			"ticket": {`""`, `"a b"`, `"` + strings.Repeat("t", 65) + `"`, `"ä"`, `7`, `null`},
		}, nil},
		{"ListAuditLog", "GET", "/v1/support/audit-log", `{}`, map[string][]string{
			"pageSize": badSizes, "pageToken": {`"!!"`, `"AAAA"`, `"x"`}, "playerId": {`"` + strings.Repeat("p", 129) + `"`, `"a b"`, `"ä"`},
		}, nil},
	}
}
