package seedpair_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	"google.golang.org/grpc/metadata"

	"github.com/openoriginals/originals/internal/auth"
	"github.com/openoriginals/originals/internal/ledger"
	"github.com/openoriginals/originals/internal/rng"
	"github.com/openoriginals/originals/internal/seal"
	originalsv1 "github.com/openoriginals/originals/proto/originals/v1"
	vaultv1 "github.com/openoriginals/originals/proto/originals/vault/v1"
)

// player is a player with a token, and what he was shown.
type player struct {
	t    *testing.T
	h    *house
	id   ledger.Player
	ctx  context.Context
	pair string // active
	next string // commitment

	pairs    originalsv1.SeedPairServiceClient
	rounds   originalsv1.RoundServiceClient
	dice     originalsv1.DiceServiceClient
	limbo    originalsv1.LimboServiceClient
	roulette originalsv1.RouletteServiceClient
	mines    originalsv1.MinesServiceClient
}

var counter atomic.Uint64

// unique returns another text at each call.
func unique(prefix string) string { return fmt.Sprintf("%s-%d", prefix, counter.Add(1)) }

// stranger is a player whom the house has never seen.
func (h *house) stranger() *player {
	h.t.Helper()
	return h.named(unique("player"))
}

func (h *house) named(name string) *player { return h.as(name, auth.Player) }

func (h *house) as(name string, role auth.Role) *player {
	h.t.Helper()
	return h.signed(h.devKey, name, role)
}

func (h *house) signed(key *auth.DevKey, name string, role auth.Role) *player {
	h.t.Helper()
	id := auth.Identity{Subject: name, Operator: key.Operator(), Role: role}
	token, err := key.Mint(id, time.Hour, time.Now())
	if err != nil {
		h.t.Fatal(err)
	}
	p := &player{t: h.t, id: id.Player(), ctx: metadata.AppendToOutgoingContext(context.Background(), "authorization", "Bearer "+token)}
	return p.at(h)
}

// newcomer was shown a commitment and has not rotated.
func (h *house) newcomer() *player {
	h.t.Helper()
	p := h.stranger()
	p.look()
	return p
}

// player has an active pair and 1,000,000 FUN.
func (h *house) player() *player {
	h.t.Helper()
	p := h.newcomer()
	p.rotate()
	return p
}

// samePartition returns a player in the same partition as another.
func (h *house) samePartition(as *player) *player {
	h.t.Helper()
	for {
		p := h.stranger()
		if p.id.Partition() == as.id.Partition() {
			p.look()
			p.rotate()
			return p
		}
	}
}

// at is the same player, who calls another process.
func (p *player) at(h *house) *player {
	q := *p
	q.h = h
	q.pairs = originalsv1.NewSeedPairServiceClient(h.public)
	q.rounds = originalsv1.NewRoundServiceClient(h.public)
	q.dice = originalsv1.NewDiceServiceClient(h.public)
	q.limbo = originalsv1.NewLimboServiceClient(h.public)
	q.roulette = originalsv1.NewRouletteServiceClient(h.public)
	q.mines = originalsv1.NewMinesServiceClient(h.public)
	return &q
}

// vault is the vault as the service of one game calls it for the player.
func (p *player) vault(role string) vaultv1.VaultServiceClient {
	return vaultv1.NewVaultServiceClient(p.h.vault.As(role))
}

func (p *player) look() *originalsv1.GetSeedPairResponse {
	p.t.Helper()
	shown := got(p.pairs.GetSeedPair(p.ctx, &originalsv1.GetSeedPairRequest{})).must(p.t)
	p.next = shown.GetNextCommitment()
	return shown
}

func (p *player) rotation() *originalsv1.RotateSeedPairRequest {
	return &originalsv1.RotateSeedPairRequest{ClientSeed: unique("client-seed"), NextCommitment: p.next}
}

func (p *player) rotate() *originalsv1.RotateSeedPairResponse {
	p.t.Helper()
	rotated := got(p.pairs.RotateSeedPair(p.ctx, p.rotation())).must(p.t)
	p.pair, p.next = rotated.GetActive().GetSeedPairId(), rotated.GetNextCommitment()
	return rotated
}

func fun(amount int64) *originalsv1.Money {
	return &originalsv1.Money{Currency: "FUN", Amount: amount}
}

func (p *player) diceBet(stake int64) *originalsv1.DiceServicePlaceBetRequest {
	return &originalsv1.DiceServicePlaceBetRequest{
		BetId: unique("bet"), SeedPairId: p.pair, Stake: fun(stake), Target: 5000, Direction: originalsv1.Dice_UNDER,
	}
}

func (p *player) limboBet(stake int64) *originalsv1.LimboServicePlaceBetRequest {
	return &originalsv1.LimboServicePlaceBetRequest{BetId: unique("bet"), SeedPairId: p.pair, Stake: fun(stake), TargetE2: 200}
}

func (p *player) rouletteBet(stake int64) *originalsv1.RouletteServicePlaceBetRequest {
	return &originalsv1.RouletteServicePlaceBetRequest{
		BetId: unique("bet"), SeedPairId: p.pair, Currency: "FUN",
		Chips: []*originalsv1.Chip{{Kind: originalsv1.Chip_RED, Amount: stake}},
	}
}

func (p *player) minesStart(stake int64) *originalsv1.StartRoundRequest {
	return &originalsv1.StartRoundRequest{BetId: unique("bet"), SeedPairId: p.pair, Stake: fun(stake), MineCount: 3}
}

func (p *player) playDice(stake int64) *originalsv1.Round {
	p.t.Helper()
	return got(p.dice.PlaceBet(p.ctx, p.diceBet(stake))).must(p.t)
}

func (p *player) startMines(stake int64) *originalsv1.Round {
	p.t.Helper()
	return got(p.mines.StartRound(p.ctx, p.minesStart(stake))).must(p.t)
}

func (p *player) pick(round string, tile uint32) (*originalsv1.Round, error) {
	return p.mines.Pick(p.ctx, &originalsv1.PickRequest{RoundId: round, Tile: &tile})
}

func (p *player) cashOut(round string) (*originalsv1.Round, error) {
	return p.mines.CashOut(p.ctx, &originalsv1.MinesServiceCashOutRequest{RoundId: round})
}

func (p *player) round(id string) *originalsv1.Round {
	p.t.Helper()
	return got(p.rounds.GetRound(p.ctx, &originalsv1.GetRoundRequest{RoundId: id})).must(p.t)
}

func (p *player) pairByID(id string) *originalsv1.SeedPair {
	p.t.Helper()
	return got(p.pairs.GetSeedPairById(p.ctx, &originalsv1.GetSeedPairByIdRequest{SeedPairId: id})).must(p.t)
}

// leaveOpen draws a dice round and dies before it is settled.
func (p *player) leaveOpen(b *originalsv1.DiceServicePlaceBetRequest) *vaultv1.DrawResponse {
	p.t.Helper()
	return got(p.vault("dice").Draw(p.ctx, diceDraw(b))).must(p.t)
}

func diceDraw(b *originalsv1.DiceServicePlaceBetRequest) *vaultv1.DrawRequest {
	return &vaultv1.DrawRequest{
		BetId: b.GetBetId(), SeedPairId: b.GetSeedPairId(), Stake: b.GetStake(),
		Parameters: &vaultv1.DrawRequest_Dice{Dice: &originalsv1.DiceParameters{Target: b.GetTarget(), Direction: b.GetDirection()}},
	}
}

func (p *player) balance() int64 {
	p.t.Helper()
	res := got(p.rounds.ListBalances(p.ctx, &originalsv1.ListBalancesRequest{})).must(p.t)
	for _, m := range res.GetBalances() {
		if m.GetCurrency() == "FUN" {
			return m.GetAmount()
		}
	}
	return 0
}

// nonce is that of the next bet.
func (p *player) nonce() uint32 {
	p.t.Helper()
	return p.look().GetActive().GetNonce()
}

// key is the record of the player in the store.
func (p *player) key() string {
	return fmt.Sprintf("{p%d}:u:%s", p.id.Partition(), p.id)
}

// setNonce moves the counter of the active pair on.
func (p *player) setNonce(nonce uint32) {
	p.t.Helper()
	if err := p.h.client.HSet(p.ctx, p.key(), "n", fmt.Sprint(nonce)).Err(); err != nil {
		p.t.Fatal(err)
	}
}

// stored is the active pair, or another that ended, as the store has it.
func (p *player) stored(pair string) ledger.SeedPair {
	p.t.Helper()
	return got(p.h.store.SeedPair(p.ctx, ledger.PairID(pair))).must(p.t)
}

// announced is what the player was last shown, as the store has it.
func (p *player) announced() ledger.Announced {
	p.t.Helper()
	offer := ledger.Announced{ID: ledger.NewPairID(p.id, rng.Commitment(sha256.Sum256([]byte(unique("offer"))))), Sealed: make([]byte, seal.Size)}
	return got(p.h.store.Open(p.ctx, p.id, offer, nil)).must(p.t).Announced
}

// overwrite changes, or removes when change returns nil, a sealed server seed
// wherever the store keeps it.
func (h *house) overwrite(sealed []byte, change func([]byte) []byte) {
	h.t.Helper()
	ctx, found := context.Background(), 0
	for _, key := range got(h.client.Keys(ctx, "*").Result()).must(h.t) {
		if kind := got(h.client.Type(ctx, key).Result()).must(h.t); kind != "hash" {
			continue
		}
		for field, value := range got(h.client.HGetAll(ctx, key).Result()).must(h.t) {
			if value != string(sealed) {
				continue
			}
			found++
			if other := change(bytes.Clone(sealed)); other != nil {
				got(h.client.HSet(ctx, key, field, other).Result()).must(h.t)
			} else {
				got(h.client.HDel(ctx, key, field).Result()).must(h.t)
			}
		}
	}
	if found != 1 {
		h.t.Fatalf("the sealed server seed stands in %d places", found)
	}
}

func (p *player) retire(pair string) (ledger.SeedPair, error) {
	return p.h.store.Retire(p.ctx, p.id, ledger.PairID(pair), "asked in ticket 7")
}
