package main

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/openoriginals/originals/internal/auth"
	"github.com/openoriginals/originals/internal/testenv"
	originalsv1 "github.com/openoriginals/originals/proto/originals/v1"
)

// TestWalletOnTheCommandLine funds a player, lets him play, and reads what a
// wallet is told.
func TestWalletOnTheCommandLine(t *testing.T) {
	s := newSite(t, testenv.Redis(t).URL())
	s.oneProcess()
	access := []string{"--url", s.gateways[0], "--token", s.tokenOf("wallet", auth.Wallet)}
	run := func(status int, out, errs string, args ...string) string {
		t.Helper()
		return wantRun(t, status, out, errs, nil, slices.Concat([]string{"wallet", args[0]}, access, args[1:])...)
	}
	deposit := []string{"transfer", "--id", "t-1", "--player", "alice", "--deposit", "700"}
	run(0, "APPLIED", "", deposit...)
	if out := run(0, "APPLIED", "", deposit...); !strings.Contains(out, "true") {
		t.Errorf("the repeat is not marked:\n%s", out)
	}
	run(2, "", "TRANSFER_ID_REUSED", "transfer", "--id", "t-1", "--player", "alice", "--deposit", "701")
	run(2, "REFUSED", "INSUFFICIENT_FUNDS", "transfer", "--id", "t-2", "--player", "alice", "--withdraw", "700000000")
	run(2, "", "INSUFFICIENT_FUNDS", "status", "--id", "t-2")
	run(0, "700 units of FUN", "", "status", "--id", "t-1")
	run(2, "APPLIED", "was applied before", "cancel", "--id", "t-1")
	run(0, "CANCELLED", "", "cancel", "--id", "t-3")
	wantRun(t, 0, "APPLIED", "", []string{"ORIGINALS_URL=" + s.gateways[0], "ORIGINALS_TOKEN=" + access[3]}, "wallet", "status", "--id", "t-1")
	run(2, "", "TRANSFER_CANCELLED", "transfer", "--id", "t-3", "--player", "alice", "--deposit", "5")
	run(2, "", "TRANSFER_NOT_FOUND", "status", "--id", "t-4")
	run(2, "", "one of --deposit and --withdraw", "transfer", "--id", "t-5", "--player", "alice")

	alice := s.session("alice")
	alice.rotate(t.Context())
	round := new(originalsv1.Round)
	if err := alice.player.Post(t.Context(), "/v1/dice/bets", &originalsv1.DiceServicePlaceBetRequest{
		BetId: "x", SeedPairId: alice.current(), Stake: fun(100), Target: 5000, Direction: originalsv1.Dice_OVER,
	}, round); err != nil {
		t.Fatal(err)
	}
	run(0, fmt.Sprint(round.GetBalance().GetAmount()), "", "balances", "--player", "alice")
	run(2, "", "PLAYER_NOT_FOUND", "balances", "--player", "nobody")
	run(0, round.GetRoundId(), "", "settlements")
	run(0, round.GetRoundId(), "", "settlement", "--settlement", round.GetRoundId())
	run(0, "it waits for the wallet", "", "requeue", "--settlement", round.GetRoundId())
	if err := testenv.NewPlayer(access[3], s.gateways[0]).Post(t.Context(), "/v1/wallet/settlements:acknowledge", &originalsv1.AcknowledgeSettlementsRequest{
		Items: []*originalsv1.Acknowledgement{{SettlementId: round.GetRoundId(), WalletTransactionId: "booked-7", Result: originalsv1.Acknowledgement_APPLIED}},
	}, new(originalsv1.AcknowledgeSettlementsResponse)); err != nil {
		t.Fatal(err)
	}
	run(0, "booked-7", "", "settlements")
	run(0, "SETTLEMENT", "", "rejected")
	run(2, "", "SETTLEMENT_NOT_FOUND", "requeue", "--settlement", round.GetRoundId())
	run(2, "", "--partition must be 0 to 63", "settlements", "--partition", "64")
	for _, list := range []string{"settlements", "rejected"} {
		run(2, "", "--limit must be at least 1", list, "--limit", "0")
	}

	var list struct {
		Settlements []struct {
			SettlementID, SettleTime string
			Partition                int
			Sequence                 string
		}
	}
	text := run(0, "", "", "settlements", "--json")
	if err := json.Unmarshal([]byte(text), &list); err != nil || len(list.Settlements) != 1 || list.Settlements[0].Sequence != "1" {
		t.Fatalf("%v\n%s", err, text)
	}
	run(0, `"lastSequence": "1"`, "", "settlements", "--json", "--partition", fmt.Sprint(list.Settlements[0].Partition))
	hour := list.Settlements[0].SettleTime[:len("2026-01-31T07")]
	out := run(0, "stakes 100", "", "digest", "--hour", hour)
	run(0, strings.Fields(out)[len(strings.Fields(out))-1], "", "digest", "--day", hour[:10], "--partition", fmt.Sprint(list.Settlements[0].Partition))
	run(2, "", "one of --hour and --day", "digest")
}
