// Package roff writes manual pages as the macros of man(7).
package roff

import (
	"fmt"
	"strings"
	"time"
)

// Page is a manual page, as mango builds it. Its date is that of the sources: a page that is made again is the same. It
// is used by one goroutine.
type Page struct {
	Date    string // of the sources, "" if unknown
	Version string // of the program

	b strings.Builder
}

// Heading begins the page; the time of its making is left out.
func (r *Page) Heading(section uint, title, _ string, _ time.Time) {
	r.macro("TH", fmt.Sprintf(`%s %d "%s" "unitask %s"`, strings.ToUpper(title), section, r.Date, r.Version))
}

// Paragraph begins a paragraph.
func (r *Page) Paragraph() { r.macro("PP", "") }

// Indent moves the following text to the right, by n characters if n isn't negative.
func (r *Page) Indent(n int) { r.macro("RS", amount(n)) }

// IndentEnd ends an Indent.
func (r *Page) IndentEnd() { r.macro("RE", "") }

// TaggedParagraph makes the next line the head of a paragraph.
func (r *Page) TaggedParagraph(indentation int) { r.macro("TP", amount(indentation)) }

// List writes an item of a list.
func (r *Page) List(text string) {
	r.macro("IP", `\(bu 3`)
	r.Text(text)
}

// Section begins a section.
func (r *Page) Section(text string) { r.macro("SH", strings.ToUpper(text)) }

// EndSection ends the line.
func (r *Page) EndSection() { r.line() }

// KeptEnd is a line's end in a text whose own the library takes out.
const KeptEnd = "\v"

// Text writes text that is filled; indented lines stay lines, and an empty one ends a paragraph.
func (r *Page) Text(text string) {
	for i, line := range strings.Split(strings.ReplaceAll(text, KeptEnd, "\n"), "\n") {
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
func (r *Page) TextBold(text string) {
	r.b.WriteString(`\fB`)
	r.words(text)
	r.b.WriteString(`\fP`)
}

// TextItalic writes text in italics.
func (r *Page) TextItalic(text string) {
	r.b.WriteString(`\fI`)
	r.words(text)
	r.b.WriteString(`\fP`)
}

// String is the page so far, its last line whole.
func (r *Page) String() string {
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
func (r *Page) macro(name, arguments string) {
	r.line()
	r.b.WriteString(strings.TrimSuffix("."+name+" "+arguments, " ") + "\n")
}

func (r *Page) line() {
	if text := r.b.String(); text != "" && !strings.HasSuffix(text, "\n") {
		r.b.WriteByte('\n')
	}
}

// words writes a line's text: it contains no requests, and flags keep their hyphens. The quotes around the names of
// flags' values are the flag library's.
func (r *Page) words(text string) {
	begins := r.b.Len() == 0 || strings.HasSuffix(r.b.String(), "\n")
	if begins && (strings.HasPrefix(text, ".") || strings.HasPrefix(text, "'")) {
		r.b.WriteString(`\&`)
	}
	r.b.WriteString(strings.NewReplacer(`\`, `\e`, "-", `\-`, "`", "").Replace(text))
}
