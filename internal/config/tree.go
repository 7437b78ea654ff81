package config

import (
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/parser"
)

// tree is the file as it is written: the node of each key, by its path. The
// decoder turns 1.5 into 1 and 010 into 8, and says nothing; so what a number
// looks like, and whether a key is there, is read here.
type tree map[string]ast.Node

func parseTree(text []byte) (tree, error) {
	file, err := parser.ParseBytes(text, 0)
	if err != nil {
		return nil, err
	}
	t := make(tree)
	documents := 0
	for _, document := range file.Docs {
		if document.Body == nil {
			continue
		}
		if documents++; documents > 1 {
			return nil, fmt.Errorf("line %d: a second document: the file must hold one", lineOf(document.Body))
		}
		if err := t.add("", document.Body); err != nil {
			return nil, err
		}
	}
	return t, nil
}

func (t tree) add(path string, node ast.Node) error {
	t[path] = node
	switch n := node.(type) {
	case *ast.MappingNode:
		for _, pair := range n.Values {
			if err := t.addPair(path, pair); err != nil {
				return err
			}
		}
	case *ast.MappingValueNode:
		return t.addPair(path, n)
	case *ast.SequenceNode:
		for i, value := range n.Values {
			if err := t.add(fmt.Sprintf("%s[%d]", path, i), value); err != nil {
				return err
			}
		}
	case *ast.AnchorNode, *ast.AliasNode, *ast.TagNode:
		return fmt.Errorf("line %d: %s: anchors, aliases and tags are not used here", lineOf(node), path)
	}
	return nil
}

func (t tree) addPair(path string, pair *ast.MappingValueNode) error {
	key := pair.Key.String()
	if path != "" {
		key = path + "." + key
	}
	return t.add(key, pair.Value)
}

var (
	integer = regexp.MustCompile(`^(0|[1-9][0-9]*(_[0-9]+)*)\z`)
	numbers = regexp.MustCompile(`\.(exponent|minStake|maxStake|maxPayout|crashRound|bettingMs|crashedMs|tickMs|chainLength|nextChainAt)\z`)
	entry   = regexp.MustCompile(`^currencies\[[0-9]+\]\z`)
)

// check refuses what the decoder would read as something else.
func (t tree) check() error {
	for _, path := range slices.Sorted(maps.Keys(t)) {
		node := t[path]
		_, empty := node.(*ast.NullNode)
		_, plain := node.(*ast.IntegerNode)
		switch {
		case empty && !topLevel.MatchString(path):
			return &FieldError{path, "has no value"}
		case numbers.MatchString(path) && !(plain && integer.MatchString(node.GetToken().Value)):
			return &FieldError{path, "must be a whole number, such as 100 or 1_000_000"}
		case entry.MatchString(path) && t[path+".exponent"] == nil:
			return &FieldError{path, "must have an exponent"}
		}
	}
	return nil
}

// topLevel keys may be empty: all that was in them may be commented out.
var topLevel = regexp.MustCompile(`^[a-z]*\z`)

// located adds the line to an error of the file's content.
func (t tree) located(err error) error {
	if wrong, ok := errors.AsType[*FieldError](err); ok {
		return fmt.Errorf("line %d: %w", t.line(wrong.Path), err)
	}
	if syntax, ok := errors.AsType[yaml.Error](err); ok {
		return fmt.Errorf("line %d: %s", syntax.GetToken().Position.Line, syntax.GetMessage())
	}
	return err
}

// line returns the line of a path, or of what holds it where it is missing.
func (t tree) line(path string) int {
	for path != "" {
		if node, ok := t[path]; ok {
			return lineOf(node)
		}
		path = path[:max(lastOf(path), 0)]
	}
	return 1
}

func lastOf(path string) int {
	for i := len(path) - 1; i >= 0; i-- {
		if path[i] == '.' || path[i] == '[' {
			return i
		}
	}
	return 0
}

func lineOf(node ast.Node) int { return node.GetToken().Position.Line }
