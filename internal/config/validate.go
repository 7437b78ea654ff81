package config

import (
	"fmt"
	"net/netip"
	"net/url"
	"regexp"
	"strings"

	"github.com/openoriginals/originals/internal/money"
)

const (
	maxExponent = 18
	maxKeys     = 16 // of one operator: a bad token is tried against each
)

// FieldError says which key of the file is wrong.
type FieldError struct {
	Path    string // such as currencies[1].limits.default.maxStake
	Problem string // worded to follow the path
}

// Error joins both.
func (e *FieldError) Error() string { return e.Path + " " + e.Problem }

func fieldError(path, format string, args ...any) error {
	return &FieldError{path, fmt.Sprintf(format, args...)}
}

func (c Config) validate() error {
	if err := validateOperators(c.Operators); err != nil {
		return err
	}
	if err := validateCurrencies(c.Currencies); err != nil {
		return err
	}
	if err := c.Crash.validate(); err != nil {
		return err
	}
	for i, origin := range c.CORS.Origins {
		if !isOrigin(origin) {
			return fieldError(fmt.Sprintf("cors.origins[%d]", i), "must be an exact origin such as https://play.example.com, in lower case and without a path")
		}
	}
	return nil
}

var operatorName = regexp.MustCompile(`^[a-z0-9-]{1,32}\z`)

func validateOperators(operators []Operator) error {
	names := make(map[string]bool)
	sources := make(map[string]string) // of keys, and where each was given
	for i, operator := range operators {
		path := fmt.Sprintf("operators[%d]", i)
		if !operatorName.MatchString(operator.Name) {
			return fieldError(path+".name", "must be 1 to 32 of a-z, 0-9 and hyphen")
		}
		if names[operator.Name] {
			return fieldError(path+".name", "is the name of another operator, too")
		}
		names[operator.Name] = true
		if len(operator.Keys) < 1 || len(operator.Keys) > maxKeys {
			return fieldError(path+".keys", "must be 1 to %d keys", maxKeys)
		}
		for j, key := range operator.Keys {
			if err := key.validate(fmt.Sprintf("%s.keys[%d]", path, j), sources); err != nil {
				return err
			}
		}
		if err := operator.Callback.validate(path + ".callback"); err != nil {
			return err
		}
	}
	return nil
}

func (c *Callback) validate(path string) error {
	switch {
	case c == nil:
		return nil
	case !isHTTPS(c.URL) && !isLoopback(c.URL):
		return fieldError(path+".url", "must be an https address, or an http one of this machine")
	case len(c.SecretFiles) < 1 || len(c.SecretFiles) > 2:
		return fieldError(path+".secretFiles", "must be one file, or two while secrets are exchanged")
	case c.TimeoutMS < 100 || c.TimeoutMS > 30_000:
		return fieldError(path+".timeoutMs", "must be 100 to 30000")
	}
	return nil
}

func isLoopback(text string) bool {
	u, err := url.Parse(text)
	if err != nil || u.Scheme != "http" || u.User != nil || u.Fragment != "" {
		return false
	}
	ip, err := netip.ParseAddr(u.Hostname())
	return err == nil && ip.IsLoopback() || u.Hostname() == "localhost"
}

// validate also refuses a source that stands twice. That two sources hold the
// same key is found where they are opened.
func (k Key) validate(path string, sources map[string]string) error {
	if (k.File == "") == (k.JWKS == "") {
		return fieldError(path, "must have either file or jwks")
	}
	if k.JWKS != "" && k.ID != "" {
		return fieldError(path+".id", "is for PEM files: the keys of a JWKS have their own")
	}
	if k.JWKS != "" && !isHTTPS(k.JWKS) {
		return fieldError(path+".jwks", "must be an https address")
	}
	source := k.File + k.JWKS
	if other, ok := sources[source]; ok {
		return fieldError(path, "is the same as %s: a key belongs to one operator", other)
	}
	sources[source] = path
	return nil
}

func isHTTPS(text string) bool {
	u, err := url.Parse(text)
	return err == nil && u.Scheme == "https" && u.Host != "" && u.User == nil && u.Fragment == ""
}

func isOrigin(text string) bool {
	u, err := url.Parse(text)
	if err != nil || (u.Scheme != "https" && u.Scheme != "http") || u.Hostname() == "" || strings.Contains(text, "*") {
		return false
	}
	return u.Scheme+"://"+u.Host == text && strings.ToLower(text) == text
}

func validateCurrencies(currencies []Currency) error {
	if len(currencies) == 0 {
		return fieldError("currencies", "must not be empty: leave the key out for the defaults")
	}
	codes := make(map[money.Currency]bool)
	for i, currency := range currencies {
		path := fmt.Sprintf("currencies[%d]", i)
		if _, err := money.ParseCurrency(string(currency.Code)); err != nil {
			return fieldError(path+".code", "must be 2 to 8 of A-Z and 0-9")
		}
		if codes[currency.Code] {
			return fieldError(path+".code", "is the code of another currency, too")
		}
		codes[currency.Code] = true
		if currency.Exponent < 0 || currency.Exponent > maxExponent {
			return fieldError(path+".exponent", "must be 0 to %d", maxExponent)
		}
		if err := currency.Limits.validate(path + ".limits"); err != nil {
			return err
		}
	}
	return nil
}

func (l Limits) validate(path string) error {
	if err := l.Default.validate(path + ".default"); err != nil {
		return err
	}
	if l.CrashRound < 0 || l.CrashRound > money.MaxUnits {
		return fieldError(path+".crashRound", "must be at most %d", money.MaxUnits)
	}
	games := []struct {
		name string
		own  *Range
	}{{"dice", l.Dice}, {"limbo", l.Limbo}, {"roulette", l.Roulette}, {"mines", l.Mines}, {"crash", l.Crash}}
	for _, g := range games {
		if g.own == nil {
			continue
		}
		if err := g.own.validate(path + "." + g.name); err != nil {
			return err
		}
	}
	return nil
}

var tableName = regexp.MustCompile(`^[a-z0-9-]{1,32}\z`)

func (c Crash) validate() error {
	names := make(map[string]bool)
	for i, t := range c.Tables {
		path := fmt.Sprintf("crash.tables[%d]", i)
		switch {
		case !tableName.MatchString(t.Name):
			return fieldError(path+".name", "must be 1 to 32 of a-z, 0-9 and hyphen")
		case names[t.Name]:
			return fieldError(path+".name", "is the name of another table, too")
		}
		names[t.Name] = true
		if err := t.validateChains(path); err != nil {
			return err
		}
		for _, d := range []struct {
			key             string
			ms, least, most int64
		}{{"bettingMs", t.BettingMS, 100, 600_000}, {"crashedMs", t.CrashedMS, 1, 600_000}, {"tickMs", t.TickMS, 20, 1000}} {
			if d.ms != 0 && (d.ms < d.least || d.ms > d.most) {
				return fieldError(path+"."+d.key, "must be %d to %d", d.least, d.most)
			}
		}
	}
	for i, t := range c.Tables {
		if base, ending, ok := cutNumber(t.Name); ok && names[base] {
			return fieldError(fmt.Sprintf("crash.tables[%d].name", i), "is kept for chain %s of table %s", ending, base)
		}
	}
	for i, address := range c.DrandURLs {
		if !isHTTPS(address) && !isLoopback(address) {
			return fieldError(fmt.Sprintf("crash.drandUrls[%d]", i), "must be an https address, or an http one of this machine")
		}
	}
	return nil
}

// cutNumber takes the number of a chain off the name of its table: main and 2
// off main-2.
func cutNumber(name string) (base, number string, ok bool) {
	at := strings.LastIndexByte(name, '-')
	if at < 0 || !chainNumber.MatchString(name[at+1:]) {
		return "", "", false
	}
	return name[:at], name[at+1:], true
}

var chainNumber = regexp.MustCompile(`^([2-9]|[1-9][0-9]+)\z`)

func (t CrashTable) validateChains(path string) error {
	for _, n := range []struct {
		key   string
		value int64
	}{{"chainLength", t.ChainLength}, {"nextChainAt", t.NextChainAt}} {
		if n.value < 0 || n.value > MaxChainLength {
			return fieldError(path+"."+n.key, "must be 1 to %d", MaxChainLength)
		}
	}
	switch t.Salt {
	case "", CrashSaltSelfChosen, CrashSaltDrand, CrashSaltTest, CrashSaltByHand:
	default:
		return fieldError(path+".salt", "must be selfChosen, drand, test or byHand")
	}
	switch t.Beacon {
	case "", CrashBeaconDrand, CrashBeaconTest:
	default:
		return fieldError(path+".beacon", "must be drand or test")
	}
	if t.Beacon != "" && t.Salt != "" {
		return fieldError(path+".salt", "has no meaning beside a beacon, which salts each round")
	}
	return nil
}

func (r Range) validate(path string) error {
	switch {
	case r.MinStake < 1:
		return fieldError(path+".minStake", "must be at least 1")
	case r.MaxStake < r.MinStake:
		return fieldError(path+".maxStake", "must not be below minStake")
	case r.MaxPayout <= r.MaxStake:
		return fieldError(path+".maxPayout", "must be above maxStake: a win returns more than the stake")
	case r.MaxPayout > money.MaxUnits:
		return fieldError(path+".maxPayout", "must be at most %d", money.MaxUnits)
	}
	return nil
}
