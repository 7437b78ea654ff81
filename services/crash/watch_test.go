package crash

import (
	"bytes"
	"context"
	"encoding/hex"
	"sync"
	"testing"
	"time"

	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"

	"github.com/openoriginals/originals/internal/ledger"
	"github.com/openoriginals/originals/internal/reason"
	originalsv1 "github.com/openoriginals/originals/proto/originals/v1"
)

// Round state broadcast carries the hidden result.
func TestNothingBeforeTheCrashTellsTheCrashPoint(t *testing.T) {
	h := onRedis(t)
	for h.point(1) < 300 {
		h.chain = newChain(t)
	}
	h.pace = 20
	p := h.start(true)
	v := p.view(t, 10_000, &originalsv1.WatchRequest{})
	alice := h.player("alice")
	h.awaitPhase(1, ledger.CrashBetting)
	if _, err := p.bet(alice, "x", 110); err != nil {
		t.Fatal(err)
	}
	link, err := h.chain.Link(1)
	if err != nil {
		t.Fatal(err)
	}
	hash, point := link.Reveal(), h.point(1)
	raw, _ := hex.DecodeString(hash)
	seen := make(map[string]int)
	crash, n := v.until(func(e *originalsv1.CrashEvent) bool {
		if isCrash(e) {
			return true
		}
		wire, _ := proto.Marshal(e)
		text, _ := protojson.Marshal(e)
		if bytes.Contains(wire, raw) || bytes.Contains(wire, []byte(hash)) || bytes.Contains(text, []byte("alice")) {
			t.Errorf("before the crash: %s", text)
		}
		switch {
		case bytes.Contains(text, []byte("crashE2")), e.GetTick().GetMultiplierE2() > point:
			t.Errorf("a round that crashes at %d is shown as %s", point, text)
		case e.GetSnapshot() != nil:
			seen["snapshot"]++
		case e.GetPhase() != nil:
			seen[e.GetPhase().GetPhase().String()]++
		case e.GetTick() != nil:
			seen["tick"]++
		case e.GetCashOuts() != nil:
			seen["cash-out"]++
			if c := e.GetCashOuts().GetCashOuts()[0]; c.GetCashOutE2() != 110 || len(c.GetPlayer()) != 12 {
				t.Errorf("shown as %s", text)
			}
		case e.GetBets() != nil:
			seen["bets"]++
		}
		return false
	})
	if c := crash.GetCrash(); c.GetCrashE2() != point || c.GetHash() != hash || c.GetNumber() != 1 {
		t.Errorf("the crash is shown as %v", crash)
	}
	if after := v.next(); after.GetPhase().GetPhase() != originalsv1.CrashTable_CRASHED || after.GetPhase().GetCrashE2() != point {
		t.Errorf("after the crash: %v", after)
	}
	for _, what := range []string{"snapshot", "CLOSING", "RUNNING", "tick", "cash-out", "bets"} {
		if seen[what] == 0 {
			t.Errorf("%d events, none of them %s: %v", n, what, seen)
		}
	}
}

func TestAWatcherGoesOnWhereHeWas(t *testing.T) {
	h := onRedis(t)
	p := h.start(true)
	first := p.view(t, 10_000, &originalsv1.WatchRequest{})
	if e := first.next(); e.GetSnapshot() == nil {
		t.Fatalf("first %v", e)
	}
	crash, _ := first.until(isCrash)
	later, _ := first.until(isCrash)
	first.leave()
	// Another process, which has seen nothing of it, has it from the store.
	other := h.start(false)
	for name, s := range map[string]*Service{"the same": p.Service, "another": other.Service} {
		again := s.view(t, 10_000, &originalsv1.WatchRequest{AfterEvent: crash.GetEvent()})
		e := again.next()
		if e.GetEvent() != crash.GetEvent()+1 || e.GetPhase() == nil {
			t.Errorf("%s process: after %d comes %v", name, crash.GetEvent(), e)
		}
		if e, _ := again.until(isCrash); !proto.Equal(e, later) {
			t.Errorf("%s process: %v, want %v", name, e, later)
		}
	}
	for _, unknown := range []int64{-1, crash.GetEvent() + 1_000_000, 1<<63 - 1, crash.GetEvent() ^ eventSeries} {
		if e := p.view(t, 1000, &originalsv1.WatchRequest{AfterEvent: unknown}).next(); e.GetSnapshot() == nil {
			t.Errorf("after %d comes %v", unknown, e)
		}
	}
	handed := other.view(t, 10_000, &originalsv1.WatchRequest{History: true})
	snapshot, n := handed.until(func(e *originalsv1.CrashEvent) bool { return e.GetSnapshot() != nil })
	if n < 5 || snapshot.GetEvent() < later.GetEvent() {
		t.Errorf("%d events, then %v", n, snapshot)
	}
	e := handed.next()
	if e.GetEvent() == 0 && e.GetBets().GetNumber() == snapshot.GetSnapshot().GetNumber() {
		e = handed.next()
	}
	if e.GetEvent() != snapshot.GetEvent()+1 {
		t.Errorf("after the snapshot %d comes %d", snapshot.GetEvent(), e.GetEvent())
	}
}

func TestWatchersOfAReplacedStoreAreShownTheTableAnew(t *testing.T) {
	isSnapshot := func(e *originalsv1.CrashEvent) bool { return e.GetSnapshot() != nil }
	check := func(t *testing.T, h *house, replace func()) {
		p := h.start(true)
		v := p.view(t, 10_000, &originalsv1.WatchRequest{})
		old, _ := v.until(isCrash)
		replace()
		anew, _ := v.until(isSnapshot)
		v.until(isCrash) // and its events go on
		if anew.GetEvent()/eventSeries == old.GetEvent()/eventSeries {
			return
		}
		// Who has seen the life before comes again, here and where it was not seen.
		p.view(t, 10_000, &originalsv1.WatchRequest{AfterEvent: old.GetEvent()}).until(isSnapshot)
		if e := h.start(false).view(t, 1000, &originalsv1.WatchRequest{AfterEvent: old.GetEvent()}).next(); e.GetSnapshot() == nil {
			t.Errorf("event %d of another life was taken for known: %v", old.GetEvent(), e)
		}
	}
	t.Run("another life", func(t *testing.T) {
		h, e := onEmbedded(t)
		check(t, h, e.Replace)
	})
	t.Run("numbers below those that were seen", func(t *testing.T) {
		h := onRedis(t)
		h.short.Betting = 1500 * time.Millisecond // in which a reader looks
		check(t, h, func() {
			h.awaitPhase(h.state().Round.Number+1, ledger.CrashBetting)
			if err := h.dial(nil).Del(context.Background(), "{c:main}:i", "{c:main}:e").Err(); err != nil {
				t.Fatal(err)
			}
		})
	})
}

// Joiner mid-round sees an idle game; and all share one reader of the store.
func TestManyWatchersShareOneReader(t *testing.T) {
	h := onRedis(t)
	h.pace = 20
	for h.point(1) < 300 {
		h.chain = newChain(t)
	}
	p := h.start(true)
	h.awaitPhase(1, ledger.CrashRunning)
	all := make([]*viewer, 50)
	for i := range all {
		all[i] = p.view(t, 10_000, &originalsv1.WatchRequest{})
	}
	var want *originalsv1.CrashEvent
	for _, v := range all {
		s := v.next().GetSnapshot()
		if s.GetPhase() != originalsv1.CrashTable_RUNNING || s.GetNumber() != 1 || s.GetStartTime() == nil || s.GetCrashE2() != 0 {
			t.Errorf("a joiner sees %v", s)
		}
	}
	for _, v := range all {
		crash, n := v.until(isCrash)
		if want == nil {
			want = crash
		}
		if n < 2 || !proto.Equal(crash, want) {
			t.Errorf("%d events, then %v, want %v", n, crash, want)
		}
	}
	blocked, err := h.dial(nil).Do(context.Background(), "CLIENT", "LIST").Text()
	if err != nil {
		t.Fatal(err)
	}
	if n := bytes.Count([]byte(blocked), []byte("cmd=xread")); n != 1 {
		t.Errorf("%d readers of the store", n)
	}
	for _, v := range all {
		v.leave()
	}
	h.await("the feed's end", func() bool {
		p.watchMu.Lock()
		defer p.watchMu.Unlock()
		return p.watchers == 0 && p.tables["main"].feed == nil
	})
}

func TestThousandsJoinAndLeave(t *testing.T) {
	h, _ := onEmbedded(t)
	p := h.start(true)
	var all sync.WaitGroup
	for i := range 3000 {
		all.Go(func() {
			v := p.view(t, 1, &originalsv1.WatchRequest{})
			if i%3 > 0 {
				v.next()
			}
			v.leave()
			<-v.ended
		})
	}
	all.Wait()
	if p.watchers != 0 || p.tables["main"].feed != nil {
		t.Errorf("%d watchers are left", p.watchers)
	}
}

func TestWatchIsRefused(t *testing.T) {
	h, e := onEmbedded(t)
	p := h.start(true)
	p.o.MaxWatchers = 1
	v := p.view(t, 1000, &originalsv1.WatchRequest{})
	v.next()
	if err := <-p.view(t, 1, &originalsv1.WatchRequest{}).ended; reason.Of(err) != reason.RateLimited {
		t.Errorf("one too many: %v", err)
	}
	v.leave()
	<-v.ended
	if err := p.Watch(&originalsv1.WatchRequest{Table: "other"}, v); reason.Of(err) != reason.TableNotFound {
		t.Errorf("no such table: %v", err)
	}
	p.view(t, 1000, &originalsv1.WatchRequest{}).next()
	other := h.start(false)
	e.Close()
	if err := <-other.view(t, 1, &originalsv1.WatchRequest{}).ended; reason.Of(err) != reason.StoreUnavailable {
		t.Errorf("without a store: %v", err)
	}
}
