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

// Parse reads the text of a file. What it leaves out is as in Default.
func Parse(text []byte) (Config, error) {
	decoder := yaml.NewDecoder(bytes.NewReader(text), yaml.Strict())
	var c Config
	if err := decoder.Decode(&c); err != nil && !errors.Is(err, io.EOF) {
		return Config{}, err
	}
	if c.Currencies == nil {
		c.Currencies = Default().Currencies
	}
	return c, c.validate()
}
