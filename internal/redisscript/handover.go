package redisscript

import (
	"context"
	"errors"

	"github.com/redis/go-redis/v9"
)

// errHandedOver says that the slot of a key is on its way to another node of a Cluster.
var errHandedOver = errors.New("the slot is being handed over to another node")

// stay keeps scripts from running where a slot is about to arrive. There a key that has not come yet looks like one that never
// was, and a script makes decisions from what is missing. So they wait until the slot is whole again: the old node refuses what
// it has given away, and the new one is not asked before the Cluster says that the slot is its own.
type stay struct{}

// DialHook changes nothing.
func (stay) DialHook(next redis.DialHook) redis.DialHook { return next }

// ProcessHook answers errHandedOver, which the driver does not act on, in place of ASK.
func (stay) ProcessHook(next redis.ProcessHook) redis.ProcessHook {
	return func(ctx context.Context, cmd redis.Cmder) error {
		err := next(ctx, cmd)
		if redis.HasErrorPrefix(err, "ASK ") {
			err = errHandedOver
			cmd.SetErr(err)
		}
		return err
	}
}

// ProcessPipelineHook changes nothing: no script goes to a Cluster in a pipeline.
func (stay) ProcessPipelineHook(next redis.ProcessPipelineHook) redis.ProcessPipelineHook {
	return next
}
