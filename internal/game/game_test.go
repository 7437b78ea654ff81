package game_test

import (
	"errors"
	"fmt"
	"testing"

	"github.com/openoriginals/originals/internal/game"
)

func TestFieldErrorIsFoundThroughWrapping(t *testing.T) {
	err := fmt.Errorf("place bet: %w", &game.FieldError{Field: "target", Problem: "must be 1 to 9800 for UNDER"})
	var field *game.FieldError
	if !errors.As(err, &field) || field.Field != "target" {
		t.Errorf("%v does not lead to its field", err)
	}
	if got, want := field.Error(), "target: must be 1 to 9800 for UNDER"; got != want {
		t.Errorf("text %q, want %q", got, want)
	}
}
