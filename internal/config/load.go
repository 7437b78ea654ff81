package config

import (
	"bytes"
	_ "embed"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/goccy/go-yaml"
)

//go:embed example.yaml
var example string

// Example returns a commented file that shows every key.
func Example() string { return example }

// Load reads the file at path. The error names the line and the key that is
// wrong. Files and addresses of keys are not opened here.
func Load(path string) (Config, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return Config{}, fmt.Errorf("config: %w", err)
	}
	c, err := Parse(text)
	if err != nil {
		return Config{}, fmt.Errorf("config: %s: %w", path, err)
	}
	return c, nil
}

// Parse reads the text of a file. What it leaves out is as in Default; a list
// of currencies replaces that of Default as a whole.
func Parse(text []byte) (Config, error) {
	t, err := parseTree(text)
	if err != nil {
		return Config{}, t.located(err)
	}
	c, err := t.decode(text)
	if err != nil {
		return Config{}, t.located(err)
	}
	return c, nil
}

func (t tree) decode(text []byte) (Config, error) {
	var c Config
	err := yaml.NewDecoder(bytes.NewReader(text), yaml.Strict()).Decode(&c)
	if err != nil && !errors.Is(err, io.EOF) { // EOF: an empty file
		return Config{}, err
	}
	if err := t.check(); err != nil {
		return Config{}, err
	}
	if c.Currencies == nil {
		c.Currencies = Default().Currencies
	}
	if c.Crash.Tables == nil {
		c.Crash.Tables = Default().Crash.Tables
	}
	for _, operator := range c.Operators {
		if callback := operator.Callback; callback != nil && callback.TimeoutMS == 0 {
			callback.TimeoutMS = DefaultCallbackTimeoutMS
		}
	}
	return c, c.validate()
}
