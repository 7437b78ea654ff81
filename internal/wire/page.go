package wire

import (
	"crypto/sha256"
	"encoding/base64"
	"strings"

	"github.com/openoriginals/originals/internal/reason"
)

const (
	defaultPageSize = 50
	maxPageSize     = 200
)

// PageSize reads how many rows a page is to have: 1 to 200, 50 when it is left
// out.
func PageSize(asked *int32) (int, error) {
	if asked == nil {
		return defaultPageSize, nil
	}
	if *asked < 1 || *asked > maxPageSize {
		return 0, reason.Field("pageSize", "must be 1 to 200")
	}
	return int(*asked), nil
}

// ListFilter condenses what a list was asked for. A token carries it, so that
// it serves the list that it was made for and no other.
func ListFilter(parts ...string) string {
	sum := sha256.Sum256([]byte(strings.Join(parts, "\x00")))
	return string(sum[:6])
}

// PageToken returns the token of a position in the list with a filter.
func PageToken(filter, position string) string {
	return base64.RawURLEncoding.EncodeToString([]byte(filter + position))
}

// ErrPageToken refuses a token that was not made for the list.
var ErrPageToken = reason.Field("pageToken", "is not a token of this list")

// ReadPageToken returns the position that PageToken was given; empty for the
// first page. The error is ErrPageToken.
func ReadPageToken(filter, token string) (string, error) {
	if token == "" {
		return "", nil
	}
	raw, err := base64.RawURLEncoding.Strict().DecodeString(token)
	if err != nil || len(raw) <= len(filter) || string(raw[:len(filter)]) != filter {
		return "", ErrPageToken
	}
	return string(raw[len(filter):]), nil
}
