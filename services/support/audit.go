package support

import (
	"context"
	"strconv"

	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/openoriginals/originals/internal/ledger"
	"github.com/openoriginals/originals/internal/wire"
	originalsv1 "github.com/openoriginals/originals/proto/originals/v1"
)

// A page reads at most this many entries, so that a filter that fits few makes
// short pages and never a slow one.
const (
	maxAuditRead = 2000
	auditAtOnce  = 200
)

// ListAuditLog lists what support did, newest first. The look itself is written
// down, and stands at the head of the first page.
func (s *Service) ListAuditLog(ctx context.Context, req *originalsv1.ListAuditLogRequest) (*originalsv1.ListAuditLogResponse, error) {
	id, err := staff(ctx)
	if err != nil {
		return nil, err
	}
	size, err := wire.PageSize(req.PageSize)
	if err != nil {
		return nil, err
	}
	if req.GetPlayerId() != "" {
		if err := wire.PlayerID("playerId", req.GetPlayerId()); err != nil {
			return nil, err
		}
	}
	filter := wire.ListFilter("audit", id.Operator, req.GetPlayerId())
	before, err := readSequence(filter, req.GetPageToken())
	if err != nil {
		return nil, err
	}
	if err := s.record(ctx, id, ledger.AuditEntry{Action: ledger.ViewAuditLog, Player: req.GetPlayerId()}); err != nil {
		return nil, err
	}
	entries, next, err := s.entries(ctx, id.Operator, req.GetPlayerId(), before, size)
	if err != nil {
		return nil, err
	}
	res := &originalsv1.ListAuditLogResponse{Entries: entries}
	if next > 1 {
		res.NextPageToken = wire.PageToken(filter, strconv.FormatUint(next, 10))
	}
	return res, nil
}

// entries returns a page of those below before that are about the player, or of
// all when player is empty, and the sequence below which the next page begins;
// 1 at the end.
func (s *Service) entries(ctx context.Context, operator, player string, before uint64, size int) ([]*originalsv1.AuditEntry, uint64, error) {
	var page []*originalsv1.AuditEntry
	for read := 0; read < maxAuditRead; {
		list, err := s.o.Audit.AuditEntries(ctx, operator, before, auditAtOnce)
		if err != nil {
			return nil, 0, err
		}
		if len(list) == 0 {
			return page, 1, nil
		}
		for _, e := range list {
			if before = e.Sequence; player != "" && e.Player != player {
				continue
			}
			if page = append(page, auditView(e)); len(page) == size {
				return page, before, nil
			}
		}
		read += len(list)
	}
	return page, before, nil
}

func readSequence(filter, token string) (uint64, error) {
	position, err := wire.ReadPageToken(filter, token)
	if err != nil || position == "" {
		return 0, err
	}
	n, err := strconv.ParseUint(position, 10, 53)
	if err != nil || n < 2 || strconv.FormatUint(n, 10) != position {
		return 0, wire.ErrPageToken
	}
	return n, nil
}

func auditView(e ledger.AuditEntry) *originalsv1.AuditEntry {
	return &originalsv1.AuditEntry{
		Sequence: int64(e.Sequence), Time: timestamppb.New(e.Time), Staff: e.Staff, Action: string(e.Action),
		PlayerId: e.Player, SeedPairId: e.Pair, RoundId: e.Round, Reason: e.Reason, Ticket: e.Ticket,
	}
}
