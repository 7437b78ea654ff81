package support_test

import (
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"google.golang.org/protobuf/encoding/protojson"

	"github.com/openoriginals/originals/internal/auth"
	"github.com/openoriginals/originals/internal/ledger"
	"github.com/openoriginals/originals/internal/reason"
	originalsv1 "github.com/openoriginals/originals/proto/originals/v1"
)

func TestRevealOfAnActivePairRetiresIt(t *testing.T) {
	onEachStore(t, func(t *testing.T, h *house) {
		p, s := h.player(), h.staff("carol")
		round := must(p.bet())(t)
		pair := must(s.reveal(p.pair))(t)
		if pair.GetState() != originalsv1.SeedPair_REVEALED || len(pair.GetServerSeed()) != 64 {
			t.Fatalf("answered %v", pair)
		}
		if why := pair.GetRevealReason(); why != "SUPPORT: player asked (ticket T-7, by carol)" {
			t.Errorf("revealReason %q", why)
		}
		_, err := p.bet()
		if e := refused(t, err, reason.SeedPairChanged); e.Metadata["cause"] != "SUPPORT" || e.Metadata["nextCommitment"] != p.next {
			t.Errorf("metadata %v", e.Metadata)
		}
		p.rotate() // by himself, with the commitment that he had been shown
		must(p.bet())(t)
		if again := must(s.reveal(pair.GetSeedPairId()))(t); again.GetServerSeed() != pair.GetServerSeed() {
			t.Error("the repeat shows another server seed")
		}
		log := s.log()
		if len(log) != 4 {
			t.Fatalf("%d entries: %v", len(log), log)
		}
		for i, e := range log {
			want := []string{"REVEAL_BEGUN", "REVEAL_DONE"}[i%2]
			if e.GetAction() != want || e.GetStaff() != "carol" || e.GetReason() != "player asked" || e.GetTicket() != "T-7" ||
				e.GetSeedPairId() != pair.GetSeedPairId() || e.GetPlayerId() != p.id.ID || e.GetTime() == nil {
				t.Errorf("entry %d: %v", i, e)
			}
		}
		if p.shown(round.GetSeedPairId()).GetServerSeed() != pair.GetServerSeed() {
			t.Error("the player is shown another server seed")
		}
	})
}

// Every reveal path has the same guard: a pair with an undecided round is not
// revealed, and stays active.
func TestRevealDuringAnOpenMinesRoundIsRefused(t *testing.T) {
	onEachStore(t, func(t *testing.T, h *house) {
		p, s := h.player(), h.staff("carol")
		open := p.startMines()
		_, err := s.reveal(p.pair)
		if e := refused(t, err, reason.RoundOpen); e.Metadata["roundId"] != open.GetRoundId() {
			t.Errorf("metadata %v", e.Metadata)
		}
		if pair := p.shown(p.pair); pair.GetState() != originalsv1.SeedPair_ACTIVE || pair.ServerSeed != nil {
			t.Errorf("the pair is %v", pair)
		}
		must(p.bet())(t)
		if actions := s.actions(); len(actions) != 2 || actions[1] != "REVEAL_REFUSED" {
			t.Errorf("recorded %v", actions)
		}
		seen := must(s.GetPlayer(s.ctx, &originalsv1.GetPlayerRequest{PlayerId: p.id.ID}))(t)
		if len(seen.GetOpenRounds()) != 1 || len(seen.GetOpenRounds()[0].GetMines().GetMines()) != 0 {
			t.Errorf("open rounds %v", seen.GetOpenRounds())
		}
	})
}

func TestNoServerSeedBeforeItsReveal(t *testing.T) {
	onEachStore(t, func(t *testing.T, h *house) {
		p, s := h.player(), h.staff("carol")
		round := must(p.bet())(t)
		player := must(s.GetPlayer(s.ctx, &originalsv1.GetPlayerRequest{PlayerId: p.id.ID}))(t)
		line := must(s.GetRoundTimeline(s.ctx, &originalsv1.GetRoundTimelineRequest{RoundId: round.GetRoundId()}))(t)
		log := must(s.ListAuditLog(s.ctx, &originalsv1.ListAuditLogRequest{}))(t)
		text := protojson.Format(player) + protojson.Format(line) + protojson.Format(log)
		seed := must(s.reveal(p.pair))(t).GetServerSeed()
		if seed == "" || strings.Contains(text, seed) || strings.Contains(text, "serverSeed") {
			t.Error("support saw the server seed of an active pair")
		}
		if len(player.GetRecentRounds()) != 1 || player.GetBalances()[0].GetAmount() != round.GetBalance().GetAmount() || len(player.GetSeedPairs()) != 1 {
			t.Errorf("player %v", player)
		}
	})
}

func TestTimeline(t *testing.T) {
	onEachStore(t, func(t *testing.T, h *house) {
		p, s := h.player(), h.staff("carol")
		round := must(p.bet())(t)
		names := func() (names []string) {
			line := must(s.GetRoundTimeline(s.ctx, &originalsv1.GetRoundTimelineRequest{RoundId: round.GetRoundId()}))(t)
			if line.GetPlayerId() != p.id.ID || line.GetRound().GetRoundId() != round.GetRoundId() || line.GetSeedPair().GetSeedPairId() != p.pair {
				t.Errorf("timeline of %v", line)
			}
			for _, e := range line.GetEvents() {
				names = append(names, e.GetEvent())
			}
			return names
		}
		want := "[COMMITMENT_ANNOUNCED SEED_PAIR_ACTIVATED STAKE_LOCKED SETTLED SETTLEMENT_QUEUED]"
		if got := fmt.Sprint(names()); got != want {
			t.Errorf("%s, want %s", got, want)
		}
		id := must(ledger.ParseRoundID(round.GetRoundId()))(t)
		must(h.store.Acknowledge(p.ctx, p.id.Operator, []ledger.Ack{{Round: id, WalletTransaction: "w-1"}}))(t)
		must(s.reveal(p.pair))(t)
		want = "[COMMITMENT_ANNOUNCED SEED_PAIR_ACTIVATED STAKE_LOCKED SETTLED SETTLEMENT_QUEUED SETTLEMENT_ACKNOWLEDGED SEED_PAIR_REVEALED]"
		if got := fmt.Sprint(names()); got != want {
			t.Errorf("%s, want %s", got, want)
		}
	})
}

// What became of a settlement at its wallet is shown: who holds it, and why it was
// rejected, also by a wallet that says nothing.
func TestTimelineFollowsASettlementToItsWallet(t *testing.T) {
	onEachStore(t, func(t *testing.T, h *house) {
		p, s := h.player(), h.staff("carol")
		id := must(ledger.ParseRoundID(must(p.bet())(t).GetRoundId()))(t)
		wantLast := func(event, detail string) {
			t.Helper()
			events := must(s.GetRoundTimeline(s.ctx, &originalsv1.GetRoundTimelineRequest{RoundId: id.String()}))(t).GetEvents()
			if last := events[len(events)-1]; last.GetEvent() != event || last.GetDetail() != detail {
				t.Errorf("the last event is %v, want %s %s", last, event, detail)
			}
		}
		reject := func(reason string) {
			must(h.store.Acknowledge(p.ctx, p.id.Operator, []ledger.Ack{{Round: id, Rejected: true, Reason: reason}}))(t)
		}
		claim := ledger.Claim{Operator: p.id.Operator, ID: "c1", Consumer: "c", Max: 10, Lease: time.Minute}
		held := must(h.store.Claim(p.ctx, claim))(t)
		wantLast("SETTLEMENT_CLAIMED", "attempt 1, lease until "+held[0].LeaseExpire.UTC().Format(time.RFC3339))
		must(h.store.Release(p.ctx, claim.Operator, claim.ID))(t)
		wantLast("SETTLEMENT_CLAIMED", "attempt 1, given back")
		reject("the account is closed: 7")
		wantLast("SETTLEMENT_REJECTED", "the account is closed: 7")
		if err := h.store.Requeue(p.ctx, claim.Operator, id); err != nil {
			t.Fatal(err)
		}
		wantLast("SETTLEMENT_QUEUED", fmt.Sprintf("partition %d, sequence 1", id.Pair.Partition()))
		reject("")
		wantLast("SETTLEMENT_REJECTED", "rejected")
	})
}

// One operator never sees another's, not even by guessing ids; and a refused
// look is recorded as well.
func TestOperatorsAreKeptApart(t *testing.T) {
	onEachStore(t, func(t *testing.T, h *house) {
		p, stranger := h.player(), h.staffOf(h.rival, "mallory")
		round := must(p.bet())(t)
		_, err := stranger.GetPlayer(stranger.ctx, &originalsv1.GetPlayerRequest{PlayerId: p.id.ID})
		refused(t, err, reason.PlayerNotFound)
		_, err = stranger.GetRoundTimeline(stranger.ctx, &originalsv1.GetRoundTimelineRequest{RoundId: round.GetRoundId()})
		refused(t, err, reason.RoundNotFound)
		_, err = stranger.reveal(p.pair)
		refused(t, err, reason.SeedPairNotFound)
		if got := fmt.Sprint(stranger.actions()); got != "[VIEW_PLAYER VIEW_ROUND REVEAL_REFUSED]" {
			t.Errorf("recorded %s", got)
		}
		if own := h.staff("carol").log(); len(own) != 0 {
			t.Errorf("the other operator's log has %v", own)
		}
		must(p.bet())(t)
	})
}

func TestOtherRolesAreRefused(t *testing.T) {
	onEachStore(t, func(t *testing.T, h *house) {
		p := h.player()
		for _, role := range []auth.Role{auth.Player, auth.Wallet} {
			s := &staff{originalsv1.NewSupportServiceClient(h.public), h, h.as(h.devKey, p.id.ID, role)}
			_, err := s.GetPlayer(s.ctx, &originalsv1.GetPlayerRequest{PlayerId: p.id.ID})
			refused(t, err, reason.RoleRequired)
			_, err = s.reveal(p.pair)
			refused(t, err, reason.RoleRequired)
			_, err = s.ListAuditLog(s.ctx, &originalsv1.ListAuditLogRequest{})
			refused(t, err, reason.RoleRequired)
		}
		q := *p
		q.ctx = h.as(h.devKey, p.id.ID, auth.Support)
		_, err := q.bet()
		refused(t, err, reason.RoleRequired)
		_, err = q.tryRotate()
		refused(t, err, reason.RoleRequired)
	})
}

func TestBadInputChangesNothing(t *testing.T) {
	onEachStore(t, func(t *testing.T, h *house) {
		p, s := h.player(), h.staff("carol")
		size := int32(201)
		for field, err := range map[string]error{
			"playerId": last(s.GetPlayer(s.ctx, &originalsv1.GetPlayerRequest{PlayerId: "a b"})),
			"roundId":  last(s.GetRoundTimeline(s.ctx, &originalsv1.GetRoundTimelineRequest{RoundId: "A"})),
			"reason":   last(s.RevealSeedPair(s.ctx, &originalsv1.RevealSeedPairRequest{SeedPairId: p.pair, Ticket: "T"})),
			"reason ":  last(s.RevealSeedPair(s.ctx, &originalsv1.RevealSeedPairRequest{SeedPairId: p.pair, Reason: "  ", Ticket: "T"})),
			"reason  ": last(s.RevealSeedPair(s.ctx, &originalsv1.RevealSeedPairRequest{SeedPairId: p.pair, Reason: strings.Repeat("x", 201), Ticket: "T"})),
			"ticket":   last(s.RevealSeedPair(s.ctx, &originalsv1.RevealSeedPairRequest{SeedPairId: p.pair, Reason: "x"})),
			"ticket ":  last(s.RevealSeedPair(s.ctx, &originalsv1.RevealSeedPairRequest{SeedPairId: p.pair, Reason: "x", Ticket: "a b"})),
			"ticket  ": last(s.RevealSeedPair(s.ctx, &originalsv1.RevealSeedPairRequest{SeedPairId: p.pair, Reason: "x", Ticket: "\n"})),

			"seedPairId": last(s.RevealSeedPair(s.ctx, &originalsv1.RevealSeedPairRequest{Reason: "x", Ticket: "T"})),
			"pageSize":   last(s.ListAuditLog(s.ctx, &originalsv1.ListAuditLogRequest{PageSize: &size})),
			"pageToken":  last(s.ListAuditLog(s.ctx, &originalsv1.ListAuditLogRequest{PageToken: "rubbish"})),
			"playerId ":  last(s.ListAuditLog(s.ctx, &originalsv1.ListAuditLogRequest{PlayerId: "\t"})),
		} {
			if e := refused(t, err, reason.InvalidField); e.Metadata["field"] != strings.TrimSpace(field) {
				t.Errorf("%q: metadata %v", field, e.Metadata)
			}
		}
		if log := s.log(); len(log) != 0 {
			t.Errorf("recorded %v", log)
		}
		must(p.bet())(t)
	})
}

func last[T any](_ T, err error) error { return err }

func TestAuditLogPages(t *testing.T) {
	onEachStore(t, func(t *testing.T, h *house) {
		s, a, b := h.staff("carol"), h.player(), h.player()
		look := func(p *player) { must(s.GetPlayer(s.ctx, &originalsv1.GetPlayerRequest{PlayerId: p.id.ID}))(t) }
		for range 7 {
			look(a)
			look(b)
		}
		size, token, seen := int32(3), "", []int64{}
		for {
			page := must(s.ListAuditLog(s.ctx, &originalsv1.ListAuditLogRequest{PageSize: &size, PageToken: token, PlayerId: a.id.ID}))(t)
			for _, e := range page.GetEntries() {
				if e.GetPlayerId() != a.id.ID {
					t.Fatalf("entry of another player: %v", e)
				}
				if e.GetAction() == "VIEW_PLAYER" {
					seen = append(seen, e.GetSequence())
				}
			}
			if token = page.GetNextPageToken(); token == "" {
				break
			}
			look(a) // arrives while the pages are read, and is not in them
			_, err := s.ListAuditLog(s.ctx, &originalsv1.ListAuditLogRequest{PageToken: token, PlayerId: b.id.ID})
			refused(t, err, reason.InvalidField)
		}
		if fmt.Sprint(seen) != "[13 11 9 7 5 3 1]" {
			t.Errorf("sequences %v", seen)
		}
	})
}

// A reveal races with bets, picks and rotations: no pair is ever active with a
// public server seed, and none with an open round is revealed.
func TestRevealRacesWithPlay(t *testing.T) {
	onEachStore(t, func(t *testing.T, h *house) {
		for range 12 {
			p, s := h.player(), h.staff("carol")
			pair := p.pair
			var mined *originalsv1.Round
			var revealed *originalsv1.SeedPair
			var revealErr error
			var all sync.WaitGroup
			all.Go(func() { _, _ = p.bet() })
			all.Go(func() {
				mined, _ = p.mines.StartRound(p.ctx, &originalsv1.StartRoundRequest{BetId: unique("bet"), SeedPairId: pair, Stake: fun(100), MineCount: 1})
			})
			all.Go(func() { _, _ = p.tryRotate() })
			all.Go(func() { revealed, revealErr = s.reveal(pair) })
			all.Wait()
			shown := p.shown(pair)
			public, open := shown.ServerSeed != nil, mined != nil
			if public && (open || shown.GetState() != originalsv1.SeedPair_REVEALED) {
				t.Errorf("open %v, public %v, %v", open, public, shown.GetState())
			}
			if revealErr == nil && revealed.GetServerSeed() == "" || revealErr != nil && !expected(revealErr) {
				t.Errorf("revealed %v, %v", revealed, revealErr)
			}
			active := must(p.pairs.GetSeedPair(p.ctx, &originalsv1.GetSeedPairRequest{}))(t).GetActive()
			if active != nil && active.ServerSeed != nil {
				t.Error("an active pair has a public server seed")
			}
		}
	})
}

func expected(err error) bool {
	var e *reason.Error
	r := reason.Of(err)
	return errors.As(err, &e) || r == reason.RoundOpen || r == reason.InProgress
}
