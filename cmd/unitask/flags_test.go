package main

import (
	"bytes"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// TestFlagsBeforeTheirCommand: a group's knowledge of a flag, above all whether a value follows it, is true of each
// of its commands that has it; and no help names it there.
func TestFlagsBeforeTheirCommand(t *testing.T) {
	seen := 0
	var visit func(cmd *cobra.Command)
	visit = func(cmd *cobra.Command) {
		for _, child := range cmd.Commands() {
			visit(child)
			child.LocalFlags().VisitAll(func(f *pflag.Flag) {
				before := cmd.Flags().Lookup(f.Name)
				if before == nil || f.Name == "help" {
					return
				}
				seen++
				if _, passed := before.Value.(passedOn); before.NoOptDefVal != f.NoOptDefVal || passed && !before.Hidden {
					t.Errorf("%s --%s: %+v, and before it %+v", child.CommandPath(), f.Name, f, before)
				}
			})
		}
	}
	visit(newRootCmd(&terminal{out: &bytes.Buffer{}, err: &bytes.Buffer{}}))
	if seen < 50 {
		t.Errorf("%d flags were looked at, want at least 50", seen)
	}
}
