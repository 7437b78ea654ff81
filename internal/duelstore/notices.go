package duelstore

import (
	"context"
	"strconv"
	"strings"

	"github.com/redis/go-redis/v9"
)

// Notices tells of changes of duels that are followed, whoever made them. It is
// a hint: Redis forgets a notice that nobody hears at once, so that whoever
// follows a duel has to look at it from time to time all the same. It is safe
// for concurrent use.
type Notices struct {
	subscription *redis.PubSub
}

// Notices returns notices of no duel yet, on a connection of their own. The
// caller closes them.
func (s *Store) Notices() *Notices {
	return &Notices{s.client.Subscribe(context.Background())}
}

// Follow begins to tell of a duel. The error is that of a Redis which does not
// answer; the duel is then followed as soon as it does.
func (n *Notices) Follow(ctx context.Context, id ID) error {
	return n.subscription.Subscribe(ctx, channel(id))
}

// Unfollow ends it.
func (n *Notices) Unfollow(ctx context.Context, id ID) error {
	return n.subscription.Unsubscribe(ctx, channel(id))
}

// Listen calls heard for each notice, with the duel's version after the change,
// until ctx ends or the notices are closed.
func (n *Notices) Listen(ctx context.Context, heard func(id ID, version uint32)) {
	messages := n.subscription.Channel()
	for {
		select {
		case <-ctx.Done():
			return
		case m, ok := <-messages:
			if !ok {
				return
			}
			id, ok := idOf(m.Channel)
			version, err := strconv.ParseUint(m.Payload, 10, 32)
			if ok && err == nil {
				heard(id, uint32(version))
			}
		}
	}
}

// Close ends the connection.
func (n *Notices) Close() error { return n.subscription.Close() }

const noticeOf = ":dn:"

func channel(id ID) string { return tag(id.partition()) + noticeOf + id.short() }

func idOf(channel string) (ID, bool) {
	partition, short, ok := strings.Cut(channel, noticeOf)
	digits := strings.TrimSuffix(strings.TrimPrefix(partition, "{p"), "}")
	if len(digits) == 1 {
		digits = "0" + digits
	}
	id, err := ParseID(digits + "-" + short)
	return id, ok && err == nil
}
