package config

import (
	"fmt"
	"slices"
	"strings"
)

// UnknownEnv returns an error that lists the variables of environ, in the
// form NAME=value, whose name begins with prefix and is not in known. So a
// misspelt setting is refused, not ignored. Values are not shown.
func UnknownEnv(prefix string, known, environ []string) error {
	var unknown []string
	for _, entry := range environ {
		name, _, _ := strings.Cut(entry, "=")
		if strings.HasPrefix(name, prefix) && !slices.Contains(known, name) {
			unknown = append(unknown, name)
		}
	}
	if len(unknown) == 0 {
		return nil
	}
	slices.Sort(unknown)
	return fmt.Errorf("config: unknown environment variables: %s", strings.Join(unknown, ", "))
}
