package main

import (
	"math/big"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/openoriginals/originals/internal/money"
	"github.com/openoriginals/originals/internal/rtp"
)

var edgeRow = regexp.MustCompile(`\| (\d+\.\d\d) \| (\d\.\d{4}) % `)

// TestReadmeNeverAdvertisesAFlatEdge: the edges of crash that the README shows
// are those that are counted.
func TestReadmeNeverAdvertisesAFlatEdge(t *testing.T) {
	_, table, _ := strings.Cut(readme(t), "<!-- edges -->")
	table, _, ok := strings.Cut(table, "<!-- /edges -->")
	if !ok {
		t.Fatal("the README has no table of edges")
	}
	shown := map[string]string{}
	for _, m := range edgeRow.FindAllStringSubmatch(table, -1) {
		shown["target="+strconv.Itoa(hundredths(t, m[1]))] = m[2]
	}
	found := 0
	check := func(row rtp.Row) {
		want, ok := shown[row.Config]
		if !ok {
			return
		}
		found++
		percent := new(big.Rat).Sub(big.NewRat(1, 1), row.RTP)
		if got := percent.Mul(percent, big.NewRat(100, 1)).FloatString(4); got != want {
			t.Errorf("%s: the edge is %s %%, and the README says %s %%", row.Config, got, want)
		}
	}
	greatest, _, _ := rtp.Ends(rtp.Crash) // the target with the lowest return
	check(greatest)
	for row := range rtp.Rows(rtp.Crash) {
		if row.Multiplier > 100*money.One {
			break
		}
		check(row)
	}
	if found != 8 {
		t.Errorf("%d edges of %v were found, want 8", found, shown)
	}
}

func hundredths(t *testing.T, decimal string) int {
	t.Helper()
	n, err := strconv.Atoi(strings.ReplaceAll(decimal, ".", ""))
	if err != nil {
		t.Fatal(err)
	}
	return n
}
