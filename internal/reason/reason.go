// Package reason holds the reasons that clients decide by, and turns them into
// gRPC statuses; it must never import a service, a store or a game.
package reason

import (
	"errors"
	"maps"

	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
)

// Domain is the ErrorInfo domain of every reason.
const Domain = "originals"

// Reason is the machine-readable cause of a refusal. Messages are for people
// and may change; reasons do not.
type Reason string

// The reasons of the public contract. Known says of each whether the call
// surely had no effect.
const (
	InvalidField       Reason = "INVALID_FIELD"
	TokenInvalid       Reason = "TOKEN_INVALID"
	RoleRequired       Reason = "ROLE_REQUIRED"
	RoundNotFound      Reason = "ROUND_NOT_FOUND"
	SeedPairNotFound   Reason = "SEED_PAIR_NOT_FOUND"
	PlayerNotFound     Reason = "PLAYER_NOT_FOUND"
	RouteNotFound      Reason = "ROUTE_NOT_FOUND"
	BetIDReused        Reason = "BET_ID_REUSED"
	SeedPairRequired   Reason = "SEED_PAIR_REQUIRED"
	SeedPairChanged    Reason = "SEED_PAIR_CHANGED"
	SeedPairExhausted  Reason = "SEED_PAIR_EXHAUSTED"
	SeedPairUnrevealed Reason = "SEED_PAIR_NOT_REVEALED"
	ClientSeedUsed     Reason = "CLIENT_SEED_USED"
	CommitmentStale    Reason = "COMMITMENT_STALE"
	RoundOpen          Reason = "ROUND_OPEN"
	RoundSettled       Reason = "ROUND_SETTLED"
	RoundInterrupted   Reason = "ROUND_INTERRUPTED"
	PickRequired       Reason = "PICK_REQUIRED"
	InsufficientFunds  Reason = "INSUFFICIENT_FUNDS"
	LimitExceeded      Reason = "LIMIT_EXCEEDED"
	StakeTooSmall      Reason = "STAKE_TOO_SMALL"
	NoWinPossible      Reason = "NO_WIN_POSSIBLE"
	BalanceLimit       Reason = "BALANCE_LIMIT"
	DuelNotFound       Reason = "DUEL_NOT_FOUND"
	RequestIDReused    Reason = "REQUEST_ID_REUSED"
	CommitAlreadySet   Reason = "COMMIT_ALREADY_SET"
	SeedAlreadySet     Reason = "SEED_ALREADY_SET"
	SeedTooShort       Reason = "SEED_TOO_SHORT"
	SeedTooLong        Reason = "SEED_TOO_LONG"
	SeedTooLate        Reason = "SEED_TOO_LATE"
	SeedsRequired      Reason = "SEEDS_REQUIRED"
	CommitTooLate      Reason = "COMMIT_TOO_LATE"
	CommitRequired     Reason = "COMMIT_REQUIRED"
	CommitMismatch     Reason = "COMMIT_MISMATCH"
	CommitNotTaken     Reason = "COMMIT_NOT_TAKEN"
	PlyOutOfOrder      Reason = "PLY_OUT_OF_ORDER"
	DuelEnded          Reason = "DUEL_ENDED"
	TransferNotFound   Reason = "TRANSFER_NOT_FOUND"
	SettlementNotFound Reason = "SETTLEMENT_NOT_FOUND"
	TransferIDReused   Reason = "TRANSFER_ID_REUSED"
	TransferCancelled  Reason = "TRANSFER_CANCELLED"
	ClaimIDReused      Reason = "CLAIM_ID_REUSED"
	TableNotFound      Reason = "TABLE_NOT_FOUND"
	BetNotFound        Reason = "BET_NOT_FOUND"
	BetAlreadyPlaced   Reason = "BET_ALREADY_PLACED"
	BettingClosed      Reason = "BETTING_CLOSED"
	RoundNotStarted    Reason = "ROUND_NOT_STARTED"
	InProgress         Reason = "IN_PROGRESS"
	RateLimited        Reason = "RATE_LIMITED"
	StoreUnavailable   Reason = "STORE_UNAVAILABLE"
	CommitmentMismatch Reason = "COMMITMENT_MISMATCH"
	Internal           Reason = "INTERNAL"
)

type meaning struct {
	code  codes.Code
	known bool
}

var meanings = map[Reason]meaning{
	InvalidField:       {codes.InvalidArgument, true},
	TokenInvalid:       {codes.Unauthenticated, true},
	RoleRequired:       {codes.PermissionDenied, true},
	RoundNotFound:      {codes.NotFound, true},
	SeedPairNotFound:   {codes.NotFound, true},
	PlayerNotFound:     {codes.NotFound, true},
	RouteNotFound:      {codes.NotFound, true},
	BetIDReused:        {codes.AlreadyExists, true},
	SeedPairRequired:   {codes.FailedPrecondition, true},
	SeedPairChanged:    {codes.FailedPrecondition, true},
	SeedPairExhausted:  {codes.FailedPrecondition, true},
	SeedPairUnrevealed: {codes.FailedPrecondition, true},
	ClientSeedUsed:     {codes.FailedPrecondition, true},
	CommitmentStale:    {codes.FailedPrecondition, true},
	RoundOpen:          {codes.FailedPrecondition, true},
	RoundSettled:       {codes.FailedPrecondition, true},
	RoundInterrupted:   {codes.FailedPrecondition, true},
	PickRequired:       {codes.FailedPrecondition, true},
	InsufficientFunds:  {codes.FailedPrecondition, true},
	LimitExceeded:      {codes.FailedPrecondition, true},
	StakeTooSmall:      {codes.FailedPrecondition, true},
	NoWinPossible:      {codes.FailedPrecondition, true},
	BalanceLimit:       {codes.FailedPrecondition, true},
	DuelNotFound:       {codes.NotFound, true},
	RequestIDReused:    {codes.AlreadyExists, true},
	CommitAlreadySet:   {codes.AlreadyExists, true},
	SeedAlreadySet:     {codes.AlreadyExists, true},
	SeedTooShort:       {codes.InvalidArgument, true},
	SeedTooLong:        {codes.InvalidArgument, true},
	SeedTooLate:        {codes.FailedPrecondition, true},
	SeedsRequired:      {codes.FailedPrecondition, true},
	CommitTooLate:      {codes.FailedPrecondition, true},
	CommitRequired:     {codes.FailedPrecondition, true},
	CommitMismatch:     {codes.FailedPrecondition, true},
	CommitNotTaken:     {codes.FailedPrecondition, true},
	PlyOutOfOrder:      {codes.FailedPrecondition, true},
	DuelEnded:          {codes.FailedPrecondition, true},
	TransferNotFound:   {codes.NotFound, true},
	SettlementNotFound: {codes.NotFound, true},
	TransferIDReused:   {codes.AlreadyExists, true},
	TransferCancelled:  {codes.FailedPrecondition, true},
	ClaimIDReused:      {codes.AlreadyExists, true},
	TableNotFound:      {codes.NotFound, true},
	BetNotFound:        {codes.NotFound, true},
	BetAlreadyPlaced:   {codes.AlreadyExists, true},
	BettingClosed:      {codes.FailedPrecondition, true},
	RoundNotStarted:    {codes.FailedPrecondition, true},
	InProgress:         {codes.Aborted, false}, // what the other call does may be this very bet or transfer
	RateLimited:        {codes.ResourceExhausted, true},
	StoreUnavailable:   {codes.Unavailable, false},
	CommitmentMismatch: {codes.DataLoss, true},
	Internal:           {codes.Internal, false},
}

// Code returns the gRPC code of r; Internal for a reason that is not of the
// contract.
func (r Reason) Code() codes.Code {
	m, ok := meanings[r]
	if !ok {
		return codes.Internal
	}
	return m.code
}

// Known reports whether a call refused with r surely had no effect. When it is
// false, ask GetRound or GetTransfer, or repeat the call with the same id.
func (r Reason) Known() bool { return meanings[r].known }

// All returns every reason of the contract, in no order.
func All() []Reason {
	all := make([]Reason, 0, len(meanings))
	for r := range meanings {
		all = append(all, r)
	}
	return all
}

// Error is a refusal that reaches the client.
type Error struct {
	Reason   Reason
	Message  string
	Metadata map[string]string
}

// New returns a refusal; the rest of its arguments are metadata, key before
// value.
func New(r Reason, message string, metadata ...string) *Error {
	e := &Error{Reason: r, Message: message}
	for i := 0; i+1 < len(metadata); i += 2 {
		e.set(metadata[i], metadata[i+1])
	}
	return e
}

// Field returns the refusal of one field of a request: its JSON name, and what
// is wrong with it, worded to follow the name.
func Field(name, problem string) *Error {
	return New(InvalidField, name+" "+problem, "field", name)
}

// With returns a copy of e with one more pair of metadata.
func (e *Error) With(key, value string) *Error {
	c := &Error{Reason: e.Reason, Message: e.Message, Metadata: maps.Clone(e.Metadata)}
	c.set(key, value)
	return c
}

func (e *Error) set(key, value string) {
	if e.Metadata == nil {
		e.Metadata = make(map[string]string, 2)
	}
	e.Metadata[key] = value
}

// Error returns the reason and the message.
func (e *Error) Error() string { return string(e.Reason) + ": " + e.Message }

// GRPCStatus returns the status that carries e to the client.
func (e *Error) GRPCStatus() *status.Status {
	st := status.New(e.Reason.Code(), e.Message)
	detailed, err := st.WithDetails(&errdetails.ErrorInfo{
		Reason: string(e.Reason), Domain: Domain, Metadata: e.Metadata,
	})
	if err != nil {
		return st
	}
	return detailed
}

// Of returns the reason that err carries, be it an Error or a status that came
// from another process; Internal when it carries none.
func Of(err error) Reason {
	e, ok := From(err)
	if !ok {
		return Internal
	}
	return e.Reason
}

// From returns the refusal that err carries, be it an Error or a status that
// came from another process.
func From(err error) (*Error, bool) {
	var e *Error
	if errors.As(err, &e) {
		return e, true
	}
	st, ok := status.FromError(err)
	if !ok {
		return nil, false
	}
	for _, d := range st.Details() {
		info, ok := d.(*errdetails.ErrorInfo)
		if ok && info.GetDomain() == Domain {
			return &Error{Reason: Reason(info.GetReason()), Message: st.Message(), Metadata: info.GetMetadata()}, true
		}
	}
	return nil, false
}
