package duel

import (
	"encoding/hex"
	"time"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/openoriginals/originals/internal/duelstore"
	"github.com/openoriginals/originals/internal/game/duel"
	originalsv1 "github.com/openoriginals/originals/proto/originals/v1"
)

// Format is the name of the document that a duel is.
const Format = "originals-duel-v1"

var states = map[duelstore.State]originalsv1.Duel_State{
	duelstore.Committing: originalsv1.Duel_COMMITTING, duelstore.Seeding: originalsv1.Duel_SEEDING,
	duelstore.Ready: originalsv1.Duel_READY, duelstore.Playing: originalsv1.Duel_PLAYING,
	duelstore.Ended: originalsv1.Duel_ENDED, duelstore.Forfeited: originalsv1.Duel_FORFEITED, duelstore.Void: originalsv1.Duel_VOID,
}

var modes = map[duelstore.Mode]originalsv1.Duel_Mode{
	duelstore.Committed: originalsv1.Duel_COMMITTED, duelstore.Plain: originalsv1.Duel_PLAIN,
}

var causes = map[duelstore.Cause]string{
	duelstore.ByGameServer: "GAME_SERVER", duelstore.ByGrace: "GRACE_PERIOD",
	duelstore.ByExpiry: "EXPIRED", duelstore.StoreReplaced: "STORE_REPLACED",
}

// message shows a duel. The server seed and the fallback seeds are in it only
// when the store has the duel's end, a client seed only when both are fixed or
// the duel has ended: a seat that is still to send its own sees no other.
func (s *Service) message(d *duelstore.Duel, names bool) (*originalsv1.Duel, error) {
	m := &originalsv1.Duel{
		Format: Format, DuelId: string(d.ID), Scheme: duel.Scheme, Mode: modes[d.Mode], State: states[d.State],
		Commitment: hex.EncodeToString(d.Commitment[:]), EventNumber: d.Version,
		GraceSeconds: uint32(d.Grace / time.Second), ExpirySeconds: uint32(d.Expiry / time.Second),
		CreateTime: timestamppb.New(d.CreateTime),
	}
	var err error
	if m.Rolls, err = s.rolls(d, 0); err != nil {
		return nil, err
	}
	if d.Rolls > 0 {
		m.LastPly = proto.Uint32(d.Rolls - 1)
	}
	if m.White, err = s.seat(d, duelstore.White, names); err != nil {
		return nil, err
	}
	if m.Black, err = s.seat(d, duelstore.Black, names); err != nil {
		return nil, err
	}
	if d.State.Over() {
		return m, s.addEnd(m, d)
	}
	m.ExpireTime = timestamppb.New(d.ExpireTime())
	switch {
	case d.Deadline.IsZero():
	case d.State == duelstore.Committing:
		m.CommitDeadline = timestamppb.New(d.Deadline)
	default:
		m.SeedDeadline = timestamppb.New(d.Deadline)
	}
	return m, nil
}

// addEnd adds what is shown of a duel that has ended, the reveal among it.
func (s *Service) addEnd(m *originalsv1.Duel, d *duelstore.Duel) error {
	serverSeed, err := s.serverSeed(d)
	if err != nil {
		return err
	}
	m.ServerSeed = proto.String(serverSeed.Reveal())
	m.EndTime = timestamppb.New(d.EndTime)
	m.EndReason = proto.String(causes[d.Cause])
	for _, seat := range []duelstore.Seat{duelstore.White, duelstore.Black} {
		if d.Sides[seat].Forfeits {
			m.ForfeitedBy = append(m.ForfeitedBy, seat.String())
		}
	}
	return nil
}

func (s *Service) seat(d *duelstore.Duel, seat duelstore.Seat, names bool) (*originalsv1.DuelSeat, error) {
	side := &d.Sides[seat]
	m := &originalsv1.DuelSeat{Present: side.Present, Seeded: side.Seed != ""}
	if names {
		m.PlayerId = proto.String(side.Player)
	}
	if side.Hash != "" {
		m.ClientSeedHash = proto.String(side.Hash)
	}
	if side.Seed != "" && (d.Fixed || d.State.Over()) {
		m.ClientSeed = proto.String(side.Seed)
		m.Source = originalsv1.DuelSeat_OWN.Enum()
		if d.Mode == duelstore.Committed {
			m.Source = originalsv1.DuelSeat_COMMITTED.Enum()
		}
	}
	if d.Mode != duelstore.Plain {
		return m, nil
	}
	m.FallbackHash = proto.String(hex.EncodeToString(side.FallbackHash))
	isEffective := d.Fixed && side.Seed == ""
	if !isEffective && !d.State.Over() {
		return m, nil
	}
	fallback, err := s.fallback(d, seat)
	if err != nil {
		return nil, err
	}
	if d.State.Over() {
		m.FallbackSeed = proto.String(fallback)
	}
	if isEffective {
		m.ClientSeed, m.Source = proto.String(fallback), originalsv1.DuelSeat_FALLBACK.Enum()
	}
	return m, nil
}
