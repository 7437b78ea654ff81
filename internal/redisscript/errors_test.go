package redisscript

import (
	"context"
	"errors"
	"io"
	"net"
	"strings"
	"testing"

	"github.com/redis/go-redis/v9"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/openoriginals/originals/internal/reason"
)

// answer is an error that Redis itself sent.
type answer string

func (a answer) Error() string { return string(a) }
func (answer) RedisError()     {}

func TestStatesOfRedisAreUnavailable(t *testing.T) {
	for _, cause := range []error{
		answer("LOADING Redis is loading the dataset in memory"), answer("CLUSTERDOWN The cluster is down"),
		answer("READONLY You can't write against a read only replica. script: x, on @user_script:1."),
		answer("MASTERDOWN Link with MASTER is down"), answer("OOM command not allowed when used memory > 'maxmemory'."),
		answer("MISCONF Redis is configured to save RDB snapshots"), answer("TRYAGAIN Multiple keys request during rehashing of slot"),
		answer("MOVED 1 secret-host:6379"), answer("BUSY Redis is busy running a script"), answer("ERR max number of clients reached"),
		answer("ERR Script attempted to access a non local key in a cluster node script: x, on @user_script:1."),
		&net.OpError{Op: "dial", Err: errors.New("secret-host refused")}, io.EOF, redis.ErrClosed, redis.ErrPoolTimeout,
		context.DeadlineExceeded, context.Canceled,
	} {
		err := Failure("draw", cause)
		if reason.Of(err) != reason.StoreUnavailable || !errors.Is(err, cause) {
			t.Errorf("%v gives %v", cause, err)
		}
		st, _ := status.FromError(err)
		if st.Code() != codes.Unavailable || strings.Contains(st.Message(), cause.Error()) {
			t.Errorf("a client is shown %v", st)
		}
		if reason.Of(st.Err()) != reason.StoreUnavailable {
			t.Errorf("the status %v carries no reason", st)
		}
	}
}

func TestBrokenDataIsInternal(t *testing.T) {
	for _, cause := range []answer{"WRONGTYPE Operation against a key holding the wrong kind of value", "BROKEN server seed", "ERR user_script:3: attempt to index nil"} {
		err := Failure("draw", cause)
		if reason.Of(err) != reason.Internal || !errors.Is(err, cause) || !strings.Contains(err.Error(), "draw") {
			t.Errorf("%v gives %v", cause, err)
		}
	}
}
