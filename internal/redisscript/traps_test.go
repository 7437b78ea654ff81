package redisscript_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// fault is something that a script must not hold.
type fault struct {
	name    string
	pattern *regexp.Regexp
	example string // a line that it must find
}

var faults = []fault{
	// The driver acts on a word of Redis' own, and a word alone arrives behind another one.
	{"one-word error_reply", regexp.MustCompile(`error_reply`), `return redis.error_reply('FUNDS')`},
	{"an error of one word", regexp.MustCompile(`err\s*=\s*'[^' ]*'\s*[^. ]`), `return {err = 'FUNDS'}`},
	{"an error that the driver acts on", regexp.MustCompile(`err\s*=\s*['"](MOVED|ASK|READONLY|LOADING|CLUSTERDOWN|TRYAGAIN|NOSCRIPT|MASTERDOWN)\b`), `return {err = 'MOVED away'}`},
	// A number in a reply is cut to an integer; one in text has 14 digits at most.
	{"a reply that cuts decimals", regexp.MustCompile(`return\s*\{[^'"]*\w / [^'"]*\}`), `return {n / 256}`},
	{"a number as tostring writes it", regexp.MustCompile(`\btostring\s*\(`), `return tostring(balance)`},
	{"a number as its format cuts it", regexp.MustCompile(`%[dgi]\b['"]|%\.[1-9]\d*[fg]`), `string.format('%d', 2^53)`},
	// A nil ends the list in a reply.
	{"nil in a reply", regexp.MustCompile(`return\s*\{[^}]*[{,]\s*nil\b|return\s*\{\s*nil\b`), `return {'OK', nil, 'x'}`},
	// Not in the embedded store, or not the same there.
	{"a library that is not everywhere", regexp.MustCompile(`\b(cjson|cmsgpack|struct|bit)\.\w`), `cjson.encode({})`},
	{"a lock", regexp.MustCompile(`'SETNX'|'SET',.*'NX'`), `call('SET', key, '1', 'NX')`},
}

// comment is what a line of Lua says to people.
var comment = regexp.MustCompile(`--.*$`)

// Script replies cut decimals, one-word error_reply, tostring(n) of 10^14, nil in arrays, a lock that fails open: what went wrong
// in scripts elsewhere stands in none of ours.
func TestScriptsHoldNoneOfTheKnownFaults(t *testing.T) {
	for _, f := range faults {
		if !f.pattern.MatchString(f.example) {
			t.Errorf("the rule against %s does not find %s", f.name, f.example)
		}
	}
	scripts := 0
	err := filepath.WalkDir("..", func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || filepath.Ext(path) != ".lua" {
			return err
		}
		scripts++
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		for number, line := range strings.Split(string(text), "\n") {
			line = comment.ReplaceAllString(line, "")
			for _, f := range faults {
				if f.pattern.MatchString(line) {
					t.Errorf("%s:%d: %s: %s", path, number+1, f.name, strings.TrimSpace(line))
				}
			}
		}
		return nil
	})
	if err != nil || scripts < 20 {
		t.Errorf("%d scripts were read, %v", scripts, err)
	}
}
