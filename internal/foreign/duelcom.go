package foreign

import "math/big"

// duelCom is the house duel.com. commitment = SHA-256(server seed bytes); key = server seed bytes.
//
// Published on duel.com/fairness and in the audits of the organisation ProvablyFair-org (duel-dice, duel-mines,
// duel-crash).
var duelCom = House{
	Name:       "duel.com",
	Commitment: "SHA-256 of the server seed's 32 bytes",
	Source:     "duel.com/fairness; github.com/ProvablyFair-org/duel-dice, duel-mines, duel-crash",
	Schemes: []*Scheme{
		{
			Name: "duel.com-dice", House: "duel.com", Game: "dice", Outcomes: []string{"roll", "win", "multiplier", "payout"},
			Parameters: []Parameter{{Name: "target", Usage: "of a bet OVER this number, 0 to 9999"}, stakeParameter}, Reproduced: 4, Real: 4,
			seed: seedHex64, hasClient: true, hasNonce: true, commitment: sha256OfBytes, derive: duelDice,
		},
		{
			Name: "duel.com-mines", House: "duel.com", Game: "mines", Outcomes: []string{"mines", "win", "fairMultiplier", "payout"},
			Parameters: []Parameter{mineCountParameter, picksParameter, stakeParameter}, Reproduced: 10, Real: 10,
			seed: seedHex64, hasClient: true, hasNonce: true, commitment: sha256OfBytes, derive: duelMines,
		},
		{
			Name: "duel.com-crash", House: "duel.com", Game: "crash", Outcomes: []string{"crashE2"},
			Parameters: []Parameter{{Name: "beaconSignature", Usage: "the signature of the drand round, 48 bytes as 96 hex digits", Required: true}},
			Reproduced: 19, Real: 19,
			seed: seedHex64, commitment: sha256OfBytes, derive: duelCrash,
		},
	},
}

// duelDecimals is how many decimals this house keeps of multipliers and amounts.
const duelDecimals = 18

// duelDice: message `client:nonce`, without a cursor; the first of the 8 words w < 4294959453; roll = w mod 10001. A bet
// OVER target wins if roll > target; multiplier = 0.999 * 10001 / (10000 - target), half up at 18 decimals.
func duelDice(d *Deriver, in *Input, out *Outcome) error {
	d.keyBytes(in.ServerSeed)
	d.start(in, ':')
	roll, ok := duelRoll(d.sum())
	if !ok {
		return errAllRejected
	}
	out.number("roll", roll)
	target, err := in.number("target", 0, 9999, 10000)
	stake, staked, stakeErr := in.amount("stake", duelDecimals)
	switch _, given := in.parameter("target"); {
	case err != nil:
		return err
	case stakeErr != nil:
		return stakeErr
	case !given && staked:
		return refuse("target", "is required for a payout")
	case !given:
		return nil
	}
	multiplier := roundAt(fraction(999*10001, 1000*int64(10000-target)), duelDecimals, halfUp)
	win := roll > target
	out.boolean("win", win)
	out.string("multiplier", multiplier.FloatString(duelDecimals))
	if staked {
		out.payout(win, stake.Mul(stake, multiplier), duelDecimals, halfUp)
	}
	return nil
}

// duelMines: p = 0..24; for i = 24..1: message `client:nonce:(24-i)`, the first word w < M - M mod (i+1), M = 2^32-1,
// strict; swap p[i], p[w mod (i+1)]; mines = p[0..m-1] as a set, listed ascending. The multiplier without an edge is
// C(25,k)/C(25-m,k), half up at 18 decimals; payout = stake * 0.999 * C(25,k)/C(25-m,k), likewise.
func duelMines(d *Deriver, in *Input, out *Outcome) error {
	count, err := in.number("mineCount", 1, tileCount-1, 0)
	if err != nil {
		return err
	}
	d.keyBytes(in.ServerSeed)
	d.start(in, ':')
	tiles, ok := drawDuel(func(cursor uint64) *[32]byte { return d.at(':', cursor) })
	if !ok {
		return errAllRejected
	}
	mines := ascending(tiles[:count])
	out.list("mines", mines)
	return payMines(in, out, mines, 0, duelDecimals, halfUp, fraction(999, 1000), "fairMultiplier")
}

// errAllRejected: eight words that are all too large come once in 10^46 bets.
var errAllRejected = refuse("nonce", "gives eight words that are all rejected: the house has not published what it does then")

func duelRoll(digest *[32]byte) (roll uint64, ok bool) {
	w, ok := firstBelow(digest, 4294959453)
	return uint64(w % 10001), ok
}

// drawDuel shuffles the tiles. The digests are given, so that a test can reject words.
func drawDuel(at func(cursor uint64) *[32]byte) (tiles [tileCount]uint8, ok bool) {
	tiles = newPool(0).tiles
	for i := tileCount - 1; i >= 1; i-- {
		n := uint32(i + 1)
		const most = 1<<32 - 1
		w, ok := firstBelow(at(uint64(tileCount-1-i)), most-most%uint64(n))
		if !ok {
			return tiles, false
		}
		tiles[i], tiles[w%n] = tiles[w%n], tiles[i]
	}
	return tiles, true
}

// duelCrash: message = the WHATWG UTF-8 decode of the 48 beacon signature bytes (U+FFFD for maximal subparts), then
// `:0`; max(100, floor(999 * 2^32 / (10 * (w+1)))) hundredths.
func duelCrash(d *Deriver, in *Input, out *Outcome) error {
	signature, err := in.hex("beaconSignature", 96, "")
	if err != nil {
		return err
	}
	d.keyBytes(in.ServerSeed)
	message := append(decodeLossy(decode(signature)), ":0"...)
	w := uint64(word(d.hash(message), 0))
	out.number("crashE2", max(100, 999<<32/(10*(w+1))))
	out.note("the beacon signature was used as it was given: it was not checked that drand made it")
	return nil
}

// firstBelow returns the first of the eight words below a limit.
func firstBelow(digest *[32]byte, limit uint64) (w uint32, ok bool) {
	for i := range 8 {
		if w = word(digest, i); uint64(w) < limit {
			return w, true
		}
	}
	return 0, false
}

// payMines tells how picks ended and what they pay. Tiles count from first.
func payMines(in *Input, out *Outcome, mines []uint8, first uint8, decimals int, mode rounding, edge *big.Rat, multiplierName string) error {
	picks, err := in.tiles("picks", first)
	if err != nil {
		return err
	}
	stake, staked, err := in.amount("stake", decimals)
	switch {
	case err != nil:
		return err
	case len(picks) == 0 && staked:
		return refuse("picks", "are required for a payout")
	case len(picks) == 0:
		return nil
	}
	win := !anyOf(picks, mines)
	out.boolean("win", win)
	if !win {
		if staked {
			out.string("payout", "0")
		}
		return nil
	}
	k, m := int64(len(picks)), int64(len(mines))
	fair := new(big.Rat).SetFrac(new(big.Int).Binomial(tileCount, k), new(big.Int).Binomial(tileCount-m, k))
	if multiplierName != "" {
		out.string(multiplierName, roundAt(fair, decimals, mode).FloatString(decimals))
	}
	if staked {
		out.payout(true, stake.Mul(stake, fair.Mul(fair, edge)), decimals, mode)
	}
	return nil
}
