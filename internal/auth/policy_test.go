package auth

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	"google.golang.org/grpc"
	_ "google.golang.org/grpc/health/grpc_health_v1"
	"google.golang.org/grpc/metadata"
	_ "google.golang.org/grpc/reflection/grpc_reflection_v1"
	_ "google.golang.org/grpc/reflection/grpc_reflection_v1alpha"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/reflect/protoregistry"

	"github.com/openoriginals/originals/internal/reason"
	originalsv1 "github.com/openoriginals/originals/proto/originals/v1"
	vaultv1 "github.com/openoriginals/originals/proto/originals/vault/v1"
)

// registered returns every method of the linked services, ours and gRPC's.
func registered() []string {
	var methods []string
	protoregistry.GlobalFiles.RangeFiles(func(file protoreflect.FileDescriptor) bool {
		for i := range file.Services().Len() {
			service := file.Services().Get(i)
			for j := range service.Methods().Len() {
				methods = append(methods, "/"+string(service.FullName())+"/"+string(service.Methods().Get(j).Name()))
			}
		}
		return true
	})
	return methods
}

// TestEveryRegisteredMethodHasAPolicy covers the trap of a method that nobody
// thought of being open.
func TestEveryRegisteredMethodHasAPolicy(t *testing.T) {
	_ = originalsv1.DiceService_ServiceDesc
	_ = vaultv1.VaultService_ServiceDesc
	known := make(map[string]bool)
	for _, method := range registered() {
		known[method] = true
		access, ok := Methods[method]
		if !ok {
			t.Errorf("%s has no policy", method)
		}
		if strings.HasPrefix(method, "/originals.vault.") && access != PeerOnly && access != SupportPeer {
			t.Errorf("%s of the vault is not for peers only", method)
		}
	}
	for method := range Methods {
		if !known[method] {
			t.Errorf("the policy names %s, which does not exist", method)
		}
	}
	if len(known) < 20 {
		t.Errorf("%d methods registered", len(known))
	}
	public := []string{"/originals.v1.RoundService/ListGames", "/originals.v1.VerifierService/Verify", "/originals.v1.DuelService/WatchDuel", "/originals.v1.CrashService/Watch"}
	for method, access := range Methods {
		if access == Public && strings.HasPrefix(method, "/originals.") && !slices.Contains(public, method) {
			t.Errorf("%s is public", method)
		}
	}
}

type caller struct {
	v   *Verifier
	dev *DevKey
}

func newCaller(t *testing.T) caller {
	t.Helper()
	dev, err := NewDevKey("")
	if err != nil {
		t.Fatal(err)
	}
	return caller{newVerifier(t, dev.Key()), dev}
}

func (c caller) token(t *testing.T, role Role) string {
	t.Helper()
	token, err := c.dev.Mint(Identity{Subject: "alice", Role: role}, time.Hour, testNow)
	if err != nil {
		t.Fatal(err)
	}
	return token
}

// call returns the identity that a handler sees, or the refusal.
func (c caller) call(ctx context.Context, policy Policy, method string) (id Identity, identified bool, err error) {
	_, err = UnaryInterceptor(c.v, policy)(ctx, nil, &grpc.UnaryServerInfo{FullMethod: method}, func(ctx context.Context, _ any) (any, error) {
		id, identified = FromContext(ctx)
		return nil, nil
	})
	return id, identified, err
}

func withHeaders(ctx context.Context, values ...string) context.Context {
	return metadata.NewIncomingContext(ctx, metadata.MD{"authorization": values})
}

func TestRolesAreKeptApart(t *testing.T) {
	c := newCaller(t)
	policy := Policy{"/p": PlayerOnly, "/w": WalletOnly, "/s": SupportOnly, "/open": Public, "/pw": PlayerOrWallet, "/pp": PublicOrPlayer}
	roles := map[string]Role{"/p": Player, "/w": Wallet, "/s": Support}
	for method, wanted := range roles {
		for _, role := range roles {
			id, _, err := c.call(withHeaders(t.Context(), "Bearer "+c.token(t, role)), policy, method)
			if role == wanted && (err != nil || id.Role != role || id.Subject != "alice") {
				t.Errorf("%s as %s: %+v, %v", method, role, id, err)
			}
			if role != wanted && reason.Of(err) != reason.RoleRequired {
				t.Errorf("%s as %s: %v, want ROLE_REQUIRED", method, role, err)
			}
		}
		if _, _, err := c.call(t.Context(), policy, method); reason.Of(err) != reason.TokenInvalid {
			t.Errorf("%s without a token: %v", method, err)
		}
	}
	for role, want := range map[Role]bool{Player: true, Wallet: true, Support: false} {
		id, _, err := c.call(withHeaders(t.Context(), "Bearer "+c.token(t, role)), policy, "/pw")
		if (err == nil) != want || want && id.Role != role || !want && reason.Of(err) != reason.RoleRequired {
			t.Errorf("/pw as %s: %+v, %v", role, id, err)
		}
	}
	if _, _, err := c.call(t.Context(), policy, "/pw"); reason.Of(err) != reason.TokenInvalid {
		t.Errorf("/pw without a token: %v", err)
	}
	if _, identified, err := c.call(t.Context(), policy, "/pp"); err != nil || identified {
		t.Errorf("/pp without a token: identified %v, %v", identified, err)
	}
	if id, identified, err := c.call(withHeaders(t.Context(), "Bearer "+c.token(t, Player)), policy, "/pp"); err != nil || !identified || id.Role != Player {
		t.Errorf("/pp as a player: %+v, %v", id, err)
	}
	if _, _, err := c.call(withHeaders(t.Context(), "Bearer rubbish"), policy, "/pp"); reason.Of(err) != reason.TokenInvalid {
		t.Errorf("/pp with a bad token: %v", err)
	}
	if _, _, err := c.call(withHeaders(t.Context(), "Bearer "+c.token(t, Wallet)), policy, "/pp"); reason.Of(err) != reason.RoleRequired {
		t.Errorf("/pp as a wallet: %v", err)
	}
	if _, identified, err := c.call(withHeaders(t.Context(), "Bearer rubbish"), policy, "/open"); err != nil || identified {
		t.Errorf("public: identified %v, %v", identified, err)
	}
}

func TestDenyByDefault(t *testing.T) {
	c := newCaller(t)
	for _, method := range []string{"/originals.v1.DiceService/New", "", "/p/", "/originals.v1.diceservice/PlaceBet"} {
		ctx := WithPeer(withHeaders(t.Context(), "Bearer "+c.token(t, Player)), "dice")
		if _, _, err := c.call(ctx, Methods, method); reason.Of(err) != reason.RoleRequired {
			t.Errorf("%q: %v", method, err)
		}
		err := StreamInterceptor(c.v, Methods)(nil, contextStream{ctx: ctx}, &grpc.StreamServerInfo{FullMethod: method}, func(any, grpc.ServerStream) error {
			t.Errorf("%q: the stream was let in", method)
			return nil
		})
		if reason.Of(err) != reason.RoleRequired {
			t.Errorf("%q: %v", method, err)
		}
	}
}

type contextStream struct {
	grpc.ServerStream
	ctx context.Context
}

func (s contextStream) Context() context.Context { return s.ctx }

func TestStreamCarriesTheIdentity(t *testing.T) {
	c := newCaller(t)
	ss := contextStream{ctx: withHeaders(t.Context(), "bearer "+c.token(t, Player))}
	called := false
	err := StreamInterceptor(c.v, Policy{"/p": PlayerOnly})(nil, ss, &grpc.StreamServerInfo{FullMethod: "/p"}, func(_ any, ss grpc.ServerStream) error {
		id, ok := FromContext(ss.Context())
		called = ok && id.Subject == "alice"
		return nil
	})
	if err != nil || !called {
		t.Errorf("%v, identified %v", err, called)
	}
}

// TestIdentityIsNotTakenFromTheRequest: whatever a request or other metadata
// says, the player is the token's.
func TestIdentityIsNotTakenFromTheRequest(t *testing.T) {
	c := newCaller(t)
	ctx := metadata.NewIncomingContext(t.Context(), metadata.Pairs(
		"authorization", "Bearer "+c.token(t, Player), "player", "mallory", "sub", "mallory", "x-player-id", "mallory", "operator", "evil"))
	ctx = NewContext(ctx, Identity{Subject: "mallory", Operator: "evil", Role: Support}) // as left by an outer call
	id, _, err := c.call(ctx, Policy{"/p": PlayerOnly}, "/p")
	if err != nil || id != (Identity{"alice", DevOperator, Player}) {
		t.Errorf("%+v, %v", id, err)
	}
	if p := id.Player(); p.ID != "alice" || p.Operator != DevOperator {
		t.Errorf("player %+v", p)
	}
}

func TestAuthorizationHeader(t *testing.T) {
	c := newCaller(t)
	token := c.token(t, Player)
	for _, values := range [][]string{
		{}, {""}, {token}, {"Basic " + token}, {"Bearer"}, {"Bearer "}, {"Bearer  " + token}, {"Bearer " + token + " "}, {"Bearer " + token, "Bearer " + token},
	} {
		if _, _, err := c.call(withHeaders(t.Context(), values...), Policy{"/p": PlayerOnly}, "/p"); reason.Of(err) != reason.TokenInvalid {
			t.Errorf("%d values %.12q: %v", len(values), values, err)
		}
	}
}

func TestVaultIsForGameServicesWithAPlayersToken(t *testing.T) {
	c := newCaller(t)
	const draw = "/originals.vault.v1.VaultService/Draw"
	player := withHeaders(t.Context(), "Bearer "+c.token(t, Player))
	for _, roles := range [][]string{nil, {"gateway"}, {"seedpair"}, {"DICE"}, {""}} {
		if _, _, err := c.call(WithPeer(player, roles...), Methods, draw); reason.Of(err) != reason.RoleRequired {
			t.Errorf("peer %q: %v", roles, err)
		}
	}
	if _, _, err := c.call(player, Methods, draw); reason.Of(err) != reason.RoleRequired {
		t.Errorf("no peer: %v", err)
	}
	for _, role := range GameRoles {
		if id, _, err := c.call(WithPeer(player, "gateway", role), Methods, draw); err != nil || id.Subject != "alice" {
			t.Errorf("%s: %v", role, err)
		}
	}
	if _, _, err := c.call(WithPeer(t.Context(), "dice"), Methods, draw); reason.Of(err) != reason.TokenInvalid {
		t.Errorf("no token: %v", err)
	}
	support := withHeaders(t.Context(), "Bearer "+c.token(t, Support))
	if _, _, err := c.call(WithPeer(support, "dice"), Methods, draw); reason.Of(err) != reason.RoleRequired {
		t.Errorf("support token: %v", err)
	}
}

func TestRequirePeer(t *testing.T) {
	ctx := WithPeer(t.Context(), "dice", "limbo")
	for role, good := range map[string]bool{"dice": true, "limbo": true, "mines": false, "": false} {
		if err := RequirePeer(ctx, role); (err == nil) != good || (!good && reason.Of(err) != reason.RoleRequired) {
			t.Errorf("%q: %v", role, err)
		}
	}
	if RequirePeer(t.Context(), "dice") == nil {
		t.Error("a caller without a role was let through")
	}
}

func TestForwardPassesTokenAndRequestIDAlone(t *testing.T) {
	in := metadata.NewIncomingContext(t.Context(), metadata.Pairs("authorization", "Bearer x", "x-request-id", "r1", "cookie", "secret", "x-forwarded-for", "1.2.3.4"))
	in = metadata.AppendToOutgoingContext(in, "left", "over")
	out, _ := metadata.FromOutgoingContext(Forward(in))
	if len(out) != 2 || out.Get("authorization")[0] != "Bearer x" || out.Get("x-request-id")[0] != "r1" {
		t.Errorf("forwarded %v", out)
	}
}
