package foreign

import "encoding/binary"

// betkyo is the house betkyo. commitment = SHA-256(server seed text); key = server seed text; message
// `client-nonce-cursor`. u64 = the double nearest to (first 8 bytes)/2^64, u56 the same over 7 bytes, rounded once, as
// the house computes it; u may be 1.0. Its published verifier uses u64.
//
// Published in the repository betkyo-open-labs/provably-fair-verifier. Where the digest of its crash game comes from is
// not public.
var betkyo = House{
	Name:       "betkyo",
	Commitment: "SHA-256 of the server seed's text",
	Source:     "github.com/betkyo-open-labs/provably-fair-verifier",
	Schemes: []*Scheme{
		betkyoScheme("limbo", betkyoLimbo, "outcomeE2"),
		betkyoScheme("roulette", betkyoRoulette, "pocket"),
		betkyoScheme("die", betkyoDie, "die", Parameter{Name: "cursor", Usage: "the cursor of the die, 0 to 4294967295; 0 without"}),
		betkyoScheme("sicbo", betkyoSicBo, "dice"),
		betkyoScheme("koban", betkyoKoban, "faces", Parameter{Name: "flips", Usage: "how many coins, 1 to 255", Required: true}),
	},
}

func betkyoScheme(game string, derive func(*Deriver, *Input, *Outcome) error, outcome string, parameters ...Parameter) *Scheme {
	width := Parameter{Name: "width", Usage: "bits of the number: 64, as without, or 56"}
	return withParameters(seedPairScheme("betkyo", game, derive, 0, 0, outcome), append(parameters, width)...)
}

// betkyoUnit returns u at a cursor. Go converts an integer to the nearest double, ties to even, and the division by a
// power of two is exact.
func betkyoUnit(d *Deriver, in *Input, cursor uint64) (float64, error) {
	width, err := in.number("width", 56, 64, 64)
	if err != nil || width != 56 && width != 64 {
		return 0, refuse("width", "must be 56 or 64")
	}
	d.keyText(in.ServerSeed)
	d.start(in, '-')
	v := binary.BigEndian.Uint64(d.at('-', cursor)[:])
	if width == 56 {
		return unit56(v >> 8), nil
	}
	return unit64(v), nil
}

func unit64(v uint64) float64 { return float64(v) / (1 << 64) }

func unit56(v uint64) float64 { return float64(v) / (1 << 56) }

// betkyoLimbo: min(1000000, max(100, floor((0.99/(1-u)) * 100))) hundredths, in doubles in this order; u = 1 gives
// 1000000. Cursor 0.
func betkyoLimbo(d *Deriver, in *Input, out *Outcome) error {
	u, err := betkyoUnit(d, in, 0)
	if err != nil {
		return err
	}
	out.number("outcomeE2", limboE2(u))
	return nil
}

func limboE2(u float64) uint64 {
	const most = 1000000
	if u >= 1 {
		return most
	}
	quotient := float64(0.99 / float64(1-u))
	hundredths := float64(quotient * 100)
	if hundredths >= most {
		return most
	}
	return max(100, uint64(hundredths))
}

// floorOf is min(floor(u * n), n - 1).
func floorOf(u float64, n uint64) uint64 { return min(uint64(float64(u*float64(n))), n-1) }

// betkyoRoulette: pocket = min(floor(u * 37), 36). Cursor 0.
func betkyoRoulette(d *Deriver, in *Input, out *Outcome) error {
	u, err := betkyoUnit(d, in, 0)
	if err != nil {
		return err
	}
	out.number("pocket", floorOf(u, 37))
	return nil
}

// betkyoDie: min(floor(u * 6), 5) + 1.
func betkyoDie(d *Deriver, in *Input, out *Outcome) error {
	cursor, err := in.number("cursor", 0, 1<<32-1, 0)
	if err != nil {
		return err
	}
	u, err := betkyoUnit(d, in, cursor)
	if err != nil {
		return err
	}
	out.number("die", floorOf(u, 6)+1)
	return nil
}

// betkyoSicBo: three dice, at the cursors 0, 1, 2.
func betkyoSicBo(d *Deriver, in *Input, out *Outcome) error {
	var dice [3]uint8
	for i := range dice {
		u, err := betkyoUnit(d, in, uint64(i))
		if err != nil {
			return err
		}
		dice[i] = uint8(floorOf(u, 6) + 1)
	}
	out.list("dice", dice[:])
	return nil
}

// betkyoKoban: face i = 0 if u at cursor i < 0.5, else 1.
func betkyoKoban(d *Deriver, in *Input, out *Outcome) error {
	flips, err := in.number("flips", 1, 255, 0)
	if err != nil {
		return err
	}
	faces := make([]uint8, flips)
	for i := range faces {
		u, err := betkyoUnit(d, in, uint64(i))
		if err != nil {
			return err
		}
		faces[i] = face(u)
	}
	out.list("faces", faces)
	return nil
}

func face(u float64) uint8 {
	if u < 0.5 {
		return 0
	}
	return 1
}
