package main

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"strconv"
	"strings"

	"github.com/urfave/cli/v3"

	"github.com/openoriginals/originals/internal/ledger"
	"github.com/openoriginals/originals/internal/money"
	originalsv1 "github.com/openoriginals/originals/proto/originals/v1"
)

// walletCommand is what a wallet service does, for people at a terminal.
func walletCommand() *cli.Command {
	return &cli.Command{
		Name:  "wallet",
		Usage: "transfer money, and look at balances, settlements and digests, with a wallet token",
		Description: "Example: ORIGINALS_TOKEN=\"$WALLET\" originals wallet transfer --id t-1 --player alice --deposit 500000 --currency FUN\n" +
			"Amounts are in the currency's smallest booked unit.",
		Commands: []*cli.Command{
			callCommand("transfer", "move money into or out of a game balance, once for each id", []cli.Flag{
				&cli.StringFlag{Name: "id", Required: true, Usage: "your `ID` of the transfer: the same one again does nothing more"},
				&cli.StringFlag{Name: "player", Required: true, Usage: "`NAME` of the player"},
				&cli.Int64Flag{Name: "deposit", HideDefault: true, Usage: "`UNITS` to move into the game balance"},
				&cli.Int64Flag{Name: "withdraw", HideDefault: true, Usage: "`UNITS` to move out of it"},
				&cli.StringFlag{Name: "currency", Value: playMoney, Usage: "`CODE` of the currency"},
			}, transferMoney),
			callCommand("status", "show what became of a transfer", transferFlags(), transferStatus),
			callCommand("cancel", "make sure that a transfer which was not applied never is", transferFlags(), cancelTransfer),
			callCommand("balances", "show a player's balances", []cli.Flag{
				&cli.StringFlag{Name: "player", Required: true, Usage: "`NAME` of the player"},
			}, showBalances),
			callCommand("settlements", "list settlements, of all partitions or of one", []cli.Flag{
				&cli.IntFlag{Name: "partition", Value: -1, HideDefault: true, Usage: "only this partition, `0..63`"},
				&cli.Int64Flag{Name: "after", HideDefault: true, Usage: "only those after this `SEQUENCE` of the partition"},
				&cli.IntFlag{Name: "limit", Value: 50, Usage: "at most this many `ROWS`"},
			}, showSettlements),
			callCommand("settlement", "show one settlement, and what the wallet said of it", []cli.Flag{
				&cli.StringFlag{Name: "settlement", Required: true, Usage: "`ID` of the settlement, which is its round's"},
			}, showSettlement),
			callCommand("rejected", "list dead letters: settlements that were rejected or claimed in vain too often", []cli.Flag{
				&cli.IntFlag{Name: "limit", Value: 50, Usage: "at most this many `ROWS`"},
			}, showRejected),
			callCommand("requeue", "make a dead letter claimable again", []cli.Flag{
				&cli.StringFlag{Name: "settlement", Required: true, Usage: "`ID` of the settlement"},
			}, requeue),
			callCommand("digest", "sum up the settlements of an hour or a day of a partition, or of all", []cli.Flag{
				&cli.IntFlag{Name: "partition", Value: -1, HideDefault: true, Usage: "only this partition, `0..63`"},
				&cli.StringFlag{Name: "hour", Usage: "`HOUR` in UTC, such as 2026-01-31T07"},
				&cli.StringFlag{Name: "day", Usage: "`DAY` in UTC, such as 2026-01-31"},
			}, showDigests),
		},
	}
}

func transferFlags() []cli.Flag {
	return []cli.Flag{&cli.StringFlag{Name: "id", Required: true, Usage: "your `ID` of the transfer"}}
}

const transfersPath = "/v1/wallet/transfers"

func transferMoney(ctx context.Context, c *cli.Command, api *client) error {
	req := &originalsv1.CreateTransferRequest{TransferId: c.String("id"), PlayerId: c.String("player")}
	units := c.Int64("deposit")
	req.Direction = originalsv1.Transfer_DEPOSIT
	if c.IsSet("withdraw") {
		units, req.Direction = c.Int64("withdraw"), originalsv1.Transfer_WITHDRAWAL
	}
	if c.IsSet("deposit") == c.IsSet("withdraw") {
		return errors.New("give one of --deposit and --withdraw")
	}
	if units < 1 || units > int64(money.MaxUnits) {
		return fmt.Errorf("the amount must be 1 to %d", int64(money.MaxUnits))
	}
	req.Money = &originalsv1.Money{Currency: c.String("currency"), Amount: units}
	var t originalsv1.Transfer
	if err := api.post(ctx, transfersPath, req, &t); err != nil {
		return err
	}
	return showTransfer(c, &t)
}

func transferStatus(ctx context.Context, c *cli.Command, api *client) error {
	var t originalsv1.Transfer
	if err := api.get(ctx, transfersPath+"/"+url.PathEscape(c.String("id")), &t); err != nil {
		return err
	}
	return showTransfer(c, &t)
}

func cancelTransfer(ctx context.Context, c *cli.Command, api *client) error {
	var t originalsv1.Transfer
	path := transfersPath + "/" + url.PathEscape(c.String("id")) + ":cancel"
	if err := api.post(ctx, path, &originalsv1.CancelTransferRequest{}, &t); err != nil {
		return err
	}
	if err := showTransfer(c, &t); err != nil {
		return err
	}
	if t.GetState() != originalsv1.Transfer_CANCELLED {
		return errors.New("the transfer was applied before, and stays so: move the money back by another")
	}
	return nil
}

// showTransfer prints a transfer. One that a rule refused is an error, so that a
// script notices.
func showTransfer(c *cli.Command, t *originalsv1.Transfer) error {
	done, err := answerJSON(c, t)
	if err != nil {
		return err
	}
	if !done {
		rows := [][]string{{"transfer", t.GetTransferId()}, {"state", t.GetState().String()}}
		if t.GetMoney() != nil {
			rows = append(rows, []string{"player", t.GetPlayerId()}, []string{"direction", t.GetDirection().String()}, []string{"money", unitsOf(t.GetMoney())})
		}
		if t.GetBalanceAfter() != nil {
			rows = append(rows, []string{"balance after", unitsOf(t.GetBalanceAfter())})
		}
		rows = append(rows, []string{"known before", strconv.FormatBool(t.GetReplayed())})
		if err := table(c.Root().Writer, rows); err != nil {
			return err
		}
	}
	if t.GetState() == originalsv1.Transfer_REFUSED {
		return fmt.Errorf("the transfer is refused for ever: %s", t.GetRefusal())
	}
	return nil
}

func showBalances(ctx context.Context, c *cli.Command, api *client) error {
	var b originalsv1.ListPlayerBalancesResponse
	if err := api.get(ctx, "/v1/wallet/players/"+url.PathEscape(c.String("player"))+"/balances", &b); err != nil {
		return err
	}
	if done, err := answerJSON(c, &b); done {
		return err
	}
	rows := [][]string{{"UNITS", "CURRENCY"}}
	for _, m := range b.GetBalances() {
		rows = append(rows, []string{strconv.FormatInt(m.GetAmount(), 10), m.GetCurrency()})
	}
	return table(c.Root().Writer, rows)
}

// partitions returns the one that --partition names, or all.
func partitions(c *cli.Command) ([]int, error) {
	p := c.Int("partition")
	if p >= ledger.Partitions || p < -1 || p == -1 && c.IsSet("partition") {
		return nil, fmt.Errorf("--partition must be 0 to %d", ledger.Partitions-1)
	}
	if p >= 0 {
		return []int{p}, nil
	}
	all := make([]int, ledger.Partitions)
	for i := range all {
		all[i] = i
	}
	return all, nil
}

func showSettlements(ctx context.Context, c *cli.Command, api *client) error {
	list, err := partitions(c)
	if err != nil {
		return err
	}
	if c.IsSet("after") && len(list) > 1 {
		return errors.New("--after needs --partition: each partition has sequences of its own")
	}
	limit, err := limitOf(c)
	if err != nil {
		return err
	}
	var all originalsv1.ListSettlementsResponse
	for _, partition := range list {
		for after := c.Int64("after"); len(all.Settlements) < limit; {
			var page originalsv1.ListSettlementsResponse
			path := fmt.Sprintf("/v1/wallet/settlements?partition=%d&afterSequence=%d&pageSize=%d", partition, after, min(limit-len(all.Settlements), 200))
			if err := api.get(ctx, path, &page); err != nil {
				return err
			}
			if len(list) == 1 { // those of several partitions are none of the list's
				all.LastSequence = page.LastSequence
			}
			if len(page.Settlements) == 0 {
				break
			}
			all.Settlements = append(all.Settlements, page.Settlements...)
			after = page.Settlements[len(page.Settlements)-1].GetSequence()
		}
	}
	if done, err := answerJSON(c, &all); done {
		return err
	}
	return table(c.Root().Writer, settlementRows(all.GetSettlements()))
}

func settlementRows(list []*originalsv1.Settlement) [][]string {
	rows := [][]string{{"PLACE", "SETTLEMENT", "PLAYER", "GAME", "STAKE UNITS", "PAYOUT UNITS", "RESULT", "SETTLED", "WALLET TRANSACTION"}}
	for _, s := range list {
		rows = append(rows, []string{fmt.Sprintf("%d/%d", s.GetPartition(), s.GetSequence()), s.GetSettlementId(), s.GetPlayerId(), s.GetGame().String(),
			sum(s.GetStake()), sum(s.GetPayout()), ending(s), moment(s.GetSettleTime()), dash(s.GetWalletTransactionId())})
	}
	return rows
}

// ending says how a round ended, and why when it was void.
func ending(s *originalsv1.Settlement) string {
	if s.GetVoidReason() == "" {
		return s.GetResult().String()
	}
	return s.GetResult().String() + " " + s.GetVoidReason()
}

func showSettlement(ctx context.Context, c *cli.Command, api *client) error {
	var s originalsv1.Settlement
	if err := api.get(ctx, "/v1/wallet/settlements/"+url.PathEscape(c.String("settlement")), &s); err != nil {
		return err
	}
	if done, err := answerJSON(c, &s); done {
		return err
	}
	rows := settlementRows([]*originalsv1.Settlement{&s})
	rows[0] = append(rows[0], "REJECTED")
	rows[1] = append(rows[1], dash(s.GetRejectReason()))
	return table(c.Root().Writer, rows)
}

func showRejected(ctx context.Context, c *cli.Command, api *client) error {
	limit, err := limitOf(c)
	if err != nil {
		return err
	}
	var all originalsv1.ListRejectedResponse
	for len(all.Settlements) < limit {
		var page originalsv1.ListRejectedResponse
		query := url.Values{"pageSize": {strconv.Itoa(min(limit-len(all.Settlements), 200))}}
		if all.NextPageToken != "" {
			query.Set("pageToken", all.NextPageToken)
		}
		if err := api.get(ctx, "/v1/wallet/rejected-settlements?"+query.Encode(), &page); err != nil {
			return err
		}
		all.Settlements, all.NextPageToken = append(all.Settlements, page.Settlements...), page.NextPageToken
		if all.NextPageToken == "" {
			break
		}
	}
	if done, err := answerJSON(c, &all); done {
		return err
	}
	rows := settlementRows(all.GetSettlements())
	rows[0] = append(rows[0], "WHY")
	for i, s := range all.GetSettlements() {
		rows[i+1] = append(rows[i+1], s.GetRejectReason())
	}
	return table(c.Root().Writer, rows)
}

func requeue(ctx context.Context, c *cli.Command, api *client) error {
	path := "/v1/wallet/settlements/" + url.PathEscape(c.String("settlement")) + ":requeue"
	if err := api.post(ctx, path, &originalsv1.RequeueSettlementRequest{}, new(originalsv1.RequeueSettlementResponse)); err != nil {
		return err
	}
	_, err := fmt.Fprintln(c.Root().Writer, "it waits for the wallet") // also when it did before
	return err
}

func showDigests(ctx context.Context, c *cli.Command, api *client) error {
	list, err := partitions(c)
	if err != nil {
		return err
	}
	query := url.Values{}
	for _, span := range []string{"hour", "day"} {
		if text := c.String(span); text != "" {
			query.Set(span, text)
		}
	}
	if len(query) != 1 {
		return errors.New("give one of --hour and --day")
	}
	rows := [][]string{{"PARTITION", "COUNT", "SUMS", "MERKLE ROOT"}}
	for _, partition := range list {
		var d originalsv1.Digest
		query.Set("partition", strconv.Itoa(partition))
		if err := api.get(ctx, "/v1/wallet/digests?"+query.Encode(), &d); err != nil {
			return err
		}
		if done, err := answerJSON(c, &d); err != nil {
			return err
		} else if done || d.GetCount() == 0 && len(list) > 1 {
			continue
		}
		rows = append(rows, []string{strconv.Itoa(partition), strconv.FormatInt(d.GetCount(), 10), sums(d.GetSums()), d.GetMerkleRoot()})
	}
	if c.Bool("json") {
		return nil
	}
	return table(c.Root().Writer, rows)
}

func sums(list []*originalsv1.Digest_Sum) string {
	var parts []string
	for _, s := range list {
		parts = append(parts, fmt.Sprintf("%s: stakes %s, payouts %s", s.GetCurrency(), s.GetStake(), s.GetPayout()))
	}
	return strings.Join(parts, "; ")
}
