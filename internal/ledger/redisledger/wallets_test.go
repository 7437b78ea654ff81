package redisledger_test

import (
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/openoriginals/originals/internal/embedded"
	"github.com/openoriginals/originals/internal/ledger/ledgertest"
	"github.com/openoriginals/originals/internal/ledger/redisledger"
	"github.com/openoriginals/originals/internal/testenv"
)

// walletOptions make time short enough to wait for.
var walletOptions = redisledger.Options{TransferLease: 200 * time.Millisecond, Attempts: 3, Backoff: 200 * time.Millisecond}

func wallets(t testing.TB, url string, wait func(time.Duration)) ledgertest.Wallets {
	return ledgertest.Wallets{
		Store: redisledger.New(client(t, url), walletOptions), Wait: wait,
		TransferLease: walletOptions.TransferLease, Attempts: walletOptions.Attempts, Backoff: walletOptions.Backoff,
		Forget: func() { forget(t, client(t, url)) }, ClaimHome: redisledger.ClaimHome,
		Faulty: func(decide func(call int) ledgertest.Fault) ledgertest.WalletStore {
			c := client(t, url)
			c.AddHook(&faultHook{decide: decide})
			return redisledger.New(c, walletOptions)
		},
	}
}

// forget deletes every key that has an end.
func forget(t testing.TB, c redis.UniversalClient) {
	t.Helper()
	keys, err := c.Keys(ctx, "*").Result()
	if err != nil {
		t.Fatal(err)
	}
	for _, key := range keys {
		if c.PTTL(ctx, key).Val() > 0 {
			c.Del(ctx, key)
		}
	}
}

func TestTransfersOnRedis(t *testing.T) {
	ledgertest.RunTransfers(t, wallets(t, testenv.Redis(t, testenv.InMemory).URL(), time.Sleep))
}

func TestTransfersOnEmbedded(t *testing.T) {
	e, err := embedded.Start()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(e.Close)
	ledgertest.RunTransfers(t, wallets(t, e.URL(), time.Sleep))
}

func TestFeedOnRedis(t *testing.T) {
	ledgertest.RunFeed(t, wallets(t, testenv.Redis(t, testenv.InMemory).URL(), time.Sleep))
}

func TestFeedOnEmbedded(t *testing.T) {
	e, err := embedded.Start()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(e.Close)
	ledgertest.RunFeed(t, wallets(t, e.URL(), time.Sleep))
}

func TestDigestsOnRedis(t *testing.T) {
	w := wallets(t, testenv.Redis(t, testenv.InMemory).URL(), time.Sleep)
	w.Bisect = 100_000
	ledgertest.RunDigests(t, w)
}

func TestDigestsOnEmbedded(t *testing.T) {
	e, err := embedded.Start()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(e.Close)
	w := wallets(t, e.URL(), time.Sleep)
	w.Bisect, w.SetTime = 1000, e.SetTime
	ledgertest.RunDigests(t, w)
}

func TestWalletModelOnRedis(t *testing.T) {
	w := wallets(t, testenv.Redis(t, testenv.InMemory).URL(), time.Sleep)
	w.Runs = 24 // each takes a fraction of the time that it takes on the embedded store
	ledgertest.RunWalletModel(t, w)
}

func TestWalletModelOnEmbedded(t *testing.T) {
	e, err := embedded.Start()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(e.Close)
	w := wallets(t, e.URL(), time.Sleep)
	w.SetTime = e.SetTime
	ledgertest.RunWalletModel(t, w)
}

func TestWalletClockOnEmbedded(t *testing.T) {
	e, err := embedded.Start()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(e.Close)
	w := wallets(t, e.URL(), time.Sleep)
	w.SetTime = e.SetTime
	ledgertest.RunWalletClock(t, w)
}
