package redisledger

import (
	"context"
	"crypto/sha256"
	_ "embed" // the scripts
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/openoriginals/originals/internal/ledger"
	"github.com/openoriginals/originals/internal/money"
	"github.com/openoriginals/originals/internal/reason"
	"github.com/openoriginals/originals/internal/redisscript"
)

var (
	//go:embed scripts/transfer.lua
	transferPart string
	//go:embed scripts/transfer_begin.lua
	transferBeginText string
	//go:embed scripts/transfer_resume.lua
	transferResumeText string
	//go:embed scripts/transfer_apply.lua
	transferApplyText string
	//go:embed scripts/transfer_finish.lua
	transferFinishText string

	transferBeginScript  = redisscript.New("transfer_begin", prelude, roundPart, transferPart, transferBeginText)
	transferResumeScript = redisscript.New("transfer_resume", prelude, roundPart, transferPart, transferResumeText)
	transferApplyScript  = redisscript.New("transfer_apply", prelude, roundPart, transferPart, transferApplyText)
	transferFinishScript = redisscript.New("transfer_finish", prelude, roundPart, transferPart, transferFinishText)
)

var (
	errTransferRunning   = reason.New(reason.InProgress, "another call is at this transfer; ask again")
	errTransferCancelled = reason.New(reason.TransferCancelled, "this transfer was cancelled and will not be booked")
	errTransfer          = errors.New("redisledger: not the record of a transfer")
)

// transferAt is where a transfer's records are: its digest tells it from all
// others, and picks its home partition and the part of each hash.
type transferAt struct {
	operator, digest, part string
	home                   int
}

func atTransfer(operator, id string) transferAt {
	sum := sha256.Sum256([]byte(operator + "\x00" + id))
	return transferAt{operator, string(sum[:16]), strconv.Itoa(int(sum[17])), (int(sum[0])<<8 | int(sum[1])) % ledger.Partitions}
}

func (a transferAt) homeKey() []string { return []string{tag(a.home) + ":t:" + a.operator} }

// Transfer implements ledger.Transfers. The transfer is recorded at home, then
// decided in the partition of its player, and then its result is kept at home.
// Whoever is at it holds a short lease, which only keeps others from waiting for
// the same: it is decided once, whoever is late.
func (s *Store) Transfer(ctx context.Context, t ledger.Transfer) (ledger.Transfer, error) {
	if err := checkTransfer(t); err != nil {
		return ledger.Transfer{}, err
	}
	at := atTransfer(t.Operator, t.ID)
	r, err := s.run(ctx, transferBeginScript, at.homeKey(), at.part, at.digest, int(t.Direction), transferContent(t), s.transferLease.Milliseconds())
	if err != nil {
		return ledger.Transfer{}, err
	}
	kept, err := parseTransfer(t.Operator, t.ID, r.text(1))
	if err != nil {
		return ledger.Transfer{}, err
	}
	switch r.word() {
	case "RUN":
		kept, err = s.finishTransfer(ctx, at, kept, false)
		if err != nil {
			return ledger.Transfer{}, err
		}
		return kept, transferRefusal(kept, t)
	case "KEPT":
		kept.Replayed = true
		return kept, transferRefusal(kept, t)
	case "BUSY":
		return ledger.Transfer{}, errTransferRunning
	}
	return ledger.Transfer{}, r.unexpected(transferBeginScript)
}

// transferRefusal says why a transfer that is kept is not the answer to t.
func transferRefusal(kept, t ledger.Transfer) error {
	switch {
	case kept.State == ledger.Cancelled:
		return errTransferCancelled
	case kept.Player != t.Player:
		return &ledger.TransferReusedError{Field: "playerId"}
	case kept.Direction != t.Direction:
		return &ledger.TransferReusedError{Field: "direction"}
	case kept.Currency != t.Currency:
		return &ledger.TransferReusedError{Field: "currency"}
	case kept.Amount != t.Amount:
		return &ledger.TransferReusedError{Field: "amount"}
	}
	return nil
}

// GetTransfer implements ledger.Transfers.
func (s *Store) GetTransfer(ctx context.Context, operator, id string) (ledger.Transfer, error) {
	return s.resumeTransfer(ctx, operator, id, false)
}

// CancelTransfer implements ledger.Transfers.
func (s *Store) CancelTransfer(ctx context.Context, operator, id string) (ledger.Transfer, error) {
	return s.resumeTransfer(ctx, operator, id, true)
}

func (s *Store) resumeTransfer(ctx context.Context, operator, id string, cancel bool) (ledger.Transfer, error) {
	if !validBetID(id) || operator == "" {
		return ledger.Transfer{}, ledger.ErrNotFound
	}
	at := atTransfer(operator, id)
	r, err := s.run(ctx, transferResumeScript, at.homeKey(), at.part, at.digest, s.transferLease.Milliseconds(), flag(cancel))
	if err != nil {
		return ledger.Transfer{}, err
	}
	switch r.word() {
	case "NOTFOUND":
		return ledger.Transfer{}, ledger.ErrNotFound
	case "BUSY":
		return ledger.Transfer{}, errTransferRunning
	}
	kept, err := parseTransfer(operator, id, r.text(1))
	if err != nil {
		return ledger.Transfer{}, err
	}
	switch r.word() {
	case "RUN":
		return s.finishTransfer(ctx, at, kept, cancel)
	case "KEPT", "CANCELLED":
		kept.Replayed = r.word() == "KEPT"
		return kept, nil
	}
	return ledger.Transfer{}, r.unexpected(transferResumeScript)
}

// finishTransfer decides a transfer that was begun, unless that was done before,
// and keeps the result at home.
func (s *Store) finishTransfer(ctx context.Context, at transferAt, t ledger.Transfer, cancel bool) (ledger.Transfer, error) {
	p := ledger.Player{Operator: t.Operator, ID: t.Player}
	r, err := s.run(ctx, transferApplyScript, []string{playerKey(p), tag(p.Partition()) + ":ta:" + t.Operator},
		at.part, at.digest, int(t.Direction), int64(t.Amount), string(t.Currency), flag(cancel))
	if err != nil {
		return ledger.Transfer{}, err
	}
	decided, now := r.text(1), r.text(2) == "1"
	if r.word() != "OK" || len(decided) != 8 {
		return ledger.Transfer{}, r.unexpected(transferApplyScript)
	}
	r, err = s.run(ctx, transferFinishScript, at.homeKey(), at.part, at.digest, int(decided[0]), decided[1:])
	if err != nil {
		return ledger.Transfer{}, err
	}
	t, err = parseTransfer(t.Operator, t.ID, r.text(1))
	t.Replayed = !now
	return t, err
}

func checkTransfer(t ledger.Transfer) error {
	if t.Operator == "" || t.Player == "" || !validBetID(t.ID) {
		return errors.New("redisledger: transfer without an operator, a player or a good id")
	}
	if t.Direction != ledger.Deposit && t.Direction != ledger.Withdrawal {
		return fmt.Errorf("redisledger: transfer in direction %d", t.Direction)
	}
	if t.Amount <= 0 || t.Amount > money.MaxUnits {
		return fmt.Errorf("redisledger: transfer of %d", t.Amount)
	}
	if _, err := money.ParseCurrency(string(t.Currency)); err != nil {
		return fmt.Errorf("redisledger: transfer: %w", err)
	}
	return nil
}

// transferContent is what a repeat is known by, beside the direction.
func transferContent(t ledger.Transfer) []byte {
	return append(appendCurrency(append7(nil, t.Amount), t.Currency), t.Player...)
}

var refusals = map[byte]ledger.Refusal{1: ledger.RefusedFunds, 2: ledger.RefusedLimit}

// parseTransfer reads the record at home; scripts/transfer.lua says what it holds.
func parseTransfer(operator, id, record string) (ledger.Transfer, error) {
	t := ledger.Transfer{Operator: operator, ID: id}
	if len(record) < 20 {
		return t, errTransfer
	}
	p := []byte(record)
	t.State = ledger.TransferState(p[0] >> 4)
	t.CreateTime = time.UnixMilli(epoch + int64(number(p[1:6]))).UTC()
	if t.State < ledger.Begun || t.State > ledger.Cancelled {
		return t, errTransfer
	}
	if len(p) == 20 && t.State == ledger.Cancelled {
		return t, nil
	}
	t.Direction, t.Refusal = ledger.Direction(p[0]>>2&3), refusals[p[0]&3]
	if t.State == ledger.Applied || t.State == ledger.Refused {
		t.Balance = money.Units(number(p[6:13]))
	}
	t.Amount = money.Units(number(p[13:20]))
	var err error
	if t.Currency, p, err = cutCurrency(p[20:]); err != nil {
		return t, fmt.Errorf("%w: %w", errTransfer, err)
	}
	t.Player = string(p)
	if t.Player == "" || t.Direction == 0 {
		return t, errTransfer
	}
	return t, nil
}

var _ ledger.Transfers = (*Store)(nil)

// flag is how scripts are told yes or no.
func flag(b bool) string {
	if b {
		return "1"
	}
	return ""
}
