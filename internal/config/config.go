// Package config holds the configuration file: operators with their keys,
// currencies with their limits, CORS origins; it must never import a service,
// a store, or anything that listens or dials.
//
// The file is YAML and strict: a key that is not known, or stands twice, is
// refused with its line. Example shows every key.
package config

import (
	"github.com/openoriginals/originals/internal/bet"
	"github.com/openoriginals/originals/internal/money"
)

// Config is the whole file.
type Config struct {
	Operators  []Operator `yaml:"operators"`
	Currencies []Currency `yaml:"currencies"`
	CORS       CORS       `yaml:"cors"`
	Crash      Crash      `yaml:"crash"`
}

// Crash is what the crash tables of the house are.
type Crash struct {
	Tables    []CrashTable `yaml:"tables"`
	DrandURLs []string     `yaml:"drandUrls"` // relays of drand, asked in this order; the public ones when left out
}

// CrashTable is one table. Its name serves one chain for ever, so the chains that
// come next have tables of their own: main-2 after main.
type CrashTable struct {
	Name      string `yaml:"name"`      // [a-z0-9-]{1,32}
	BettingMS int64  `yaml:"bettingMs"` // how long bets are taken, 100..600000; 5000 when left out
	CrashedMS int64  `yaml:"crashedMs"` // pause before the next round, 1..600000; 3000 when left out
	TickMS    int64  `yaml:"tickMs"`    // between two events of the multiplier, 20..1000; 100 when left out

	// What chains are like that are made without a person.
	ChainLength int64       `yaml:"chainLength"` // rounds, 1..10000000; 1000000 when left out, 100000 on the embedded store
	NextChainAt int64       `yaml:"nextChainAt"` // links left when the next is announced, 1..10000000; 10000 when left out
	Salt        CrashSalt   `yaml:"salt"`        // selfChosen when left out; not beside a beacon
	Beacon      CrashBeacon `yaml:"beacon"`      // that salts each round; none when left out
}

// CrashSalt says how the salt of a table's chains is fixed.
type CrashSalt string

// The salts.
const (
	CrashSaltSelfChosen CrashSalt = "selfChosen" // drawn with the chain
	CrashSaltDrand      CrashSalt = "drand"      // a round of drand, ten minutes after the chain is made
	CrashSaltTest       CrashSalt = "test"       // the same of the test beacon
	CrashSaltByHand     CrashSalt = "byHand"     // no chain is made but by originals crash chain
)

// CrashBeacon names a beacon.
type CrashBeacon string

// The beacons.
const (
	CrashBeaconDrand CrashBeacon = "drand" // quicknet
	CrashBeaconTest  CrashBeacon = "test"  // needs no internet, and protects nobody
)

// DefaultNextChainAt is how many links are left of a chain when the next is
// announced, of a table that says nothing else.
const DefaultNextChainAt = 10_000

// MaxChainLength is the length of the longest chain.
const MaxChainLength = 10_000_000

// Operator is a casino that brings its own front end and wallet.
type Operator struct {
	Name     string    `yaml:"name"` // [a-z0-9-]{1,32}, the claim "operator" of its tokens
	Keys     []Key     `yaml:"keys"`
	Callback *Callback `yaml:"callback"` // nil: its wallet asks for its settlements
}

// Callback is where the settlements of an operator are pushed to.
type Callback struct {
	URL         string   `yaml:"url"`         // https, or http on this machine
	SecretFiles []string `yaml:"secretFiles"` // one, or two while they are exchanged
	TimeoutMS   int64    `yaml:"timeoutMs"`   // of one call, 100..30000; 10000 when left out
}

// DefaultCallbackTimeoutMS is the time of one callback whose operator gave none.
const DefaultCallbackTimeoutMS = 10_000

// Key is where the public keys of an operator are: a file or an address,
// exactly one of them.
type Key struct {
	ID   string `yaml:"id"`   // the claim "kid" of its tokens; empty for any; only with a PEM file
	File string `yaml:"file"` // PEM public key, JWK or JWKS
	JWKS string `yaml:"jwks"` // https address of a JWKS, fetched again as time goes by
}

// CORS names the web origins whose pages may call the gateway.
type CORS struct {
	Origins []string `yaml:"origins"` // exact, such as https://play.example.com
}

// Currency is a currency that bets are placed in.
type Currency struct {
	Code     money.Currency `yaml:"code"`     // [A-Z0-9]{2,8}
	Exponent int            `yaml:"exponent"` // decimals of the smallest unit, 0..18
	Limits   Limits         `yaml:"limits"`
}

// Limits are the bounds of a currency's bets, the default and those of games
// that have their own.
type Limits struct {
	Default  Range  `yaml:"default"`
	Dice     *Range `yaml:"dice"`
	Limbo    *Range `yaml:"limbo"`
	Roulette *Range `yaml:"roulette"`
	Mines    *Range `yaml:"mines"`
	Crash    *Range `yaml:"crash"`

	// CrashRound is the most that all bets of one round of a crash table may
	// pay; 10,000 times the greatest payout of a bet when it is left out.
	CrashRound money.Units `yaml:"crashRound"`
}

// Range bounds a bet, in smallest units: 1 <= MinStake <= MaxStake, and
// MaxStake < MaxPayout <= 2^53-1.
type Range struct {
	MinStake  money.Units `yaml:"minStake"`
	MaxStake  money.Units `yaml:"maxStake"`
	MaxPayout money.Units `yaml:"maxPayout"`
}

// Default returns the configuration of a process that was given no file: the
// currencies FUN, USD, BTC and ETH, and no operator.
func Default() Config {
	return Config{Currencies: []Currency{
		{Code: "FUN", Exponent: 2, Limits: Limits{Default: Range{1, 1_000_000_00, 100_000_000_00}}},
		{Code: "USD", Exponent: 2, Limits: Limits{Default: Range{10, 1_000_00, 100_000_00}}},
		{Code: "BTC", Exponent: 8, Limits: Limits{Default: Range{100, 1_000_000, 100_000_000}}},
		{Code: "ETH", Exponent: 9, Limits: Limits{Default: Range{1_000, 500_000_000, 50_000_000_000}}},
	}, Crash: Crash{Tables: []CrashTable{{Name: "main"}}}}
}

// Limits returns the bounds of a game in a currency; false when the currency
// is not configured.
func (c Config) Limits(g bet.Game, code money.Currency) (bet.Limits, bool) {
	currency, ok := c.currency(code)
	if !ok {
		return bet.Limits{}, false
	}
	r := currency.Limits.of(g)
	return bet.Limits{MinStake: r.MinStake, MaxStake: r.MaxStake, MaxPayout: r.MaxPayout}, true
}

// Has reports whether a currency is configured.
func (c Config) Has(code money.Currency) bool {
	_, ok := c.currency(code)
	return ok
}

// defaultCrashBets is how many greatest payouts a round of a crash table may
// pay when its limit is left out.
const defaultCrashBets = 10_000

// CrashRoundLimit returns the most that all bets of one round of a crash table
// may pay in a currency; 0 when the currency is not configured.
func (c Config) CrashRoundLimit(code money.Currency) money.Units {
	currency, _ := c.currency(code)
	if currency.Limits.CrashRound > 0 {
		return currency.Limits.CrashRound
	}
	most := currency.Limits.of(bet.Crash).MaxPayout
	if most > money.MaxUnits/defaultCrashBets {
		return money.MaxUnits
	}
	return most * defaultCrashBets
}

// Exponent returns how many decimals the smallest unit of a currency has; 0
// when the currency is not configured.
func (c Config) Exponent(code money.Currency) int {
	currency, _ := c.currency(code)
	return currency.Exponent
}

func (c Config) currency(code money.Currency) (Currency, bool) {
	for _, currency := range c.Currencies {
		if currency.Code == code {
			return currency, true
		}
	}
	return Currency{}, false
}

func (l Limits) of(g bet.Game) Range {
	own := map[bet.Game]*Range{bet.Dice: l.Dice, bet.Limbo: l.Limbo, bet.Roulette: l.Roulette, bet.Mines: l.Mines, bet.Crash: l.Crash}[g]
	if own != nil {
		return *own
	}
	return l.Default
}
