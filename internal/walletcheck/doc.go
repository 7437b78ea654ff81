// Package walletcheck holds the check of a wallet implementation: a platform
// that is played, faults in its way, and the cases that a wallet must come
// through; it must never import a service, the store, a game or a wallet.
//
// # What a wallet must do to be checked
//
// The command is run by /bin/sh, for each case anew, with these variables:
//
//	ORIGINALS_URL    the platform's REST API, such as http://127.0.0.1:40001
//	ORIGINALS_GRPC   the same services by gRPC without TLS, host:port
//	ORIGINALS_TOKEN  what to send as bearer token
//	WALLET_LISTEN    where to serve the wallet's face, host:port
//	WALLET_DIR       a folder that is there: books in it must outlive kill -9;
//	                 a database elsewhere can take its name for a name space
//
// A wallet asks for settlements at least once a second, gives up a call that is
// not answered within ten seconds, and never stops to try. Two processes may be
// started on one WALLET_DIR.
//
// # The wallet's face
//
// HTTP with JSON. Amounts are decimal texts of smallest units.
//
//	GET /healthz
//	    200 when the wallet works. The case begins then.
//	POST /deposit, POST /withdraw
//	    {requestId, playerId, currency, amount}: an order of the wallet's own
//	    house. 200 when it is stored; it may be carried out later. A requestId,
//	    1 to 40 of A-Z a-z 0-9 _ and -, is one order: a repeat is answered with
//	    200 and does nothing, other content with 409. 503 asks for a repeat.
//	POST /cancel
//	    {requestId}: the order is given up. The wallet calls CancelTransfer, and
//	    books what that says.
//	GET /books
//	    {accounts: [{playerId, currency, walletAmount, transitAmount, gameAmount,
//	    bookings}], alarms: [{subject, cause}]}
//	    walletAmount is the player's money in the wallet. It begins at 0 and may
//	    fall below: how a player pays is no part of the check. transitAmount is
//	    that of deposits whose result is not known. gameAmount is what the books
//	    say of the game balance: deposits, less withdrawals, and of each
//	    settlement payout less stake. bookings counts settlements, also those of
//	    0. alarms name what a person must look at: settlementId or transferId,
//	    and a cause in any words. They are due for CONFLICT, for NOT_FOUND of
//	    what was delivered, for a settlement that comes again with other content,
//	    and for TRANSFER_ID_REUSED, whose money stays in transit.
//	GET /books?playerId=P
//	    The same, the accounts of one player alone, with bookings:
//	    [{settlementId, walletTransactionId, amount}] in the order of booking;
//	    amount is payout less stake.
//
//	GET /digest?partition=N
//	    Optional. {count, merkleRoot} over all bookings of a partition in the order
//	    of their sequences, as GetDigest has it for a run of them.
//
// # What is judged
//
// A settlement with a negative amount, two currencies or a result that the wallet
// does not know is REJECTED, and holds back nothing.
//
// At the end of every case: the books equal the platform's, to the unit; every
// settlement is acknowledged; no settlement was ever reported with two
// walletTransactionIds, nor two with one; no order made two transfers; the
// bookings of each player stand once and in their order; alarms were raised
// where they had to be, and nowhere else. How a wallet comes there is its own
// affair.
package walletcheck
