package mines_test

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	"google.golang.org/protobuf/proto"

	"github.com/openoriginals/originals/internal/reason"
	"github.com/openoriginals/originals/internal/server"
	originalsv1 "github.com/openoriginals/originals/proto/originals/v1"
	vaultv1 "github.com/openoriginals/originals/proto/originals/vault/v1"
	"github.com/openoriginals/originals/services/mines"
)

// The signature of the round mines-0001 of the vectors, whose one mine is
// under tile 13.
const (
	signature = "7607551844df13b6cbcd415e0839efe09c0364a4ed5f5da03af8296c742b065f"
	mine      = 13
)

// vault holds one round of one mine, and plays as it is told.
type vault struct {
	vaultv1.UnimplementedVaultServiceServer
	round     *originalsv1.Round
	resumes   int
	busy      int          // so many moves are refused as IN_PROGRESS
	meanwhile func(*vault) // what the other call did
	advanced  *vaultv1.AdvanceRequest
	settled   *vaultv1.SettleRequest
}

func newVault(picks ...uint32) *vault {
	return &vault{round: &originalsv1.Round{
		RoundId: "r", State: originalsv1.Round_OPEN, Game: originalsv1.Game_MINES, Stake: &originalsv1.Money{Currency: "FUN", Amount: 1000},
		Mines: &originalsv1.Mines{MineCount: 1, MaxPicks: 24, Picks: picks},
	}}
}

// Draw implements the vault.
func (v *vault) Draw(context.Context, *vaultv1.DrawRequest) (*vaultv1.DrawResponse, error) {
	return &vaultv1.DrawResponse{Round: v.round, Signature: signature}, nil
}

// Resume implements the vault.
func (v *vault) Resume(_ context.Context, req *vaultv1.ResumeRequest) (*vaultv1.DrawResponse, error) {
	if req.GetRoundId() != "r" {
		return nil, reason.New(reason.RoundNotFound, "no such round")
	}
	v.resumes++
	res := &vaultv1.DrawResponse{Round: proto.CloneOf(v.round)}
	if v.round.GetState() == originalsv1.Round_OPEN {
		res.Signature = signature
	}
	return res, nil
}

// Advance implements the vault.
func (v *vault) Advance(_ context.Context, req *vaultv1.AdvanceRequest) (*originalsv1.Round, error) {
	if err := v.raced(); err != nil {
		return nil, err
	}
	v.advanced = req
	v.round.Mines.Picks = req.GetPicks()
	return v.round, nil
}

// Settle implements the vault.
func (v *vault) Settle(_ context.Context, req *vaultv1.SettleRequest) (*originalsv1.Round, error) {
	if err := v.raced(); err != nil {
		return nil, err
	}
	v.settled = req
	return req.GetRound(), nil
}

func (v *vault) raced() error {
	if v.busy == 0 {
		return nil
	}
	v.busy--
	if v.meanwhile != nil {
		v.meanwhile(v)
	}
	return reason.New(reason.InProgress, "another call was faster")
}

func newClient(v *vault) originalsv1.MinesServiceClient {
	private, public := server.NewLocal(nil, nil), server.NewLocal(nil, nil)
	vaultv1.RegisterVaultServiceServer(private, v)
	mines.Bind(public, private.As("mines"))
	return originalsv1.NewMinesServiceClient(public)
}

func pick(t *testing.T, v *vault, tile uint32) (*originalsv1.Round, error) {
	t.Helper()
	return newClient(v).Pick(t.Context(), &originalsv1.PickRequest{RoundId: "r", Tile: &tile})
}

func TestStartNeverShowsTheSignature(t *testing.T) {
	round, err := newClient(newVault()).StartRound(t.Context(), &originalsv1.StartRoundRequest{BetId: "b", SeedPairId: "p", MineCount: 1})
	if err != nil || round.GetRoundId() != "r" || len(round.GetMines().GetMines()) != 0 {
		t.Errorf("started as %v, %v", round, err)
	}
	if _, err := newClient(newVault()).StartRound(t.Context(), &originalsv1.StartRoundRequest{MineCount: 25}); reason.Of(err) != reason.InvalidField {
		t.Errorf("25 mines: %v", err)
	}
}

func TestSafePickAdvancesAndAMineSettles(t *testing.T) {
	v := newVault(3)
	if _, err := pick(t, v, 4); err != nil || !slices.Equal(v.advanced.GetPicks(), []uint32{3, 4}) || v.settled != nil {
		t.Errorf("%v: advanced %v, settled %v", err, v.advanced, v.settled)
	}
	v = newVault(3)
	if _, err := pick(t, v, mine); err != nil || v.advanced != nil {
		t.Fatalf("%v: advanced %v", err, v.advanced)
	}
	told := v.settled.GetRound()
	if !told.GetMines().GetHitMine() || told.GetPayout().GetAmount() != 0 || told.GetMultiplierE4() != 0 ||
		!slices.Equal(told.GetMines().GetPicks(), []uint32{3, mine}) || !slices.Equal(told.GetMines().GetMines(), []uint32{mine}) {
		t.Errorf("settled %v", told)
	}
}

func TestPickAtMaxPicksCashesOut(t *testing.T) {
	v := newVault(3, 4)
	v.round.Mines.MaxPicks = 3
	if _, err := pick(t, v, 5); err != nil || v.advanced != nil {
		t.Fatalf("%v: advanced %v", err, v.advanced)
	}
	// floor(9900 * C(25,3) / C(24,3)) = 11250
	if told := v.settled.GetRound(); told.GetMines().GetHitMine() || told.GetMultiplierE4() != 11250 || told.GetPayout().GetAmount() != 1125 {
		t.Errorf("settled %v", told)
	}
}

func TestRepeatedPickAndEndedRound(t *testing.T) {
	v := newVault(3, 4)
	if round, err := pick(t, v, 3); err != nil || v.advanced != nil || v.settled != nil || len(round.GetMines().GetPicks()) != 2 {
		t.Errorf("%v, %v", round, err)
	}
	v.round.State = originalsv1.Round_SETTLED
	if round, err := pick(t, v, 4); err != nil || round.GetState() != originalsv1.Round_SETTLED {
		t.Errorf("%v, %v", round, err)
	}
	if _, err := pick(t, v, 5); reason.Of(err) != reason.RoundSettled {
		t.Errorf("%v", err)
	}
	if round, err := newClient(v).CashOut(t.Context(), &originalsv1.MinesServiceCashOutRequest{RoundId: "r"}); err != nil || v.settled != nil || round.GetState() != originalsv1.Round_SETTLED {
		t.Errorf("%v, %v", round, err)
	}
}

func TestCashOutTellsWhatItPays(t *testing.T) {
	v := newVault(3, 4)
	if _, err := newClient(v).CashOut(t.Context(), &originalsv1.MinesServiceCashOutRequest{RoundId: "r"}); err != nil {
		t.Fatal(err)
	}
	// floor(9900 * C(25,2) / C(24,2)) = floor(9900 * 300 / 276) = 10760
	if told := v.settled.GetRound(); told.GetMultiplierE4() != 10760 || told.GetPayout().GetAmount() != 1076 || !slices.Equal(told.GetMines().GetPicks(), []uint32{3, 4}) {
		t.Errorf("settled %v", told)
	}
}

// The error of a pick that came too late must not tell a mine from a safe tile:
// until the store has the pick, nothing is lost and the tile can be avoided.
func TestPickThatIsCutShortDoesNotTellAMineFromASafeTile(t *testing.T) {
	told := func(tile uint32) string {
		v := &slowVault{vault: newVault(3)}
		private, public := server.NewLocal(nil, nil), server.NewLocal(nil, nil)
		vaultv1.RegisterVaultServiceServer(private, v)
		mines.Bind(public, private.As("mines"))
		ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
		defer cancel()
		_, err := originalsv1.NewMinesServiceClient(public).Pick(ctx, &originalsv1.PickRequest{RoundId: "r", Tile: &tile})
		return fmt.Sprint(err)
	}
	if safe, hit := told(4), told(mine); safe != hit {
		t.Errorf("a safe tile: %s\na mine: %s", safe, hit)
	}
}

// slowVault is refused by a store that does not answer within the caller's time.
type slowVault struct{ *vault }

func (v *slowVault) Advance(ctx context.Context, _ *vaultv1.AdvanceRequest) (*originalsv1.Round, error) {
	return v.wait(ctx)
}

func (v *slowVault) Settle(ctx context.Context, _ *vaultv1.SettleRequest) (*originalsv1.Round, error) {
	return v.wait(ctx)
}

func (v *slowVault) wait(ctx context.Context) (*originalsv1.Round, error) {
	select {
	case <-ctx.Done():
	case <-time.After(time.Second):
	}
	return nil, reason.New(reason.StoreUnavailable, "the store did not answer")
}

// A call that loses a race is decided anew on the round as it is now.
func TestLostRaceIsDecidedAnew(t *testing.T) {
	v := newVault(3)
	v.busy, v.meanwhile = 1, func(v *vault) { v.round.Mines.Picks = []uint32{3, 8} }
	if _, err := pick(t, v, 4); err != nil || v.resumes != 2 || !slices.Equal(v.advanced.GetPicks(), []uint32{3, 8, 4}) {
		t.Errorf("%v after %d looks: advanced %v", err, v.resumes, v.advanced)
	}
	v = newVault(3)
	v.busy, v.meanwhile = 1, func(v *vault) { v.round.State = originalsv1.Round_SETTLED }
	if _, err := pick(t, v, 4); reason.Of(err) != reason.RoundSettled || v.advanced != nil {
		t.Errorf("%v: advanced %v", err, v.advanced)
	}
	v = newVault(3)
	v.busy = 1 << 30
	if _, err := pick(t, v, 4); reason.Of(err) != reason.InProgress || v.resumes > 25 {
		t.Errorf("%v after %d looks: a busy round must end the call", err, v.resumes)
	}
}

func TestBadTilesNeverReachTheVault(t *testing.T) {
	for _, tile := range []uint32{25, 255, 256, 256 + 3, 1<<32 - 1} {
		v := newVault()
		_, err := pick(t, v, tile)
		if e, ok := reason.From(err); !ok || e.Metadata["field"] != "tile" || v.resumes != 0 {
			t.Errorf("tile %d: %v", tile, err)
		}
	}
	v := newVault()
	if _, err := newClient(v).Pick(t.Context(), &originalsv1.PickRequest{RoundId: "r"}); reason.Of(err) != reason.InvalidField || v.resumes != 0 {
		t.Errorf("no tile: %v", err)
	}
	if _, err := newClient(v).CashOut(t.Context(), &originalsv1.MinesServiceCashOutRequest{RoundId: "other"}); reason.Of(err) != reason.RoundNotFound {
		t.Errorf("another round: %v", err)
	}
}
