package tui

import (
	"regexp"
	"strings"

	"github.com/charmbracelet/x/ansi"

	"unitask/internal/shown"
)

// tabStop is the width of a tab; the terminal's own stops would break the layout.
const tabStop = "    "

// sequence is a complete control sequence or operating system command.
var sequence = regexp.MustCompile(`(\x1b\[|\x{9b})[0-?]*[ -/]*[@-~]|(\x1b\]|\x{9d})[^\x07\x1b\x{9c}]*(\x07|\x1b\\|\x{9c})`)

// text returns the drawable part of a foreign text: lines of printable characters. Escape sequences, control
// characters and characters that turn the direction of writing are left out.
func text(s string) string {
	return strings.ReplaceAll(plain(s), "\t", tabStop)
}

// plain is text with its tabs, as it goes to the clipboard.
func plain(s string) string {
	s = strings.ToValidUTF8(s, "\uFFFD") // for the pattern, which would pass over other bytes
	s = sequence.ReplaceAllString(s, "")
	s = strings.NewReplacer("\r\n", "\n", "\u2028", "\n", "\u2029", "\n").Replace(s)
	return shown.Text(s)
}

// line is text in one line.
func line(s string) string {
	return strings.Join(strings.FieldsFunc(text(s), func(r rune) bool { return r == '\n' || r == ' ' }), " ")
}

// cells is the number of columns that a text takes.
func cells(s string) int { return ansi.StringWidth(s) }

// cut shortens a drawn line to a number of columns.
func cut(s string, width int) string {
	if width <= 0 {
		return ""
	}
	return ansi.Truncate(s, width, "…")
}

// pad cuts or fills a drawn line to exactly a number of columns.
func pad(s string, width int) string {
	s = cut(s, width)
	return s + strings.Repeat(" ", max(0, width-cells(s)))
}

// wrap breaks cleaned text into lines of at most a number of columns, between words if possible.
func wrap(s string, width int) []string {
	var lines []string
	for l := range strings.SplitSeq(s, "\n") {
		lines = append(lines, strings.Split(ansi.Wrap(l, max(width, 2), ""), "\n")...)
	}
	return lines
}
