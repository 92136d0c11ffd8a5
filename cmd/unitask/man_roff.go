package main

import (
	"fmt"
	"strings"
	"time"
)

// roff writes a manual page as the macros of man(7). The date is its own: a page that is made again
// is the same.
type roff struct {
	b       strings.Builder
	date    string // of the sources, "" if unknown
	version string
}

// Heading begins the page; the time of its making is left out.
func (r *roff) Heading(section uint, title, _ string, _ time.Time) {
	r.macro("TH", fmt.Sprintf(`%s %d "%s" "unitask %s"`, strings.ToUpper(title), section, r.date, r.version))
}

// Paragraph begins a paragraph.
func (r *roff) Paragraph() { r.macro("PP", "") }

// Indent moves the following text to the right, by n characters if n isn't negative.
func (r *roff) Indent(n int) { r.macro("RS", amount(n)) }

// IndentEnd ends an Indent.
func (r *roff) IndentEnd() { r.macro("RE", "") }

// TaggedParagraph makes the next line the head of a paragraph.
func (r *roff) TaggedParagraph(indentation int) { r.macro("TP", amount(indentation)) }

// List writes an item of a list.
func (r *roff) List(text string) {
	r.macro("IP", `\(bu 3`)
	r.Text(text)
}

// Section begins a section.
func (r *roff) Section(text string) { r.macro("SH", strings.ToUpper(text)) }

// EndSection ends the line.
func (r *roff) EndSection() { r.line() }

// keptEnd is a line's end in a text whose own the library takes out.
const keptEnd = "\v"

// Text writes text that is filled; indented lines stay lines, and an empty one ends a paragraph.
func (r *roff) Text(text string) {
	for i, line := range strings.Split(strings.ReplaceAll(text, keptEnd, "\n"), "\n") {
		if i > 0 {
			r.line()
		}
		if line == "" && i > 0 {
			r.macro("sp", "")
			continue
		}
		r.words(line)
	}
}

// TextBold writes text in bold.
func (r *roff) TextBold(text string) {
	r.b.WriteString(`\fB`)
	r.words(text)
	r.b.WriteString(`\fP`)
}

// TextItalic writes text in italics.
func (r *roff) TextItalic(text string) {
	r.b.WriteString(`\fI`)
	r.words(text)
	r.b.WriteString(`\fP`)
}

// String is the page so far, its last line whole.
func (r *roff) String() string {
	r.line()
	return r.b.String()
}

func amount(n int) string {
	if n < 0 {
		return ""
	}
	return fmt.Sprint(n)
}

// macro writes a request on a line of its own.
func (r *roff) macro(name, arguments string) {
	r.line()
	r.b.WriteString(strings.TrimSuffix("."+name+" "+arguments, " ") + "\n")
}

func (r *roff) line() {
	if text := r.b.String(); text != "" && !strings.HasSuffix(text, "\n") {
		r.b.WriteByte('\n')
	}
}

// words writes a line's text: it contains no requests, and flags keep their hyphens. The quotes around the names of
// flags' values are the flag library's.
func (r *roff) words(text string) {
	begins := r.b.Len() == 0 || strings.HasSuffix(r.b.String(), "\n")
	if begins && (strings.HasPrefix(text, ".") || strings.HasPrefix(text, "'")) {
		r.b.WriteString(`\&`)
	}
	r.b.WriteString(strings.NewReplacer(`\`, `\e`, "-", `\-`, "`", "").Replace(text))
}
