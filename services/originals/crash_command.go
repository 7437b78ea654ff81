package main

import "github.com/urfave/cli/v3"

// crashCommand is what operators and players do with crash tables, at a terminal.
func crashCommand() *cli.Command {
	return &cli.Command{
		Name:     "crash",
		Usage:    "crash tables: watch one; make chains, fix their salts, walk them",
		Commands: []*cli.Command{crashWatchCommand(), chainCommand()},
	}
}
