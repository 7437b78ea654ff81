package foreign

import "math/big"

// liqd is the house liqd. commitment = SHA-256(server seed text, 32 hex digits); key = server seed bytes (16): the two
// differ.
//
// Published in the audits of the organisation ProvablyFair-org (liqd-dice, liqd-mines), whose real bets are from before
// the house opened.
var liqd = House{
	Name:       "liqd",
	Commitment: "SHA-256 of the server seed's text",
	Source:     "github.com/ProvablyFair-org/liqd-dice, liqd-mines",
	Schemes: []*Scheme{
		{
			Name: "liqd-dice", House: "liqd", Game: "dice", Outcomes: []string{"rollE2", "win", "multiplier", "payout"},
			Parameters: []Parameter{
				{Name: "lower", Usage: "the lower bound, 0 to 100 with at most two decimals, such as 8.16"},
				{Name: "upper", Usage: "the upper bound, above lower and up to 100"},
				{Name: "inverted", Usage: "true when the bet was on a roll outside the bounds; false without"},
				stakeParameter,
			},
			Reproduced: 17, Real: 10,
			seed: seedHex32, hasClient: true, hasNonce: true, commitment: sha256OfText, derive: liqdDice,
		},
		{
			Name: "liqd-mines", House: "liqd", Game: "mines", Outcomes: []string{"mines", "win", "payout"},
			Parameters: []Parameter{mineCountParameter, {Name: "picks", Usage: "the tiles that were opened, 1 to 25 with commas, each once"}, stakeParameter},
			Reproduced: 20, Real: 20,
			seed: seedHex32, hasClient: true, hasNonce: true, commitment: sha256OfText, derive: liqdMines,
		},
	},
}

// liqdDecimals is how many decimals this house keeps of multipliers and amounts.
const liqdDecimals = 8

// liqdDice: `client:nonce:0`, the first word w < 4294960000, roll = w mod 10000 hundredths; a bet wins iff lower <= roll
// < upper, xor inverted. multiplier = half-even at 8 decimals of 9900/width, the width of what wins in hundredths; payout
// half-even at 8 decimals.
func liqdDice(d *Deriver, in *Input, out *Outcome) error {
	d.keyBytes(in.ServerSeed)
	d.start(in, ':')
	w, ok := firstBelow(d.at(':', 0), 4294960000)
	if !ok {
		return errAllRejected
	}
	roll := uint64(w % 10000)
	out.number("rollE2", roll)
	return liqdPay(in, out, roll)
}

func liqdPay(in *Input, out *Outcome, roll uint64) error {
	inverted, err := in.boolean("inverted")
	if err != nil {
		return err
	}
	stake, staked, err := in.amount("stake", liqdDecimals)
	if err != nil {
		return err
	}
	lower, hasLower, err := in.hundredths("lower", 10000)
	if err != nil {
		return err
	}
	upper, hasUpper, err := in.hundredths("upper", 10000)
	switch {
	case err != nil:
		return err
	case !hasLower && !hasUpper && !staked && !inverted:
		return nil
	case !hasLower:
		return refuse("lower", "is required with upper, inverted or stake")
	case !hasUpper || upper <= lower:
		return refuse("upper", "must be given, and above lower")
	}
	width := upper - lower
	if inverted {
		width = 10000 - width
	}
	if width == 0 {
		return refuse("inverted", "leaves no roll that wins")
	}
	win := (lower <= roll && roll < upper) != inverted
	multiplier := roundAt(fraction(9900, int64(width)), liqdDecimals, halfEven)
	out.boolean("win", win)
	out.string("multiplier", multiplier.FloatString(liqdDecimals))
	if staked {
		out.payout(win, stake.Mul(stake, multiplier), liqdDecimals, halfEven)
	}
	return nil
}

// liqdMines: p = 1..25; for i = 0..24: `client:nonce:i`, n = 25-i, the first word w < floor(2^32/n)*n, swap p[i],
// p[i + w mod n]; the first m in draw order. If all 8 words are rejected, the cursor grows by 1000000. payout = floor at 8
// decimals of stake * 0.99 * C(25,k)/C(25-m,k).
func liqdMines(d *Deriver, in *Input, out *Outcome) error {
	count, err := in.number("mineCount", 1, tileCount-1, 0)
	if err != nil {
		return err
	}
	d.keyBytes(in.ServerSeed)
	d.start(in, ':')
	tiles := drawLiqd(int(count), func(cursor uint64) *[32]byte { return d.at(':', cursor) })
	mines := tiles[:count]
	out.list("mines", mines)
	return payMines(in, out, mines, 1, liqdDecimals, floor, big.NewRat(99, 100), "")
}

// drawLiqd draws the first count tiles. The digests are given, so that a test can reject a whole one.
func drawLiqd(count int, at func(cursor uint64) *[32]byte) [tileCount]uint8 {
	tiles := newPool(1).tiles
	for i := range count {
		n := uint64(tileCount - i)
		cursor := uint64(i)
		w, ok := firstBelow(at(cursor), 1<<32/n*n)
		for !ok {
			cursor += 1000000
			w, ok = firstBelow(at(cursor), 1<<32/n*n)
		}
		j := i + int(uint64(w)%n)
		tiles[i], tiles[j] = tiles[j], tiles[i]
	}
	return tiles
}
