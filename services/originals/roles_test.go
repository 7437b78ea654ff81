package main

import (
	"context"
	"math/rand/v2"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"

	"github.com/openoriginals/originals/internal/reason"
	"github.com/openoriginals/originals/internal/server"
	"github.com/openoriginals/originals/internal/testenv"
	originalsv1 "github.com/openoriginals/originals/proto/originals/v1"
	vaultv1 "github.com/openoriginals/originals/proto/originals/vault/v1"
)

// vaultSite is a vault in a process of its own, with certificates to try.
type vaultSite struct {
	*site
	t    *testing.T
	tls  string
	addr string
}

func newVaultSite(t *testing.T) *vaultSite {
	t.Helper()
	v := &vaultSite{site: newSite(t, testenv.Redis(t).URL()), t: t, tls: t.TempDir(), addr: testenv.FreeAddr(t)}
	v.serveRole(v.tls, role{names: "seedpair", addr: v.addr})
	return v
}

// credentials are those of a process with a certificate for some roles, of the
// authority in dir.
func (v *vaultSite) credentials(dir, roles string) credentials.TransportCredentials {
	v.t.Helper()
	status, out, errs := testenv.Run(v.t, nil, "certificates", "--dir", dir, "--role", roles)
	files := strings.Fields(out)
	if status != 0 || len(files) != 2 {
		v.t.Fatalf("certificates: %d %s", status, errs)
	}
	tls, err := server.LoadPeerTLS(files[0], files[1], filepath.Join(v.tls, "ca.pem"))
	if err != nil {
		v.t.Fatal(err)
	}
	return tls.Client(roleSeedPair)
}

func (v *vaultSite) dial(creds credentials.TransportCredentials) *grpc.ClientConn {
	v.t.Helper()
	conn, err := server.Dial(v.addr, creds)
	if err != nil {
		v.t.Fatal(err)
	}
	v.t.Cleanup(func() { _ = conn.Close() })
	return conn
}

// as returns a context that carries a player's token.
func (v *vaultSite) as(player string) context.Context {
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	v.t.Cleanup(cancel)
	return metadata.AppendToOutgoingContext(ctx, "authorization", "Bearer "+v.token(player))
}

// rotatedIn returns the active pair of a new player.
func (v *vaultSite) rotatedIn(conn *grpc.ClientConn, player string) string {
	v.t.Helper()
	pairs := originalsv1.NewSeedPairServiceClient(conn)
	shown, err := pairs.GetSeedPair(v.as(player), &originalsv1.GetSeedPairRequest{})
	if err != nil {
		v.t.Fatal(err)
	}
	rotated, err := pairs.RotateSeedPair(v.as(player), &originalsv1.RotateSeedPairRequest{
		ClientSeed: newClientSeed(), NextCommitment: shown.GetNextCommitment(),
	})
	if err != nil {
		v.t.Fatal(err)
	}
	return rotated.GetActive().GetSeedPairId()
}

func drawOf(pair, betID, game string) *vaultv1.DrawRequest {
	draw := &vaultv1.DrawRequest{BetId: betID, SeedPairId: pair, Stake: fun(100)}
	switch game {
	case "dice":
		draw.Parameters = &vaultv1.DrawRequest_Dice{Dice: &originalsv1.DiceParameters{Target: 5000, Direction: originalsv1.Dice_OVER}}
	case "limbo":
		draw.Parameters = &vaultv1.DrawRequest_Limbo{Limbo: &originalsv1.LimboParameters{TargetE2: 200}}
	case "mines":
		draw.Parameters = &vaultv1.DrawRequest_Mines{Mines: &originalsv1.MinesParameters{MineCount: 3}}
	}
	return draw
}

// TestVaultAnswersItsOwnGameAlone tries the vault with certificates of other
// roles, of another authority, and with none.
func TestVaultAnswersItsOwnGameAlone(t *testing.T) {
	v := newVaultSite(t)
	dice := v.dial(v.credentials(v.tls, "dice"))
	pair := v.rotatedIn(dice, "alice")
	vault := vaultv1.NewVaultServiceClient(dice)

	drawn, err := vault.Draw(v.as("alice"), drawOf(pair, "mine", "dice"))
	if err != nil || len(drawn.GetSignature()) != 64 {
		t.Fatalf("dice draws for dice: %v, %v", drawn, err)
	}
	other, err := vaultv1.NewVaultServiceClient(v.dial(v.credentials(v.tls, "mines"))).Draw(v.as("alice"), drawOf(pair, "board", "mines"))
	if err != nil {
		t.Fatalf("mines draws for mines: %v", err)
	}

	t.Run("dice draws for limbo", func(t *testing.T) {
		res, err := vault.Draw(v.as("alice"), drawOf(pair, "limbo", "limbo"))
		wantReason(t, res.GetSignature(), err, reason.RoleRequired)
	})
	t.Run("dice resumes a mines round", func(t *testing.T) {
		res, err := vault.Resume(v.as("alice"), &vaultv1.ResumeRequest{RoundId: other.GetRound().GetRoundId()})
		wantReason(t, res.GetSignature(), err, reason.RoundNotFound)
	})
	t.Run("dice settles a mines round", func(t *testing.T) {
		_, err := vault.Settle(v.as("alice"), &vaultv1.SettleRequest{RoundId: other.GetRound().GetRoundId()})
		wantReason(t, "", err, reason.RoleRequired)
	})
	t.Run("for another player", func(t *testing.T) {
		res, err := vault.Resume(v.as("mallory"), &vaultv1.ResumeRequest{RoundId: drawn.GetRound().GetRoundId()})
		wantReason(t, res.GetSignature(), err, reason.RoundNotFound)
	})
	t.Run("without a token", func(t *testing.T) {
		res, err := vault.Draw(t.Context(), drawOf(pair, "nobody", "dice"))
		wantReason(t, res.GetSignature(), err, reason.TokenInvalid)
	})
	t.Run("the gateway", func(t *testing.T) {
		gateway := vaultv1.NewVaultServiceClient(v.dial(v.credentials(v.tls, "gateway")))
		res, err := gateway.Draw(v.as("alice"), drawOf(pair, "gate", "dice"))
		wantReason(t, res.GetSignature(), err, reason.RoleRequired)
		res, err = gateway.Resume(v.as("alice"), &vaultv1.ResumeRequest{RoundId: drawn.GetRound().GetRoundId()})
		wantReason(t, res.GetSignature(), err, reason.RoleRequired)
	})
	t.Run("a certificate of another authority", func(t *testing.T) {
		v.wantNoWay(t, v.credentials(t.TempDir(), "dice"), pair)
	})
	t.Run("no TLS", func(t *testing.T) { v.wantNoWay(t, insecure.NewCredentials(), pair) })

	if b, err := originalsv1.NewRoundServiceClient(dice).ListBalances(v.as("alice"), &originalsv1.ListBalancesRequest{}); err != nil ||
		b.GetBalances()[0].GetAmount() != grantUnits-200 {
		t.Errorf("two stakes were locked: %v, %v", b, err)
	}
}

// wantNoWay wants a call not even to reach the vault.
func (v *vaultSite) wantNoWay(t *testing.T, creds credentials.TransportCredentials, pair string) {
	t.Helper()
	res, err := vaultv1.NewVaultServiceClient(v.dial(creds)).Draw(v.as("alice"), drawOf(pair, "noway", "dice"))
	if status.Code(err) != codes.Unavailable || res.GetSignature() != "" {
		t.Errorf("%v, %v, want UNAVAILABLE", res, err)
	}
}

func wantReason(t *testing.T, signature string, err error, want reason.Reason) {
	t.Helper()
	if err == nil || reason.Of(err) != want || signature != "" {
		t.Errorf("signature %q, %v, want %s", signature, err, want)
	}
}

// TestVaultIsNotPublic wants the private API at no public port, and the vault
// itself by no plain one.
func TestVaultIsNotPublic(t *testing.T) {
	site := newSite(t, testenv.Redis(t).URL())
	p := site.oneProcess()
	conn, err := server.Dial(p.Address("gRPC"), insecure.NewCredentials())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	ctx := metadata.AppendToOutgoingContext(t.Context(), "authorization", "Bearer "+site.token("alice"))
	_, err = vaultv1.NewVaultServiceClient(conn).Draw(ctx, drawOf("00-aaaaaaaaaaaaaaaa", "x", "dice"))
	if status.Code(err) != codes.Unimplemented {
		t.Errorf("the vault at the public port: %v, want UNIMPLEMENTED", err)
	}
}

// TestWrongRoleBehindAnAddress wants a process that meets another role than it
// dialled to send it nothing.
func TestWrongRoleBehindAnAddress(t *testing.T) {
	v := newVaultSite(t)
	s := v.serveRole(v.tls, role{names: "gateway", peers: and(at(v.addr, storeRoles()), at(v.addr, "dice,limbo,roulette,mines"))})
	alice := v.session("alice")
	alice.rotate(t.Context())
	b := wager{path: "/v1/dice/bets", request: &originalsv1.DiceServicePlaceBetRequest{
		BetId: "x", SeedPairId: alice.current(), Stake: fun(100), Target: 5000, Direction: originalsv1.Dice_OVER,
	}}
	err := alice.player.Post(t.Context(), b.path, b.request, new(originalsv1.Round))
	if testenv.Refused(err) != reason.StoreUnavailable {
		t.Errorf("dice at the vault's address: %v, want unavailable\n%s", err, s.Stderr())
	}
}

// TestRoleThatWasAwayIsUsedAgain keeps a role down for some seconds. Its calls
// are refused at once, others go on, and it is used again when it is back.
func TestRoleThatWasAwayIsUsedAgain(t *testing.T) {
	t.Parallel()
	site := newSite(t, testenv.Redis(t).URL())
	site.fourProcesses()
	s := site.session("waiting")
	s.rotate(t.Context())
	random := rand.New(rand.NewPCG(1, 1))
	games := site.processes[1]
	games.Kill9()
	away := s.newWager(random, "dice")
	s.notSure(away)
	for end := time.Now().Add(8 * time.Second); time.Now().Before(end); time.Sleep(50 * time.Millisecond) {
		err := s.player.Post(t.Context(), away.path, away.request, new(originalsv1.Round))
		if testenv.Refused(err) != reason.StoreUnavailable {
			t.Fatalf("dice without its process: %v, want unavailable", err)
		}
	}
	if s.place(t.Context(), s.newWager(random, "roulette")) == nil {
		t.Error("another role is away with it")
	}
	site.restart(games)
	ctx, cancel := context.WithTimeout(t.Context(), 15*time.Second)
	defer cancel()
	if s.place(ctx, away) == nil {
		t.Error("the role that is back is not used")
	}
	if a := s.audit(grantUnits); len(a.rounds) != 2 {
		t.Errorf("%d rounds, want 2", len(a.rounds))
	}
}
