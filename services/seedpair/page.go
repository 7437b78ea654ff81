package seedpair

import (
	"strconv"

	"github.com/openoriginals/originals/internal/ledger"
	"github.com/openoriginals/originals/internal/rng"
	"github.com/openoriginals/originals/internal/wire"
)

// Tokens hold a position below which nothing new is written, so that they stay
// valid.

func readPairToken(filter string, p ledger.Player, token string) (ledger.PairID, error) {
	position, err := wire.ReadPageToken(filter, token)
	if err != nil || position == "" {
		return "", err
	}
	id, err := ledger.ParsePairID(position)
	if err != nil || id.Partition() != p.Partition() {
		return "", wire.ErrPageToken
	}
	return id, nil
}

func readNonceToken(filter, token string) (uint32, error) {
	position, err := wire.ReadPageToken(filter, token)
	if err != nil || position == "" {
		return 0, err
	}
	nonce, err := rng.ParseNonce(position)
	if err != nil {
		return 0, wire.ErrPageToken
	}
	return nonce, nil
}

func nonceText(n uint32) string { return strconv.FormatUint(uint64(n), 10) }
