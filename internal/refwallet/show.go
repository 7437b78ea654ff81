package refwallet

import (
	"context"
	"database/sql"
)

// shownBooks is the answer of GET /books.
type shownBooks struct {
	Accounts  []shownAccount  `json:"accounts"`
	Alarms    []shownAlarm    `json:"alarms"`
	Bookings  []shownBooking  `json:"bookings,omitempty"`  // of one player, in their order
	Transfers []shownTransfer `json:"transfers,omitempty"` // of one player
}

type shownAccount struct {
	Player   string  `json:"playerId"`
	Currency string  `json:"currency"`
	Wallet   integer `json:"walletAmount"`
	Transit  integer `json:"transitAmount"`
	Game     integer `json:"gameAmount"`
	Bookings int     `json:"bookings"`
}

type shownAlarm struct {
	Subject string `json:"subject"`
	Cause   string `json:"cause"`
}

type shownBooking struct {
	Settlement  string  `json:"settlementId"`
	Transaction string  `json:"walletTransactionId"`
	Amount      integer `json:"amount"` // payout less stake
}

type shownTransfer struct {
	ID    string `json:"transferId"`
	State string `json:"state"`
}

// show reads the books in one state of them: those of all players, or of one
// with its bookings and transfers.
func (b *Books) show(ctx context.Context, player string) (shown shownBooks, err error) {
	tx, err := b.db.BeginTx(ctx, &sql.TxOptions{ReadOnly: true})
	if err != nil {
		return shown, wrap("show", err)
	}
	defer func() { _ = tx.Rollback() }() // it wrote nothing
	shown.Accounts, err = collect(ctx, tx, func(rows *sql.Rows, a *shownAccount) error {
		return rows.Scan(&a.Player, &a.Currency, &a.Wallet, &a.Transit, &a.Game, &a.Bookings)
	}, `SELECT player, currency, wallet, transit, game, bookings FROM accounts WHERE ? IN ('', player) ORDER BY 1, 2`, player)
	if err != nil {
		return shown, wrap("show", err)
	}
	shown.Alarms, err = collect(ctx, tx, func(rows *sql.Rows, a *shownAlarm) error {
		return rows.Scan(&a.Subject, &a.Cause)
	}, `SELECT subject, cause FROM alarms ORDER BY number`)
	if err != nil || player == "" {
		return shown, wrap("show", err)
	}
	shown.Bookings, err = collect(ctx, tx, func(rows *sql.Rows, v *shownBooking) error {
		err := rows.Scan(&v.Settlement, &v.Amount)
		v.Transaction = WalletTransactionID(v.Settlement)
		return err
	}, `SELECT settlement, payout - stake FROM bookings WHERE player = ? ORDER BY number`, player)
	if err != nil {
		return shown, wrap("show", err)
	}
	shown.Transfers, err = collect(ctx, tx, func(rows *sql.Rows, t *shownTransfer) error {
		return rows.Scan(&t.ID, &t.State)
	}, `SELECT id, state FROM transfers WHERE player = ? ORDER BY id`, player)
	return shown, wrap("show", err)
}

// collect reads all rows of a query. A list is never null.
func collect[T any](ctx context.Context, tx *sql.Tx, scan func(*sql.Rows, *T) error, query string, args ...any) ([]T, error) {
	rows, err := tx.QueryContext(ctx, query, args...)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	all := []T{}
	for rows.Next() {
		var one T
		if err := scan(rows, &one); err != nil {
			return nil, err
		}
		all = append(all, one)
	}
	return all, rows.Err()
}
