package seedpair

import (
	"crypto/sha256"
	"encoding/base64"
	"strconv"
	"strings"

	"github.com/openoriginals/originals/internal/ledger"
	"github.com/openoriginals/originals/internal/reason"
	"github.com/openoriginals/originals/internal/rng"
)

const (
	defaultPageSize = 50
	maxPageSize     = 200
)

func pageSize(asked *int32) (int, error) {
	if asked == nil {
		return defaultPageSize, nil
	}
	if *asked < 1 || *asked > maxPageSize {
		return 0, reason.Field("pageSize", "must be 1 to 200")
	}
	return int(*asked), nil
}

// filterOf condenses what a list was asked for. A token carries it, so that it
// serves the list that it was made for and no other. Tokens hold a position
// below which nothing new is written, so that they stay valid.
func filterOf(parts ...string) string {
	sum := sha256.Sum256([]byte(strings.Join(parts, "\x00")))
	return string(sum[:6])
}

func pageToken(filter, position string) string {
	return base64.RawURLEncoding.EncodeToString([]byte(filter + position))
}

var errPageToken = reason.Field("pageToken", "is not a token of this list")

// readToken returns the position; empty for the first page.
func readToken(filter, token string) (string, error) {
	if token == "" {
		return "", nil
	}
	raw, err := base64.RawURLEncoding.Strict().DecodeString(token)
	if err != nil || len(raw) <= len(filter) || string(raw[:len(filter)]) != filter {
		return "", errPageToken
	}
	return string(raw[len(filter):]), nil
}

func readPairToken(filter string, p ledger.Player, token string) (ledger.PairID, error) {
	position, err := readToken(filter, token)
	if err != nil || position == "" {
		return "", err
	}
	id, err := ledger.ParsePairID(position)
	if err != nil || id.Partition() != p.Partition() {
		return "", errPageToken
	}
	return id, nil
}

func readNonceToken(filter, token string) (uint32, error) {
	position, err := readToken(filter, token)
	if err != nil || position == "" {
		return 0, err
	}
	nonce, err := rng.ParseNonce(position)
	if err != nil {
		return 0, errPageToken
	}
	return nonce, nil
}

func nonceText(n uint32) string { return strconv.FormatUint(uint64(n), 10) }
