package main

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os/exec"
	"path/filepath"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/backoff"
	"google.golang.org/grpc/credentials/insecure"

	"github.com/openoriginals/originals/internal/auth"
	"github.com/openoriginals/originals/internal/testenv"
	originalsv1 "github.com/openoriginals/originals/proto/originals/v1"
)

const (
	booksPlayers = 200
	booksFunds   = 1_000_000 // of each at the beginning, in hundredths of a FUN
	booksOrders  = 5         // more deposits and withdrawals of each
	booksTime    = 8 * time.Minute
	booksSoak    = 20 * time.Minute
)

// casino is a platform, its store, and the wallet of its one operator.
type casino struct {
	*site
	redis    *testenv.RedisServer
	platform *testenv.Process
	wallet   *testenv.Process
	face     walletFace
	random   *rand.Rand
	bettors  []*bettor
	done     atomic.Int64 // rounds
	killed   map[string]int
}

// TestKillLeavesTheWalletsBooksEqual plays 100,000 rounds of 200 players while
// platform, store and wallet are killed at random. At the end the wallet's books
// are the platform's: every round once, and every unit.
func TestKillLeavesTheWalletsBooksEqual(t *testing.T) {
	if raceDetector {
		withoutRaceDetector(t)
		return
	}
	rounds, kills, limit := 100_000, 45, booksTime
	if soaking() {
		rounds, kills, limit = 1_000_000, 150, booksSoak
	}
	c := newCasino(t)
	begin := time.Now()
	ctx, cancel := context.WithTimeout(t.Context(), limit)
	defer cancel()
	c.play(ctx, rounds, kills)
	played := time.Since(begin)
	if t.Failed() {
		return
	}
	c.awaitBooks()
	t.Logf("%d rounds of %d players in %v, %d/s; booked %v later; kills %v; %s",
		c.done.Load(), booksPlayers, played.Round(time.Second), int(float64(c.done.Load())/played.Seconds()),
		(time.Since(begin) - played).Round(time.Millisecond), c.killed, c.troubles())
	if int(c.done.Load()) != rounds {
		t.Errorf("%d rounds were played, want %d", c.done.Load(), rounds)
	}
	for _, what := range []string{"platform", "wallet", "redis"} {
		if n := c.killed[what]; n < kills/3-1 { // the last may come when all is played
			t.Errorf("%s was killed %d times, want %d", what, n, kills/3)
		}
	}
	for _, b := range c.bettors {
		c.checkBettor(b)
	}
	c.checkDigests(begin)
}

// withoutRaceDetector runs the test again as a program of its own: a hundred
// thousand rounds take too long under the detector, which the other tests of
// kills run under.
func withoutRaceDetector(t *testing.T) {
	t.Helper()
	out, err := exec.CommandContext(t.Context(), "go", "test", "-count=1", "-v", "-timeout", (2 * booksSoak).String(), "-run", "^"+t.Name()+"$", ".").CombinedOutput()
	t.Logf("without the race detector:\n%s", out)
	if err != nil {
		t.Error(err)
	}
}

func newCasino(t *testing.T) *casino {
	t.Helper()
	redis := testenv.Redis(t, testenv.Always)
	c := &casino{site: newSite(t, redis.URL()), redis: redis, random: testRandom(t), killed: make(map[string]int)}
	http := testenv.FreeAddr(t)
	c.platform = c.serve(http, "--http", http, "--grpc", testenv.FreeAddr(t), "--dev-key", c.devKey, "--log-level", "error",
		"--redis", redis.URL(), "--seal-key-file", c.sealKey)
	listen := testenv.FreeAddr(t)
	c.wallet = c.serve(listen, "reference-wallet", "--listen", listen, "--dir", filepath.Join(t.TempDir(), "books"),
		"--url", "http://"+http, "--token", c.mint("wallet", auth.Wallet), "--poll", "20ms")
	c.face = walletFace{t, "http://" + listen}
	return c
}

func (c *casino) mint(name string, role auth.Role) string {
	c.t.Helper()
	key, _, err := auth.LoadOrCreateDevKey(c.devKey, "")
	if err != nil {
		c.t.Fatal(err)
	}
	token, err := key.Mint(auth.Identity{Subject: name, Role: role}, 2*time.Hour, time.Now())
	if err != nil {
		c.t.Fatal(err)
	}
	return token
}

// connect returns a connection that comes back soon after the platform was
// away. It ends with the test.
func (c *casino) connect() *grpc.ClientConn {
	c.t.Helper()
	soon := backoff.Config{BaseDelay: 20 * time.Millisecond, Multiplier: 1.5, MaxDelay: 200 * time.Millisecond}
	conn, err := grpc.NewClient(c.platform.Address("gRPC"), grpc.WithTransportCredentials(insecure.NewCredentials()),
		grpc.WithConnectParams(grpc.ConnectParams{Backoff: soon}))
	if err != nil {
		c.t.Fatal(err)
	}
	c.t.Cleanup(func() { conn.Close() })
	return conn
}

// play lets all players bet until there are enough rounds, or ctx ends.
func (c *casino) play(ctx context.Context, rounds, kills int) {
	conn := c.connect()
	for i := range booksPlayers {
		name := fmt.Sprintf("books-%d", i)
		c.bettors = append(c.bettors, newBettor(c.t, conn, name, c.mint(name, auth.Player)))
	}
	c.fund(ctx)
	soft := ctx
	if soaking() { // time ends the play, and each player ends his bet
		var cancel context.CancelFunc
		soft, cancel = context.WithTimeout(ctx, booksSoak-3*time.Minute)
		defer cancel()
	}
	var all sync.WaitGroup
	for _, b := range c.bettors {
		all.Go(func() { c.playOne(ctx, soft, b, rounds/booksPlayers) })
	}
	over := make(chan struct{})
	go func() {
		all.Wait()
		close(over)
	}()
	c.kill(over, rounds, kills)
	<-over
}

// fund deposits for every player, and waits until all is in play.
func (c *casino) fund(ctx context.Context) {
	for _, b := range c.bettors {
		c.face.order(ctx, "/deposit", b.name+"-begin", b.name, booksFunds)
	}
	c.await("the deposits", func() bool {
		var books walletBooks
		if err := c.face.get("/books", &books); err != nil || len(books.Accounts) != booksPlayers {
			return false
		}
		for _, a := range books.Accounts {
			if a.Game != booksFunds {
				return false
			}
		}
		return true
	})
}

// playOne plays one player, who moves money now and then.
func (c *casino) playOne(ctx, soft context.Context, b *bettor, rounds int) {
	for n := range rounds {
		if soft.Err() != nil || c.t.Failed() {
			return
		}
		if step := rounds / (booksOrders + 1); n%step == step-1 && n/step < booksOrders {
			c.move(ctx, b, n/step)
		}
		b.bet(ctx)
		c.done.Add(1)
	}
}

// orderOf returns the n-th order of a player beside the first: some deposits and
// withdrawals, and one that is refused.
func orderOf(n int) (path string, amount int64) {
	switch n {
	case 2:
		return "/withdraw", 1 << 50
	case 1, 4:
		return "/withdraw", int64(10_000 + n)
	}
	return "/deposit", int64(20_000 + n)
}

func (c *casino) move(ctx context.Context, b *bettor, n int) {
	path, amount := orderOf(n)
	c.face.order(ctx, path, fmt.Sprintf("%s-%d", b.name, n), b.name, amount)
}

// kill ends platform, store and wallet in turn at random moments of the play.
func (c *casino) kill(over chan struct{}, rounds, kills int) {
	for n := range kills {
		at := int64(rounds)*int64(n+1)/int64(kills+1) + c.random.Int64N(int64(rounds)/int64(kills))/2
		for c.done.Load() < at {
			select {
			case <-over:
				return
			case <-time.After(time.Millisecond):
			}
		}
		c.killOne(n % 3)
	}
}

func (c *casino) killOne(which int) {
	down := time.Duration(c.random.IntN(150)) * time.Millisecond
	switch which {
	case 0:
		c.killed["platform"]++
		c.platform.Kill9()
		time.Sleep(down)
		c.platform.Start()
	case 1:
		c.killed["wallet"]++
		c.wallet.Kill9()
		time.Sleep(down)
		c.wallet.Start()
	case 2:
		c.killed["redis"]++
		c.redis.Kill9()
		time.Sleep(down)
		c.redis.Start()
	}
}

// await waits for what comes by itself. The wallet may be behind by all rounds.
func (c *casino) await(what string, done func() bool) {
	c.t.Helper()
	for deadline := time.Now().Add(booksTime); !done(); time.Sleep(50 * time.Millisecond) {
		if c.t.Failed() || time.Now().After(deadline) {
			c.t.Fatalf("waited in vain for %s", what)
		}
	}
}

// awaitBooks waits until the wallet has booked every round and knows of every
// transfer.
func (c *casino) awaitBooks() {
	c.t.Helper()
	c.await("the wallet to book all", func() bool { return c.bookings(c.face) >= int(c.done.Load()) })
	var books walletBooks
	if err := c.face.get("/books", &books); err != nil {
		c.t.Fatal(err)
	}
	if len(books.Alarms) > 0 || len(books.Accounts) != booksPlayers {
		c.t.Errorf("%d accounts, alarms %v", len(books.Accounts), books.Alarms)
	}
}

// bookings returns how many settlements a wallet has booked; -1 while a transfer
// is under way, or the wallet does not answer.
func (c *casino) bookings(of walletFace) int {
	var books walletBooks
	if err := of.get("/books", &books); err != nil {
		return -1
	}
	booked := 0
	for _, a := range books.Accounts {
		if booked += a.Bookings; a.Transit != 0 {
			return -1
		}
	}
	return booked
}

// checkBettor holds three books of one player against each other: what he was
// answered, the platform's, and the wallet's.
func (c *casino) checkBettor(b *bettor) {
	c.t.Helper()
	var books walletBooks
	c.await("the last transfer of "+b.name, func() bool {
		books = walletBooks{}
		err := c.face.get("/books?playerId="+b.name, &books)
		return err == nil && len(books.Accounts) == 1 && len(books.Transfers) > 0 && !slices.ContainsFunc(books.Transfers,
			func(transfer walletTransfer) bool { return transfer.State == "PENDING" })
	})
	deposits, withdrawals := int64(0), int64(0)
	for _, transfer := range books.Transfers {
		path, amount := "/deposit", int64(booksFunds)
		for n := range booksOrders {
			if transfer.ID == fmt.Sprintf("%s-%d", b.name, n) {
				path, amount = orderOf(n)
			}
		}
		want := "APPLIED"
		if amount == 1<<50 {
			want = "REFUSED"
		}
		switch {
		case transfer.State != want:
			c.t.Errorf("transfer %s is %s, want %s", transfer.ID, transfer.State, want)
		case want == "REFUSED":
		case path == "/deposit":
			deposits += amount
		default:
			withdrawals += amount
		}
	}
	c.checkRounds(b, &books)
	balance := deposits - withdrawals - b.stake + b.payout
	account := books.Accounts[0]
	if account.Game != balance || account.Wallet != withdrawals-deposits || account.Bookings != len(b.rounds) {
		c.t.Errorf("%s: the wallet's books say %+v; deposits %d, withdrawals %d, stakes %d, payouts %d of %d rounds",
			b.name, account, deposits, withdrawals, b.stake, b.payout, len(b.rounds))
	}
	var balances originalsv1.ListPlayerBalancesResponse
	err := c.api().get(context.Background(), "/v1/wallet/players/"+b.name+"/balances", &balances)
	if got := balances.GetBalances(); err != nil || len(got) != 1 || got[0].GetAmount() != balance {
		c.t.Errorf("%s: the platform's balances are %v, %v; want %d", b.name, got, err, balance)
	}
}

// checkRounds wants each round that the player was told of booked once, and no
// other.
func (c *casino) checkRounds(b *bettor, books *walletBooks) {
	c.t.Helper()
	booked := make(map[string]int)
	for _, booking := range books.Bookings {
		if booked[booking.Settlement]++; !b.rounds[booking.Settlement] {
			c.t.Errorf("%s: %s is booked, and he was told of no such round", b.name, booking.Settlement)
		}
	}
	for id := range b.rounds {
		if booked[id] != 1 {
			c.t.Errorf("%s: round %s is booked %d times", b.name, id, booked[id])
		}
	}
}

func (c *casino) api() *client {
	return newClient(c.platform.URL(), c.mint("wallet", auth.Wallet))
}

// checkDigests compares the digest of every partition and day with the wallet's.
func (c *casino) checkDigests(begin time.Time) {
	c.t.Helper()
	days := slices.Compact([]string{begin.UTC().Format("2006-01-02"), time.Now().UTC().Format("2006-01-02")})
	compared, settlements := 0, int64(0)
	for partition := range 64 {
		for _, day := range days {
			var theirs originalsv1.Digest
			path := fmt.Sprintf("/v1/wallet/digests?partition=%d&day=%s", partition, day)
			if err := c.api().get(context.Background(), path, &theirs); err != nil {
				c.t.Fatal(err)
			}
			if theirs.GetCount() == 0 {
				continue
			}
			var mine struct {
				Count      int64  `json:"count"`
				MerkleRoot string `json:"merkleRoot"`
			}
			path = fmt.Sprintf("/digest?partition=%d&firstSequence=%d&count=%d", partition, theirs.GetFirstSequence(), theirs.GetCount())
			if err := c.face.get(path, &mine); err != nil {
				c.t.Fatal(err)
			}
			if mine.Count != theirs.GetCount() || mine.MerkleRoot != theirs.GetMerkleRoot() {
				c.t.Errorf("partition %d on %s: the platform has %d settlements with %s, the wallet %d with %s",
					partition, day, theirs.GetCount(), theirs.GetMerkleRoot(), mine.Count, mine.MerkleRoot)
			}
			compared++
			settlements += theirs.GetCount()
		}
	}
	if compared < 32 || settlements != c.done.Load() {
		c.t.Errorf("%d digests over %d settlements, want all of %d", compared, settlements, c.done.Load())
	}
}

// troubles tells what the players went through.
func (c *casino) troubles() string {
	unknown, rotations := 0, 0
	for _, b := range c.bettors {
		unknown, rotations = unknown+b.unknown, rotations+b.rotations
	}
	return fmt.Sprintf("%d calls without an answer, %d rotations", unknown, rotations)
}
