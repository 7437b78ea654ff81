package refwallet

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"database/sql"
	_ "embed"
	"encoding/hex"
	"errors"
	"fmt"
	"net/url"
	"path/filepath"
	"sync"

	_ "modernc.org/sqlite" // the driver "sqlite"
)

//go:embed schema.sql
var schema string

// Books are the accounts of a wallet, in one file. Several processes may have
// them open. What a method has stored when it returns outlives a kill -9 and a
// power cut.
type Books struct {
	db *sql.DB
	id string

	// SQLite has one writer at a time, and whoever waits for it looks again only
	// now and then. Those of this process queue here.
	writing sync.Mutex
}

// OpenBooks opens the books in a folder, and makes them when there are none.
func OpenBooks(ctx context.Context, dir string) (*Books, error) {
	// A transaction takes the lock to write at its begin: one that read first
	// and writes later would fail when another wrote in between.
	dsn := url.URL{Scheme: "file", Opaque: filepath.Join(dir, "books.db"), RawQuery: url.Values{
		"_pragma": {"busy_timeout(10000)", "journal_mode(WAL)", "synchronous(FULL)"}, "_txlock": {"immediate"},
	}.Encode()}
	db, err := sql.Open("sqlite", dsn.String())
	if err != nil {
		return nil, fmt.Errorf("refwallet: books: %w", err)
	}
	b := &Books{db: db}
	if err := b.prepare(ctx); err != nil {
		return nil, errors.Join(fmt.Errorf("refwallet: books: %w", err), db.Close())
	}
	return b, nil
}

func (b *Books) prepare(ctx context.Context) error {
	return b.write(ctx, func(tx *sql.Tx) error {
		if _, err := tx.ExecContext(ctx, schema); err != nil {
			return err
		}
		var fresh [8]byte
		rand.Read(fresh[:])
		_, err := tx.ExecContext(ctx, `INSERT INTO identity VALUES (1, ?) ON CONFLICT DO NOTHING`, hex.EncodeToString(fresh[:]))
		if err != nil {
			return err
		}
		return tx.QueryRowContext(ctx, `SELECT id FROM identity`).Scan(&b.id)
	})
}

// Close closes the file.
func (b *Books) Close() error { return b.db.Close() }

// write runs a transaction: all of it or nothing.
func (b *Books) write(ctx context.Context, do func(*sql.Tx) error) error {
	b.writing.Lock()
	defer b.writing.Unlock()
	tx, err := b.db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	if err := do(tx); err != nil {
		return errors.Join(err, tx.Rollback())
	}
	return tx.Commit()
}

// WalletTransactionID returns the wallet's id of the booking of a settlement:
// always the same, and of a fixed length whatever the settlement's.
func WalletTransactionID(settlementID string) string {
	sum := sha256.Sum256([]byte(settlementID))
	return "w-" + hex.EncodeToString(sum[:16])
}

func alarm(ctx context.Context, tx *sql.Tx, subject, cause string) error {
	_, err := tx.ExecContext(ctx, `INSERT INTO alarms (subject, cause) VALUES (?, ?) ON CONFLICT DO NOTHING`, subject, cause)
	return err
}

// Alarm notes what a person must look at, once for each subject and cause.
func (b *Books) Alarm(ctx context.Context, subject, cause string) error {
	return b.write(ctx, func(tx *sql.Tx) error { return alarm(ctx, tx, subject, cause) })
}

// ClaimID returns the id of the claim that a consumer is at. It is the same
// until EndClaim or Book, also after a restart: so a claim whose answer was lost
// is had again.
func (b *Books) ClaimID(ctx context.Context, consumer string) (string, error) {
	var number int64
	err := b.write(ctx, func(tx *sql.Tx) error {
		_, err := tx.ExecContext(ctx, `INSERT INTO claims VALUES (?, 1) ON CONFLICT DO NOTHING`, consumer)
		if err != nil {
			return err
		}
		return tx.QueryRowContext(ctx, `SELECT number FROM claims WHERE consumer = ?`, consumer).Scan(&number)
	})
	if err != nil {
		return "", fmt.Errorf("refwallet: claim: %w", err)
	}
	sum := sha256.Sum256([]byte(consumer))
	return fmt.Sprintf("%s-%s-%d", b.id, hex.EncodeToString(sum[:3]), number), nil
}

func endClaim(ctx context.Context, tx *sql.Tx, consumer string) error {
	_, err := tx.ExecContext(ctx, `UPDATE claims SET number = number + 1 WHERE consumer = ?`, consumer)
	return err
}

// EndClaim makes the next claim another one.
func (b *Books) EndClaim(ctx context.Context, consumer string) error {
	return b.write(ctx, func(tx *sql.Tx) error { return endClaim(ctx, tx, consumer) })
}
