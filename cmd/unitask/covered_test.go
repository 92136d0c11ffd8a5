package main

import (
	"bytes"
	"os"
	"path/filepath"
	"regexp"
	"testing"

	"github.com/spf13/cobra"
)

// TestScriptsCoverCommands: each command has a script that runs it and one that gets its use wrong.
func TestScriptsCoverCommands(t *testing.T) {
	scripts := allScripts(t)
	commands := leaves(newRootCmd(newTerminal(os.Stdin, os.Stdout, os.Stderr)))
	if len(commands) < 20 {
		t.Errorf("%d commands, want at least 20", len(commands))
	}
	for _, path := range commands {
		for what, codes := range map[string]string{"runs": `exec|exits (0|1|3|4|5|6|7|8|130)`, "gets the use wrong of": `exits 2`} {
			if path == "unitask tui" && what == "runs" {
				continue // there is no terminal in a script: test/e2e runs it in one
			}
			if !regexp.MustCompile(`(?m)^(` + codes + `) ` + path + `\b`).Match(scripts) {
				t.Errorf("no script %s %s", what, path)
			}
		}
	}
}

// leaves returns the commands that do something, without the flag library's own.
func leaves(cmd *cobra.Command) []string {
	if cmd.Name() == "help" || cmd.Name() == "completion" {
		return nil
	}
	var all []string
	for _, child := range cmd.Commands() {
		all = append(all, leaves(child)...)
	}
	if len(all) == 0 || cmd.Name() == "mcp" {
		all = append(all, cmd.CommandPath())
	}
	return all
}

func allScripts(t *testing.T) []byte {
	t.Helper()
	found, err := filepath.Glob("testdata/script/*.txtar")
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
