// Command unitask is a self-hosted gateway to AI capabilities and its client for terminals.
//
// Data goes to stdout, everything else to stderr. Each command is one file: an options struct, a constructor and a
// run function. exit.go holds the one switch from errors to exit codes and hints; the program has no other exit.
package main

import (
	"context"
	"os"

	"github.com/charmbracelet/lipgloss"
	"github.com/spf13/cobra"

	"unitask/internal/aaguard"
)

func main() {
	aaguard.Restore()
	lipgloss.SetHasDarkBackground(true) // asking the terminal may take seconds
	os.Exit(run(os.Args[1:]))
}

// run executes one command line and returns the exit code.
func run(args []string) int {
	ctx, stop := untilSignal(context.Background())
	defer stop()
	t := newTerminal(os.Stdin, os.Stdout, os.Stderr)
	root := newRootCmd(t)
	root.SetArgs(args)
	if len(args) > 0 && args[0] == cobra.ShellCompRequestCmd {
		describeForShell(root)
	}
	cmd, err := root.ExecuteContextC(ctx)
	if err == nil {
		err = t.failed
	}
	return t.report(cmd.CommandPath(), markTerminated(ctx, err))
}
