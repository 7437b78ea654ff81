package refwallet

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
)

// Book books the settlements of a claim that are not booked yet, notes that
// each is to be reported, and ends the consumer's claim: all in one transaction.
func (b *Books) Book(ctx context.Context, consumer string, all []Settlement) error {
	err := b.write(ctx, func(tx *sql.Tx) error {
		if err := bookAll(ctx, tx, all); err != nil {
			return err
		}
		return endClaim(ctx, tx, consumer)
	})
	return wrap("book", err)
}

// BookPage does the same for a reader with a cursor, and moves the cursor.
func (b *Books) BookPage(ctx context.Context, partition int, all []Settlement) error {
	err := b.write(ctx, func(tx *sql.Tx) error {
		if err := bookAll(ctx, tx, all); err != nil {
			return err
		}
		last := int64(all[len(all)-1].Sequence)
		_, err := tx.ExecContext(ctx, `INSERT INTO cursors VALUES (?, ?)
			ON CONFLICT DO UPDATE SET sequence = max(sequence, excluded.sequence)`, partition, last)
		return err
	})
	return wrap("book", err)
}

// Cursor returns the last sequence that BookPage booked of a partition, 0 for
// none.
func (b *Books) Cursor(ctx context.Context, partition int) (sequence int64, err error) {
	err = b.db.QueryRowContext(ctx, `SELECT sequence FROM cursors WHERE partition = ?`, partition).Scan(&sequence)
	if errors.Is(err, sql.ErrNoRows) {
		return 0, nil
	}
	return sequence, wrap("cursor", err)
}

func bookAll(ctx context.Context, tx *sql.Tx, all []Settlement) error {
	s, err := prepareBooking(ctx, tx)
	if err != nil {
		return err
	}
	defer s.close()
	for _, settlement := range all {
		if err := s.book(ctx, tx, settlement); err != nil {
			return err
		}
	}
	return nil
}

// statements are those of a booking, parsed once for all of a claim.
type statements struct {
	find, insert, credit, report *sql.Stmt
}

func prepareBooking(ctx context.Context, tx *sql.Tx) (*statements, error) {
	s := new(statements)
	for _, p := range []struct {
		to   **sql.Stmt
		text string
	}{
		{&s.find, `SELECT player, currency, result, stake, payout FROM bookings WHERE settlement = ?`},
		{&s.insert, `INSERT INTO bookings (settlement, partition, sequence, player, bet, game, currency, stake, payout, result, settled)
			VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`},
		{&s.credit, `INSERT INTO accounts (player, currency, game, bookings) VALUES (?, ?, ?, 1)
			ON CONFLICT DO UPDATE SET game = game + excluded.game, bookings = bookings + 1`},
		{&s.report, `INSERT INTO reports (settlement, token, reason) VALUES (?, ?, ?)
			ON CONFLICT DO UPDATE SET token = excluded.token, reason = excluded.reason, waits = 0`},
	} {
		var err error
		if *p.to, err = tx.PrepareContext(ctx, p.text); err != nil {
			s.close()
			return nil, err
		}
	}
	return s, nil
}

func (s *statements) close() {
	for _, statement := range []*sql.Stmt{s.find, s.insert, s.credit, s.report} {
		if statement != nil {
			_ = statement.Close() // nothing depends on it
		}
	}
}

func (s *statements) book(ctx context.Context, tx *sql.Tx, settlement Settlement) error {
	var booked content
	err := s.find.QueryRowContext(ctx, settlement.ID).Scan(
		&booked.player, &booked.currency, &booked.result, &booked.stake, &booked.payout)
	switch {
	case errors.Is(err, sql.ErrNoRows):
		return s.bookNew(ctx, settlement)
	case err != nil:
		return err
	case booked != settlement.content():
		// One of the two is wrong. What is booked stays, and nothing is reported.
		return alarm(ctx, tx, settlement.ID, "DELIVERED_WITH_OTHER_CONTENT")
	}
	return s.reportAs(ctx, settlement, "")
}

func (s *statements) bookNew(ctx context.Context, v Settlement) error {
	if fault := v.check(); fault != nil {
		return s.reportAs(ctx, v, fault.Error())
	}
	_, err := s.insert.ExecContext(ctx, v.ID, v.Partition, int64(v.Sequence), v.Player, v.Bet, v.Game,
		v.Stake.Currency, int64(v.Stake.Amount), int64(v.Payout.Amount), v.Result, v.SettleTime)
	if err != nil {
		return err
	}
	_, err = s.credit.ExecContext(ctx, v.Player, v.Stake.Currency, int64(v.Payout.Amount-v.Stake.Amount))
	if err != nil {
		return err
	}
	return s.reportAs(ctx, v, "")
}

func (s *statements) reportAs(ctx context.Context, v Settlement, reason string) error {
	_, err := s.report.ExecContext(ctx, v.ID, int64(v.FencingToken), reason)
	return err
}

// Report is what the platform is to be told about a settlement.
type Report struct {
	Settlement string
	Token      int64  // fencing token; 0 for none
	Reason     string // why it was rejected; empty when it was booked
}

// Reports returns at most 500 that are to be sent.
func (b *Books) Reports(ctx context.Context) ([]Report, error) {
	rows, err := b.db.QueryContext(ctx, `SELECT r.settlement, r.token, r.reason FROM reports r
		LEFT JOIN bookings b USING (settlement) WHERE r.waits = 0 ORDER BY b.number LIMIT 500`)
	if err != nil {
		return nil, wrap("reports", err)
	}
	defer rows.Close()
	var all []Report
	for rows.Next() {
		var r Report
		if err := rows.Scan(&r.Settlement, &r.Token, &r.Reason); err != nil {
			return nil, wrap("reports", err)
		}
		all = append(all, r)
	}
	return all, wrap("reports", rows.Err())
}

// Reported notes what the platform answered, in the order of the reports.
func (b *Books) Reported(ctx context.Context, sent []Report, statuses []string) error {
	err := b.write(ctx, func(tx *sql.Tx) error {
		for i, r := range sent {
			if err := reported(ctx, tx, r, statuses[i]); err != nil {
				return err
			}
		}
		return nil
	})
	return wrap("reported", err)
}

func reported(ctx context.Context, tx *sql.Tx, r Report, status string) error {
	// The token is compared, since the settlement may have been delivered anew.
	const same = ` WHERE settlement = ? AND token = ?`
	switch status {
	case "ACKNOWLEDGED", "ALREADY_ACKNOWLEDGED":
	case "STALE_LEASE":
		_, err := tx.ExecContext(ctx, `UPDATE reports SET waits = 1`+same, r.Settlement, r.Token)
		return err
	case "CONFLICT", "NOT_FOUND":
		if err := alarm(ctx, tx, r.Settlement, status); err != nil {
			return err
		}
	default:
		return nil // not known to this wallet: it is sent again
	}
	_, err := tx.ExecContext(ctx, `DELETE FROM reports`+same, r.Settlement, r.Token)
	return err
}

// wrap says of an error which step of the wallet failed.
func wrap(step string, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("refwallet: %s: %w", step, err)
}
