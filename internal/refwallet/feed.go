package refwallet

import (
	"context"
	"fmt"
)

const (
	claimMax     = 500
	partitions   = 64
	leaseSeconds = 30
)

// reader books the settlements of the feed and reports them.
type reader struct {
	books    *Books
	platform *platform
	consumer string
}

// claimed does one turn with claims: what is booked and not reported goes
// first, then comes the next claim. It returns how many settlements came.
func (r *reader) claimed(ctx context.Context) (int, error) {
	if err := r.report(ctx); err != nil {
		return 0, err
	}
	id, err := r.books.ClaimID(ctx, r.consumer)
	if err != nil {
		return 0, err
	}
	page, err := r.platform.claim(ctx, claimRequest{id, r.consumer, claimMax, leaseSeconds})
	if reasonOf(err) == "CLAIM_ID_REUSED" {
		return 0, r.books.EndClaim(ctx, r.consumer)
	}
	if err != nil {
		return 0, err // the claim may stand: the same id is asked again
	}
	if len(page.Settlements) == 0 {
		return 0, r.books.EndClaim(ctx, r.consumer)
	}
	if err := r.books.Book(ctx, r.consumer, page.Settlements); err != nil {
		return 0, err
	}
	return len(page.Settlements), r.report(ctx)
}

// listed does one turn with a cursor of the wallet's own.
func (r *reader) listed(ctx context.Context) (int, error) {
	if err := r.report(ctx); err != nil {
		return 0, err
	}
	came := 0
	for partition := range partitions {
		n, err := r.listPartition(ctx, partition)
		if err != nil {
			return came, err
		}
		came += n
	}
	return came, r.report(ctx)
}

func (r *reader) listPartition(ctx context.Context, partition int) (int, error) {
	after, err := r.books.Cursor(ctx, partition)
	if err != nil {
		return 0, err
	}
	page, err := r.platform.list(ctx, partition, after)
	if err != nil || len(page.Settlements) == 0 {
		return 0, err
	}
	for i, s := range page.Settlements {
		if int64(s.Sequence) != after+int64(i)+1 || s.Partition != partition {
			return 0, fmt.Errorf("refwallet: partition %d after %d: sequence %d of partition %d", partition, after, s.Sequence, s.Partition)
		}
	}
	return len(page.Settlements), r.books.BookPage(ctx, partition, page.Settlements)
}

// report tells the platform what was booked and rejected, until nothing is left
// to be told.
func (r *reader) report(ctx context.Context) error {
	for {
		reports, err := r.books.Reports(ctx)
		if err != nil || len(reports) == 0 {
			return err
		}
		statuses, err := r.send(ctx, reports)
		if err != nil {
			return err
		}
		if err := r.books.Reported(ctx, reports, statuses); err != nil {
			return err
		}
	}
}

// send returns the status of each report. An answer that does not fit the
// question is none.
func (r *reader) send(ctx context.Context, reports []Report) ([]string, error) {
	items := make([]acknowledgement, len(reports))
	for i, report := range reports {
		items[i] = acknowledge(report)
	}
	answer, err := r.platform.acknowledge(ctx, items)
	if err != nil {
		return nil, err
	}
	if len(answer.Results) != len(items) {
		return nil, fmt.Errorf("refwallet: %d acknowledgements were answered by %d", len(items), len(answer.Results))
	}
	statuses := make([]string, len(items))
	for i, result := range answer.Results {
		if result.Settlement != items[i].Settlement || !answered[result.Status] {
			return nil, fmt.Errorf("refwallet: acknowledgement of %s was answered by %q of %s", items[i].Settlement, result.Status, result.Settlement)
		}
		statuses[i] = result.Status
	}
	return statuses, nil
}

var answered = map[string]bool{
	"ACKNOWLEDGED": true, "ALREADY_ACKNOWLEDGED": true, "STALE_LEASE": true, "CONFLICT": true, "NOT_FOUND": true,
}

func acknowledge(r Report) acknowledgement {
	a := acknowledgement{Settlement: r.Settlement, Result: "APPLIED", WalletTransaction: WalletTransactionID(r.Settlement)}
	if r.Reason != "" {
		a.Result, a.WalletTransaction, a.RejectReason = "REJECTED", "", r.Reason
	}
	if r.Token != 0 {
		token := integer(r.Token)
		a.FencingToken = &token
	}
	return a
}
