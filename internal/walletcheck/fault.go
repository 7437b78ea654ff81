package walletcheck

import (
	"context"
	"net/http"

	"google.golang.org/protobuf/proto"

	"github.com/openoriginals/originals/internal/reason"
)

// The methods that faults and records name.
const (
	claimCall       = "ClaimSettlements"
	acknowledgeCall = "AcknowledgeSettlements"
	transferCall    = "CreateTransfer"
	cancelCall      = "CancelTransfer"
)

// manner is how an answer reaches the wallet.
type manner int

const (
	whole   manner = iota
	dropped        // the connection ends without an answer
	half           // the answer ends in its middle
	garbage        // status 200 with a body of something else
	refused        // an error of status and reason
)

// fault is what becomes of one call of the wallet. The zero fault does no harm.
type fault struct {
	method string // which calls it meets; empty for all
	calls  int    // how many calls it meets; 0 for one, -1 for all until it is lifted

	notApplied bool // the call never reaches the platform
	late       bool // it does so when the case says, and not before
	twice      bool // it reaches the platform two times

	arrived chan struct{} // gets a value when a call is met, before it reaches the platform
	before  chan struct{} // what is met waits here, before it reaches the platform
	after   chan struct{} // and here, before the answer goes back

	answer manner
	status int // of refused
	reason reason.Reason
	text   string // of garbage

	edit     func(proto.Message)        // of an answer that is whole
	editJSON func(text []byte) []byte   // the same in its JSON; not for gRPC
	request  func(proto.Message) bool   // which calls it meets; nil for all
	seen     func(answer proto.Message) // is shown the platform's answer
}

func (f *fault) meets(method string, request proto.Message) bool {
	return (f.method == "" || f.method == method) && (f.request == nil || f.request(request))
}

// await waits for a signal of the case, or until the wallet has gone.
func await(ctx context.Context, signal chan struct{}) {
	if signal == nil {
		return
	}
	select {
	case <-signal:
	case <-ctx.Done():
	}
}

// call is one call of the wallet, as the platform recorded it at its arrival.
type call struct {
	method  string
	request proto.Message
}

// meet records a call and returns the fault that it meets.
func (s *stage) meet(method string, request proto.Message) *fault {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.calls = append(s.calls, call{method, request})
	for i, f := range s.faults {
		if !f.meets(method, request) {
			continue
		}
		if f.calls >= 0 {
			if f.calls--; f.calls <= 0 {
				s.faults = append(s.faults[:i:i], s.faults[i+1:]...)
			}
		}
		return f
	}
	return new(fault)
}

// add puts faults in the way of calls to come, the first one first.
func (s *stage) add(faults ...*fault) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.faults = append(s.faults, faults...)
}

// lift takes all faults away.
func (s *stage) lift() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.faults = nil
}

// recorded returns the calls of a method so far; all of them when it is empty.
func (s *stage) recorded(method string) []call {
	s.mu.Lock()
	defer s.mu.Unlock()
	var all []call
	for _, c := range s.calls {
		if method == "" || c.method == method {
			all = append(all, c)
		}
	}
	return all
}

// deliverLate lets calls that were held back reach the platform. Nobody waits
// for their answers.
func (s *stage) deliverLate() int {
	s.mu.Lock()
	late := s.late
	s.late = nil
	s.mu.Unlock()
	for _, deliver := range late {
		deliver()
	}
	return len(late)
}

func (s *stage) holdBack(deliver func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.late = append(s.late, deliver)
}

// through takes a call through its fault up to its answer. It returns nil when
// the call never reached the platform.
func through[A any](ctx context.Context, s *stage, f *fault, apply func() A) *A {
	if f.arrived != nil {
		select {
		case f.arrived <- struct{}{}:
		default:
		}
	}
	await(ctx, f.before)
	var answer *A
	switch {
	case f.late:
		s.holdBack(func() { apply() })
	case !f.notApplied:
		first := apply()
		answer = &first
	}
	if f.twice {
		second := apply()
		answer = &second
	}
	await(ctx, f.after)
	return answer
}

// defaultRefusal is answered where a call did not reach the platform and
// nothing else was said.
const defaultRefusal = http.StatusServiceUnavailable
