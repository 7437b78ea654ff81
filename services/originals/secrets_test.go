package main

import (
	"bytes"
	"encoding/hex"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"google.golang.org/grpc/metadata"

	"github.com/openoriginals/originals/internal/auth"
	"github.com/openoriginals/originals/internal/game/mines"
	"github.com/openoriginals/originals/internal/ledger"
	"github.com/openoriginals/originals/internal/ledger/redisledger"
	"github.com/openoriginals/originals/internal/rng"
	"github.com/openoriginals/originals/internal/seal"
	"github.com/openoriginals/originals/internal/testenv"
	originalsv1 "github.com/openoriginals/originals/proto/originals/v1"
	vaultv1 "github.com/openoriginals/originals/proto/originals/vault/v1"
)

// houseOfSecrets is an all-in-one on a real Redis, whose seal keys the test
// holds.
type houseOfSecrets struct {
	*allInOne
	wire  *wire
	redis *testenv.RedisServer
	keys  *seal.Keys
	open  []*originalsv1.Round // mines rounds, and instant ones left open
}

func startHouseOfSecrets(t *testing.T) *houseOfSecrets {
	t.Helper()
	return startHouseOfSecretsWith(t, func(*settings) {})
}

func startHouseOfSecretsWith(t *testing.T, change func(*settings)) *houseOfSecrets {
	t.Helper()
	h := &houseOfSecrets{wire: new(wire), redis: testenv.Redis(t, testenv.Always)}
	dir := t.TempDir()
	keyFile := filepath.Join(dir, "seal.key")
	if err := os.WriteFile(keyFile, []byte(strings.Repeat("5c", 32)+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	var err error
	if h.keys, err = seal.ReadFile(keyFile); err != nil {
		t.Fatal(err)
	}
	h.allInOne = startAllInOne(t, func(s *settings) {
		s.redis, s.sealKeyFile, s.devKey = h.redis.URL(), keyFile, filepath.Join(dir, "dev.key")
		s.reflection = true
		change(s)
	}, h.wire.dial)
	return h
}

// seeds returns the server seeds that the player's active and announced pair
// have, from the store.
func (h *houseOfSecrets) seeds(p ledger.Player) (active, announced rng.ServerSeed, pair ledger.SeedPair) {
	h.t.Helper()
	_, id, err := h.p.pairs.Announce(h.t.Context(), p)
	if err != nil {
		h.t.Fatal(err)
	}
	account, err := h.p.store.Open(h.t.Context(), p, ledger.Announced{ID: id, Sealed: make([]byte, seal.Size)}, nil)
	if err != nil || account.Active == nil || account.Announced.ID != id {
		h.t.Fatalf("account %v, %v", account, err)
	}
	if active, err = h.keys.Open(string(account.Active.ID), account.Active.Sealed); err != nil {
		h.t.Fatal(err)
	}
	if announced, err = h.keys.Open(string(id), account.Announced.Sealed); err != nil {
		h.t.Fatal(err)
	}
	return active, announced, *account.Active
}

// secrets are all that must stay hidden of a player now: both server seeds,
// the signatures of open rounds and of the next bets, and open boards.
func (h *houseOfSecrets) secrets(name string) (all []secret) {
	h.t.Helper()
	active, announced, pair := h.seeds(ledger.Player{Operator: "demo", ID: name})
	for what, s := range map[string]rng.ServerSeed{"active": active, "announced": announced} {
		raw, err := s.RevealBytes()
		if err != nil {
			h.t.Fatal(err)
		}
		all = append(all, ofBytes(name+"'s "+what+" server seed", raw[:]))
	}
	hidden := []uint32{pair.Nonce, pair.Nonce + 1}
	for _, r := range h.open {
		if r.GetSeedPairId() == string(pair.ID) {
			hidden = append(hidden, r.GetNonce())
		}
	}
	for _, nonce := range hidden {
		signature, err := active.Sign(pair.ClientSeed, nonce)
		if err != nil {
			h.t.Fatal(err)
		}
		raw, err := hex.DecodeString(signature.Reveal())
		if err != nil {
			h.t.Fatal(err)
		}
		all = append(all, ofBytes(fmt.Sprintf("%s's signature of nonce %d", name, nonce), raw))
	}
	for _, r := range h.open {
		if r.GetSeedPairId() == string(pair.ID) && r.GetMines() != nil {
			signature, err := active.Sign(pair.ClientSeed, r.GetNonce())
			if err != nil {
				h.t.Fatal(err)
			}
			all = append(all, boards(name, signature, uint8(r.GetMines().GetMineCount()))...)
		}
	}
	return all
}

// boards are the mines of an open round as they were drawn, the mines in
// order, and the safe tiles.
func boards(name string, signature rng.Signature, count uint8) []secret {
	stream := rng.NewStream(signature)
	drawn := mines.Board(&stream, count, new([mines.MaxMines]uint8))
	sorted := slices.Clone(drawn)
	slices.Sort(sorted)
	var safe []byte
	for tile := range byte(mines.Tiles) {
		if !slices.Contains(drawn, tile) {
			safe = append(safe, tile)
		}
	}
	return []secret{ofTiles(name+"'s board", drawn), ofTiles(name+"'s sorted board", sorted), ofTiles(name+"'s safe tiles", safe)}
}

// corpora are all that the house has said or stored so far.
func (h *houseOfSecrets) corpora() map[string][]byte {
	h.t.Helper()
	code, metrics := h.send("GET", "/metrics", "")
	if code != 200 || !strings.Contains(metrics, "originals_bets_total") {
		h.t.Fatalf("metrics: %d", code)
	}
	if err := h.p.log.Sync(); err != nil {
		h.t.Fatal(err)
	}
	return map[string][]byte{
		"answers": h.wire.bytes(), "metrics": []byte(metrics), "log": h.logs.bytes(), "Redis": h.dump(), "files of Redis": h.files(),
	}
}

// dump is every key of Redis with its value, raw.
func (h *houseOfSecrets) dump() []byte { return h.dumpOf(regexp.MustCompile("")) }

// dumpOf is every key that fits, with its value, in a fixed order.
func (h *houseOfSecrets) dumpOf(fits *regexp.Regexp) []byte {
	h.t.Helper()
	client, err := redisledger.Dial(h.redis.URL())
	if err != nil {
		h.t.Fatal(err)
	}
	defer client.Close()
	ctx := h.t.Context()
	var all bytes.Buffer
	keys, err := client.Keys(ctx, "*").Result()
	if err != nil {
		h.t.Fatal(err)
	}
	slices.Sort(keys)
	for _, key := range keys {
		if !fits.MatchString(key) {
			continue
		}
		kind := client.Type(ctx, key).Val()
		fmt.Fprintf(&all, "\n%s %s\n", kind, key)
		switch kind {
		case "string":
			all.WriteString(client.Get(ctx, key).Val())
		case "hash":
			fields := client.HGetAll(ctx, key).Val()
			for _, field := range slices.Sorted(maps.Keys(fields)) {
				all.WriteString(field + "\n" + fields[field] + "\n")
			}
		case "set":
			for _, member := range slices.Sorted(slices.Values(client.SMembers(ctx, key).Val())) {
				all.WriteString(member + "\n")
			}
		case "zset":
			for _, z := range client.ZRangeWithScores(ctx, key, 0, -1).Val() {
				fmt.Fprintln(&all, z.Member, z.Score)
			}
		case "list":
			for _, entry := range client.LRange(ctx, key, 0, -1).Val() {
				all.WriteString(entry + "\n")
			}
		case "stream":
			for _, m := range client.XRange(ctx, key, "-", "+").Val() {
				for field, value := range m.Values {
					fmt.Fprintln(&all, m.ID, field, value)
				}
			}
		default:
			h.t.Fatalf("%s is a %s, which this test cannot read", key, kind)
		}
	}
	return all.Bytes()
}

// files are what Redis wrote to its disk, every command with its arguments
// among it.
func (h *houseOfSecrets) files() []byte {
	h.t.Helper()
	var all []byte
	err := filepath.WalkDir(h.redis.Dir(), func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		text, err := os.ReadFile(path)
		all = append(all, text...)
		return err
	})
	if err != nil {
		h.t.Fatal(err)
	}
	return all
}

// find returns where a secret is, in which form.
func find(s secret, corpora map[string][]byte) (places []string) {
	for where, text := range corpora {
		for form, value := range s.forms {
			if len(value) > 0 && bytes.Contains(text, value) {
				places = append(places, where+", as "+form)
			}
		}
	}
	return places
}

// play is a run of all games with wins, losses, refusals and rounds that
// stay open.
func (h *houseOfSecrets) play(name string) {
	t := h.t
	t.Helper()
	h.be(name, auth.Player)
	h.rotate()
	h.rotate() // reveals a pair without rounds
	for range 5 {
		for path, body := range map[string]string{
			"/v1/dice/bets": diceBody(h.pair), "/v1/limbo/bets": limboBody(h.pair), "/v1/roulette/bets": rouletteBody(h.pair),
		} {
			h.call("POST", path, body, new(originalsv1.Round))
		}
	}
	for _, c := range append(eachGame(t, h.pair, h.pair+"-0"), seedsAndLists(h.next)...) {
		h.send(c.method, c.path, c.body)
	}
	h.send("POST", "/v1/dice/bets", spoil(t, diceBody(h.pair), `"100"`, `"99999999"`))
	h.send("POST", "/v1/seed-pair:rotate", fmt.Sprintf(`{"clientSeed":"x","nextCommitment":%q}`, strings.Repeat("0", 64)))
	h.send("GET", "/v1/seed-pairs/"+h.pair+"/evidence", "")
	h.send("GET", "/v1/seed-pairs/"+h.pair, "")
	h.sendAs("Bearer nonsense", "GET", "/v1/balances", strings.NewReader(""))

	var open originalsv1.Round
	h.call("POST", "/v1/mines/rounds", spoil(t, minesBody(h.pair), `"mineCount":3`, `"mineCount":12`), &open)
	h.open = append(h.open, &open)
	h.send("POST", "/v1/seed-pair:rotate", fmt.Sprintf(`{"clientSeed":"y","nextCommitment":%q}`, h.next))
	h.send("POST", "/v1/mines/rounds/"+open.GetRoundId()+":cashOut", `{}`)
	h.safePick(name, &open)
	h.leaveDiceOpen()

	rounds, pairs := originalsv1.NewRoundServiceClient(h.grpc), originalsv1.NewSeedPairServiceClient(h.grpc)
	for _, err := range []error{
		second(rounds.ListRounds(h.ctx, &originalsv1.ListRoundsRequest{})),
		second(rounds.ListRounds(h.ctx, &originalsv1.ListRoundsRequest{State: originalsv1.Round_OPEN})),
		second(rounds.GetRound(h.ctx, &originalsv1.GetRoundRequest{RoundId: open.GetRoundId()})),
		second(pairs.GetSeedPair(h.ctx, &originalsv1.GetSeedPairRequest{})),
		second(pairs.ListSeedPairs(h.ctx, &originalsv1.ListSeedPairsRequest{})),
		second(originalsv1.NewDiceServiceClient(h.grpc).PlaceBet(h.ctx, &originalsv1.DiceServicePlaceBetRequest{
			BetId: freshID(), SeedPairId: h.pair, Stake: &originalsv1.Money{Currency: "FUN", Amount: 100}, Target: 5000, Direction: originalsv1.Dice_OVER,
		})),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	h.call("GET", "/v1/rounds?state=OPEN", "", new(originalsv1.ListRoundsResponse))
	h.call("GET", "/v1/rounds/"+open.GetRoundId(), "", new(originalsv1.Round))
	h.call("GET", "/v1/seed-pairs", "", new(originalsv1.ListSeedPairsResponse))
}

func second(_ any, err error) error { return err }

// safePick opens a tile that the test knows to be safe.
func (h *houseOfSecrets) safePick(name string, open *originalsv1.Round) {
	h.t.Helper()
	active, _, pair := h.seeds(ledger.Player{Operator: "demo", ID: name})
	signature, err := active.Sign(pair.ClientSeed, open.GetNonce())
	if err != nil {
		h.t.Fatal(err)
	}
	stream := rng.NewStream(signature)
	board := mines.Board(&stream, uint8(open.GetMines().GetMineCount()), new([mines.MaxMines]uint8))
	tile := 0
	for slices.Contains(board, byte(tile)) {
		tile++
	}
	var picked originalsv1.Round
	h.call("POST", "/v1/mines/rounds/"+open.GetRoundId()+":pick", fmt.Sprintf(`{"tile":%d}`, tile), &picked)
	if picked.GetState() != originalsv1.Round_OPEN {
		h.t.Fatalf("tile %d was not safe: %v", tile, &picked)
	}
}

// leaveDiceOpen draws a round, as a dice process does that dies right after.
// The vault is called within the process: its answer holds the signature.
func (h *houseOfSecrets) leaveDiceOpen() {
	h.t.Helper()
	ctx := metadata.AppendToOutgoingContext(h.t.Context(), "authorization", "Bearer "+h.token)
	drawn, err := vaultv1.NewVaultServiceClient(h.p.vault.As("dice")).Draw(ctx, &vaultv1.DrawRequest{
		BetId: freshID(), SeedPairId: h.pair, Stake: &originalsv1.Money{Currency: "FUN", Amount: 100},
		Parameters: &vaultv1.DrawRequest_Dice{Dice: &originalsv1.DiceParameters{Target: 5000, Direction: originalsv1.Dice_OVER}},
	})
	if err != nil {
		h.t.Fatal(err)
	}
	h.open = append(h.open, drawn.GetRound())
}

func TestServerSeedInLogsAnswersMetricsAndRedis(t *testing.T) {
	h := startHouseOfSecrets(t)
	names := []string{"alice", "bob"}
	for _, name := range names {
		h.play(name)
		h.business(name)
	}
	var hidden []secret
	for _, name := range names {
		hidden = append(hidden, h.secrets(name)...)
	}
	if len(hidden) < 2*(2+4+3) {
		t.Fatalf("%d secrets", len(hidden))
	}
	corpora := h.corpora()
	h.checkCorpora(corpora)
	for _, s := range hidden {
		if places := find(s, corpora); len(places) > 0 {
			t.Errorf("%s is in %v", s.name, places)
		}
	}
	h.canary(names[1], hidden, corpora)
}

// checkCorpora wants each corpus to hold what it is known to hold, so that an
// empty one proves nothing.
func (h *houseOfSecrets) checkCorpora(corpora map[string][]byte) {
	h.t.Helper()
	_, _, pair := h.seeds(ledger.Player{Operator: "demo", ID: "bob"})
	for where, known := range map[string]string{
		"answers": h.open[len(h.open)-1].GetRoundId(), "metrics": `originals_bets_total{game="dice"`, "log": string(pair.ID),
		"Redis": string(pair.Sealed), "files of Redis": string(pair.Sealed),
	} {
		if !bytes.Contains(corpora[where], []byte(known)) {
			h.t.Errorf("%s (%d bytes) do not hold %q", where, len(corpora[where]), known)
		}
	}
	protobuf := []byte("\x0a" + string(rune(len(h.open[2].GetRoundId()))) + h.open[2].GetRoundId())
	if !bytes.Contains(corpora["answers"], protobuf) {
		h.t.Error("the answers of gRPC are not among the answers")
	}
}

// canary proves that the search finds what is there: once its rounds have
// ended and it is revealed, the active server seed and the board are in the
// answers; and even then in no log, metric or store.
func (h *houseOfSecrets) canary(name string, hidden []secret, before map[string][]byte) {
	t := h.t
	t.Helper()
	for _, r := range h.open {
		if r.GetMines() != nil && r.GetSeedPairId() == h.pair {
			h.call("POST", "/v1/mines/rounds/"+r.GetRoundId()+":cashOut", `{}`, new(originalsv1.Round))
		}
	}
	if revealed := h.rotate().GetRevealed(); revealed.GetServerSeed() == "" {
		t.Fatalf("revealed %v", revealed)
	}
	h.call("GET", "/v1/rounds", "", new(originalsv1.ListRoundsResponse))
	after := h.corpora()
	found := map[string][]string{}
	for _, s := range hidden {
		found[s.name] = find(s, after)
	}
	for _, want := range []string{name + "'s active server seed", name + "'s board"} {
		if len(found[want]) == 0 {
			t.Errorf("%s is public now, and the search does not find it", want)
		}
	}
	for what, places := range found {
		public := what == name+"'s active server seed" || what == name+"'s board"
		for _, place := range places {
			if !public || !strings.HasPrefix(place, "answers") {
				t.Errorf("after the reveal, %s is in %s", what, place)
			}
		}
	}
	if len(after["answers"]) <= len(before["answers"]) {
		t.Error("the answers did not grow")
	}
	// Every form of the search finds what it looks for.
	s := ofBytes("a canary", bytes.Repeat([]byte{0xa7, 0x3e}, 16))
	for form, value := range s.forms {
		if places := find(s, map[string][]byte{"here": append([]byte("before "), append(bytes.Clone(value), " after"...)...)}); !slices.Contains(places, "here, as "+form) {
			t.Errorf("the search does not find %s", form)
		}
	}
}
