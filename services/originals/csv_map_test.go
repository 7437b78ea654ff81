//go:build unix

package main

import (
	"errors"
	"os"
	"path/filepath"
	"runtime/debug"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// taken is all that a source gives: its header, then its chunks.
func taken(l lineSource) (parts []string, err error) {
	header, err := l.header()
	if err != nil {
		return nil, err
	}
	parts = append(parts, header)
	buffer := new([chunkBytes]byte)
	for {
		text, err := l.take(buffer, func() error { return nil })
		if text == "" || err != nil {
			return parts, err
		}
		parts = append(parts, strings.Clone(text))
	}
}

// TestAMappedFileIsTakenLikeAStream: the same header, lines and errors, for files of several chunks and of none, with a
// last line that is not ended, and with lines that are too long.
func TestAMappedFileIsTakenLikeAStream(t *testing.T) {
	chunks := 0
	rapid.Check(t, func(t *rapid.T) {
		var text strings.Builder
		text.WriteString(rapid.SampledFrom([]string{"", "a,b\n", "\ufeffa,b\r\n", "a"}).Draw(t, "header"))
		for range rapid.IntRange(0, 6).Draw(t, "lines") {
			text.WriteString(strings.Repeat("x", rapid.SampledFrom([]int{0, 1, 100_000, chunkBytes / 2, chunkBytes - 100, chunkBytes + 1}).Draw(t, "line")))
			text.WriteString(rapid.SampledFrom([]string{"\n", "\n", "\n", ""}).Draw(t, "end"))
		}
		want, wantErr := taken(&lineReader{from: strings.NewReader(text.String())})
		got, err := taken(&lineMap{text: text.String()})
		for _, parts := range [][]string{got, want} {
			for _, chunk := range inner(parts) {
				if !strings.HasSuffix(chunk, "\n") {
					t.Fatal("a chunk ends within a line")
				}
			}
		}
		if strings.Join(got, "") != strings.Join(want, "") || (err == nil) != (wantErr == nil) || err != nil && err.Error() != wantErr.Error() {
			t.Fatalf("%d parts, %v; want %d, %v", len(got), err, len(want), wantErr)
		}
		chunks += len(got)
	})
	if chunks < 100 {
		t.Errorf("%d chunks were compared", chunks)
	}
}

// inner returns the chunks but the last.
func inner(parts []string) []string {
	if len(parts) < 3 {
		return nil
	}
	return parts[1 : len(parts)-1]
}

// TestAFileThatIsCutWhileItIsRead ends with an error, and not with the process.
func TestAFileThatIsCutWhileItIsRead(t *testing.T) {
	name := filepath.Join(t.TempDir(), "history.csv")
	if err := os.WriteFile(name, []byte("rollE2\n"+strings.Repeat("1\n", chunkBytes)), 0o600); err != nil {
		t.Fatal(err)
	}
	file, err := os.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		t.Fatal(err)
	}
	text, unmap, err := mapFile(file, info)
	if err != nil {
		t.Fatal(err)
	}
	defer unmap()
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	lines := &lineMap{text: text}
	if header, err := lines.header(); header != "rollE2" || err != nil {
		t.Fatalf("%q, %v", header, err)
	}
	if err := os.Truncate(name, 10); err != nil {
		t.Fatal(err)
	}
	err = whileItLasts(func() error {
		_, err := lines.take(nil, func() error { return nil })
		return err
	})
	if !errors.Is(err, errShrunk) {
		t.Errorf("%v, want %v", err, errShrunk)
	}
	defer func() {
		if recover() == nil {
			t.Error("a panic of another kind was taken for a fault")
		}
	}()
	_ = whileItLasts(func() error { panic("another") })
}
