package foreign

// bustabit is the house bustabit.com: one chain of game hashes an era. The server seed of a game is its hash.
//
// Published: v1 in the repository bustabit/v1-gameserver; v2 in bitcointalk topic 2807542; v3 in bitcointalk topic
// 5560454 and on the house's verifier page.
var bustabit = House{
	Name:       "bustabit",
	Commitment: "the terminal hash of a chain, announced before its salt was known",
	Source:     "github.com/bustabit/v1-gameserver; bitcointalk 2807542 and 5560454",
	Schemes: []*Scheme{
		bustabitScheme("v1", &chainOfText, bustabitV1, 0, defaultSalt(bustabitV1Salt)),
		bustabitScheme("v2", &chainOfText, bustabitV2, 3, defaultSalt(bustabitV2Salt)),
		bustabitScheme("v3", &chainOfBytes, bustabitV3, 6, defaultSalt(bustabitV3Salt)),
		bustabitScheme("v3-vx", &chainOfBytes, bustabitVx, 0,
			Parameter{Name: "signature", Usage: "the signature of Vx, 96 bytes as 192 hex digits", Required: true}),
	},
}

// The salts of the chains: hashes of Bitcoin blocks named in advance, 339300, 505750, and that of the third seeding.
const (
	bustabitV1Salt = "000000000000000007a9a31ff7f07463d91af6b5454241d5faf282e5e0fe1b3a"
	bustabitV2Salt = "0000000000000000004d6ec16dafe9d8370958664c1dc422f452892264c59526"
	bustabitV3Salt = "00000000000000000001e08b7fd44f95e3e950ac65650a8031a6d5e1750e34be"
)

func defaultSalt(salt string) Parameter {
	return Parameter{Name: "salt", Usage: "the salt of the chain, 16 to 64 visible ASCII characters; without it that of the house's own chain, " + salt}
}

func bustabitScheme(version string, chain *Chain, derive func(*Deriver, *Input, *Outcome) error, realBets int, parameter Parameter) *Scheme {
	return &Scheme{
		Name: "bustabit-crash-" + version, House: "bustabit", Game: "crash", Version: version, Outcomes: []string{"crashE2"},
		Parameters: []Parameter{parameter}, Reproduced: realBets, Real: realBets, Chain: chain, seed: seedHex64, derive: derive,
	}
}

// bustE is E = 2^52.
const bustE = 1 << 52

// bustabitV1 (games before 2018): chain over hex text; m = H(game hash text, salt text); 0 if m, all 256 bits, mod 101 =
// 0, else floor((100E - r)/(E - r)) hundredths.
func bustabitV1(d *Deriver, in *Input, out *Outcome) error {
	salt, err := in.salt(bustabitV1Salt)
	if err != nil {
		return err
	}
	d.keyText(in.ServerSeed)
	digest := d.hash([]byte(salt))
	remainder := uint32(0)
	for _, b := range digest {
		remainder = (remainder<<8 | uint32(b)) % 101
	}
	if remainder == 0 {
		out.number("crashE2", 0)
		return nil
	}
	r := top52(digest)
	out.number("crashE2", (100*bustE-r)/(bustE-r))
	return nil
}

// bustabitV2 (games 1 to 10,000,000): chain over hex text; m = H(salt text, raw game hash); max(100, floor(99E/(E - r)))
// hundredths.
func bustabitV2(d *Deriver, in *Input, out *Outcome) error {
	return bustabitSalted(d, in, out, bustabitV2Salt)
}

// bustabitV3 (games above 12,279,450): as v2, with the chain over raw bytes.
func bustabitV3(d *Deriver, in *Input, out *Outcome) error {
	return bustabitSalted(d, in, out, bustabitV3Salt)
}

func bustabitSalted(d *Deriver, in *Input, out *Outcome, otherwise string) error {
	salt, err := in.salt(otherwise)
	if err != nil {
		return err
	}
	d.keyText(salt)
	out.number("crashE2", bustE2(d.hash(decode(in.ServerSeed))))
	return nil
}

// bustabitVx (games 10,000,001 to 12,279,450): as v3, with the 96 bytes of a signature as the key. That the signature is
// Vx's is not checked here.
func bustabitVx(d *Deriver, in *Input, out *Outcome) error {
	signature, err := in.hex("signature", 192, "")
	if err != nil {
		return err
	}
	d.keyBytes(signature)
	out.number("crashE2", bustE2(d.hash(decode(in.ServerSeed))))
	out.note("the signature was used as it was given: it was not checked that Vx made it")
	return nil
}

func bustE2(digest *[32]byte) uint64 { return max(100, 99*bustE/(bustE-top52(digest))) }

// salt reads the salt of a chain, 1 to 64 bytes: a longer key would be hashed down.
func (in *Input) salt(otherwise string) (string, error) {
	salt, ok := in.parameter("salt")
	if !ok {
		return otherwise, nil
	}
	if problem := seedText.problem(salt); problem != "" {
		return "", refuse("salt", "%s", problem)
	}
	return salt, nil
}
