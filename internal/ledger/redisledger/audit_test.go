package redisledger_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/redis/go-redis/v9"

	"github.com/openoriginals/originals/internal/embedded"
	"github.com/openoriginals/originals/internal/ledger"
	"github.com/openoriginals/originals/internal/ledger/redisledger"
	"github.com/openoriginals/originals/internal/testenv"
)

func TestNothingTakesAnEntryOutOfTheAuditLog(t *testing.T) {
	e, err := embedded.Start()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(e.Close)
	for name, url := range map[string]string{"redis": testenv.Redis(t, testenv.InMemory).URL(), "embedded": e.URL()} {
		t.Run(name, func(t *testing.T) { appendOnly(t, client(t, url)) })
	}
}

// appendOnly has many write at once, and looks at what was there before after each
// hundred: it is the same, and has no end.
func appendOnly(t *testing.T, c redis.UniversalClient) {
	s := redisledger.New(c, redisledger.Options{})
	const perRound = 100
	var kept []ledger.AuditEntry // newest first
	for round := range 5 {
		each(t, perRound, func(i int) error {
			_, err := s.AppendAudit(ctx, "acme", ledger.AuditEntry{Staff: fmt.Sprintf("s%d-%d", round, i), Action: ledger.ViewPlayer, Player: "p"})
			return err
		})
		if _, err := s.AppendAudit(ctx, "acm", ledger.AuditEntry{Staff: "stranger", Action: ledger.ViewAuditLog}); err != nil {
			t.Fatal(err)
		}
		all, seen := []ledger.AuditEntry(nil), make(map[string]bool)
		for before := uint64(0); before != 1; before = all[len(all)-1].Sequence {
			page, err := s.AuditEntries(ctx, "acme", before, 7)
			if err != nil || len(page) == 0 {
				t.Fatalf("before %d: %v, %v", before, page, err)
			}
			all = append(all, page...)
		}
		for i, e := range all {
			if seen[e.Staff] || e.Sequence != uint64(len(all)-i) || e.Time.IsZero() {
				t.Fatalf("entry %d of %d: %+v", i, len(all), e)
			}
			seen[e.Staff] = true
		}
		if len(all) != (round+1)*perRound {
			t.Fatalf("%d entries", len(all))
		}
		for i, e := range all[perRound:] {
			if e != kept[i] {
				t.Fatalf("%+v was %+v", e, kept[i])
			}
		}
		kept = all
	}
	keys := c.Keys(ctx, "*:audit:*").Val()
	if len(keys) != 2 {
		t.Fatalf("keys %q", keys)
	}
	for _, key := range keys {
		if c.PTTL(ctx, key).Val() >= 0 {
			t.Errorf("%s has an end", key)
		}
	}
}

// No script but the one that appends writes to the key of the log, which it alone
// and the one that reads are given.
func TestOneScriptWritesTheAuditLog(t *testing.T) {
	files, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	scripts, err := filepath.Glob("scripts/*.lua")
	if err != nil || len(scripts) < 30 {
		t.Fatalf("%d scripts, %v", len(scripts), err)
	}
	users := 0
	for _, file := range append(files, scripts...) {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if strings.HasSuffix(file, "_test.go") {
			continue
		}
		if n := strings.Count(string(text), "auditKey(operator)}"); n > 0 && file == "audit.go" {
			users = n
		} else if n > 0 || strings.Contains(string(text), ":audit:") && file != "audit.go" {
			t.Errorf("%s has the key of the audit log", file)
		}
	}
	if users != 2 {
		t.Errorf("%d calls are given the audit log, want one that appends and one that reads", users)
	}
	appends, err := os.ReadFile("scripts/audit_append.lua")
	if err != nil {
		t.Fatal(err)
	}
	if n := strings.Count(string(appends), "call("); n != 1 || !strings.Contains(string(appends), "call('RPUSH', KEYS[1]") {
		t.Errorf("what appends makes %d calls:\n%s", n, appends)
	}
}
