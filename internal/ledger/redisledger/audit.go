package redisledger

import (
	"context"
	_ "embed" // the scripts
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/openoriginals/originals/internal/ledger"
	"github.com/openoriginals/originals/internal/redisscript"
)

var (
	//go:embed scripts/audit_append.lua
	auditAppendText string
	//go:embed scripts/audit_entries.lua
	auditEntriesText string

	auditAppendScript  = redisscript.New("audit_append", prelude, auditAppendText)
	auditEntriesScript = redisscript.New("audit_entries", prelude, auditEntriesText)
)

// auditKey is the list of an operator's entries: the place in it is the
// sequence. It lives in the partition that a player without a name would have.
func auditKey(operator string) string {
	return tag(ledger.Player{Operator: operator}.Partition()) + ":audit:" + operator
}

var errAudit = errors.New("redisledger: not an entry of the audit log")

// AppendAudit implements ledger.AuditLog.
func (s *Store) AppendAudit(ctx context.Context, operator string, e ledger.AuditEntry) (ledger.AuditEntry, error) {
	text, err := json.Marshal(e)
	if err != nil {
		return ledger.AuditEntry{}, fmt.Errorf("redisledger: audit entry: %w", err)
	}
	r, err := s.run(ctx, auditAppendScript, []string{auditKey(operator)}, text)
	if err != nil {
		return ledger.AuditEntry{}, err
	}
	if e.Sequence, err = strconv.ParseUint(r.text(1), 10, 64); err != nil {
		return ledger.AuditEntry{}, fmt.Errorf("%w: %w", errAudit, err)
	}
	if e.Time, err = parseTime(r.text(2)); err != nil {
		return ledger.AuditEntry{}, fmt.Errorf("%w: %w", errAudit, err)
	}
	return e, nil
}

// AuditEntries implements ledger.AuditLog.
func (s *Store) AuditEntries(ctx context.Context, operator string, before uint64, count int) ([]ledger.AuditEntry, error) {
	if count <= 0 || before > 1<<53 {
		return nil, nil
	}
	r, err := s.run(ctx, auditEntriesScript, []string{auditKey(operator)},
		strconv.FormatUint(before, 10), strconv.Itoa(count))
	if err != nil {
		return nil, err
	}
	first, err := strconv.ParseUint(r.text(1), 10, 64)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", errAudit, err)
	}
	list := r.list(2)
	entries := make([]ledger.AuditEntry, len(list))
	for i := range list {
		if entries[i], err = parseAudit(list.text(i)); err != nil {
			return nil, err
		}
		entries[i].Sequence = first + uint64(i)
	}
	slices.Reverse(entries)
	return entries, nil
}

func parseAudit(text string) (e ledger.AuditEntry, err error) {
	ms, entry, _ := strings.Cut(text, " ")
	if err := json.Unmarshal([]byte(entry), &e); err != nil {
		return e, fmt.Errorf("%w: %w", errAudit, err)
	}
	if e.Time, err = parseTime(ms); err != nil {
		return e, fmt.Errorf("%w: %w", errAudit, err)
	}
	return e, nil
}

var _ ledger.AuditLog = (*Store)(nil)
