package redisscript

import (
	"errors"
	"fmt"
	"strings"

	"github.com/redis/go-redis/v9"
	"google.golang.org/grpc/status"

	"github.com/openoriginals/originals/internal/reason"
)

var storeUnavailable = reason.New(reason.StoreUnavailable,
	"the store did not answer; whether the call took effect is not known")

// unavailable is the reason STORE_UNAVAILABLE with its cause, which is for logs
// only: the status that a client gets does not show it.
type unavailable struct {
	script string
	cause  error
}

// Error returns the cause as well.
func (e *unavailable) Error() string {
	return fmt.Sprintf("redisscript: %s: store unavailable: %v", e.script, e.cause)
}

// GRPCStatus returns the status without the cause.
func (e *unavailable) GRPCStatus() *status.Status { return storeUnavailable.GRPCStatus() }

// Unwrap returns the reason, then the cause.
func (e *unavailable) Unwrap() []error { return []error{storeUnavailable, e.cause} }

// conditions are the first words of answers that speak of the state of Redis
// and not of the data. They pass, and a repeat of the call is safe.
var conditions = map[string]bool{
	"LOADING": true, "CLUSTERDOWN": true, "READONLY": true, "MASTERDOWN": true, "OOM": true, "MISCONF": true,
	"NOREPLICAS": true, "TRYAGAIN": true, "MOVED": true, "ASK": true, "BUSY": true, "NOAUTH": true,
	"WRONGPASS": true, "NOPERM": true, "UNBLOCKED": true, "NOSCRIPT": true,
}

// Failure sorts what the driver returned. A reply of Redis about the data (a key of a wrong type, a record
// that cannot be) is a plain error. All else is unavailable: the network, a deadline, a state of Redis.
func Failure(script string, err error) error {
	var answer redis.Error
	if !errors.As(err, &answer) {
		return &unavailable{script, err}
	}
	word, rest, _ := strings.Cut(answer.Error(), " ")
	if conditions[word] || word == "ERR" && isCondition(rest) {
		return &unavailable{script, err}
	}
	return fmt.Errorf("redisscript: %s: %w", script, err)
}

// isCondition reports whether an error without a word of its own is a state of
// Redis, too: full of clients, or handing a slot to another node of a Cluster.
func isCondition(text string) bool {
	return strings.HasPrefix(text, "max number of clients") || strings.HasPrefix(text, "Script attempted to access a non local key")
}
