package refwallet

import (
	"context"
	"crypto/sha256"
	"database/sql"
	"encoding/hex"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"time"
)

// shownDigest is the answer of GET /digest. Two sets of books with the same root
// agree on every settlement of the run.
type shownDigest struct {
	Partition  int     `json:"partition"`
	First      integer `json:"firstSequence"` // 0 when there is none
	Count      int     `json:"count"`
	MerkleRoot string  `json:"merkleRoot"`
}

// digest sums up the bookings of a partition in the order of their sequences,
// from first on, at most count of them; all of them when count is 0. It reads
// what is booked now: a gap in the sequences is not seen but by its root.
func (b *Books) digest(ctx context.Context, partition int, first, count int64) (d shownDigest, err error) {
	limit := count
	if limit == 0 {
		limit = -1
	}
	rows, err := b.db.QueryContext(ctx, `SELECT settlement, sequence, player, bet, game, currency, stake, payout, result, settled
		FROM bookings WHERE partition = ? AND sequence >= ? ORDER BY sequence LIMIT ?`, partition, first, limit)
	if err != nil {
		return d, wrap("digest", err)
	}
	defer rows.Close()
	d.Partition = partition
	var leaves [][sha256.Size]byte
	for rows.Next() {
		sequence, leaf, err := readLeaf(rows)
		if err != nil {
			return d, wrap("digest", err)
		}
		if d.Count++; d.Count == 1 {
			d.First = integer(sequence)
		}
		leaves = append(leaves, sha256.Sum256([]byte("\x00"+leaf)))
	}
	root := merkle(leaves)
	d.MerkleRoot = hex.EncodeToString(root[:])
	return d, wrap("digest", rows.Err())
}

// readLeaf returns the text of a settlement that the platform's documentation
// states for digests.
func readLeaf(rows *sql.Rows) (sequence int64, leaf string, err error) {
	var id, player, bet, game, currency, result, settled string
	var stake, payout int64
	if err := rows.Scan(&id, &sequence, &player, &bet, &game, &currency, &stake, &payout, &result, &settled); err != nil {
		return 0, "", err
	}
	at, err := time.Parse(time.RFC3339Nano, settled)
	if err != nil {
		return 0, "", err
	}
	return sequence, fmt.Sprintf("%s %d %s %s %s %s %d %d %s %d",
		id, sequence, player, bet, game, currency, stake, payout, result, at.UnixMilli()), nil
}

// merkle is the Merkle tree hash of RFC 6962, section 2.1, over the hashes of
// leaves.
func merkle(leaves [][sha256.Size]byte) [sha256.Size]byte {
	switch len(leaves) {
	case 0:
		return sha256.Sum256(nil)
	case 1:
		return leaves[0]
	}
	half := 1
	for half*2 < len(leaves) {
		half *= 2
	}
	left, right := merkle(leaves[:half]), merkle(leaves[half:])
	return sha256.Sum256(append(append([]byte{1}, left[:]...), right[:]...))
}

func (w *wallet) showDigest(rw http.ResponseWriter, req *http.Request) {
	query := req.URL.Query()
	partition, err := readNumber(query.Get("partition"))
	first, err1 := readNumber(query.Get("firstSequence"))
	count, err2 := readNumber(query.Get("count"))
	if err := errors.Join(err, err1, err2); err != nil {
		http.Error(rw, err.Error(), http.StatusBadRequest)
		return
	}
	d, err := w.books.digest(req.Context(), int(partition), first, count)
	if err != nil {
		w.Failed("digest", err)
		http.Error(rw, "the books cannot be read", http.StatusInternalServerError)
		return
	}
	answer(rw, d)
}

// readNumber reads a number of a query; 0 when it is left out.
func readNumber(text string) (int64, error) {
	if text == "" {
		return 0, nil
	}
	return strconv.ParseInt(text, 10, 64)
}
