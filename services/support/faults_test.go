package support_test

import (
	"context"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/openoriginals/originals/internal/ledger"
	"github.com/openoriginals/originals/internal/reason"
	originalsv1 "github.com/openoriginals/originals/proto/originals/v1"
)

// faults is a store whose writes of a reveal fail: by number, before or after
// they took effect.
type faults struct {
	ledger.Store
	log ledger.AuditLog

	mu        sync.Mutex
	at        int // the write to fail, from 1; 0 for none
	persisted bool
	writes    int
	after     func(write int) // told of each write that is done
	refusal   error           // of each try to retire a pair; nil for none
}

var errLost = reason.New(reason.StoreUnavailable, "injected fault")

func (f *faults) fail(at int, persisted bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.at, f.persisted, f.writes = at, persisted, 0
}

// next reports whether a write fails, and whether it is done all the same.
func (f *faults) next() (fails, done bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.writes++
	return f.writes == f.at, f.persisted
}

func (f *faults) tell() {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.after != nil {
		f.after(f.writes)
	}
}

func (f *faults) count() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.writes
}

// refuse makes each try to retire a pair a refusal.
func (f *faults) refuse(err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.refusal = err
}

func (f *faults) Retire(ctx context.Context, p ledger.Player, pair ledger.PairID, detail string) (ledger.SeedPair, error) {
	f.mu.Lock()
	refusal := f.refusal
	f.mu.Unlock()
	if refusal != nil {
		return ledger.SeedPair{}, refusal
	}
	return step(f, func() (ledger.SeedPair, error) { return f.Store.Retire(ctx, p, pair, detail) })
}

func (f *faults) AppendAudit(ctx context.Context, operator string, e ledger.AuditEntry) (ledger.AuditEntry, error) {
	return step(f, func() (ledger.AuditEntry, error) { return f.log.AppendAudit(ctx, operator, e) })
}

func (f *faults) AuditEntries(ctx context.Context, operator string, before uint64, count int) ([]ledger.AuditEntry, error) {
	return f.log.AuditEntries(ctx, operator, before, count)
}

func step[T any](f *faults, do func() (T, error)) (T, error) {
	var none T
	fails, done := f.next()
	if !fails {
		defer f.tell()
		return do()
	}
	if done {
		_, _ = do()
	}
	return none, errLost
}

// A reveal that was recorded and then interrupted is completed by a repeat, at
// whichever write it was cut off; and no seed is public that nobody is recorded
// to have asked for.
func TestInterruptedRevealIsCompletedByARepeat(t *testing.T) {
	onEachStore(t, func(t *testing.T, h *house) {
		const writes = 3 // begun, retired, done
		for _, persisted := range []bool{false, true} {
			for at := 1; at <= writes; at++ {
				p, s := h.player(), h.staff("carol")
				must(p.bet())(t)
				before := len(s.log())
				h.faults.fail(at, persisted)
				_, err := s.reveal(p.pair)
				refused(t, err, reason.StoreUnavailable)
				h.faults.fail(0, false)

				state := p.shown(p.pair).GetState()
				entries := s.log()[before:]
				if state == originalsv1.SeedPair_REVEALED && (len(entries) == 0 || entries[0].GetAction() != "REVEAL_BEGUN") {
					t.Errorf("write %d, persisted %v: revealed, and the log says %v", at, persisted, entries)
				}
				if revealed := at > 2 || at == 2 && persisted; revealed != (state == originalsv1.SeedPair_REVEALED) {
					t.Errorf("write %d, persisted %v: the pair is %v", at, persisted, state)
				}
				pair := must(s.reveal(p.pair))(t)
				if pair.GetState() != originalsv1.SeedPair_REVEALED || pair.GetServerSeed() == "" {
					t.Errorf("write %d, persisted %v: the repeat answers %v", at, persisted, pair.GetState())
				}
				if actions := s.actions(); actions[len(actions)-1] != "REVEAL_DONE" {
					t.Errorf("write %d, persisted %v: %v", at, persisted, actions)
				}
				_, err = p.bet()
				refused(t, err, reason.SeedPairChanged)
			}
		}
		p, s := h.player(), h.staff("carol")
		h.faults.fail(0, false)
		must(s.reveal(p.pair))(t)
		if n := h.faults.count(); n != writes {
			t.Errorf("a reveal has %d writes, and %d were made to fail", n, writes)
		}
	})
}

// Staff who hang up after the seed is public have revealed it all the same, and
// the log says so.
func TestARevealWhoseCallerLeavesIsRecordedToItsEnd(t *testing.T) {
	onEachStore(t, func(t *testing.T, h *house) {
		p, s := h.player(), h.staff("carol")
		ctx, leave := context.WithCancel(s.ctx)
		h.faults.fail(0, false)
		h.faults.after = func(write int) {
			if write == 2 { // retired
				leave()
				time.Sleep(20 * time.Millisecond) // the calls in between learn of it one after the other
			}
		}
		_, _ = s.RevealSeedPair(ctx, &originalsv1.RevealSeedPairRequest{SeedPairId: p.pair, Reason: "player asked", Ticket: "T-7"})
		if state := p.shown(p.pair).GetState(); state != originalsv1.SeedPair_REVEALED {
			t.Fatalf("the pair is %v", state)
		}
		if actions := s.actions(); !slices.Equal(actions, []string{"REVEAL_BEGUN", "REVEAL_DONE"}) {
			t.Errorf("recorded: %v", actions)
		}
	})
}

// A look that cannot be recorded is not answered.
func TestALookThatCannotBeRecordedIsRefused(t *testing.T) {
	onEachStore(t, func(t *testing.T, h *house) {
		p, s := h.player(), h.staff("carol")
		round := must(p.bet())(t).GetRoundId()
		looks := map[string]func() error{
			"player": func() error {
				_, err := s.GetPlayer(s.ctx, &originalsv1.GetPlayerRequest{PlayerId: p.id.ID})
				return err
			},
			"round": func() error {
				_, err := s.GetRoundTimeline(s.ctx, &originalsv1.GetRoundTimelineRequest{RoundId: round})
				return err
			},
			"log": func() error {
				_, err := s.ListAuditLog(s.ctx, &originalsv1.ListAuditLogRequest{})
				return err
			},
		}
		for name, look := range looks {
			for _, persisted := range []bool{false, true} {
				h.faults.fail(1, persisted)
				if err := look(); reason.Of(err) != reason.StoreUnavailable {
					t.Errorf("%s: %v", name, err)
				}
				h.faults.fail(0, false)
				if err := look(); err != nil {
					t.Errorf("%s again: %v", name, err)
				}
			}
		}
		if actions := s.actions(); !slices.Contains(actions, "VIEW_PLAYER") || !slices.Contains(actions, "VIEW_ROUND") {
			t.Errorf("recorded: %v", actions)
		}
	})
}
