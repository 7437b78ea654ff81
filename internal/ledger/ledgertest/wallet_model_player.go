package ledgertest

import (
	"slices"
	"time"

	"github.com/openoriginals/originals/internal/money"
)

// modelPlayer is what is known of a player, his settlements in the order in which
// they will be claimed.
type modelPlayer struct {
	*subject
	balance money.Units
	held    []*modelSettlement // claimed, not acknowledged
	leased  int                // how many of them are, the first ones
	over    bool               // the last of them was acknowledged in this call
	mixed   bool               // one was put back behind later ones that were leased
	fresh   []*modelSettlement // never claimed, or put back before all that were
	vain    int                // claims since the oldest became it
	back    int                // those of them that were given back
	token   uint64
	newest  uint64 // token
	end     time.Time
	due     time.Time
}

// add makes a settlement one that can be claimed.
func (p *modelPlayer) add(s *modelSettlement, now time.Time) {
	if len(p.held)+len(p.fresh) == 0 {
		p.due = now
	}
	p.fresh = append(p.fresh, s)
	slices.SortFunc(p.fresh, bySequence)
}

// putBack makes a dead letter one that can be claimed, before all later ones but
// those that are leased.
func (p *modelPlayer) putBack(s *modelSettlement, now time.Time) {
	s.Attempt = 0
	later := func(h *modelSettlement) bool { return h.Sequence > s.Sequence }
	if !slices.ContainsFunc(p.held, later) {
		p.add(s, now)
		return
	}
	p.mixed = p.mixed || slices.ContainsFunc(p.held[:p.leased], later)
	at := slices.IndexFunc(p.held[p.leased:], later)
	if at < 0 {
		at = len(p.held) - p.leased
	}
	if p.held = slices.Insert(p.held, p.leased+at, s); p.leased+at == 0 {
		p.vain, p.back = 0, 0
	}
}

// sort puts what was claimed of a player back into its order.
func (p *modelPlayer) sort() {
	if !p.mixed || len(p.held) == 0 {
		return
	}
	oldest := p.held[0]
	slices.SortFunc(p.held, bySequence)
	if p.mixed = false; p.held[0] != oldest {
		p.vain, p.back = 0, 0
	}
}

func bySequence(a, b *modelSettlement) int { return int(a.Sequence) - int(b.Sequence) }

// spent reports whether the next claim makes a dead letter of his oldest.
func (p *modelPlayer) spent(attempts int) bool { return len(p.held) > 0 && p.vain-p.back >= attempts }

func (p *modelPlayer) remove(s *modelSettlement, now time.Time) {
	if i := slices.Index(p.held, s); i >= 0 {
		p.held = slices.Delete(p.held, i, i+1)
		if i == 0 {
			p.vain, p.back = 0, 0
		}
		if i < p.leased {
			if p.leased--; p.leased == 0 {
				p.due, p.over = now, true
			}
		}
	} else {
		i := slices.Index(p.fresh, s)
		p.fresh = slices.Delete(p.fresh, i, i+1)
	}
}
