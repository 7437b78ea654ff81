package foreign

import "math/big"

// bcgame is the crash of the house bc.game: one chain of game hashes; the server seed of a game is its hash.
//
// Published in bitcointalk topic 5256606. Several chains with salts of their own followed each other, so the salt has to
// be given.
var bcgame = House{
	Name:       "bcgame",
	Commitment: "the terminal hash of a chain, announced before its salt was known",
	Source:     "bitcointalk 5256606",
	Schemes: []*Scheme{{
		Name: "bcgame-crash", House: "bcgame", Game: "crash", Outcomes: []string{"crashE2", "infinite"},
		Parameters: []Parameter{saltParameter}, Chain: &chainOfText, seed: seedHex64, derive: bcgameCrash,
	}},
}

// bcgameCrash: X = r/E to 9 significant digits, r of H(salt text, raw game hash); max(100, floor(99/(1-X))) hundredths;
// X = 1 is "infinite". hash of game n-1 = SHA-256(hex text of the hash of game n).
func bcgameCrash(d *Deriver, in *Input, out *Outcome) error {
	salt, err := in.salt("")
	if err != nil {
		return err
	}
	d.keyText(salt)
	crash, finite := bcgameE2(top52(d.hash(decode(in.ServerSeed))))
	if !finite {
		out.boolean("infinite", true)
		out.note("X rounds to 1: the house's formula divides by zero, and the crash point is infinite")
		return nil
	}
	out.number("crashE2", crash)
	return nil
}

// bcgameE2 maps r < 2^52 in integers. X = digits / power with 10^8 <= digits <= 10^9: the quotient rounded half up, as
// JavaScript's toPrecision(9) does.
func bcgameE2(r uint64) (crash uint64, finite bool) {
	if r == 0 {
		return 100, true
	}
	power, least := big.NewInt(1), big.NewInt(100000000)
	least.Lsh(least, 52)
	scaled := new(big.Int).SetUint64(r)
	for ten := big.NewInt(10); scaled.Cmp(least) < 0; { // X * power reaches 10^8
		scaled.Mul(scaled, ten)
		power.Mul(power, ten)
	}
	half := big.NewInt(1 << 51)
	digits := scaled.Rsh(scaled.Add(scaled, half), 52)
	below := new(big.Int).Sub(power, digits) // (1 - X) * power
	if below.Sign() == 0 {
		return 0, false
	}
	quotient := power.Mul(power, big.NewInt(99))
	return max(100, quotient.Quo(quotient, below).Uint64()), true
}
