//go:build !js

package architecture_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"go/scanner"
	"go/token"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

const module = "github.com/openoriginals/originals/"

// goPackage is what `go list -json` says of a package of this module.
type goPackage struct {
	ImportPath string
	Dir        string
	Standard   bool
	GoFiles    []string
	Imports    []string // by non-test files
	Deps       []string // all that they lead to
}

// name is the path below the module, such as internal/rng.
func (p goPackage) name() string { return strings.TrimPrefix(p.ImportPath, module) }

// below reports whether a name is a folder or lies in it.
func below(name, folder string) bool { return name == folder || strings.HasPrefix(name, folder+"/") }

func belowAny(name string, folders []string) bool {
	return slices.ContainsFunc(folders, func(folder string) bool { return below(name, folder) })
}

func isStandard(path string) bool {
	first, _, _ := strings.Cut(path, "/")
	return !strings.Contains(first, ".")
}

func list(t *testing.T) []goPackage {
	t.Helper()
	command := exec.Command("go", "list", "-e", "-json=ImportPath,Dir,Standard,GoFiles,Imports,Deps", "./...")
	command.Dir = filepath.Join("..", "..")
	command.Stderr = os.Stderr
	out, err := command.Output()
	if err != nil {
		t.Fatalf("go list: %v", err)
	}
	var packages []goPackage
	for decoder := json.NewDecoder(strings.NewReader(string(out))); ; {
		var p goPackage
		err := decoder.Decode(&p)
		if errors.Is(err, io.EOF) {
			return packages
		}
		if err != nil {
			t.Fatalf("go list: %v", err)
		}
		packages = append(packages, p)
	}
}

// pure says what each package of the core may import besides the standard library.
var pure = map[string][]string{
	"internal/money":   nil,
	"internal/rng":     {"golang.org/x/crypto/sha3"},
	"internal/game":    {module + "internal/game", module + "internal/rng", module + "internal/money"},
	"internal/rtp":     {module + "internal/game", module + "internal/money"},
	"internal/mistake": nil,
	"internal/foreign": {module + "internal/game", module + "internal/mistake", module + "internal/rng"},
}

// impure are the parts of the standard library by which a clock, the machine, randomness or an output could come in.
var impure = []string{
	"time", "os", "net", "log", "math/rand", "crypto/rand", "syscall", "unsafe", "runtime", "reflect", "plugin", "C", "context", "sync", "math", "testing",
}

// stillPure are exceptions to impure: integer arithmetic, and the one place where server seeds are drawn.
func stillPure(name, path string) bool {
	return path == "math/big" || path == "math/bits" || name == "internal/rng" && path == "crypto/rand"
}

// faults returns what one package of the core imports and must not.
func faults(p goPackage, allowed []string) (found []string) {
	for _, path := range p.Imports {
		switch {
		case stillPure(p.name(), path):
		case isStandard(path) && belowAny(path, impure), !isStandard(path) && !belowAny(path, allowed):
			found = append(found, fmt.Sprintf("%s imports %s", p.name(), path))
		}
	}
	return found
}

func TestThePureCoreStaysPure(t *testing.T) {
	seen := 0
	for _, p := range list(t) {
		for folder, allowed := range pure {
			if !below(p.name(), folder) {
				continue
			}
			seen++
			for _, fault := range faults(p, allowed) {
				t.Error(fault)
			}
		}
	}
	if seen < 10 { // money, rng, rtp, foreign, game and its five games
		t.Errorf("%d packages of the core, want 10 at least", seen)
	}
}

// floating is the one file of internal/foreign with floats: that house computes its outcomes in doubles.
const floating = "betkyo.go"

func TestNoFloatsInTheCore(t *testing.T) {
	files := 0
	for _, p := range list(t) {
		for folder := range pure {
			if !below(p.name(), folder) {
				continue
			}
			for _, file := range p.GoFiles {
				files++
				if p.name() == "internal/foreign" && file == floating {
					continue
				}
				if text := firstFloat(t, filepath.Join(p.Dir, file)); text != "" {
					t.Errorf("%s/%s holds %s", p.name(), file, text)
				}
			}
		}
	}
	if files < 20 {
		t.Errorf("%d files read, want 20 at least", files)
	}
}

// firstFloat returns the first floating-point type or number of a file. Comments do not count.
func firstFloat(t *testing.T, file string) string {
	t.Helper()
	source, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return firstFloatIn(source)
}

func firstFloatIn(source []byte) string {
	var s scanner.Scanner
	set := token.NewFileSet()
	s.Init(set.AddFile("", set.Base(), len(source)), source, nil, 0)
	for {
		_, kind, text := s.Scan()
		switch {
		case kind == token.EOF:
			return ""
		case kind == token.FLOAT, kind == token.IMAG:
			return text
		case kind == token.IDENT && slices.Contains([]string{"float32", "float64", "complex64", "complex128"}, text):
			return text
		}
	}
}

// verifying are the packages that may know the arithmetic of other houses: the verify command, the verifier service and
// what they share.
var verifying = []string{"services/originals", "services/gateway", "internal/wronghouse"}

// direction returns what a package leads to and must not.
func direction(p goPackage) (found []string) {
	refuse := func(path string) {
		found = append(found, fmt.Sprintf("%s leads to %s", p.name(), path))
	}
	for _, path := range p.Imports {
		imported, ours := strings.CutPrefix(path, module)
		switch {
		case !ours:
			if below(path, "github.com/alicebob/miniredis") && !belowAny(p.name(), []string{"services/originals", "internal/embedded", "internal/testenv"}) {
				refuse(path)
			}
		case below(imported, "services") && !mayUseService(p.name(), imported):
			refuse(path)
		case below(imported, "services/originals") && !below(p.name(), "services/originals"):
			refuse(path)
		case belowAny(imported, []string{"internal/foreign", "internal/wronghouse"}) && !slices.Contains(verifying, p.name()):
			refuse(path) // never for play
		case below(imported, "internal/vectors"), below(imported, "internal/architecture"):
			refuse(path)
		case below(p.name(), "proto") && !below(imported, "proto"):
			refuse(path)
		}
	}
	if below(p.name(), "services/gateway") {
		for _, path := range p.Deps {
			if below(strings.TrimPrefix(path, module), "proto/originals/vault") {
				refuse(path)
			}
		}
	}
	return found
}

// mayUseService: services/originals composes all of them; another service sees nothing but its own folder.
func mayUseService(name, imported string) bool {
	if below(name, "services/originals") {
		return true
	}
	own := strings.Split(name, "/")
	return own[0] == "services" && len(own) > 1 && below(imported, "services/"+own[1])
}

func TestDependenciesPointOneWay(t *testing.T) {
	packages := list(t)
	for _, p := range packages {
		for _, fault := range direction(p) {
			t.Error(fault)
		}
	}
	if len(packages) < 10 {
		t.Errorf("%d packages, want 10 at least", len(packages))
	}
}

// The rules must be able to fail: each of these packages breaks one.
func TestTheRulesFindWhatTheyForbid(t *testing.T) {
	for _, p := range []goPackage{
		{ImportPath: module + "services/dice", Imports: []string{module + "services/limbo"}},
		{ImportPath: module + "services/dice", Imports: []string{module + "services/originals"}},
		{ImportPath: module + "internal/ledger", Imports: []string{module + "services/dice"}},
		{ImportPath: module + "internal/ledger", Imports: []string{"github.com/alicebob/miniredis/v2"}},
		{ImportPath: module + "services/gateway", Deps: []string{module + "proto/originals/vault/v1"}},
		{ImportPath: module + "services/seedpair", Imports: []string{module + "internal/vectors"}},
		{ImportPath: module + "services/seedpair", Imports: []string{module + "internal/foreign"}},
		{ImportPath: module + "internal/bet", Imports: []string{module + "internal/foreign"}},
		{ImportPath: module + "proto/originals/v1", Imports: []string{module + "internal/money"}},
	} {
		if len(direction(p)) != 1 {
			t.Errorf("%+v passes", p)
		}
	}
	for _, p := range []goPackage{
		{ImportPath: module + "services/originals", Imports: []string{module + "services/dice", "github.com/alicebob/miniredis/v2"}},
		{ImportPath: module + "services/originals", Imports: []string{module + "services/originals/demo"}},
		{ImportPath: module + "services/seedpair", Imports: []string{module + "services/seedpair/vault"}, Deps: []string{module + "proto/originals/vault/v1"}},
		{ImportPath: module + "internal/embedded", Imports: []string{"github.com/alicebob/miniredis/v2/server"}},
		{ImportPath: module + "services/gateway", Imports: []string{module + "internal/foreign"}},
	} {
		if found := direction(p); len(found) != 0 {
			t.Errorf("%+v is refused: %v", p, found)
		}
	}
	for _, path := range []string{"time", "os/exec", "net/http", "log/slog", "math/rand/v2", "crypto/rand", "math", "go.uber.org/zap", module + "internal/rng"} {
		if len(faults(goPackage{ImportPath: module + "internal/money", Imports: []string{path}}, nil)) != 1 {
			t.Errorf("the core may import %s", path)
		}
	}
	for _, source := range []string{"package p\nvar x float64", "package p\nconst c = 0.5", "package p\nfunc f(x float32) {}", "package p\nvar i = 1i"} {
		if firstFloatIn([]byte(source)) == "" {
			t.Errorf("no float found in %q", source)
		}
	}
	if text := firstFloatIn([]byte("package p // float64 0.99\nvar x int64")); text != "" {
		t.Errorf("a comment counts: %s", text)
	}
}
