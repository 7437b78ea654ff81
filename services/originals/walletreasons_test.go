package main

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/redis/go-redis/v9"
	"google.golang.org/grpc/metadata"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/reflect/protoregistry"

	"github.com/openoriginals/originals/internal/auth"
	"github.com/openoriginals/originals/internal/ledger"
	"github.com/openoriginals/originals/internal/ledger/redisledger"
	"github.com/openoriginals/originals/internal/reason"
	originalsv1 "github.com/openoriginals/originals/proto/originals/v1"
)

// everyCall stands in the README's table for what each call can answer.
const everyCall = "each of them"

// walletReasons reads the README's table: the reasons of each call, and whether
// they stand in the column of the known ones.
func walletReasons(t *testing.T) map[string]map[reason.Reason]bool {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(top, "README.md"))
	if err != nil {
		t.Fatal(err)
	}
	_, table, _ := strings.Cut(string(text), "<!-- wallet reasons -->")
	table, _, found := strings.Cut(table, "<!-- /wallet reasons -->")
	if !found {
		t.Fatal("README has no table of wallet reasons")
	}
	all := make(map[string]map[reason.Reason]bool)
	for line := range strings.Lines(table) {
		cells := strings.Split(line, "|")
		if len(cells) != 5 || strings.Contains(line, "---") || strings.Contains(line, "unknown |") {
			continue
		}
		name, _, _ := strings.Cut(strings.TrimSpace(cells[1]), ", of support")
		for _, call := range strings.Split(name, ", ") {
			all[call] = make(map[reason.Reason]bool)
			for i, cell := range cells[2:4] {
				for _, m := range regexp.MustCompile("`([A-Z_]+)`").FindAllStringSubmatch(cell, -1) {
					all[call][reason.Reason(m[1])] = i == 0
				}
			}
		}
	}
	return all
}

// refusedCall makes one call that is refused with a reason.
type refusedCall struct {
	call string
	why  reason.Reason
	role auth.Role
	body string // the request as JSON
}

// provokedElsewhere are refusals that no single call of one process brings about.
// The tests of the gateway and of support do.
var provokedElsewhere = []refusedCall{
	{call: "StreamSettlements", why: reason.RateLimited},
	{call: "RevealSeedPair", why: reason.InProgress},
	{call: "RevealSeedPair", why: reason.CommitmentMismatch},
	{call: "GetRoundTimeline", why: reason.CommitmentMismatch},
}

// ready brings about what the refusals need, and returns them.
func (h *houseOfSecrets) ready() []refusedCall {
	h.play("alice")
	open, pair := h.open[0].GetRoundId(), h.open[0].GetSeedPairId()
	h.be("w", auth.Wallet)
	h.call("POST", "/v1/wallet/transfers", `{"transferId":"d1","playerId":"alice","direction":"DEPOSIT","money":{"currency":"FUN","amount":"5"}}`, new(originalsv1.Transfer))
	h.call("POST", "/v1/wallet/transfers/gone:cancel", `{}`, new(originalsv1.Transfer))
	h.call("POST", "/v1/wallet/settlements:claim", `{"claimId":"c1","consumer":"main","max":3,"leaseSeconds":60}`, new(originalsv1.ClaimSettlementsResponse))

	const wallet, support = auth.Wallet, auth.Support
	// A reveal settles what is open and decided, as the sweeper does.
	refusedReveal := refusedCall{"RevealSeedPair", reason.RoundOpen, support, `{"seedPairId":"` + pair + `","reason":"asked","ticket":"T"}`}
	h.refuse(refusedReveal)
	h.beginTransfer("begun")
	transfer := func(id, amount string) string {
		return `{"transferId":"` + id + `","playerId":"alice","direction":"DEPOSIT","money":{"currency":"FUN","amount":"` + amount + `"}}`
	}
	return []refusedCall{
		{"CreateTransfer", reason.TransferIDReused, wallet, transfer("d1", "6")},
		{"CreateTransfer", reason.TransferCancelled, wallet, transfer("gone", "5")},
		{"CreateTransfer", reason.InProgress, wallet, transfer("begun", "5")},
		{"GetTransfer", reason.TransferNotFound, wallet, `{"transferId":"none"}`},
		{"GetTransfer", reason.InProgress, wallet, `{"transferId":"begun"}`},
		{"CancelTransfer", reason.InProgress, wallet, `{"transferId":"begun"}`},
		{"ListPlayerBalances", reason.PlayerNotFound, wallet, `{"playerId":"nobody"}`},
		{"GetSettlement", reason.SettlementNotFound, wallet, `{"settlementId":"` + open + `"}`},
		{"RequeueSettlement", reason.SettlementNotFound, wallet, `{"settlementId":"` + open + `"}`},
		{"GetDigest", reason.SettlementNotFound, wallet, `{"day":"2020-01-01"}`},
		{"ClaimSettlements", reason.ClaimIDReused, wallet, `{"claimId":"c1","consumer":"other","max":3,"leaseSeconds":60}`},
		{"GetPlayer", reason.PlayerNotFound, support, `{"playerId":"nobody"}`},
		{"GetRoundTimeline", reason.RoundNotFound, support, `{"roundId":"17-aaaaaaaaaaaaaaaa-0"}`},
		{"RevealSeedPair", reason.SeedPairNotFound, support, `{"seedPairId":"17-aaaaaaaaaaaaaaaa","reason":"asked","ticket":"T"}`},
		refusedReveal,
	}
}

// beginTransfer leaves a transfer after its first step, as a process does that
// dies right after: others are told IN_PROGRESS for some seconds.
func (h *houseOfSecrets) beginTransfer(id string) {
	h.t.Helper()
	client, err := redisledger.Dial(h.redis.URL())
	if err != nil {
		h.t.Fatal(err)
	}
	defer client.Close()
	client.AddHook(&oneStep{})
	_, err = redisledger.New(client, redisledger.Options{}).Transfer(h.t.Context(), ledger.Transfer{
		Operator: "demo", ID: id, Player: "alice", Direction: ledger.Deposit, Currency: "FUN", Amount: 5,
	})
	if reason.Of(err) != reason.StoreUnavailable {
		h.t.Fatalf("the first step alone: %v", err)
	}
}

// oneStep lets one script through.
type oneStep struct{ steps atomic.Int64 }

var errCut = errors.New("the process has died")

func (*oneStep) DialHook(next redis.DialHook) redis.DialHook { return next }

func (o *oneStep) ProcessHook(next redis.ProcessHook) redis.ProcessHook {
	return func(ctx context.Context, cmd redis.Cmder) error {
		if strings.HasPrefix(cmd.Name(), "eval") && o.steps.Add(1) > 1 {
			cmd.SetErr(errCut)
			return errCut
		}
		return next(ctx, cmd)
	}
}

func (o *oneStep) ProcessPipelineHook(next redis.ProcessPipelineHook) redis.ProcessPipelineHook {
	return func(ctx context.Context, cmds []redis.Cmder) error {
		if o.steps.Add(1) > 1 {
			for _, cmd := range cmds {
				cmd.SetErr(errCut)
			}
			return errCut
		}
		return next(ctx, cmds)
	}
}

// service returns the service that has a call, and the call.
func serviceOf(t *testing.T, call string) (protoreflect.ServiceDescriptor, protoreflect.MethodDescriptor) {
	t.Helper()
	for _, name := range []protoreflect.FullName{"originals.v1.SettlementService", "originals.v1.SupportService"} {
		found, err := protoregistry.GlobalFiles.FindDescriptorByName(name)
		if err != nil {
			t.Fatal(err)
		}
		if m := found.(protoreflect.ServiceDescriptor).Methods().ByName(protoreflect.Name(call)); m != nil {
			return found.(protoreflect.ServiceDescriptor), m
		}
	}
	t.Fatalf("no call %s", call)
	return nil, nil
}

func messageOf(t *testing.T, d protoreflect.MessageDescriptor) proto.Message {
	t.Helper()
	kind, err := protoregistry.GlobalTypes.FindMessageByName(d.FullName())
	if err != nil {
		t.Fatal(err)
	}
	return kind.New().Interface()
}

// refuse makes a call and returns the reason of its refusal.
func (h *houseOfSecrets) refuse(c refusedCall) reason.Reason {
	h.t.Helper()
	ctx := metadata.AppendToOutgoingContext(h.t.Context(), "authorization", "Bearer x")
	if c.role != "" {
		h.be("somebody", c.role)
		ctx = h.ctx
	}
	service, method := serviceOf(h.t, c.call)
	req := messageOf(h.t, method.Input())
	if err := protojson.Unmarshal([]byte(c.body), req); err != nil {
		h.t.Fatal(err)
	}
	err := invoke(ctx, h.grpc, "/"+string(service.FullName())+"/"+c.call, method.IsStreamingServer(), req, messageOf(h.t, method.Output()))
	if err == nil {
		h.t.Errorf("%s was not refused: %.200s", c.call, c.body)
	}
	return reason.Of(err)
}

// common returns the refusals that every call has.
func common(t *testing.T) (all []refusedCall) {
	for role, calls := range map[auth.Role][]staffCall{auth.Wallet: walletCalls(), auth.Support: supportCalls()} {
		for _, c := range calls {
			_, method := serviceOf(t, c.rpc)
			requests := c.requests(t) // in another order each time
			i := slices.IndexFunc(requests, func(q request) bool {
				return !oddNumber.MatchString(q.text) && !strings.Contains(q.text, "null") && protojson.Unmarshal([]byte(q.text), messageOf(t, method.Input())) == nil
			})
			all = append(all,
				refusedCall{c.rpc, reason.InvalidField, role, requests[i].text},
				refusedCall{c.rpc, reason.RoleRequired, auth.Player, c.good},
				refusedCall{c.rpc, reason.TokenInvalid, "", c.good})
		}
	}
	return all
}

// Every reason that a call of wallets or of support can answer stands in the
// README, as known or as unknown; what is called known leaves the whole store as
// it was, but for the record of what support tried.
func TestReasonsOfWalletsAndSupportAreDocumentedAndKnownOnesHadNoEffect(t *testing.T) {
	documented := walletReasons(t)
	h := startHouseOfSecrets(t)
	all := append(h.ready(), common(t)...)
	before := h.withoutRecord()
	seen := make(map[refusedCall]bool)
	for _, c := range all {
		if got := h.refuse(c); got != c.why {
			t.Errorf("%s: %v, want %s for %.200s", c.call, got, c.why, c.body)
		}
		_, own := documented[c.call][c.why]
		_, common := documented[everyCall][c.why]
		if documented[c.call] == nil || !own && !common {
			t.Errorf("the README does not say that %s can answer %s", c.call, c.why)
		}
		seen[refusedCall{call: c.call, why: c.why}] = true
	}
	if after := h.withoutRecord(); after != before {
		t.Errorf("what is called known had an effect:\n%s", difference(before, after))
	}
	for _, c := range provokedElsewhere {
		seen[c] = true
	}
	listed := make(map[reason.Reason]bool)
	for call, reasons := range documented {
		for why, known := range reasons {
			listed[why] = true
			if known != why.Known() {
				t.Errorf("%s of %s stands in the wrong column", why, call)
			}
			if call != everyCall && !seen[refusedCall{call: call, why: why}] {
				t.Errorf("the README says that %s can answer %s, and nothing makes it", call, why)
			}
		}
	}
	for why, file := range reasonsInSource(t) {
		if !listed[why] {
			t.Errorf("%s answers %s, which is not in the README's table", file, why)
		}
	}
}

// withoutRecord is what the store holds, but for the audit log.
func (h *houseOfSecrets) withoutRecord() string {
	return string(h.dumpOf(regexp.MustCompile(`^\{p\d+\}:(t|ta|u|w|s|r|a|b|c|j|jh|k|l|d|y|o):`)))
}

// reasonsInSource returns the reasons that the code behind these calls names, and
// where.
func reasonsInSource(t *testing.T) map[reason.Reason]string {
	t.Helper()
	constants := make(map[string]reason.Reason)
	for _, m := range regexp.MustCompile(`(?m)^\s(\w+)\s+Reason = "(\w+)"`).FindAllStringSubmatch(source(t, "internal/reason/reason.go"), -1) {
		constants[m[1]] = reason.Reason(m[2])
	}
	files := []string{"services/gateway/settlement_stream.go", "services/seedpair/support.go", "internal/redisscript/errors.go"}
	for _, name := range []string{"transfers", "claims", "acks", "feed", "digests", "audit", "backlog"} {
		files = append(files, "internal/ledger/redisledger/"+name+".go")
	}
	for _, folder := range []string{"services/settlement", "services/support"} {
		found, err := filepath.Glob(filepath.Join(top, folder, "*.go"))
		if err != nil || len(found) < 3 {
			t.Fatal(found, err)
		}
		for _, file := range found {
			if !strings.HasSuffix(file, "_test.go") {
				files = append(files, filepath.Join(folder, filepath.Base(file)))
			}
		}
	}
	all := make(map[reason.Reason]string)
	for _, file := range files {
		for _, m := range regexp.MustCompile(`\breason\.(\w+)`).FindAllStringSubmatch(source(t, file), -1) {
			if why, ok := constants[m[1]]; ok {
				all[why] = file
			}
		}
	}
	if len(constants) < 40 || len(all) < 10 {
		t.Fatalf("%d reasons, of which %d are answered", len(constants), len(all))
	}
	return all
}

func source(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(top, path))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
