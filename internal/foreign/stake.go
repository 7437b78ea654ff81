package foreign

// tileCount is the number of tiles of a board of mines, at every house here.
const tileCount = 25

var (
	mineCountParameter = Parameter{Name: "mineCount", Usage: "how many mines, 1 to 24", Required: true}
	picksParameter     = Parameter{Name: "picks", Usage: "the tiles that were opened, 0 to 24 with commas, each once"}
	stakeParameter     = Parameter{Name: "stake", Usage: "the stake as a decimal above 0, such as 0.01, to see the payout"}
	firstTileParameter = Parameter{Name: "firstTile", Usage: "the number of the first tile in lists, 0 (as the game does, and without) or 1 (as the house's calculator does)"}
	saltParameter      = Parameter{Name: "salt", Usage: "the salt of the chain, as text: mostly the hash of a Bitcoin block", Required: true}
)

// stake is the house stake.com. Seeds are texts: commitment = SHA-256(server seed text); key = server seed text; block j
// = H(key, `client:nonce:j`), j = 0, 1, 2; eight words w a block, in order.
//
// Published on the pages "Provable fairness" of stake.com; the crash chain in bitcointalk topic 5162888.
var stake = House{
	Name:       "stake",
	Commitment: "SHA-256 of the server seed's text; crash: the terminal hash of its chain",
	Source:     "stake.com/provably-fair; bitcointalk 5162888 (crash)",
	Schemes: []*Scheme{
		seedPairScheme("stake", "dice", stakeDice, 25, 18, "rollE2"),
		seedPairScheme("stake", "limbo", stakeLimbo, 31, 22, "outcomeE2", "olderOutcomeE2"),
		seedPairScheme("stake", "roulette", stakeRoulette, 33, 28, "pocket"),
		withParameters(seedPairScheme("stake", "mines", stakeMines, 42, 30, "mines"), mineCountParameter, firstTileParameter),
		{
			Name: "stake-crash", House: "stake", Game: "crash", Outcomes: []string{"crashE2"}, Reproduced: 15, Real: 6,
			Parameters: []Parameter{saltParameter}, Chain: &chainOfText, seed: seedHex64, derive: stakeCrash,
		},
	},
}

// seedPairScheme is a scheme of a seed pair whose server seed is a text, hashed with SHA-256.
func seedPairScheme(house, game string, derive func(*Deriver, *Input, *Outcome) error, reproduced, realBets int, outcomes ...string) *Scheme {
	return &Scheme{
		Name: house + "-" + game, House: house, Game: game, Outcomes: outcomes, Reproduced: reproduced, Real: realBets,
		seed: seedText, hasClient: true, hasNonce: true, commitment: sha256OfText, derive: derive,
	}
}

func withParameters(s *Scheme, parameters ...Parameter) *Scheme {
	s.Parameters = parameters
	return s
}

// stakeDice: roll = floor(w * 10001 / 2^32) hundredths, 0.00 to 100.00.
func stakeDice(d *Deriver, in *Input, out *Outcome) error {
	out.number("rollE2", scale(stakeWord(d, in), 10001))
	return nil
}

// stakeLimbo: max(100, floor(99 * 2^24 / ((w >> 8) + 1))) hundredths; an older form is max(100, floor(99 * 2^32 / w)).
// Both are given where they differ.
func stakeLimbo(d *Deriver, in *Input, out *Outcome) error {
	w := uint64(stakeWord(d, in))
	outcome := max(100, 99<<24/(w>>8+1))
	out.number("outcomeE2", outcome)
	if w == 0 {
		out.note("by the older formula this outcome is infinite")
		return nil
	}
	if older := max(100, 99<<32/w); older != outcome {
		out.number("olderOutcomeE2", older)
		out.note("the house has published two formulas for limbo, and here they differ: outcomeE2 is the newer")
	}
	return nil
}

// stakeRoulette: pocket = floor(w * 37 / 2^32).
func stakeRoulette(d *Deriver, in *Input, out *Outcome) error {
	out.number("pocket", scale(stakeWord(d, in), 37))
	return nil
}

// stakeMines: pool = 0..24; the i-th mine is taken out of the pool at floor(w_i * len / 2^32), the order of the rest
// kept. w_i is the i-th word over all blocks.
func stakeMines(d *Deriver, in *Input, out *Outcome) error {
	count, err := in.number("mineCount", 1, tileCount-1, 0)
	if err != nil {
		return err
	}
	first, err := in.number("firstTile", 0, 1, 0)
	if err != nil {
		return err
	}
	d.keyText(in.ServerSeed)
	d.start(in, ':')
	var mines [tileCount]uint8
	pool := newPool(uint8(first))
	for i := range int(count) {
		if i%8 == 0 {
			d.at(':', uint64(i/8))
		}
		mines[i] = pool.take(scale(word(d.digest, i%8), uint64(pool.left)))
	}
	out.list("mines", mines[:count])
	return nil
}

// stakeCrash: the server seed is the game hash; w of H(game hash text, salt text); max(100, floor(99 * 2^32 / (w+1)))
// hundredths. hash of game n-1 = SHA-256(hex text of the hash of game n).
func stakeCrash(d *Deriver, in *Input, out *Outcome) error {
	salt, _ := in.parameter("salt")
	if err := checkText("salt", salt); err != nil {
		return err
	}
	d.keyText(in.ServerSeed)
	out.number("crashE2", stakeCrashE2(word(d.hash([]byte(salt)), 0)))
	return nil
}

func stakeCrashE2(w uint32) uint64 { return max(100, 99<<32/(uint64(w)+1)) }

// stakeWord is the first word of block 0.
func stakeWord(d *Deriver, in *Input) uint32 {
	d.keyText(in.ServerSeed)
	d.start(in, ':')
	return word(d.at(':', 0), 0)
}

// pool is the tiles that are left, in their order.
type pool struct {
	tiles [tileCount]uint8
	left  int
}

func newPool(first uint8) pool {
	p := pool{left: tileCount}
	for i := range p.tiles {
		p.tiles[i] = first + uint8(i)
	}
	return p
}

// take removes the k-th tile, k < left, and keeps the order of the rest.
func (p *pool) take(k uint64) uint8 {
	tile := p.tiles[k]
	copy(p.tiles[k:p.left], p.tiles[k+1:p.left])
	p.left--
	return tile
}
