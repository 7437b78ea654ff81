package refwallet

import (
	"context"
	"database/sql"
	"errors"
)

// Directions of a transfer.
const (
	Deposit    = "DEPOSIT"    // into the game balance
	Withdrawal = "WITHDRAWAL" // out of the game balance
)

// States of a transfer. The first two are those of one whose result is not
// known; the others are final.
const (
	Pending    = "PENDING"
	Cancelling = "CANCELLING" // given up: the platform is asked never to apply it
	Applied    = "APPLIED"
	Refused    = "REFUSED"
	Cancelled  = "CANCELLED"
	// Stuck is a transfer whose id the platform knows with other content. Its
	// money stays in transit until a person has looked.
	Stuck = "STUCK"
)

// Transfer is money on its way between the wallet and the game balance.
type Transfer struct {
	ID        string // 1 to 40 of A-Z a-z 0-9 _ and -
	Player    string
	Direction string
	Currency  string
	Amount    int64 // smallest units, 1 to 2^53-1
	State     string
}

// ErrOtherTransfer says that an id is that of another transfer.
var ErrOtherTransfer = errors.New("refwallet: the id is that of another transfer")

// ErrNoTransfer says that an id is that of no transfer.
var ErrNoTransfer = errors.New("refwallet: no such transfer")

// Begin stores a transfer under its id and takes a deposit from the player's
// account, before anybody is called. A repeat returns the transfer as it is by
// now. Errors: ErrOtherTransfer.
func (b *Books) Begin(ctx context.Context, t Transfer) (Transfer, error) {
	err := b.write(ctx, func(tx *sql.Tx) error {
		known, err := findTransfer(ctx, tx, t.ID)
		if err == nil {
			t.State = known.State
			if known != t {
				return ErrOtherTransfer
			}
			return nil
		}
		if !errors.Is(err, ErrNoTransfer) {
			return err
		}
		t.State = Pending
		_, err = tx.ExecContext(ctx, `INSERT INTO transfers VALUES (?, ?, ?, ?, ?, ?)`,
			t.ID, t.Player, t.Direction, t.Currency, t.Amount, t.State)
		if err != nil {
			return err
		}
		return beginMoney(t).post(ctx, tx, t)
	})
	return t, wrap("transfer", err)
}

func findTransfer(ctx context.Context, tx *sql.Tx, id string) (t Transfer, err error) {
	t.ID = id
	err = tx.QueryRowContext(ctx, `SELECT player, direction, currency, amount, state FROM transfers WHERE id = ?`, id).
		Scan(&t.Player, &t.Direction, &t.Currency, &t.Amount, &t.State)
	if errors.Is(err, sql.ErrNoRows) {
		return t, ErrNoTransfer
	}
	return t, err
}

// entry is what a step of a transfer moves. Its sum is zero.
type entry struct{ wallet, transit, game int64 }

func beginMoney(t Transfer) entry {
	if t.Direction == Deposit {
		return entry{wallet: -t.Amount, transit: t.Amount}
	}
	return entry{}
}

func endMoney(t Transfer, state string) entry {
	switch {
	case state == Applied && t.Direction == Deposit:
		return entry{transit: -t.Amount, game: t.Amount}
	case state == Applied:
		return entry{game: -t.Amount, wallet: t.Amount}
	case state != Stuck && t.Direction == Deposit:
		return entry{transit: -t.Amount, wallet: t.Amount}
	}
	return entry{}
}

func (e entry) post(ctx context.Context, tx *sql.Tx, t Transfer) error {
	_, err := tx.ExecContext(ctx, `INSERT INTO accounts (player, currency, wallet, transit, game) VALUES (?, ?, ?, ?, ?)
		ON CONFLICT DO UPDATE SET wallet = wallet + excluded.wallet, transit = transit + excluded.transit, game = game + excluded.game`,
		t.Player, t.Currency, e.wallet, e.transit, e.game)
	return err
}

// GiveUp asks for the cancellation of a transfer whose result is not known, and
// returns the transfer as it is then. Errors: ErrNoTransfer.
func (b *Books) GiveUp(ctx context.Context, id string) (t Transfer, err error) {
	err = b.write(ctx, func(tx *sql.Tx) error {
		_, err := tx.ExecContext(ctx, `UPDATE transfers SET state = ? WHERE id = ? AND state = ?`, Cancelling, id, Pending)
		if err != nil {
			return err
		}
		t, err = findTransfer(ctx, tx, id)
		return err
	})
	return t, wrap("give up", err)
}

// End stores the result of a transfer and moves its money, once: a second End
// changes nothing.
func (b *Books) End(ctx context.Context, id, state string) error {
	err := b.write(ctx, func(tx *sql.Tx) error {
		t, err := findTransfer(ctx, tx, id)
		if err != nil {
			return err
		}
		if t.State != Pending && t.State != Cancelling {
			return nil
		}
		if state == Stuck {
			if err := alarm(ctx, tx, id, "TRANSFER_ID_REUSED"); err != nil {
				return err
			}
		}
		if _, err := tx.ExecContext(ctx, `UPDATE transfers SET state = ? WHERE id = ?`, state, id); err != nil {
			return err
		}
		return endMoney(t, state).post(ctx, tx, t)
	})
	return wrap("end of a transfer", err)
}

// OpenTransfers returns the transfers whose result is not known, in the order
// of their ids.
func (b *Books) OpenTransfers(ctx context.Context) ([]Transfer, error) {
	rows, err := b.db.QueryContext(ctx, `SELECT id, player, direction, currency, amount, state FROM transfers
		WHERE state IN ('PENDING', 'CANCELLING') ORDER BY id`)
	if err != nil {
		return nil, wrap("open transfers", err)
	}
	defer rows.Close()
	var all []Transfer
	for rows.Next() {
		var t Transfer
		if err := rows.Scan(&t.ID, &t.Player, &t.Direction, &t.Currency, &t.Amount, &t.State); err != nil {
			return nil, wrap("open transfers", err)
		}
		all = append(all, t)
	}
	return all, wrap("open transfers", rows.Err())
}
