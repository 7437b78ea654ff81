package ledger

import (
	"context"
	"time"

	"github.com/openoriginals/originals/internal/money"
)

// Direction is which way the money of a transfer goes.
type Direction uint8

// The directions of transfers.
const (
	Deposit    Direction = iota + 1 // into the game balance
	Withdrawal                      // out of the game balance
)

// TransferState is where a transfer stands.
type TransferState uint8

// The states of a transfer. All but Begun are final.
const (
	Begun     TransferState = iota + 1 // recorded, not yet applied or refused
	Applied                            // booked, once
	Refused                            // a rule refused it, for ever
	Cancelled                          // never booked, and never will be
)

// Refusal is the rule that refused a transfer.
type Refusal string

// The refusals of the public contract.
const (
	RefusedFunds Refusal = "INSUFFICIENT_FUNDS" // a withdrawal of more than the balance
	RefusedLimit Refusal = "BALANCE_LIMIT"      // a deposit beyond what can be booked
)

// Transfer is money that moves between a wallet and a game balance. It is known
// by its operator and id for 400 days from its first call.
type Transfer struct {
	Operator   string
	ID         string // 1..40 of A-Z a-z 0-9 _ -
	Player     string // empty when the id was cancelled before it was seen
	Direction  Direction
	Currency   money.Currency
	Amount     money.Units
	State      TransferState
	Refusal    Refusal     // of a Refused one
	Balance    money.Units // Applied: after it; Refused: what there was
	CreateTime time.Time
	Replayed   bool // an earlier call had this result
}

// TransferReusedError says that a transfer's id was used with other content.
type TransferReusedError struct{ Field string }

// Error names the first field that differs, by its JSON name.
func (e *TransferReusedError) Error() string {
	return "ledger: transfer id reused: " + e.Field + " differs"
}

// Transfers keeps the transfers of wallets. Each method may be repeated whatever
// became of an earlier call, and finishes a first step that has no second. A
// store that may not have answered is reason.StoreUnavailable.
type Transfers interface {
	// Transfer applies t once. A rule's refusal is a result (Refused), not an
	// error. Errors: *TransferReusedError, and the reasons TRANSFER_CANCELLED
	// (the id was cancelled first) and IN_PROGRESS (another call is at it).
	Transfer(ctx context.Context, t Transfer) (Transfer, error)

	// GetTransfer returns a transfer in a final state. Errors: ErrNotFound, IN_PROGRESS.
	GetTransfer(ctx context.Context, operator, id string) (Transfer, error)

	// CancelTransfer makes sure that a transfer that was not applied never is. One
	// that has ended is answered as it is. Errors: IN_PROGRESS.
	CancelTransfer(ctx context.Context, operator, id string) (Transfer, error)
}
