package main

import (
	"os"
	"testing"

	"github.com/openoriginals/originals/internal/testenv"
)

func TestMain(m *testing.M) { os.Exit(testenv.Main(m)) }
