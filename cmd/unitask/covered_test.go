package main

import (
	"bytes"
	"os"
	"path/filepath"
	"regexp"
	"testing"

	"github.com/spf13/cobra"
)

// TestScriptsCoverCommands: each command has a script with a real service that runs it, one that gets its use wrong
// and one that shows its help. A new command needs these lines, in a script that is there or a new one; TestScripts
// in test/e2e runs the scripts.
func TestScriptsCoverCommands(t *testing.T) {
	scripts := allScripts(t)
	commands := leaves(newRootCmd(newTerminal(os.Stdin, os.Stdout, os.Stderr)))
	if len(commands) < 30 {
		t.Errorf("%d commands, want at least 30", len(commands))
	}
	for _, path := range commands {
		for what, line := range map[string]string{
			"runs": `(exec|exits [013-8]|terminal 0 \S+) ` + path + `\b`, "gets the use wrong of": `exits 2 ` + path + `\b`,
			"shows the help of": `exec ` + path + ` --help$`,
		} {
			if !regexp.MustCompile(`(?m)^` + line).Match(scripts) {
				t.Errorf("no script in %s %s %s", served, what, path)
			}
		}
	}
}

// served is the folder of the scripts with a real service.
const served = "../../test/e2e/testdata/script"

// leaves returns the commands that do something.
func leaves(cmd *cobra.Command) []string {
	var all []string
	for _, child := range cmd.Commands() {
		all = append(all, leaves(child)...)
	}
	if len(all) == 0 && cmd.Runnable() || cmd.Name() == "mcp" || cmd.Name() == "chat" || cmd.Name() == "simulate" {
		all = append(all, cmd.CommandPath())
	}
	return all
}

func allScripts(t *testing.T) []byte {
	t.Helper()
	found, err := filepath.Glob(served + "/*.txtar")
	if err != nil || len(found) == 0 {
		t.Fatalf("%d scripts, %v", len(found), err)
	}
	var all bytes.Buffer
	for _, name := range found {
		raw, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		all.Write(raw)
	}
	return all.Bytes()
}
