package duel

import (
	"errors"
	"strconv"

	"github.com/openoriginals/originals/internal/duelstore"
	"github.com/openoriginals/originals/internal/reason"
)

var errNotFound = reason.New(reason.DuelNotFound, "no such duel of this caller")

// refusals are what callers are told of refusals by the store.
var refusals = map[duelstore.Refusal]*reason.Error{
	duelstore.NotFound:     errNotFound,
	duelstore.Reused:       reason.New(reason.RequestIDReused, "the requestId made another duel"),
	duelstore.OtherSeat:    reason.New(reason.RoleRequired, "this seat is the other player's"),
	duelstore.NoHashes:     reason.New(reason.CommitNotTaken, "plain mode takes client seeds in clear, and no hashes"),
	duelstore.HashSet:      reason.New(reason.CommitAlreadySet, "the seat sent another hash before, which stays"),
	duelstore.HashLate:     reason.New(reason.CommitTooLate, "the time for hashes is over"),
	duelstore.HashRequired: reason.New(reason.CommitRequired, "no client seed is taken before both seats have sent their hashes"),
	duelstore.Mismatch:     reason.New(reason.CommitMismatch, "the client seed is not the one that the seat's hash is of", "field", "clientSeed"),
	duelstore.SeedSet:      reason.New(reason.SeedAlreadySet, "the seat sent another client seed before, which stays"),
	duelstore.SeedLate:     reason.New(reason.SeedTooLate, "the time for client seeds is over"),
	duelstore.NoSeeds:      reason.New(reason.SeedsRequired, "nothing is rolled before both client seeds are there"),
	duelstore.Order:        reason.New(reason.PlyOutOfOrder, "another ply comes next"),
	duelstore.Over:         reason.New(reason.DuelEnded, "the duel has ended"),
}

// refused returns what the caller is told of an error of a step.
func refused(d duelstore.Duel, err error) error {
	var r duelstore.Refusal
	if !errors.As(err, &r) {
		return err
	}
	told := refusals[r]
	if d.ID == "" {
		return told
	}
	told = told.With("state", states[d.State].String())
	if r == duelstore.Order {
		told = told.With("ply", strconv.FormatUint(uint64(d.Rolls), 10))
	}
	return told
}
