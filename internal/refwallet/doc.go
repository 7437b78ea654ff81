// Package refwallet holds a small wallet that keeps its books in SQLite and
// speaks to the platform by its public REST API; it must never import a
// service, a store or the types of the platform.
//
// It shows what a wallet has to do, in any language, so that every deposit,
// withdrawal and settlement counts exactly once, whatever dies, repeats or gets
// lost on the way:
//
//   - A settlement is booked under its own id, which is unique in the books. The
//     wallet's transaction id is made from it, so that a repeat can have no other.
//   - All settlements of a claim are booked in one transaction, and only then
//     acknowledged. What was booked and not acknowledged is acknowledged first
//     after a restart.
//   - A transfer is stored, and a deposit taken from the player's account, before
//     the platform is called. It is repeated with the same id until an answer
//     says what became of it: no answer means nothing.
//   - Amounts are integers, from the text on.
//
// It speaks REST, and not gRPC, with nothing but the standard library, since
// that is the harder way to get right by hand: integers of 64 bits in texts,
// statuses of HTTP, bodies that end too early.
package refwallet
