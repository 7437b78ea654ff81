package auth

import (
	"context"
	"slices"
	"strings"

	"google.golang.org/grpc/metadata"

	"github.com/openoriginals/originals/internal/reason"
)

// Access is who may call a method. The zero value lets nobody in.
type Access uint8

// The kinds of access.
const (
	Public         Access = iota + 1 // anyone; a token is not looked at
	PlayerOnly                       // a player's token
	WalletOnly                       // a wallet's token
	SupportOnly                      // a support token
	PeerOnly                         // a game service that carries a player's token
	SupportPeer                      // the support service that carries a support token
	PlayerOrWallet                   // a player's token or a wallet's
	PublicOrPlayer                   // anyone; a player's token, when there is one, is checked and names him
)

// Policy maps full method names to who may call them. A method that is not
// in it is refused.
type Policy map[string]Access

// GameRoles are the roles that may call a PeerOnly method, each for rounds of
// its own game alone, which the vault checks.
var GameRoles = []string{"dice", "limbo", "roulette", "mines"}

// SupportRole is the role that may call a SupportPeer method.
const SupportRole = "support"

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

	"/originals.v1.DuelService/CreateDuel": WalletOnly,
	"/originals.v1.DuelService/CommitSeat": PlayerOnly,
	"/originals.v1.DuelService/SeedSeat":   PlayerOnly,
	"/originals.v1.DuelService/Roll":       WalletOnly,
	"/originals.v1.DuelService/EndDuel":    WalletOnly,
	"/originals.v1.DuelService/GetDuel":    PlayerOrWallet,
	"/originals.v1.DuelService/WatchDuel":  Public,

	"/originals.v1.SettlementService/CreateTransfer":         WalletOnly,
	"/originals.v1.SettlementService/GetTransfer":            WalletOnly,
	"/originals.v1.SettlementService/CancelTransfer":         WalletOnly,
	"/originals.v1.SettlementService/ListPlayerBalances":     WalletOnly,
	"/originals.v1.SettlementService/ListSettlements":        WalletOnly,
	"/originals.v1.SettlementService/GetSettlement":          WalletOnly,
	"/originals.v1.SettlementService/StreamSettlements":      WalletOnly,
	"/originals.v1.SettlementService/ClaimSettlements":       WalletOnly,
	"/originals.v1.SettlementService/AcknowledgeSettlements": WalletOnly,
	"/originals.v1.SettlementService/ReleaseSettlements":     WalletOnly,
	"/originals.v1.SettlementService/ExtendClaim":            WalletOnly,
	"/originals.v1.SettlementService/ListRejected":           WalletOnly,
	"/originals.v1.SettlementService/RequeueSettlement":      WalletOnly,
	"/originals.v1.SettlementService/GetDigest":              WalletOnly,

	"/originals.v1.SupportService/GetPlayer":        SupportOnly,
	"/originals.v1.SupportService/GetRoundTimeline": SupportOnly,
	"/originals.v1.SupportService/RevealSeedPair":   SupportOnly,
	"/originals.v1.SupportService/ListAuditLog":     SupportOnly,

	"/originals.v1.CrashService/ListTables":      PublicOrPlayer,
	"/originals.v1.CrashService/GetTable":        PublicOrPlayer,
	"/originals.v1.CrashService/PlaceBet":        PlayerOnly,
	"/originals.v1.CrashService/CancelBet":       PlayerOnly,
	"/originals.v1.CrashService/CashOut":         PlayerOnly,
	"/originals.v1.CrashService/Watch":           Public,
	"/originals.v1.CrashService/GetCrashRound":   PublicOrPlayer,
	"/originals.v1.CrashService/ListCrashRounds": PublicOrPlayer,

	"/originals.v1.VerifierService/Verify": Public,

	"/originals.vault.v1.VaultService/Draw":    PeerOnly,
	"/originals.vault.v1.VaultService/Resume":  PeerOnly,
	"/originals.vault.v1.VaultService/Advance": PeerOnly,
	"/originals.vault.v1.VaultService/Settle":  PeerOnly,

	"/originals.vault.v1.SupportVaultService/GetPlayer":      SupportPeer,
	"/originals.vault.v1.SupportVaultService/GetRound":       SupportPeer,
	"/originals.vault.v1.SupportVaultService/GetSeedPair":    SupportPeer,
	"/originals.vault.v1.SupportVaultService/RevealSeedPair": SupportPeer,

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
	if access == Public || access == PublicOrPlayer && !hasToken(ctx) {
		return ctx, nil
	}
	if access == PeerOnly && !isGame(PeerRoles(ctx)) {
		return nil, reason.New(reason.RoleRequired, "only a game service may make this call")
	}
	if access == SupportPeer && !slices.Contains(PeerRoles(ctx), SupportRole) {
		return nil, reason.New(reason.RoleRequired, "only the support service may make this call")
	}
	token, err := bearer(ctx)
	if err != nil {
		return nil, err
	}
	id, err := v.Verify(ctx, token)
	if err != nil {
		return nil, err
	}
	if !slices.Contains(access.roles(), id.Role) {
		return nil, roleRequired(access.roles())
	}
	return NewContext(ctx, id), nil
}

func hasToken(ctx context.Context) bool {
	return len(metadata.ValueFromIncomingContext(ctx, authorizationKey)) > 0
}

func (a Access) roles() []Role {
	switch a {
	case PlayerOnly, PeerOnly, PublicOrPlayer:
		return []Role{Player}
	case WalletOnly:
		return []Role{Wallet}
	case SupportOnly, SupportPeer:
		return []Role{Support}
	case PlayerOrWallet:
		return []Role{Player, Wallet}
	}
	return nil
}

func roleRequired(roles []Role) error {
	var names []string
	for _, r := range roles {
		names = append(names, string(r))
	}
	return reason.New(reason.RoleRequired, "this call needs a token of role "+strings.Join(names, " or "), "role", strings.Join(names, ","))
}

func isGame(roles []string) bool {
	return slices.ContainsFunc(roles, func(r string) bool { return slices.Contains(GameRoles, r) })
}
