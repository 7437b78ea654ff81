package support_test

import (
	"context"
	"errors"
	"slices"
	"testing"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"

	"github.com/openoriginals/originals/internal/auth"
	"github.com/openoriginals/originals/internal/ledger"
	"github.com/openoriginals/originals/internal/reason"
	originalsv1 "github.com/openoriginals/originals/proto/originals/v1"
	"github.com/openoriginals/originals/services/support"
)

// away is everything that support asks, none of which answers, or in a way that
// cannot be.
type away struct {
	ledger.Feed
	log ledger.AuditLog
	err error
}

func (a *away) Settlement(context.Context, string, ledger.RoundID) (ledger.SettledRound, error) {
	return ledger.SettledRound{}, a.err
}

func (a *away) AppendAudit(ctx context.Context, operator string, e ledger.AuditEntry) (ledger.AuditEntry, error) {
	return a.log.AppendAudit(ctx, operator, e)
}

func (a *away) AuditEntries(context.Context, string, uint64, int) ([]ledger.AuditEntry, error) {
	return nil, a.err
}

// vault is the seed-pair service of another process, of which some calls get no
// answer.
type vault struct {
	grpc.ClientConnInterface
	lost   string // the method
	before bool   // the call never arrived; otherwise its answer is lost
}

func (v *vault) Invoke(ctx context.Context, method string, args, reply any, opts ...grpc.CallOption) error {
	if method != v.lost {
		return v.ClientConnInterface.Invoke(ctx, method, args, reply, opts...)
	}
	if !v.before {
		_ = v.ClientConnInterface.Invoke(ctx, method, args, reply, opts...)
	}
	return status.Error(codes.Unavailable, "connection lost")
}

// serving is the context of a call that a member of staff made.
func (h *house) serving(name string) context.Context {
	h.t.Helper()
	sent, _ := metadata.FromOutgoingContext(h.as(h.devKey, name, auth.Support))
	id := auth.Identity{Subject: name, Operator: h.devKey.Operator(), Role: auth.Support}
	return auth.NewContext(metadata.NewIncomingContext(context.Background(), sent), id)
}

// newest is the sequence of the newest entry of the audit log; 0 for none.
func (h *house) newest() uint64 {
	h.t.Helper()
	entries := must(h.store.AuditEntries(context.Background(), h.devKey.Operator(), 0, 1))(h.t)
	if len(entries) == 0 {
		return 0
	}
	return entries[0].Sequence
}

// What support asks for and gets no answer to is unknown to its caller, and never
// told as a refusal; that he looked stands in the log.
func TestWhatSupportCannotReadIsUnknown(t *testing.T) {
	onEachStore(t, func(t *testing.T, h *house) {
		p := h.player()
		round := must(p.bet())(t).GetRoundId()
		ctx := h.serving("carol")
		for _, err := range []error{errLost, errors.New("a record that cannot be")} {
			a := &away{log: h.store, err: err}
			s := support.New(support.Options{Audit: a, Feed: a, Vault: h.vault})
			for name, look := range map[string]func() error{
				"round": func() error {
					_, err := s.GetRoundTimeline(ctx, &originalsv1.GetRoundTimelineRequest{RoundId: round})
					return err
				},
				"log": func() error { _, err := s.ListAuditLog(ctx, &originalsv1.ListAuditLogRequest{}); return err },
			} {
				before := h.newest()
				if got := look(); got == nil || reason.Of(got).Known() {
					t.Errorf("%s, %v: answered %v", name, err, got)
				}
				if h.newest() <= before {
					t.Errorf("%s, %v: the look is not recorded", name, err)
				}
			}
		}
	})
}

// A reveal whose call to the seed-pair service was lost, or its answer, is unknown:
// the log has that it was begun and not that it was refused, and a repeat ends it.
func TestARevealThatIsLostBetweenProcessesIsCompletedByARepeat(t *testing.T) {
	onEachStore(t, func(t *testing.T, h *house) {
		for _, method := range []string{"GetSeedPair", "RevealSeedPair"} {
			for _, before := range []bool{true, false} {
				p := h.player()
				must(p.bet())(t)
				ctx := h.serving("carol")
				v := &vault{ClientConnInterface: h.vault, lost: "/originals.vault.v1.SupportVaultService/" + method, before: before}
				s := support.New(support.Options{Audit: h.store, Feed: h.store, Vault: v})
				q := &originalsv1.RevealSeedPairRequest{SeedPairId: p.pair, Reason: "asked", Ticket: "T"}
				known := len(h.staff("carol").actions())
				_, err := s.RevealSeedPair(ctx, q)
				if err == nil || reason.Of(err).Known() {
					t.Errorf("%s lost: %v", method, err)
				}
				if actions := h.staff("carol").actions()[known:]; slices.Contains(actions, "REVEAL_REFUSED") || slices.Contains(actions, "REVEAL_DONE") {
					t.Errorf("%s lost: recorded %v", method, actions)
				}
				state := p.shown(p.pair).GetState()
				if revealed := method == "RevealSeedPair" && !before; revealed != (state == originalsv1.SeedPair_REVEALED) {
					t.Errorf("%s lost before it arrived %v: the pair is %v", method, before, state)
				}
				v.lost = ""
				if pair, err := s.RevealSeedPair(ctx, q); err != nil || pair.GetServerSeed() == "" {
					t.Errorf("the repeat answers %v, %v", pair, err)
				}
				if actions := h.staff("carol").actions(); actions[len(actions)-1] != "REVEAL_DONE" {
					t.Errorf("recorded %v", actions)
				}
			}
		}
	})
}
