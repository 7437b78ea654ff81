package seedpair

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/openoriginals/originals/internal/bet"
	"github.com/openoriginals/originals/internal/game/crash"
	"github.com/openoriginals/originals/internal/game/mines"
	"github.com/openoriginals/originals/internal/game/roulette"
	"github.com/openoriginals/originals/internal/rng"
	"github.com/openoriginals/originals/internal/rtp"
	originalsv1 "github.com/openoriginals/originals/proto/originals/v1"
)

// rtpDecimals is how many decimals of a return are shown beside the fraction.
const rtpDecimals = 8

// ListGames describes every game: limits, paytable and exact return.
func (s *Service) ListGames(context.Context, *originalsv1.ListGamesRequest) (*originalsv1.ListGamesResponse, error) {
	res := &originalsv1.ListGamesResponse{}
	games := bet.Games
	if len(s.o.House.Crash.Tables) > 0 {
		games = append(slices.Clone(games), bet.Crash)
	}
	for _, g := range games {
		lowest, highest, ok := rtp.Ends(rtp.Game(strings.ToUpper(g.String())))
		if !ok {
			return nil, fmt.Errorf("seedpair: no return is known for %s", g)
		}
		res.Games = append(res.Games, &originalsv1.GameInfo{
			Game: originalsv1.Game(g), Scheme: scheme(g), Edge: edge(g),
			RtpMin: rtp.Decimal(lowest.RTP, rtpDecimals), RtpMax: rtp.Decimal(highest.RTP, rtpDecimals),
			RtpMinExact: lowest.RTP.RatString(), RtpMaxExact: highest.RTP.RatString(),
			Limits: s.limits(g), Paytable: paytable(g),
		})
	}
	return res, nil
}

func (s *Service) limits(g bet.Game) []*originalsv1.GameLimits {
	var all []*originalsv1.GameLimits
	for _, c := range s.o.House.Currencies {
		l, ok := s.o.House.Limits(g, c.Code)
		if !ok {
			continue
		}
		all = append(all, &originalsv1.GameLimits{
			Currency: string(c.Code), Exponent: int32(c.Exponent),
			MinStake: int64(l.MinStake), MaxStake: int64(l.MaxStake), MaxPayout: int64(l.MaxPayout),
		})
	}
	return all
}

func scheme(g bet.Game) string {
	if g == bet.Crash {
		return crash.Scheme
	}
	return rng.Scheme
}

// edge is the nominal house edge: 1 %, and 1/37 in roulette (rng/SPEC.md). That
// of crash grows with the target (rng/SPEC.md): this is what it is at 2.00x.
func edge(g bet.Game) string {
	switch g {
	case bet.Roulette:
		return "0.02702702"
	case bet.Crash:
		return "0.00502512"
	}
	return "0.01"
}

func paytable(g bet.Game) *originalsv1.Paytable {
	switch g {
	case bet.Dice:
		return &originalsv1.Paytable{Formula: "multiplierE4 = floor(99000000 / w); w winning rolls of 10000: OVER 9999 - target (199 to 9998), UNDER target (1 to 9800)"}
	case bet.Limbo:
		return &originalsv1.Paytable{Formula: "multiplierE4 = targetE2 * 100, if the outcome reaches the target (101 to 1000000)"}
	case bet.Crash:
		return &originalsv1.Paytable{Formula: "multiplierE4 = cashOutE2 * 100, if the crash point reaches it; P(crash >= m) = floor(99 * 2^52 / (m - 1)) / 2^52 for m = 101 to 1000000 hundredths, an edge of 0.01 * (m - 100) / (m - 1)"}
	case bet.Roulette:
		return &originalsv1.Paytable{Formula: "payout = sum over the winning chips of amount * multiplierE4 / 10000; 1 to 32 chips", Rows: rouletteRows()}
	}
	return &originalsv1.Paytable{Formula: "multiplierE4 = floor(9900 * C(25,picks) / C(25-mines,picks)); 1 to 24 mines", Rows: minesRows()}
}

// rouletteRows has one row a kind of chip.
func rouletteRows() []*originalsv1.Paytable_Row {
	var rows []*originalsv1.Paytable_Row
	var last roulette.Kind
	for _, c := range roulette.All() {
		if c.Kind != last {
			rows = append(rows, &originalsv1.Paytable_Row{Bet: c.Kind.String(), MultiplierE4: c.Return() * 10000})
			last = c.Kind
		}
	}
	return rows
}

func minesRows() []*originalsv1.Paytable_Row {
	var rows []*originalsv1.Paytable_Row
	for m := uint8(1); m <= mines.MaxMines; m++ {
		for k := uint8(1); k <= mines.Tiles-m; k++ {
			rows = append(rows, &originalsv1.Paytable_Row{
				Bet: fmt.Sprintf("mines=%d picks=%d", m, k), MultiplierE4: int64(mines.Multiplier(m, k)),
			})
		}
	}
	return rows
}
