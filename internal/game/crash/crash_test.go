package crash

import (
	"encoding/hex"
	"encoding/json"
	"math/big"
	"strconv"
	"testing"

	"github.com/openoriginals/originals/internal/money"
	"github.com/openoriginals/originals/internal/rng"
	"github.com/openoriginals/originals/internal/vectors"
)

// growthSHA256 was computed with Python's decimal at 45 digits: ceil(10^9 * (ln m - ln 100) / 60), four bytes each.
const growthSHA256 = "f18be2388cb3a73bea7281b3d01d14e290eaf9f32ff40f98d2baec354c121c30"

func TestGrowthIsTheSameOnEveryMachine(t *testing.T) {
	sum := NewGrowth().SHA256()
	if got := hex.EncodeToString(sum[:]); got != growthSHA256 {
		t.Errorf("digest %s, want %s", got, growthSHA256)
	}
}

// The sums fall short by less than 2^24 units of their last bit: none may lie that close below a whole number.
func TestNoThresholdIsNearARoundingLimit(t *testing.T) {
	logs := newLogs()
	for i := 1; i < thresholds; i++ {
		if _, low := logs.next(); -low <= 1<<24 {
			t.Fatalf("threshold %d is too close to call", i)
		}
	}
}

func TestMultiplierAtEveryThreshold(t *testing.T) {
	g := NewGrowth()
	for m := uint32(MinPointE2); m <= MaxPointE2; m++ {
		us := g.ReachUs(m)
		if g.MultiplierAt(us) != m || m > MinPointE2 && g.MultiplierAt(us-1) != m-1 || g.EndUs(m) <= us {
			t.Fatalf("multiplier %d at %d us is off by one", m, us)
		}
	}
	if g.MultiplierAt(-1) != 100 || g.MultiplierAt(1<<62) != MaxPointE2 {
		t.Error("a time outside has a multiplier outside")
	}
}

func readVectors(t *testing.T, name string, into any) {
	t.Helper()
	text, err := vectors.Files.ReadFile("crash/" + name)
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(text, into); err != nil {
		t.Fatal(err)
	}
}

func TestBoundariesOfTheCrashPoint(t *testing.T) {
	var rows []struct {
		H    string `json:"h_hex"`
		Want uint32 `json:"outcome100"`
	}
	readVectors(t, "bust100_boundaries.json", &rows)
	if len(rows) != 73 {
		t.Fatalf("%d rows", len(rows))
	}
	for _, r := range rows {
		h, err := strconv.ParseUint(r.H, 16, 64)
		if err != nil {
			t.Fatal(err)
		}
		if got := Map(h); got != r.Want {
			t.Errorf("%s: %d, want %d", r.H, got, r.Want)
		}
	}
}

// Words at which the same formula in floating point is off by one: the exact quotient decides.
func TestCrashPointsThatDoublesGetWrong(t *testing.T) {
	var rows []struct {
		H      string `json:"h_hex"`
		Exact  uint32
		Double uint32 `json:"js_double"`
	}
	readVectors(t, "bust100_double_mismatch.json", &rows)
	if len(rows) != 26 {
		t.Fatalf("%d rows", len(rows))
	}
	for _, r := range rows {
		h, err := strconv.ParseUint(r.H, 16, 64)
		if err != nil {
			t.Fatal(err)
		}
		if got := Map(h); got != r.Exact || r.Exact == r.Double {
			t.Errorf("%s: %d, want %d", r.H, got, r.Exact)
		}
	}
}

// Every target's first winning and last losing word: floor(99 * 2^52 / (m-1)) words win (rng/SPEC.md).
func TestTheExactTailOfEveryTarget(t *testing.T) {
	all := new(big.Int).Lsh(big.NewInt(99), 52)
	for m := uint32(MinTargetE2); m <= MaxTargetE2; m++ {
		wins := new(big.Int).Quo(all, big.NewInt(int64(m-1))).Uint64()
		if (Bet{m}).Ways() != wins || Map(Words-wins) < m || Map(Words-wins-1) >= m {
			t.Fatalf("target %d: not %d words", m, wins)
		}
	}
}

func TestEqualityAndLatencyAtTheCrashInstant(t *testing.T) {
	g := NewGrowth()
	auto := Bet{1000}
	for _, c := range []struct {
		us    int64
		point uint32
		want  uint32
	}{
		{g.EndUs(100) - 1, 100, 0}, {0, 101, 101}, {g.EndUs(200) - 1, 200, 200}, {g.EndUs(200), 200, 0}, {g.ReachUs(200) - 1, 200, 199},
		{g.ReachUs(1000) - 1, 1000, 999}, {g.ReachUs(1000), 1000, 1000}, {g.EndUs(1000), 1000, 1000}, {g.EndUs(999), 999, 0},
	} {
		paid, won := g.CashOut(auto, c.us, c.point)
		if paid.TargetE2 != c.want || won != (c.want > 0) {
			t.Errorf("at %d us, crash %d: %d %v, want %d", c.us, c.point, paid.TargetE2, won, c.want)
		}
	}
}

func TestLargestTargetNeverCutsAPayout(t *testing.T) {
	for _, c := range []struct{ stake, limit money.Units }{{100, 1000}, {3, 10}, {1, 1}, {7, 7}, {money.MaxUnits, money.MaxUnits}, {1, money.MaxUnits}, {999, 1_000_000}} {
		b, ok := LargestTarget(c.stake, c.limit)
		within := func(target uint32) bool {
			p, err := money.Payout(c.stake, Bet{target}.Multiplier())
			return err == nil && p <= c.limit
		}
		if ok != within(MinTargetE2) || ok && (!within(b.TargetE2) || b.TargetE2 < MaxTargetE2 && within(b.TargetE2+1)) {
			t.Errorf("stake %d, limit %d: %d %v", c.stake, c.limit, b.TargetE2, ok)
		}
	}
	if _, ok := LargestTarget(0, 1); ok {
		t.Error("a stake of 0 has a target")
	}
}

// The digest was computed with Python's hmac.
func TestPointOfARound(t *testing.T) {
	link, err := rng.ParseLink("000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f")
	if err != nil {
		t.Fatal(err)
	}
	d, err := link.CrashDigest("main", 7, rng.Salt("ffeeddccbbaa99887766554433221100ffeeddccbbaa99887766554433221100"))
	if err != nil {
		t.Fatal(err)
	}
	point, err := Point(d)
	if err != nil || d.Reveal() != "459b05de46618378c52a57e66138abe930eab6d85592181a90cdb412fda65113" || point != 136 {
		t.Errorf("%s %d %v", d.Reveal(), point, err)
	}
	if _, err := Point(rng.CrashDigest{}); err == nil {
		t.Error("a missing digest has a crash point")
	}
}

func TestPublishedTails(t *testing.T) {
	var file struct {
		Rows []struct {
			Target uint32 `json:"m100"`
			Count  uint64 `json:"bust100_count_of_2_52"`
		}
	}
	readVectors(t, "crash_tails.json", &file)
	if len(file.Rows) != 28 {
		t.Fatalf("%d rows", len(file.Rows))
	}
	for _, r := range file.Rows {
		if (Bet{r.Target}).Ways() != r.Count {
			t.Errorf("target %d: %d words, want %d", r.Target, (Bet{r.Target}).Ways(), r.Count)
		}
	}
}

// The same growth in whole milliseconds, as another house has published it.
func TestPublishedGrowth(t *testing.T) {
	var file struct {
		Rows []struct {
			Multiplier uint32 `json:"hundredths"`
			Ms         int64  `json:"v1_first_ms"`
		} `json:"first_ms_at_which_k_is_reached"`
	}
	readVectors(t, "crash_growth.json", &file)
	if len(file.Rows) != 17 {
		t.Fatalf("%d rows", len(file.Rows))
	}
	g := NewGrowth()
	for _, r := range file.Rows {
		if got := (g.ReachUs(r.Multiplier) + 999) / 1000; got != r.Ms {
			t.Errorf("%d: %d ms, want %d", r.Multiplier, got, r.Ms)
		}
	}
}
