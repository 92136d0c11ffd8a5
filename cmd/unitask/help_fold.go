package main

import (
	"bytes"
	"io"
	"regexp"
	"strings"

	"github.com/charmbracelet/x/ansi"
	"github.com/spf13/cobra"
)

const (
	narrowest   = 40  // columns for which a help is still folded
	widestProse = 100 // columns of a line that is comfortable to read
)

// foldedHelp returns a help whose lines end between words at a terminal's width. In a pipe it stays as it is.
func foldedHelp(t *terminal, usual func(*cobra.Command, []string)) func(*cobra.Command, []string) {
	if !t.outTTY {
		return usual
	}
	return func(cmd *cobra.Command, words []string) {
		var text bytes.Buffer
		root := cmd.Root()
		root.SetOut(&text)
		defer root.SetOut(t.out)
		usual(cmd, words)
		_, _ = io.WriteString(t.out, foldHelp(text.String(), t.width()))
	}
}

// foldHelp breaks the lines of a help between words. Lines of prose that follow one another become one paragraph;
// entries of a list go on below their own text. Examples stay whole, to be copied.
func foldHelp(text string, width int) string {
	width = max(width, narrowest)
	var lines, prose []string
	paragraph := func() {
		if len(prose) > 0 {
			lines = append(lines, foldLine(strings.Join(prose, " "), min(width, widestProse))...)
		}
		prose = nil
	}
	examples := false
	for line := range strings.SplitSeq(text, "\n") {
		isProse := line != "" && line[0] != ' '
		if isProse {
			prose = append(prose, line)
			examples = line == "Examples:"
			continue
		}
		paragraph()
		if examples {
			lines = append(lines, line)
		} else {
			lines = append(lines, foldLine(line, width)...)
		}
	}
	paragraph()
	return strings.Join(lines, "\n")
}

// entry is the name that begins a line of a list, with the space up to its text.
var entry = regexp.MustCompile(`^ +\S.*? {2,}`)

// foldLine breaks one line.
func foldLine(line string, width int) []string {
	if ansi.StringWidth(line) <= width {
		return []string{line}
	}
	head := entry.FindString(line)
	if head == "" || ansi.StringWidth(head) > width/2 {
		head = line[:len(line)-len(strings.TrimLeft(line, " "))]
	}
	hang := strings.Repeat(" ", ansi.StringWidth(head))
	var lines []string
	at, empty := head, true
	for word := range strings.FieldsSeq(line[len(head):]) {
		switch {
		case empty:
			at += word
		case ansi.StringWidth(at)+1+ansi.StringWidth(word) > width:
			lines = append(lines, at)
			at = hang + word
		default:
			at += " " + word
		}
		empty = false
	}
	return append(lines, at)
}
