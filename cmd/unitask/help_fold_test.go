package main

import (
	"bytes"
	"slices"
	"strings"
	"testing"

	"github.com/charmbracelet/x/ansi"
	"github.com/spf13/cobra"
)

// TestHelpFitsTheTerminal: each command's help ends its lines between words at the width of a terminal, loses no word,
// and keeps examples whole. In a pipe it is as it is written.
func TestHelpFitsTheTerminal(t *testing.T) {
	help := func(width int, path ...string) string {
		var out bytes.Buffer
		root := newRootCmd(&terminal{out: &out, err: &out, outTTY: width > 0, width: func() int { return width }})
		root.SetArgs(append(path, "--help"))
		if err := root.Execute(); err != nil {
			t.Fatal(err)
		}
		return out.String()
	}
	seen := 0
	var visit func(cmd *cobra.Command)
	visit = func(cmd *cobra.Command) {
		for _, child := range cmd.Commands() {
			if name := child.Name(); name != "completion" && name != "help" {
				visit(child)
			}
		}
		seen++
		path := strings.Fields(cmd.CommandPath())[1:]
		written := help(0, path...)
		for _, width := range []int{40, 80, 200} {
			folded := help(width, path...)
			if !slices.Equal(strings.Fields(written), strings.Fields(folded)) {
				t.Errorf("%s at %d columns has other words:\n%s", cmd.CommandPath(), width, folded)
			}
			if !strings.Contains(folded, cmd.Example) {
				t.Errorf("%s at %d columns: an example isn't whole:\n%s", cmd.CommandPath(), width, folded)
			}
			for line := range strings.Lines(strings.Replace(folded, cmd.Example, "", 1)) {
				if ansi.StringWidth(line) > width && len(strings.Fields(line)) > 1 {
					t.Errorf("%s at %d columns: %q", cmd.CommandPath(), width, line)
				}
			}
		}
	}
	visit(newRootCmd(&terminal{out: &bytes.Buffer{}, err: &bytes.Buffer{}}))
	if seen < 30 {
		t.Errorf("%d helps were looked at, want all of them", seen)
	}
}

// TestHelpGoesOnBelowItsText: the second line of an entry stands below the first one's text.
func TestHelpGoesOnBelowItsText(t *testing.T) {
	got := foldHelp("Some prose\nin two lines.\n\nFlags:\n      --name word   is a flag whose text is long\n", 44)
	want := "Some prose in two lines.\n\nFlags:\n      --name word   is a flag whose text is\n                    long\n"
	if got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}
