package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/openoriginals/originals/internal/evidence"
	"github.com/openoriginals/originals/internal/ledger"
	"github.com/openoriginals/originals/internal/ledger/redisledger"
	"github.com/openoriginals/originals/internal/rng"
	"github.com/openoriginals/originals/internal/testenv"
	originalsv1 "github.com/openoriginals/originals/proto/originals/v1"
)

// auditTime bounds the wait for a sweeper, which comes after some seconds.
const auditTime = 2 * time.Minute

// audit is what the lists of the API say at the end.
type audit struct {
	rounds []*originalsv1.Round // of all pairs, all ended
	pairs  []*originalsv1.SeedPair
}

// audit ends all that is open, reveals the last pair, and compares the lists
// of the API with one another and with what the player was told.
func (s *session) audit(grant int64) audit {
	s.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), auditTime)
	defer cancel()
	s.endRounds(ctx)
	s.revealLast(ctx)
	a := audit{s.listRounds(ctx, ""), s.listPairs(ctx)}
	s.checkBalance(ctx, a, grant)
	s.checkRounds(a)
	s.checkPairs(ctx, a)
	return a
}

// endRounds cashes out mines rounds, and waits until instant rounds are settled.
func (s *session) endRounds(ctx context.Context) {
	s.t.Helper()
	for {
		open := s.listRounds(ctx, "&state=OPEN")
		if len(open) == 0 {
			return
		}
		for _, round := range open {
			if round.GetMines() != nil {
				s.finishMines(ctx, round.GetRoundId())
				continue
			}
			s.count("left to the sweeper")
		}
		if ctx.Err() != nil {
			s.t.Fatalf("%s: rounds stay open: %v", s.name, open)
		}
		time.Sleep(200 * time.Millisecond)
	}
}

// revealLast rotates until a rotation of its own succeeds.
func (s *session) revealLast(ctx context.Context) {
	s.t.Helper()
	for before := s.rotations(); s.rotations() == before; {
		if s.rotate(ctx); ctx.Err() != nil {
			s.t.Fatalf("%s: no rotation succeeds", s.name)
		}
	}
}

func (s *session) rotations() int {
	s.journal.mu.Lock()
	defer s.journal.mu.Unlock()
	return s.counts["rotations"]
}

// listRounds reads every page of a list of rounds.
func (s *session) listRounds(ctx context.Context, filter string) (all []*originalsv1.Round) {
	s.t.Helper()
	for token := ""; ; {
		var page originalsv1.ListRoundsResponse
		if err := s.get(ctx, "/v1/rounds?pageSize=200"+filter+token, &page); err != nil {
			s.t.Fatalf("%s: rounds: %v", s.name, err)
		}
		all = append(all, page.GetRounds()...)
		if page.GetNextPageToken() == "" {
			return all
		}
		token = "&pageToken=" + page.GetNextPageToken()
	}
}

func (s *session) listPairs(ctx context.Context) (all []*originalsv1.SeedPair) {
	s.t.Helper()
	for token := ""; ; {
		var page originalsv1.ListSeedPairsResponse
		if err := s.get(ctx, "/v1/seed-pairs?pageSize=7"+token, &page); err != nil {
			s.t.Fatalf("%s: seed pairs: %v", s.name, err)
		}
		all = append(all, page.GetSeedPairs()...)
		if page.GetNextPageToken() == "" {
			return all
		}
		token = "&pageToken=" + page.GetNextPageToken()
	}
}

// checkBalance holds the money against the rounds: grant + payouts - stakes.
func (s *session) checkBalance(ctx context.Context, a audit, grant int64) {
	s.t.Helper()
	want := grant
	for _, round := range a.rounds {
		want += round.GetPayout().GetAmount() - round.GetStake().GetAmount()
	}
	var balances originalsv1.ListBalancesResponse
	if err := s.get(ctx, "/v1/balances", &balances); err != nil {
		s.t.Fatalf("%s: balances: %v", s.name, err)
	}
	if b := balances.GetBalances(); len(b) != 1 || b[0].GetCurrency() != "FUN" || b[0].GetAmount() != want {
		s.fault("balances %v, want %d FUN after %d rounds", b, want, len(a.rounds))
	}
}

// checkRounds holds the list of rounds against every answer.
func (s *session) checkRounds(a audit) {
	s.t.Helper()
	listed := make(map[string]*originalsv1.Round)
	for _, round := range a.rounds {
		key := round.GetSeedPairId() + " " + round.GetBetId()
		if listed[round.GetRoundId()] != nil {
			s.fault("round %s is listed twice", round.GetRoundId())
		}
		listed[round.GetRoundId()] = round
		switch known := s.bets[key]; {
		case known == "" && !s.unknown[key]:
			s.fault("bet %s was never answered but by refusals, and was taken as %s", key, round.GetRoundId())
		case known != "" && known != round.GetRoundId():
			s.fault("bet %s was answered with %s, and is listed as %s", key, known, round.GetRoundId())
		}
		s.saw(round)
		if void := round.GetState() == originalsv1.Round_VOID; void && (round.GetMines() == nil || len(round.GetMines().GetPicks()) > 0) {
			s.fault("a round that had been decided is void: %v", round)
		}
	}
	for key, id := range s.bets {
		if listed[id] == nil {
			s.fault("bet %s was answered with %s, which is not listed", key, id)
		}
	}
}

// checkPairs wants every nonce once, every commitment opened, and evidence
// that holds against the commitment that the player kept.
func (s *session) checkPairs(ctx context.Context, a audit) {
	s.t.Helper()
	nonces := make(map[string][]uint32)
	for _, round := range a.rounds {
		nonces[round.GetSeedPairId()] = append(nonces[round.GetSeedPairId()], round.GetNonce())
	}
	opened := make(map[string]bool)
	for i, pair := range a.pairs {
		opened[pair.GetCommitment()] = true
		used := nonces[pair.GetSeedPairId()]
		slices.Sort(used)
		if !slices.Equal(used, upTo(pair.GetNonce())) {
			s.fault("nonces of %s: %v, want each below %d once", pair.GetSeedPairId(), used, pair.GetNonce())
		}
		delete(nonces, pair.GetSeedPairId())
		if i == 0 {
			if pair.GetState() != originalsv1.SeedPair_ACTIVE {
				s.fault("the newest pair is %v", pair)
			}
			continue
		}
		s.checkRevealed(ctx, pair)
	}
	if len(nonces) > 0 {
		s.fault("rounds of pairs that are not listed: %v", nonces)
	}
	var now originalsv1.GetSeedPairResponse
	if err := s.get(ctx, "/v1/seed-pair", &now); err != nil {
		s.t.Fatalf("%s: %v", s.name, err)
	}
	opened[now.GetNextCommitment()] = true
	for commitment := range s.commitments {
		if commitment != "" && !opened[commitment] {
			s.fault("the commitment %s was shown and never opened", commitment)
		}
	}
}

func upTo(n uint32) []uint32 {
	var all []uint32
	for i := range n {
		all = append(all, i)
	}
	return all
}

func (s *session) checkRevealed(ctx context.Context, pair *originalsv1.SeedPair) {
	s.t.Helper()
	if state := pair.GetState(); state != originalsv1.SeedPair_REVEALED && state != originalsv1.SeedPair_UNUSED {
		s.fault("a pair before the last is not revealed: %v", pair)
		return
	}
	if pair.GetState() == originalsv1.SeedPair_UNUSED {
		s.checkUnused(pair) // its commitment may have been in an answer that got lost
		return
	}
	if s.pairs[pair.GetSeedPairId()] == nil {
		s.fault("pair %s was active, and no answer said so", pair.GetSeedPairId())
	}
	document := s.evidence(ctx, pair.GetSeedPairId())
	verifyHere(s.t, document, pair.GetCommitment(), pair.GetNonce())
}

// checkUnused opens the commitment of a pair that has no evidence.
func (s *session) checkUnused(pair *originalsv1.SeedPair) {
	s.t.Helper()
	serverSeed, err := rng.ParseServerSeed(pair.GetServerSeed())
	if err != nil {
		s.fault("unused pair %v: %v", pair, err)
		return
	}
	commitment, err := serverSeed.Commitment()
	if err != nil || commitment.String() != pair.GetCommitment() || pair.GetRevealReason() == "" {
		s.fault("unused pair %v: its server seed opens %s, %v", pair, commitment, err)
	}
}

func (s *session) evidence(ctx context.Context, pair string) []byte {
	s.t.Helper()
	for {
		document, err := s.player.Do(ctx, "GET", "/v1/seed-pairs/"+pair+"/evidence", nil)
		if err == nil {
			return document
		}
		if testenv.Definite(err) || ctx.Err() != nil {
			s.t.Fatalf("%s: evidence of %s: %v", s.name, pair, err)
		}
	}
}

// verifyHere checks a document against the commitment that the player kept.
func verifyHere(t testing.TB, document []byte, kept string, nonce uint32) {
	t.Helper()
	commitment, err := rng.ParseCommitment(kept)
	if err != nil {
		t.Fatal(err)
	}
	o := evidence.Options{Commitment: &commitment}
	if nonce > 0 {
		last := nonce - 1
		o.LastNonce = &last
	}
	report, err := evidence.Verify(context.Background(), bytes.NewReader(document), o)
	if err != nil || report.Verdict != evidence.Verified || report.Summary.Rounds != uint64(nonce) {
		t.Errorf("evidence of %d rounds: %v, %+v", nonce, err, report)
	}
	for _, note := range report.Notes {
		if strings.Contains(note, "revealed before") {
			t.Errorf("evidence: %s", note)
		}
	}
}

// verifyWithPython has the reference verifier say the same. It returns how
// many documents it checked.
func (s *session) verifyWithPython(a audit, most int) int {
	s.t.Helper()
	checked := 0
	for _, pair := range a.pairs {
		if pair.GetState() != originalsv1.SeedPair_REVEALED || pair.GetNonce() == 0 || checked == most {
			continue
		}
		file := filepath.Join(s.t.TempDir(), "evidence.json")
		if err := os.WriteFile(file, s.evidence(context.Background(), pair.GetSeedPairId()), 0o600); err != nil {
			s.t.Fatal(err)
		}
		out, err := exec.Command("python3", filepath.Join("..", "..", "scripts", "verify", "python", "verify.py"),
			"evidence", file, "--commitment", pair.GetCommitment(), "--last-nonce", fmt.Sprint(pair.GetNonce()-1)).CombinedOutput()
		if err != nil || !bytes.Contains(out, []byte("VERIFIED")) {
			s.fault("the Python verifier on %s: %v\n%s", pair.GetSeedPairId(), err, out)
		}
		checked++
	}
	return checked
}

// checkOutbox wants exactly one settlement of every round, in sequences
// without a gap.
func checkOutbox(t testing.TB, url string, audits []audit) {
	t.Helper()
	client, err := redisledger.Dial(url)
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	store := redisledger.New(client, redisledger.Options{})
	settled := make(map[string]int)
	for partition := range ledger.Partitions {
		for last := uint64(0); ; {
			entries, err := store.Outbox(context.Background(), "demo", partition, last, 100)
			if err != nil {
				t.Fatal(err)
			}
			for _, e := range entries {
				if e.Sequence != last+1 {
					t.Errorf("outbox of partition %d: %d after %d", partition, e.Sequence, last)
				}
				last = e.Sequence
				settled[e.Round.String()]++
			}
			if len(entries) == 0 {
				break
			}
		}
	}
	rounds := 0
	for _, a := range audits {
		for _, round := range a.rounds {
			rounds++
			if n := settled[round.GetRoundId()]; n != 1 {
				t.Errorf("round %s has %d settlements", round.GetRoundId(), n)
			}
		}
	}
	if len(settled) != rounds {
		t.Errorf("%d rounds in the outbox, want %d", len(settled), rounds)
	}
}

// tallyOf adds up what several players counted.
func tallyOf(sessions []*session) string {
	sum := make(map[string]int)
	for _, s := range sessions {
		s.journal.mu.Lock()
		for what, n := range s.counts {
			sum[what] += n
		}
		s.journal.mu.Unlock()
	}
	var parts []string
	for what, n := range sum {
		parts = append(parts, fmt.Sprintf("%d %s", n, what))
	}
	slices.Sort(parts)
	return strings.Join(parts, ", ")
}
