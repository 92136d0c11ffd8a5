package main

import (
	"bytes"
	"strings"
	"testing"

	"github.com/spf13/cobra"
)

// TestEveryCommandHasExamples: a help shows only commands that this program has, with their flags.
func TestEveryCommandHasExamples(t *testing.T) {
	seen := 0
	var visit func(cmd *cobra.Command)
	visit = func(cmd *cobra.Command) {
		for _, child := range cmd.Commands() {
			if name := child.Name(); name != "completion" && name != "help" {
				visit(child)
			}
		}
		if !cmd.Runnable() || cmd.HasSubCommands() && cmd.Name() != "simulate" && cmd.Name() != "chat" {
			return
		}
		seen++
		if cmd.Example == "" {
			t.Errorf("%s has no example", cmd.CommandPath())
		}
		for line := range strings.Lines(cmd.Example) {
			checkExample(t, cmd.CommandPath(), line)
		}
	}
	visit(newRootCmd(&terminal{out: &bytes.Buffer{}, err: &bytes.Buffer{}}))
	if seen < 15 {
		t.Errorf("%d commands were looked at, want all of them", seen)
	}
}

func checkExample(t *testing.T, path, line string) {
	t.Helper()
	_, command, found := strings.Cut(line, "unitask ")
	if !found {
		t.Errorf("%s: %q is no example of it", path, line)
		return
	}
	command, _, _ = strings.Cut(command, " | ")
	words := strings.Fields(command)
	cmd, _, err := newRootCmd(&terminal{out: &bytes.Buffer{}, err: &bytes.Buffer{}}).Find(words)
	if err != nil || cmd.CommandPath() != path {
		t.Errorf("%s: %q is no example of it (%v)", path, line, err)
		return
	}
	for _, word := range words {
		name, isFlag := strings.CutPrefix(word, "--")
		if name, _, _ = strings.Cut(name, "="); isFlag && cmd.Flags().Lookup(name) == nil {
			t.Errorf("%s: %q: there is no --%s", path, line, name)
		}
	}
}
