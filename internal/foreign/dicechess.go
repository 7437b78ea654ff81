package foreign

import (
	"fmt"

	"github.com/openoriginals/originals/internal/game/duel"
	"github.com/openoriginals/originals/internal/rng"
)

// dicechess is Dice Chess, whose dice our own duel-v1 follows: commitment = SHA-256(server seed bytes); key = the 32
// bytes; message and dice as in package duel.
//
// Published on the fairness page of Dice Chess. Its prose leaves the counter out of block 0, its program does not.
var dicechess = House{
	Name:       "dicechess",
	Commitment: "SHA-256 of the server seed's 32 bytes",
	Source:     "the fairness page of Dice Chess, with a published game",
	Schemes: []*Scheme{{
		Name: "dicechess-rolls", House: "dicechess", Game: "rolls", Outcomes: []string{"dice"}, Reproduced: 4,
		Parameters: []Parameter{
			{Name: "whiteSeed", Usage: "the client seed of White, 16 to 256 UTF-16 units of well-formed text", Required: true},
			{Name: "blackSeed", Usage: "the client seed of Black, likewise", Required: true},
			{Name: "ply", Usage: "the number of the roll, 0 to 18446744073709551615", Required: true},
		},
		seed: seedHex64, commitment: sha256OfBytes, derive: dicechessRolls,
	}},
}

// dicechessRolls: the three dice of one ply, exactly as package duel derives them.
func dicechessRolls(_ *Deriver, in *Input, out *Outcome) error {
	var seats [2]string
	for i, name := range []string{"whiteSeed", "blackSeed"} {
		seats[i], _ = in.parameter(name)
		if !duel.IsForeignSeed(seats[i]) {
			return refuse(name, "must be 16 to 256 UTF-16 units of well-formed Unicode")
		}
	}
	ply, err := in.number("ply", 0, 1<<64-1, 0)
	if err != nil {
		return err
	}
	serverSeed, err := rng.ParseServerSeed(in.ServerSeed)
	if err != nil {
		return fmt.Errorf("dicechess: %w", err)
	}
	dice, err := duel.Roll(serverSeed, seats[0], seats[1], ply)
	if err != nil {
		return fmt.Errorf("dicechess: %w", err)
	}
	out.list("dice", dice[:])
	return nil
}
