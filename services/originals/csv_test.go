package main

import (
	"encoding/csv"
	"fmt"
	"strings"
	"testing"
	"unsafe"

	"pgregory.net/rapid"
)

// historyLayout is the layout of a file with this header, for stake's dice where no column says otherwise. The column
// note is left out.
func historyLayout(t interface{ Fatal(...any) }, header string) *layout {
	var l *layout
	root := newRoot()
	for _, command := range root.Commands {
		if command.Name != "verify" {
			continue
		}
		for name, value := range map[string]string{"house": "stake", "game": "dice", "ignore": "note"} {
			if err := command.Set(name, value); err != nil {
				t.Fatal(err)
			}
		}
		var err error
		if l, err = layoutOf(command, header); err != nil {
			t.Fatal(err)
		}
	}
	return l
}

// TestARowIsJudgedAlikeAfterAnyOther: what a judge keeps of the row before never changes what it says of the next. The
// expected words are those of a judge that has seen no other row.
func TestARowIsJudgedAlikeAfterAnyOther(t *testing.T) {
	const header = "serverSeed,commitment,house,game,clientSeed,note,nonce,mineCount,mines,rollE2"
	layout := historyLayout(t, header)
	lines := strings.Split(historyText(300), "\n")
	good := []string{lines[1], lines[101], lines[2], lines[201], lines[102]} // of three server seeds
	rapid.Check(t, func(t *rapid.T) {
		var file strings.Builder
		var rows []string
		for range rapid.IntRange(2, 12).Draw(t, "rows") {
			cells := strings.Split(rapid.SampledFrom(good).Draw(t, "bet"), ",")
			row := []string{cells[0], cells[1], "", "", cells[2], "", cells[3], "", "", cells[4]}
			for at := range row {
				switch rapid.IntRange(0, 50).Draw(t, "change") { // small numbers are drawn more often
				case 31:
					row[at] = ""
				case 37:
					row[at] = `"` + row[at] + `"`
				case 43:
					row[at] = rapid.SampledFrom([]string{"stake", "liqd", "mines", "dice", "3", `"2,12,5"`, "x", `"a""b"`, `"open`, "1,1", " "}).Draw(t, "cell")
				}
			}
			rows = append(rows, strings.Join(row[:len(row)-rapid.SampledFrom([]int{0, 0, 0, 0, 1}).Draw(t, "missing")], ","))
			file.WriteString(rows[len(rows)-1] + rapid.SampledFrom([]string{"\n", "\n", "\r\n", "\n\n"}).Draw(t, "end"))
		}
		judgedLikeFreshRows(t, layout, file.String())
	})
}

// judgedLikeFreshRows judges a file at once and each of its rows by a judge that has seen no other.
func judgedLikeFreshRows(t *rapid.T, layout *layout, file string) (got chunkResult) {
	var want chunkResult
	for line, rest := 0, file; rest != ""; line++ {
		row, after, _ := strings.Cut(rest, "\n")
		rest = after
		fresh := rowJudge{layout: layout}
		one := fresh.chunk(row)
		want.counts.add(one.counts)
		for _, bad := range one.bad {
			bad.Line = line
			want.bad = append(want.bad, bad)
		}
	}
	judge := rowJudge{layout: layout}
	got = judge.chunk(file)
	if fmt.Sprint(got.counts, got.bad) != fmt.Sprint(want.counts, want.bad) {
		t.Fatalf("%s\n got %+v\nwant %+v", file, got, want)
	}
	return got
}

// TestARowOfOtherNumbersIsJudgedLikeAFreshOne: rows that differ from the one before in plain numbers alone take a way of
// their own. Each is a right row now and then with another number, one that is none, or none at all.
func TestARowOfOtherNumbersIsJudgedLikeAFreshOne(t *testing.T) {
	layout := historyLayout(t, "serverSeed,commitment,clientSeed,nonce,rollE2")
	lines := strings.Split(historyText(300), "\n")
	right, wrong := 0, 0
	rapid.Check(t, func(t *rapid.T) {
		var file strings.Builder
		at := rapid.SampledFrom([]int{1, 95, 101}).Draw(t, "first") // 95: the pair changes after some rows
		for range rapid.IntRange(2, 12).Draw(t, "rows") {
			cells := strings.Split(lines[at], ",")
			at++
			other := rapid.SampledFrom([]string{"", "0" + cells[3], cells[4], "-1", "1e3", "+5", " 5", `"` + cells[4] + `"`,
				"99999999999999999999", "18446744073709551617", "18446744073709551615", "4" + cells[4], "5,5"}).Draw(t, "other")
			if change := rapid.IntRange(0, 20).Draw(t, "change"); change == 13 || change == 17 {
				cells[3+change/17] = other
			}
			file.WriteString(strings.Join(cells, ",") + rapid.SampledFrom([]string{"\n", "\n", "\n", "\n", "\r\n", "\n\n"}).Draw(t, "end"))
		}
		text := file.String()
		if rapid.Bool().Draw(t, "noEnd") {
			text = strings.TrimRight(text, "\r\n")
		}
		counts := judgedLikeFreshRows(t, layout, text).counts
		right += counts.Verified
		wrong += counts.Failed + counts.Unusable
	})
	if right == 0 || wrong == 0 {
		t.Errorf("%d right and %d wrong rows: the test shows nothing", right, wrong)
	}
}

// TestNothingOfAChunkIsReadAgain: the next chunk lies where the last one was, so that a text that was kept would change.
func TestNothingOfAChunkIsReadAgain(t *testing.T) {
	header, rows, _ := strings.Cut(historyText(300), "\n")
	layout := historyLayout(t, header)
	lines := strings.SplitAfter(rows, "\n")
	buffer := make([]byte, len(rows))
	judge := rowJudge{layout: layout}
	for i, text := range []string{
		lines[0], lines[100], lines[200], // the first rows of three server seeds
		strings.Join(lines[:3], ""), "x\n" + strings.Join(lines[100:102], ""), lines[201] + lines[101] + lines[200],
	} {
		n := copy(buffer, text)
		got := judge.chunk(unsafe.String(&buffer[0], n))
		fresh := rowJudge{layout: layout}
		if want := fresh.chunk(text); fmt.Sprint(got) != fmt.Sprint(want) {
			t.Errorf("chunk %d: %+v, want %+v", i, got, want)
		}
	}
}

// TestAHistoryOfManyChunks: every line has its number, whatever the chunks are.
func TestAHistoryOfManyChunks(t *testing.T) {
	header, rows, _ := strings.Cut(historyText(40_000), "\n")
	lines := strings.SplitAfter(rows, "\n")
	for line := 0; line < len(lines)-1; line += 100 { // the first row of each server seed
		lines[line] = strings.Replace(lines[line], "player-0123456789", "Player-0123456789", 1)
	}
	for empty := range 6 { // lines that are no rows
		file := header + strings.Repeat("\n", 97*empty+1) + strings.Join(lines, "")
		status, out, _ := runOffline(t, file, "verify", "--house", "stake", "--game", "dice", "--csv", "-")
		if status != 1 || strings.Count(out, "FAILED  outcome") != 400 || !strings.Contains(out, fmt.Sprintf("line %d    FAILED  outcome: rollE2", 39902+97*empty)) {
			t.Errorf("status %d, %d rows fail: %s", status, strings.Count(out, "FAILED  outcome"), out[:min(len(out), 300)])
		}
	}
}

func FuzzSplitRow(f *testing.F) {
	for _, row := range []string{"", ",", `"a,b",c`, `"a""b"`, `"a`, `"a"b`, `a"b,c`, `"",`, `"""",""""""`} {
		f.Add(row)
	}
	f.Fuzz(func(t *testing.T, row string) {
		cells, err := splitRow(row, nil)
		reader := csv.NewReader(strings.NewReader(row))
		if standard, wrong := reader.Read(); wrong == nil && !strings.ContainsAny(row, "\r\n") && fmt.Sprintf("%q", standard) != fmt.Sprintf("%q", cells) {
			t.Errorf("%q gives %q, %v, and by encoding/csv %q", row, cells, err, standard)
		}
		if err != nil {
			return
		}
		quoted := make([]string, len(cells))
		for i, cell := range cells {
			quoted[i] = `"` + strings.ReplaceAll(cell, `"`, `""`) + `"`
		}
		again, err := splitRow(strings.Join(quoted, ","), nil)
		if err != nil || fmt.Sprintf("%q", again) != fmt.Sprintf("%q", cells) {
			t.Errorf("%q gives %q, and in quotation marks %q, %v", row, cells, again, err)
		}
	})
}
