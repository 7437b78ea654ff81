package auth

import (
	"context"
	"slices"

	"github.com/openoriginals/originals/internal/reason"
)

// Access is who may call a method. The zero value lets nobody in.
type Access uint8

// The kinds of access.
const (
	Public      Access = iota + 1 // anyone; a token is not looked at
	PlayerOnly                    // a player's token
	WalletOnly                    // a wallet's token
	SupportOnly                   // a support token
	PeerOnly                      // a game service that carries a player's token
)

// Policy maps full method names to who may call them. A method that is not
// in it is refused.
type Policy map[string]Access

// GameRoles are the roles that may call a PeerOnly method, each for rounds of
// its own game alone, which the vault checks.
var GameRoles = []string{"dice", "limbo", "roulette", "mines"}

// Methods is the policy of every method that is served.
var Methods = Policy{
	"/originals.v1.SeedPairService/GetSeedPair":     PlayerOnly,
	"/originals.v1.SeedPairService/RotateSeedPair":  PlayerOnly,
	"/originals.v1.SeedPairService/ListSeedPairs":   PlayerOnly,
	"/originals.v1.SeedPairService/GetSeedPairById": PlayerOnly,
	"/originals.v1.SeedPairService/GetEvidence":     PlayerOnly,

	"/originals.v1.RoundService/GetRound":     PlayerOnly,
	"/originals.v1.RoundService/ListRounds":   PlayerOnly,
	"/originals.v1.RoundService/ListBalances": PlayerOnly,
	"/originals.v1.RoundService/ListGames":    Public,

	"/originals.v1.DiceService/PlaceBet":     PlayerOnly,
	"/originals.v1.LimboService/PlaceBet":    PlayerOnly,
	"/originals.v1.RouletteService/PlaceBet": PlayerOnly,
	"/originals.v1.MinesService/StartRound":  PlayerOnly,
	"/originals.v1.MinesService/Pick":        PlayerOnly,
	"/originals.v1.MinesService/CashOut":     PlayerOnly,

	"/originals.v1.VerifierService/Verify": Public,

	"/originals.vault.v1.VaultService/Draw":    PeerOnly,
	"/originals.vault.v1.VaultService/Resume":  PeerOnly,
	"/originals.vault.v1.VaultService/Advance": PeerOnly,
	"/originals.vault.v1.VaultService/Settle":  PeerOnly,

	"/grpc.health.v1.Health/Check": Public,
	"/grpc.health.v1.Health/List":  Public,
	"/grpc.health.v1.Health/Watch": Public,

	// Reflection is registered only where its flag is set.
	"/grpc.reflection.v1.ServerReflection/ServerReflectionInfo":      Public,
	"/grpc.reflection.v1alpha.ServerReflection/ServerReflectionInfo": Public,
}

// authorize lets a caller of a method in, with the identity of its token, or
// refuses it.
func (p Policy) authorize(ctx context.Context, v *Verifier, method string) (context.Context, error) {
	access := p[method]
	if access == 0 {
		return nil, reason.New(reason.RoleRequired, "no role may call this method")
	}
	if access == Public {
		return ctx, nil
	}
	if access == PeerOnly && !isGame(PeerRoles(ctx)) {
		return nil, reason.New(reason.RoleRequired, "only a game service may make this call")
	}
	token, err := bearer(ctx)
	if err != nil {
		return nil, err
	}
	id, err := v.Verify(ctx, token)
	if err != nil {
		return nil, err
	}
	if id.Role != access.role() {
		return nil, reason.New(reason.RoleRequired, "this call needs a token of role "+string(access.role()), "role", string(access.role()))
	}
	return NewContext(ctx, id), nil
}

func (a Access) role() Role {
	switch a {
	case PlayerOnly, PeerOnly:
		return Player
	case WalletOnly:
		return Wallet
	case SupportOnly:
		return Support
	}
	return ""
}

func isGame(roles []string) bool {
	return slices.ContainsFunc(roles, func(r string) bool { return slices.Contains(GameRoles, r) })
}
