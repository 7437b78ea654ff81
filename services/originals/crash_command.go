package main

import "github.com/urfave/cli/v3"

// crashCommand is what operators do with crash tables, at a terminal.
func crashCommand() *cli.Command {
	return &cli.Command{
		Name:     "crash",
		Usage:    "chains of crash tables: make them, fix their salts, walk them",
		Commands: []*cli.Command{chainCommand()},
	}
}
