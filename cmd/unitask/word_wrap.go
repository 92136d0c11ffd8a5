package main

import (
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/charmbracelet/x/ansi"
)

const tabStop = 8 // columns

// listItem matches how a line begins, with the mark of a list's item if it has one.
var listItem = regexp.MustCompile(`^ *(?:(?:[-*+•]|[0-9]{1,3}[.)]) +)?`)

// wordWrap breaks the lines of a text between words while it comes, and holds only the word back that is being written.
// A line goes on below the first word of its own, so that the marks of a list stand apart. Blocks of code and lines of
// tables stay as they are, for they are copied.
type wordWrap struct {
	width    int             // of the terminal, in columns
	column   int             // that the next character is written to
	tail     string          // the last character, which the next piece may change
	gap      string          // the space before word
	word     string          // that is being written
	fence    string          // that the block of code began with; "" outside of one
	verbatim bool            // the line, or the rest of a word that is longer than a line, goes on as it is
	line     strings.Builder // of the text, as it came
	out      strings.Builder
}

// take returns the text that can be written once the next piece is known.
func (w *wordWrap) take(piece string) string {
	w.out.Reset()
	rest := w.tail + piece
	w.tail = ""
	for rest != "" {
		char, _ := ansi.FirstGraphemeCluster(rest, ansi.GraphemeWidth)
		if len(char) == len(rest) && char[0] > ' ' && !w.verbatim {
			w.tail = char
			break
		}
		rest = rest[len(char):]
		w.add(char)
	}
	return w.out.String()
}

func (w *wordWrap) add(char string) {
	if char == "\n" {
		w.endLine()
		return
	}
	w.line.WriteString(char)
	space := char == " " || char == "\t"
	code := strings.TrimLeft(w.line.String(), " \t")
	switch {
	case w.fence != "" || strings.HasPrefix(code, "|") || fenceOf(code) != "":
		w.verbatim = true
		w.write(w.gap + w.word + char)
		w.gap, w.word = "", ""
	case space:
		w.place()
		w.verbatim = false
		w.gap += char
	case w.verbatim:
		w.write(char)
	default:
		if breaksBetween(w.word, char) {
			w.place()
		}
		if w.word += char; ansi.StringWidth(w.word) > w.width {
			w.verbatim = true
			w.write(w.gap + w.word)
			w.gap, w.word = "", ""
		}
	}
}

// place writes the word, on a new line if it doesn't fit.
func (w *wordWrap) place() {
	if w.word == "" {
		return
	}
	if w.column > 0 && w.after(w.gap+w.word) > w.width {
		w.out.WriteByte('\n')
		w.column, w.gap = 0, w.indent()
	}
	w.write(w.gap + w.word)
	w.gap, w.word = "", ""
}

// indent returns the space before the word that a line goes on with; "" if there would be little room left.
func (w *wordWrap) indent() string {
	columns := ansi.StringWidth(listItem.FindString(w.line.String()))
	if columns > w.width/2 || columns+ansi.StringWidth(w.word) > w.width {
		return ""
	}
	return strings.Repeat(" ", columns)
}

func (w *wordWrap) endLine() {
	w.place()
	if w.after(w.gap) <= w.width {
		w.out.WriteString(w.gap)
	}
	w.out.WriteByte('\n')
	code := strings.TrimSpace(w.line.String())
	switch mark := fenceOf(code); {
	case w.fence == "" && !strings.Contains(code[len(mark):], "`"):
		w.fence = mark
	case w.fence != "" && strings.HasPrefix(mark, w.fence) && mark == code:
		w.fence = ""
	}
	w.column, w.gap, w.verbatim = 0, "", w.fence != ""
	w.line.Reset()
}

func (w *wordWrap) write(text string) {
	w.out.WriteString(text)
	if w.column = w.after(text); w.width > 0 && w.column > w.width {
		w.column = (w.column-1)%w.width + 1
	}
}

// after returns the column after a text that is written to the end of the line.
func (w *wordWrap) after(text string) int {
	column := w.column
	for i, part := range strings.Split(text, "\t") {
		if i > 0 {
			column += tabStop - column%tabStop
		}
		column += ansi.StringWidth(part)
	}
	return column
}

// fenceOf returns the mark that a line of Markdown begins or ends a block of code with.
func fenceOf(line string) string {
	for _, mark := range []string{"`", "~"} {
		if n := len(line) - len(strings.TrimLeft(line, mark)); n >= 3 {
			return line[:n]
		}
	}
	return ""
}

// breaksBetween reports whether a line may end between two characters without a space: by one that is as wide as two,
// unless a word goes on (Korean has spaces), or a sign comes that closes.
func breaksBetween(word, char string) bool {
	before, _ := utf8.DecodeLastRuneInString(word)
	after, _ := utf8.DecodeRuneInString(char)
	if word == "" || unicode.Is(unicode.Hangul, before) && unicode.Is(unicode.Hangul, after) {
		return false
	}
	if unicode.IsPunct(after) && !unicode.In(after, unicode.Ps, unicode.Pi) || unicode.In(before, unicode.Ps, unicode.Pi) {
		return false
	}
	return ansi.StringWidth(char) > 1 || ansi.StringWidth(string(before)) > 1
}
