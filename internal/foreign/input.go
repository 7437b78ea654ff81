package foreign

import (
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/openoriginals/originals/internal/game"
)

// MaxTextBytes is the length of the longest client seed, salt or other text that is accepted.
const MaxTextBytes = 1024

// MaxNonceDigits is the length of 2^64-1, the greatest nonce that is accepted.
const MaxNonceDigits = 20

// Given is one named value as text: a parameter, or what a player was shown.
type Given struct{ Name, Text string }

// Input is what one bet is derived from. Texts are used byte for byte.
type Input struct {
	ServerSeed string // or the hash of a game, for schemes with a chain
	ClientSeed string
	Nonce      string // decimal, 0..2^64-1, without leading zeros
	Parameters []Given
}

// seedForm says what a server seed of a scheme looks like.
type seedForm uint8

const (
	// seedText: 16 to 64 characters of visible ASCII. Shorter ones could be searched; a longer key would be hashed down
	// to the public commitment by HMAC; white space and NUL would change the digest in secret or not at all.
	seedText seedForm = iota
	seedHex64
	seedHex32
)

// words says for people what a server seed of this form looks like.
func (f seedForm) words() string {
	switch f {
	case seedHex64:
		return "64 lower-case hex digits"
	case seedHex32:
		return "32 lower-case hex digits"
	default:
		return "16 to 64 characters of visible ASCII"
	}
}

func refuse(field, format string, arguments ...any) error {
	return &game.FieldError{Field: field, Problem: fmt.Sprintf(format, arguments...)}
}

// Validate returns a *game.FieldError for what is missing, malformed or not an input of this scheme. Nothing is trimmed
// or folded on the way. The values of parameters are checked when the bet is derived.
func (s *Scheme) Validate(in *Input) error {
	if err := s.validateSeeds(in); err != nil {
		return err
	}
	return s.validateRest(in)
}

func (s *Scheme) validateSeeds(in *Input) error {
	if problem := s.seed.problem(in.ServerSeed); problem != "" {
		return refuse("serverSeed", "%s", problem)
	}
	return s.validateClientSeed(in.ClientSeed)
}

// validateRest is Validate without the seeds.
func (s *Scheme) validateRest(in *Input) error {
	if err := s.validateNonce(in.Nonce); err != nil {
		return err
	}
	for i, given := range in.Parameters {
		if !s.Knows(given.Name) {
			return refuse(given.Name, "is not a parameter of %s", s.Name)
		}
		for _, before := range in.Parameters[:i] {
			if before.Name == given.Name {
				return refuse(given.Name, "is given twice")
			}
		}
	}
	for _, p := range s.Parameters {
		if _, ok := in.parameter(p.Name); p.Required && !ok {
			return refuse(p.Name, "is required: %s", p.Usage)
		}
	}
	return nil
}

func (s *Scheme) validateClientSeed(text string) error {
	switch {
	case !s.hasClient && text != "":
		return refuse("clientSeed", "is not an input of %s", s.Name)
	case !s.hasClient:
		return nil
	default:
		return checkText("clientSeed", text)
	}
}

// checkText accepts well-formed UTF-8 of 1 to MaxTextBytes bytes.
func checkText(field, text string) error {
	switch {
	case text == "":
		return refuse(field, "must not be empty")
	case len(text) > MaxTextBytes:
		return refuse(field, "must not be longer than %d bytes", MaxTextBytes)
	case !utf8.ValidString(text):
		return refuse(field, "must be well-formed UTF-8")
	}
	return nil
}

func (s *Scheme) validateNonce(text string) error {
	switch {
	case !s.hasNonce && text != "":
		return refuse("nonce", "is not an input of %s", s.Name)
	case s.hasNonce && !isNumber(text):
		return refuse("nonce", "must be a whole number from 0 to 18446744073709551615, without leading zeros")
	}
	return nil
}

// isNumber reports whether a text is 0 or a number without leading zeros that fits 64 bits.
func isNumber(text string) bool {
	if text == "" || len(text) > MaxNonceDigits || text[0] == '0' && len(text) > 1 {
		return false
	}
	for i := range len(text) {
		if text[i] < '0' || text[i] > '9' {
			return false
		}
	}
	return len(text) < MaxNonceDigits || text <= "18446744073709551615"
}

// problem returns in words why a text is no server seed of this form, or "".
func (f seedForm) problem(text string) string {
	switch f {
	case seedHex64:
		return hexProblem(text, 64)
	case seedHex32:
		return hexProblem(text, 32)
	}
	const shape = "must be 16 to 64 characters of visible ASCII"
	switch {
	case strings.TrimSpace(text) != text:
		return shape + ": there is stray white space around it"
	case len(text) < 16, len(text) > 64:
		return fmt.Sprintf("%s, and it has %d", shape, len(text))
	}
	for i := range len(text) {
		if text[i] < 0x21 || text[i] > 0x7E {
			return shape
		}
	}
	return ""
}

// hexProblem returns in words why a text is not exactly this many lower-case hex digits, or "".
func hexProblem(text string, digits int) string {
	shape := fmt.Sprintf
	switch {
	case len(text) == digits && isLowerHex(text):
		return ""
	case strings.TrimSpace(text) != text:
		return shape("must be %d lower-case hex digits: there is stray white space around it", digits)
	case len(text) != digits:
		return shape("must be %d lower-case hex digits, and it has %d characters", digits, len(text))
	case isLowerHex(strings.ToLower(text)):
		return shape("must be %d lower-case hex digits: upper-case hex would hash to something else", digits)
	default:
		return shape("must be %d lower-case hex digits", digits)
	}
}

func isLowerHex(text string) bool {
	for i := range len(text) {
		if c := text[i]; (c < '0' || c > '9') && (c < 'a' || c > 'f') {
			return false
		}
	}
	return true
}

func (in *Input) parameter(name string) (string, bool) {
	for i := range in.Parameters {
		if in.Parameters[i].Name == name {
			return in.Parameters[i].Text, true
		}
	}
	return "", false
}

// number reads a whole number from least to most; absent gives otherwise.
func (in *Input) number(name string, least, most, otherwise uint64) (uint64, error) {
	text, ok := in.parameter(name)
	if !ok {
		return otherwise, nil
	}
	if isNumber(text) {
		if value, err := strconv.ParseUint(text, 10, 64); err == nil && value >= least && value <= most {
			return value, nil
		}
	}
	return 0, refuse(name, "must be a whole number from %d to %d", least, most)
}

// boolean reads true or false; absent is false.
func (in *Input) boolean(name string) (bool, error) {
	text, ok := in.parameter(name)
	if ok && text != "true" && text != "false" {
		return false, refuse(name, "must be true or false")
	}
	return text == "true", nil
}

// tiles reads a list of tiles with commas, each once, from first to first+24; absent is an empty list.
func (in *Input) tiles(name string, first uint8) ([]uint8, error) {
	text, ok := in.parameter(name)
	if !ok || text == "" {
		return nil, nil
	}
	var tiles []uint8
	var seen [tileCount]bool
	for part := range strings.SplitSeq(text, ",") {
		tile, err := strconv.ParseUint(part, 10, 8)
		if err != nil || !isNumber(part) || tile < uint64(first) || tile >= uint64(first)+tileCount || seen[tile-uint64(first)] {
			return nil, refuse(name, "must be tiles from %d to %d with commas, each once", first, first+tileCount-1)
		}
		seen[tile-uint64(first)] = true
		tiles = append(tiles, uint8(tile))
	}
	return tiles, nil
}

// hex reads exactly this many lower-case hex digits; absent gives otherwise.
func (in *Input) hex(name string, digits int, otherwise string) (string, error) {
	text, ok := in.parameter(name)
	if !ok {
		return otherwise, nil
	}
	if problem := hexProblem(text, digits); problem != "" {
		return "", refuse(name, "%s", problem)
	}
	return text, nil
}
