package main

import (
	"context"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/urfave/cli/v3"

	"github.com/openoriginals/originals/internal/testenv"
)

const top = "../.."

// readmeTime bounds a run of all commands of the README.
const readmeTime = 4 * time.Minute

// block is a fenced block of the README, with the comment right before it.
type block struct {
	line           int
	language, text string
	mark           string
}

var fence = regexp.MustCompile("(?ms)(?:^<!-- ([^\n]*?) -->\n)?^```(\\w+)\n(.*?)^```$")

func readme(t *testing.T) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(top, "README.md"))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func blocks(t *testing.T) (all []block) {
	t.Helper()
	text := readme(t)
	for _, m := range fence.FindAllStringSubmatchIndex(text, -1) {
		part := func(i int) string {
			if m[2*i] < 0 {
				return ""
			}
			return text[m[2*i]:m[2*i+1]]
		}
		all = append(all, block{
			line: 1 + strings.Count(text[:m[4]], "\n"), mark: part(1), language: part(2), text: part(3),
		})
	}
	if fences := strings.Count(text, "\n```"); fences != 2*len(all) {
		t.Fatalf("README.md has %d fences, and %d blocks were found", fences, len(all))
	}
	return all
}

// prelude is what the commands of the README run under. Servers are started in
// process groups of their own; one takes the place of the one before it at its
// port. `go run ./services/originals` runs the program that was built for the
// tests, from the same source; CI runs the demo by a real go run.
const prelude = `set -euo pipefail
set -m
declare -A server
listens() { (exec 3<>"/dev/tcp/127.0.0.1/$1") 2>/dev/null; }
stop() {
  kill -KILL -- "-${server[$1]}" 2>/dev/null || true
  wait "${server[$1]}" 2>/dev/null || true
  while listens "$1"; do sleep 0.05; done
  unset "server[$1]"
}
stop_all() { for port in "${!server[@]}"; do stop "$port"; done; }
trap stop_all EXIT
trap 'exit 1' TERM
go() {
  [ "$1 $2" = "run ./services/originals" ] || { echo "go $*: not a command that this test knows" >&2; return 1; }
  shift 2
  "$ORIGINALS" "$@"
}
await() {
  for _ in $(seq 600); do
    if listens "$1"; then return; fi
    kill -0 "${server[$1]}" 2>/dev/null || break
    sleep 0.05
  done
  echo "nothing listens at port $1" >&2
  cat "server-$1.log" >&2
  exit 1
}
`

const blockMark = "@@ README.md line "

// script joins the blocks to one run, in the order of the page.
func script(t *testing.T, all []block, ports map[string]string) string {
	t.Helper()
	var s strings.Builder
	s.WriteString(prelude)
	for _, b := range all {
		if b.language != "sh" || strings.HasPrefix(b.mark, "run by") {
			continue
		}
		fmt.Fprintf(&s, "echo '%s%d'\n", blockMark, b.line)
		port, serves := strings.CutPrefix(b.mark, "serve: ")
		if !serves {
			s.WriteString(b.text)
			continue
		}
		fmt.Fprintf(&s, "[ -z \"${server[%[1]s]:-}\" ] || stop %[1]s\n", port)
		fmt.Fprintf(&s, "(\n%s) >server-%s.log 2>&1 &\nserver[%s]=$!\nawait %s\n", b.text, port, port, port)
	}
	text := s.String()
	for _, port := range slices.Sorted(maps.Keys(ports)) {
		text = strings.ReplaceAll(text, port, ports[port])
	}
	return text
}

// workFolder is a folder that looks like the top of the tree, so that what the
// commands write stays out of it.
func workFolder(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	root, err := filepath.Abs(top)
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"deploy", "internal", "scripts"} {
		if err := os.Symlink(filepath.Join(root, name), filepath.Join(dir, name)); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func freePort(t *testing.T) string {
	t.Helper()
	_, port, _ := strings.Cut(testenv.FreeAddr(t), ":")
	return port
}

// TestEveryCommandOfTheReadmeRuns runs the page from top to bottom, on free
// ports, and compares the outputs that it shows.
func TestEveryCommandOfTheReadmeRuns(t *testing.T) {
	all := blocks(t)
	ports := make(map[string]string)
	for _, port := range []string{"8080", "8091", "9090", "9091", "9092", "9443", "9444", "6379"} {
		ports[port] = freePort(t)
	}
	dir := workFolder(t)
	ctx, cancel := context.WithTimeout(t.Context(), readmeTime)
	defer cancel()
	cmd := exec.CommandContext(ctx, "bash", "-c", script(t, all, ports))
	cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGTERM) } // so that it ends its servers
	cmd.WaitDelay = 10 * time.Second
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "ORIGINALS="+testenv.Program(t),
		"ORIGINALS_HTTP=127.0.0.1:"+ports["8080"], "ORIGINALS_GRPC=127.0.0.1:"+ports["9090"])
	cmd.Env = slices.DeleteFunc(cmd.Env, func(v string) bool { return strings.HasPrefix(v, "ORIGINALS_TEST_") })
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	compareOutputs(t, all, string(out))
}

// compareOutputs compares each output that the page shows with that of the
// block before it.
func compareOutputs(t *testing.T, all []block, out string) {
	t.Helper()
	printed := make(map[string]string)
	for _, part := range strings.Split(out, blockMark)[1:] {
		line, text, _ := strings.Cut(part, "\n")
		printed[line] = text
	}
	shown, served := 0, 0
	for i, b := range all {
		if strings.HasPrefix(b.mark, "serve: ") {
			served++
		}
		if b.mark != "output" {
			continue
		}
		shown++
		if got := printed[fmt.Sprint(all[i-1].line)]; got != b.text {
			t.Errorf("README.md line %d: the command above printed\n%s", b.line, got)
		}
	}
	if len(printed) < 15 || shown < 3 || served < 5 {
		t.Errorf("%d blocks ran, %d outputs were compared, %d servers served: fewer than the README has", len(printed), shown, served)
	}
}

// TestReadmeMarksAreKnown: a block that this test does not run is run by CI,
// or is among the two that only a person starts.
func TestReadmeMarksAreKnown(t *testing.T) {
	ci, err := os.ReadFile(filepath.Join(top, ".ci", "run"))
	if err != nil {
		t.Fatal(err)
	}
	makefile, err := os.ReadFile(filepath.Join(top, "Makefile"))
	if err != nil {
		t.Fatal(err)
	}
	for _, b := range blocks(t) {
		switch {
		case b.mark == "run by .ci/run":
			for line := range strings.Lines(b.text) {
				if !strings.Contains(string(ci), "\nstep "+line) {
					t.Errorf("README.md line %d: .ci/run does not run %s", b.line, line)
				}
			}
		case strings.HasPrefix(b.mark, "run by hand: "):
			for line := range strings.Lines(b.text) {
				target, ok := strings.CutPrefix(strings.TrimSpace(line), "make ")
				if !ok || !strings.Contains(string(makefile), "\n"+target+":") {
					t.Errorf("README.md line %d: %s is no target of the Makefile", b.line, line)
				}
			}
		case b.mark != "" && b.mark != "output" && !strings.HasPrefix(b.mark, "serve: "):
			t.Errorf("README.md line %d: unknown mark %q", b.line, b.mark)
		case b.language != "sh" && b.mark != "output":
			t.Errorf("README.md line %d: a block that nobody checks", b.line)
		}
	}
}

// documented is what the README's table says of one flag.
type documented struct{ variable, value string }

// TestReadmeListsEveryFlag compares the table with the flags of the command
// line: name, variable, default, and whether it belongs to serve alone.
func TestReadmeListsEveryFlag(t *testing.T) {
	_, table, _ := strings.Cut(readme(t), "<!-- flags -->")
	table, _, _ = strings.Cut(table, "<!-- /flags -->")
	common, ofServe, ok := strings.Cut(table, "**`serve` alone**")
	if !ok {
		t.Fatal("the table of flags has no part for serve")
	}
	compareFlags(t, common, serveFlags())
	compareFlags(t, ofServe, roleFlags())
}

var flagRow = regexp.MustCompile("(?m)^\\| `--([a-z-]+)` \\| `(\\w+)` \\| (?:`([^`]*)` )?\\| ")

func compareFlags(t *testing.T, table string, flags []cli.Flag) {
	t.Helper()
	got := make(map[string]documented)
	for _, m := range flagRow.FindAllStringSubmatch(table, -1) {
		got[m[1]] = documented{m[2], m[3]}
	}
	want := make(map[string]documented)
	for _, f := range flags {
		d := f.(cli.DocGenerationFlag)
		value := ""
		switch f := f.(type) {
		case *cli.StringFlag:
			value = f.Value
		case *cli.BoolFlag:
			value = fmt.Sprint(f.Value)
		case *cli.DurationFlag:
			value = f.Value.String()
		case *cli.IntFlag:
			value = fmt.Sprint(f.Value)
		}
		want[f.Names()[0]] = documented{d.GetEnvVars()[0], value}
	}
	if !maps.Equal(got, want) {
		t.Errorf("the README has\n%v\nthe command line has\n%v", got, want)
	}
}

// TestReadmeLinksLeadSomewhere: every relative link names a file of the tree.
func TestReadmeLinksLeadSomewhere(t *testing.T) {
	links := regexp.MustCompile(`\]\(([^)]+)\)`).FindAllStringSubmatch(readme(t), -1)
	if len(links) < 5 {
		t.Fatalf("%d links, fewer than the README has", len(links))
	}
	var places []string // as GitHub names them
	for _, head := range regexp.MustCompile(`(?m)^##+ (.+)$`).FindAllStringSubmatch(readme(t), -1) {
		kept := regexp.MustCompile(`[^a-z0-9 -]`).ReplaceAllString(strings.ToLower(head[1]), "")
		places = append(places, "#"+strings.ReplaceAll(kept, " ", "-"))
	}
	for _, link := range links {
		if strings.HasPrefix(link[1], "#") {
			if !slices.Contains(places, link[1]) {
				t.Errorf("%s is no section of the page: %q", link[1], places)
			}
			continue
		}
		if _, err := os.Stat(filepath.Join(top, link[1])); err != nil {
			t.Error(err)
		}
	}
}
