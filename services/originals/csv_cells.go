package main

import (
	"errors"
	"strings"
)

var errQuotes = errors.New("a quotation mark is not closed, or something stands behind it: a cell with line breaks is not read")

// splitRow appends the cells of one line: RFC 4180 without line breaks in
// cells. Cells are not trimmed.
func splitRow(row string, cells []string) ([]string, error) {
	for {
		cell, rest, err := cutCell(row)
		if err != nil {
			return cells, err
		}
		cells = append(cells, cell)
		if rest == "" {
			return cells, nil
		}
		row = rest[1:]
	}
}

// cutCell returns the first cell and what follows it: nothing, or a comma and
// more.
func cutCell(row string) (cell, rest string, err error) {
	if row != "" && row[0] == '"' {
		return cutQuoted(row)
	}
	end := strings.IndexByte(row, ',')
	if end < 0 {
		return row, "", nil
	}
	return row[:end], row[end:], nil
}

// cutQuoted is cutCell for a cell in quotation marks.
func cutQuoted(row string) (cell, rest string, err error) {
	end := 1
	for doubled := false; ; doubled = true {
		next := strings.IndexByte(row[end:], '"')
		if next < 0 {
			return "", "", errQuotes
		}
		end += next + 1
		if end < len(row) && row[end] == '"' {
			end++
			continue
		}
		if cell = row[1 : end-1]; doubled {
			cell = strings.ReplaceAll(cell, `""`, `"`)
		}
		break
	}
	if end < len(row) && row[end] != ',' {
		return "", "", errQuotes
	}
	return cell, row[end:], nil
}
