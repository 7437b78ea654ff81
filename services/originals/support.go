package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/url"
	"strconv"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/urfave/cli/v3"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/known/timestamppb"

	originalsv1 "github.com/openoriginals/originals/proto/originals/v1"
)

// supportCommand is what staff do, from a terminal.
func supportCommand() *cli.Command {
	return &cli.Command{
		Name:  "support",
		Usage: "look at players and rounds, and reveal seed pairs, with a support token",
		Description: "Example: ORIGINALS_TOKEN=\"$STAFF\" originals support player --player alice\n" +
			"Every look and every reveal is written to the operator's audit log.",
		Commands: []*cli.Command{
			callCommand("player", "show a player: balances, seed pairs, rounds", []cli.Flag{
				&cli.StringFlag{Name: "player", Required: true, Usage: "`NAME` of the player"},
			}, showPlayer),
			callCommand("round", "show what happened to a round", []cli.Flag{
				&cli.StringFlag{Name: "round", Required: true, Usage: "`ID` of the round"},
			}, showTimeline),
			callCommand("reveal", "make the server seed of a pair public; an active pair is retired", []cli.Flag{
				&cli.StringFlag{Name: "seed-pair", Required: true, Usage: "`ID` of the pair"},
				&cli.StringFlag{Name: "reason", Required: true, Usage: "`TEXT` that says why; the player is shown it"},
				&cli.StringFlag{Name: "ticket", Required: true, Usage: "`NAME` of your ticket"},
			}, reveal),
			callCommand("audit-log", "list what support did, newest first", []cli.Flag{
				&cli.StringFlag{Name: "player", Usage: "only what is about this `PLAYER`"},
				&cli.IntFlag{Name: "limit", Value: 50, Usage: "at most this many `ROWS`"},
			}, showAuditLog),
		},
	}
}

// callFlags are those of every command that calls the API for a person.
func callFlags() []cli.Flag {
	return []cli.Flag{
		urlFlag("`URL` of the REST API"),
		&cli.StringFlag{Name: "token", Sources: env("TOKEN"), Required: true, Usage: "`JWT` of the role that the command needs"},
		&cli.BoolFlag{Name: "json", Usage: "print the answer as JSON"},
	}
}

// callCommand is a command that calls the API.
func callCommand(name, usage string, flags []cli.Flag, do func(ctx context.Context, c *cli.Command, api *client) error) *cli.Command {
	return &cli.Command{
		Name: name, Usage: usage, Flags: append(callFlags(), flags...),
		Action: func(ctx context.Context, c *cli.Command) error {
			return do(ctx, c, newClient(c.String("url"), c.String("token")))
		},
	}
}

// answerJSON prints a message when --json asks for it, and reports whether it
// did.
func answerJSON(c *cli.Command, m proto.Message) (bool, error) {
	if !c.Bool("json") {
		return false, nil
	}
	text, err := protojson.MarshalOptions{EmitDefaultValues: true}.Marshal(m)
	if err != nil {
		return true, err
	}
	var out bytes.Buffer // protojson puts spaces where it likes, other ones in each build
	if err := json.Indent(&out, text, "", "  "); err != nil {
		return true, err
	}
	_, err = fmt.Fprintln(c.Root().Writer, out.String())
	return true, err
}

// table writes rows in columns, the first row as the heads.
func table(w io.Writer, rows [][]string) error {
	t := tabwriter.NewWriter(w, 0, 4, 2, ' ', 0)
	for _, row := range rows {
		for i, cell := range row {
			if i > 0 {
				fmt.Fprint(t, "\t")
			}
			fmt.Fprint(t, cell)
		}
		fmt.Fprintln(t)
	}
	return t.Flush()
}

func moment(t *timestamppb.Timestamp) string {
	if t == nil {
		return "-"
	}
	return t.AsTime().UTC().Format(time.RFC3339)
}

// sum is an amount for a column whose head says that it is in units.
func sum(m *originalsv1.Money) string { return fmt.Sprintf("%d %s", m.GetAmount(), m.GetCurrency()) }

// unitsOf is an amount that says for itself that it is in units: 100 FUN would
// be read as a hundred times as much.
func unitsOf(m *originalsv1.Money) string {
	return fmt.Sprintf("%d units of %s", m.GetAmount(), m.GetCurrency())
}

func showPlayer(ctx context.Context, c *cli.Command, api *client) error {
	var p originalsv1.SupportPlayer
	if err := api.get(ctx, "/v1/support/players/"+url.PathEscape(c.String("player")), &p); err != nil {
		return err
	}
	if done, err := answerJSON(c, &p); done {
		return err
	}
	out := c.Root().Writer
	fmt.Fprintf(out, "Player %s\n\n", p.GetPlayerId())
	rows := [][]string{{"UNITS", "CURRENCY"}}
	for _, b := range p.GetBalances() {
		rows = append(rows, []string{strconv.FormatInt(b.GetAmount(), 10), b.GetCurrency()})
	}
	if err := table(out, rows); err != nil {
		return err
	}
	rows = [][]string{{"\nSEED PAIR", "STATE", "NONCE", "CREATED", "REVEALED", "WHY"}}
	for _, s := range p.GetSeedPairs() {
		rows = append(rows, []string{s.GetSeedPairId(), s.GetState().String(), strconv.FormatUint(uint64(s.GetNonce()), 10),
			moment(s.GetCreateTime()), moment(s.GetRevealTime()), s.GetRevealReason()})
	}
	if err := table(out, rows); err != nil {
		return err
	}
	return table(out, append(roundRows("\nOPEN ROUND", p.GetOpenRounds()), roundRows("RECENT ROUND", p.GetRecentRounds())...))
}

func roundRows(head string, rounds []*originalsv1.Round) [][]string {
	rows := [][]string{{head, "GAME", "STATE", "STAKE UNITS", "PAYOUT UNITS", "CREATED"}}
	for _, r := range rounds {
		rows = append(rows, []string{r.GetRoundId(), r.GetGame().String(), r.GetState().String(),
			sum(r.GetStake()), sum(r.GetPayout()), moment(r.GetCreateTime())})
	}
	return rows
}

func showTimeline(ctx context.Context, c *cli.Command, api *client) error {
	var t originalsv1.RoundTimeline
	if err := api.get(ctx, "/v1/support/rounds/"+url.PathEscape(c.String("round")), &t); err != nil {
		return err
	}
	if done, err := answerJSON(c, &t); done {
		return err
	}
	out := c.Root().Writer
	fmt.Fprintf(out, "Round %s of player %s: %s, %s\n", t.GetRound().GetRoundId(), t.GetPlayerId(), t.GetRound().GetGame(), t.GetRound().GetState())
	played, err := playedOf(t.GetRound())
	if err != nil {
		return err
	}
	fmt.Fprintf(out, "%s\n\n", played)
	rows := [][]string{{"TIME", "EVENT", "DETAIL"}}
	for _, e := range t.GetEvents() {
		rows = append(rows, []string{moment(e.GetTime()), e.GetEvent(), e.GetDetail()})
	}
	return table(out, rows)
}

// playedOf returns what was bet and what came out, as the API shows it under the
// game's name.
func playedOf(r *originalsv1.Round) ([]byte, error) {
	m := r.ProtoReflect()
	of := m.Descriptor().Fields().ByName(protoreflect.Name(strings.ToLower(r.GetGame().String())))
	if of == nil || !m.Has(of) {
		return nil, nil
	}
	text, err := protojson.MarshalOptions{EmitDefaultValues: true}.Marshal(m.Get(of).Message().Interface())
	if err != nil {
		return nil, err
	}
	var out bytes.Buffer
	err = json.Compact(&out, text)
	return out.Bytes(), err
}

func reveal(ctx context.Context, c *cli.Command, api *client) error {
	var p originalsv1.SeedPair
	req := &originalsv1.RevealSeedPairRequest{Reason: c.String("reason"), Ticket: c.String("ticket")}
	if err := api.post(ctx, "/v1/support/seed-pairs/"+url.PathEscape(c.String("seed-pair"))+":reveal", req, &p); err != nil {
		return err
	}
	if done, err := answerJSON(c, &p); done {
		return err
	}
	return table(c.Root().Writer, [][]string{
		{"seed pair", p.GetSeedPairId()}, {"state", p.GetState().String()}, {"commitment", p.GetCommitment()},
		{"server seed", p.GetServerSeed()}, {"client seed", p.GetClientSeed()}, {"bets", strconv.FormatUint(uint64(p.GetNonce()), 10)},
		{"why", p.GetRevealReason()},
	})
}

// limitOf reads how many rows a list is to have.
func limitOf(c *cli.Command) (int, error) {
	limit := c.Int("limit")
	if limit < 1 {
		return 0, errors.New("--limit must be at least 1")
	}
	return limit, nil
}

func showAuditLog(ctx context.Context, c *cli.Command, api *client) error {
	limit, err := limitOf(c)
	if err != nil {
		return err
	}
	var all originalsv1.ListAuditLogResponse
	for {
		var page originalsv1.ListAuditLogResponse
		query := url.Values{"pageSize": {strconv.Itoa(min(limit-len(all.Entries), 200))}}
		if player := c.String("player"); player != "" {
			query.Set("playerId", player)
		}
		if all.NextPageToken != "" {
			query.Set("pageToken", all.NextPageToken)
		}
		if err := api.get(ctx, "/v1/support/audit-log?"+query.Encode(), &page); err != nil {
			return err
		}
		all.Entries, all.NextPageToken = append(all.Entries, page.Entries...), page.NextPageToken
		if all.NextPageToken == "" || len(all.Entries) >= limit {
			break
		}
	}
	if done, err := answerJSON(c, &all); done {
		return err
	}
	rows := [][]string{{"NUMBER", "TIME", "STAFF", "ACTION", "PLAYER", "SEED PAIR", "ROUND", "TICKET", "REASON"}}
	for _, e := range all.GetEntries() {
		rows = append(rows, []string{strconv.FormatInt(e.GetSequence(), 10), moment(e.GetTime()), e.GetStaff(), e.GetAction(),
			dash(e.GetPlayerId()), dash(e.GetSeedPairId()), dash(e.GetRoundId()), dash(e.GetTicket()), dash(e.GetReason())})
	}
	return table(c.Root().Writer, rows)
}

func dash(s string) string {
	if s == "" {
		return "-"
	}
	return s
}
