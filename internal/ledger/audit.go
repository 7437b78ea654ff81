package ledger

import (
	"context"
	"time"
)

// AuditAction is what a member of staff did.
type AuditAction string

// The actions of the public contract.
const (
	ViewPlayer    AuditAction = "VIEW_PLAYER"
	ViewRound     AuditAction = "VIEW_ROUND"
	ViewAuditLog  AuditAction = "VIEW_AUDIT_LOG"
	RevealBegun   AuditAction = "REVEAL_BEGUN"
	RevealDone    AuditAction = "REVEAL_DONE"
	RevealRefused AuditAction = "REVEAL_REFUSED"
)

// AuditEntry is one look, or one step of a reveal, by support.
type AuditEntry struct {
	Sequence uint64    `json:"-"` // from 1, without gaps, per operator
	Time     time.Time `json:"-"` // of the store's clock
	Staff    string    `json:"staff"`

	Action AuditAction `json:"action"`
	Player string      `json:"player,omitempty"` // id, without the operator
	Pair   string      `json:"pair,omitempty"`
	Round  string      `json:"round,omitempty"`
	Reason string      `json:"reason,omitempty"`
	Ticket string      `json:"ticket,omitempty"`
}

// AuditLog keeps what support did. It only grows: nothing takes an entry out or
// changes it. A store that may not have answered is reason.StoreUnavailable; a
// repeat of a write whose answer was lost may then leave two entries.
type AuditLog interface {
	// AppendAudit adds an entry of an operator and returns it with its sequence
	// and time.
	AppendAudit(ctx context.Context, operator string, e AuditEntry) (AuditEntry, error)

	// AuditEntries returns at most count entries with a sequence below before,
	// newest first; 0 begins with the newest.
	AuditEntries(ctx context.Context, operator string, before uint64, count int) ([]AuditEntry, error)
}
