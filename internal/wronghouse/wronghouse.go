// Package wronghouse recognises a bet of ours that is taken for one of another house, and the reverse; it must never
// import a service or a store, and nothing that plays imports it.
package wronghouse

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/openoriginals/originals/internal/bet"
	"github.com/openoriginals/originals/internal/evidence"
	"github.com/openoriginals/originals/internal/foreign"
	"github.com/openoriginals/originals/internal/game/dice"
	"github.com/openoriginals/originals/internal/game/limbo"
	"github.com/openoriginals/originals/internal/mistake"
	"github.com/openoriginals/originals/internal/rng"
)

// NoteOurs notes when the outcomes that another house does not give are those of a bet of ours, and names the mistake.
func NoteOurs(claim *foreign.Claim, j *foreign.Judgement) {
	failed := slices.ContainsFunc(j.Failures, func(f foreign.Failure) bool { return f.Check == "outcome" })
	if !failed || !areOurs(claim) {
		return
	}
	j.Notes = append(j.Notes, rng.Scheme+" would give what is stated: is it a bet of ours?")
	for i := range j.Failures {
		if f := &j.Failures[i]; f.Check == "outcome" && f.Mistake == "" {
			f.Mistake = mistake.OtherHouse
		}
	}
}

func areOurs(claim *foreign.Claim) bool {
	in := claim.Input
	serverSeed, err := rng.ParseServerSeed(in.ServerSeed)
	if err != nil {
		return false
	}
	nonce, err := rng.ParseNonce(in.Nonce)
	if err != nil {
		return false
	}
	signature, err := serverSeed.Sign(rng.ClientSeed(in.ClientSeed), nonce)
	if err != nil {
		return false
	}
	values := ourValues(claim.Scheme.Game, in, signature)
	return !slices.ContainsFunc(claim.Stated, func(g foreign.Given) bool { return !slices.Contains(values, g) })
}

// ourValues is what our game of this name gives, as other houses name and
// write it.
func ourValues(gameName string, in foreign.Input, signature rng.Signature) (values []foreign.Given) {
	b := bet.Bet{Dice: dice.Bet{Target: 5000, Direction: dice.Over}, Limbo: limbo.Bet{TargetE2: 200}, MineCount: 1}
	at := slices.IndexFunc(bet.Games, func(g bet.Game) bool { return g.String() == gameName })
	if at < 0 {
		return nil
	}
	b.Game = bet.Games[at]
	for _, p := range in.Parameters {
		if p.Name != "mineCount" {
			continue
		}
		count, err := strconv.ParseUint(p.Text, 10, 8)
		if err != nil {
			return nil
		}
		b.MineCount = uint8(count)
	}
	if b.Validate() != nil && b.Game != bet.Roulette { // which has no chips here
		return nil
	}
	o, err := b.Outcome(signature, 0, nil)
	if err != nil {
		return nil
	}
	add := func(name string, number uint32) {
		values = append(values, foreign.Given{Name: name, Text: fmt.Sprint(number)}, foreign.Given{Name: name + "E2", Text: fmt.Sprint(number)},
			foreign.Given{Name: name, Text: fmt.Sprintf("%d.%02d", number/100, number%100)})
	}
	switch b.Game {
	case bet.Dice:
		add("roll", o.Dice.Roll)
	case bet.Limbo:
		add("outcome", o.Limbo.OutcomeE2)
	case bet.Roulette:
		add("pocket", uint32(o.Pocket))
	case bet.Mines:
		values = append(values, foreign.Given{Name: "mines", Text: strings.Trim(strings.ReplaceAll(fmt.Sprint(o.Mines), " ", ","), "[]")})
	}
	return values
}

// NoteOthers notes when an outcome that our scheme does not give is that of another house, and names the mistake.
func NoteOthers(claim evidence.Claim, r *evidence.Result) {
	if r.Report.Verdict != evidence.Failed {
		return
	}
	in := foreign.Input{ServerSeed: claim.ServerSeed.Reveal(), ClientSeed: string(claim.ClientSeed), Nonce: fmt.Sprint(claim.Nonce)}
	if claim.Bet.Game == bet.Mines {
		in.Parameters = []foreign.Given{{Name: "mineCount", Text: fmt.Sprint(claim.Bet.MineCount)}}
	}
	for _, name := range []string{"roll", "outcomeE2", "pocket", "mines"} {
		text, ok := claim.Stated[name]
		if !ok || slices.Contains(r.Values, evidence.Value{Name: name, Text: text}) {
			continue
		}
		stated := foreign.Given{Name: name, Text: text}
		if name == "roll" {
			stated.Name = "rollE2" // ours is in hundredths
		}
		noteOthers(&r.Report, claim.Bet.Game.String(), name, in, stated)
	}
}

func noteOthers(r *evidence.Report, game, name string, in foreign.Input, stated foreign.Given) {
	if others := foreign.OtherHouses(nil, game, in, stated); len(others) > 0 {
		r.Notes = append(r.Notes, fmt.Sprintf("%s would give %s %s: is it a bet of another house?", strings.Join(others, " and "), name, stated.Text))
		r.NameOutcome(mistake.OtherHouse)
	}
}

// NoteOtherTables notes when a crash point that our scheme does not give is that of another house, and names the mistake.
func NoteOtherTables(claim evidence.CrashClaim, r *evidence.CrashResult) {
	text, ok := claim.Stated["crashE2"]
	if !ok || slices.Contains(r.Values, evidence.Value{Name: "crashE2", Text: text}) {
		return
	}
	in := foreign.Input{ServerSeed: claim.Link.Reveal(), Parameters: []foreign.Given{{Name: "salt", Text: string(r.Salt)}}}
	noteOthers(&r.Report, bet.Crash.String(), "crashE2", in, foreign.Given{Name: "crashE2", Text: text})
}
