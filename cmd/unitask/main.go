// Command unitask is a self-hosted gateway to AI capabilities and its client for terminals.
//
// Data goes to stdout, everything else to stderr. Each command is one file: an options struct, a
// constructor and a run function. exit.go holds the one switch from errors to exit codes and hints;
// nothing else ends the program.
package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"

	"github.com/charmbracelet/lipgloss"

	"unitask/internal/aaguard"
)

func main() {
	aaguard.Restore()
	lipgloss.SetHasDarkBackground(true) // asking the terminal may take seconds
	os.Exit(run(os.Args[1:]))
}

// run executes one command line and returns the exit code.
func run(args []string) int {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	t := newTerminal(os.Stdin, os.Stdout, os.Stderr)
	root := newRootCmd(t)
	root.SetArgs(args)
	cmd, err := root.ExecuteContextC(ctx)
	return t.report(cmd.CommandPath(), err)
}
