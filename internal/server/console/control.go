package console

import (
	"encoding/json"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"unitask/internal/catalog"
	"unitask/internal/form"
)

// group is controls that belong together: one value, an object's, or ways of which one is given.
type group struct {
	Legend, Help string // of an object or of ways
	Wire         string // of an object
	Required     bool   // one of the ways must be given
	Ways         []alternative
	Controls     []control
}

// alternative is one of several fields that exclude each other.
type alternative struct {
	Title, Wire string
	Chosen      bool
	Group       group
}

// control is one entry of a form as a page shows it.
type control struct {
	form.Entry
	ID       string
	Kind     string // of widget: "text", "lines", "choice", "number", "media", "rows"
	Value    string
	Rows     [][]control // of "rows", each with its members
	Required bool
	Standard string // the service's default
}

// groups makes a capability's form: the always shown ones and those that may be unfolded. An object's members stay
// together at the place of the first.
func groups(fields []catalog.Field, texts map[string][]string) (shown, rest []group) {
	entries, first := form.Ordered(fields)
	placed := map[string]bool{} // wire names of fields
	for i, e := range entries {
		at := slices.IndexFunc(fields, func(f catalog.Field) bool { return f.Group == e.Field.Group && f.Name == e.Path[0] })
		if placed[memberName(fields[at])] {
			continue
		}
		var all []alternative
		for _, f := range rivals(fields, fields[at], placed) {
			placed[memberName(f)] = true
			all = append(all, newWay(f, entries, texts))
		}
		g := all[0].Group
		if len(all) > 1 {
			g = ways(fields[at], all)
		}
		if i < first {
			shown = append(shown, g)
		} else {
			rest = append(rest, g)
		}
	}
	return shown, rest
}

// rivals returns the field and those not placed yet of which each excludes all others.
func rivals(fields []catalog.Field, first catalog.Field, placed map[string]bool) []catalog.Field {
	set := []catalog.Field{first}
	for _, f := range fields {
		beside := func(other catalog.Field) bool { return !slices.Contains(f.Excludes, other.Name) }
		if f.Group == first.Group && !placed[memberName(f)] && !slices.ContainsFunc(set, beside) {
			set = append(set, f)
		}
	}
	return set
}

// newWay shows a field with the entries that are its own or its members'.
func newWay(f catalog.Field, entries []form.Entry, texts map[string][]string) alternative {
	w := alternative{Title: title(f.Name), Wire: memberName(f)}
	for _, e := range entries {
		if e.Field.Group != f.Group || e.Path[0] != f.Name {
			continue
		}
		c := newControl(e, texts, 0)
		w.Group.Controls = append(w.Group.Controls, c)
		w.Chosen = w.Chosen || c.filled()
		if len(e.Path) > 1 {
			w.Group.Legend, w.Group.Help, w.Group.Wire = w.Title, f.Description, w.Wire
		}
	}
	return w
}

// ways is the choice of one among fields that exclude each other: the first that has a value, else the first.
func ways(first catalog.Field, all []alternative) group {
	chosen := max(0, slices.IndexFunc(all, func(w alternative) bool { return w.Chosen }))
	g := group{Ways: all, Required: first.Required}
	for i := range all {
		all[i].Chosen = i == chosen
		if i == 0 {
			g.Legend = all[i].Title
		} else {
			g.Legend += " or " + strings.ToLower(all[i].Title)
		}
	}
	for _, name := range first.Unless {
		g.Required = g.Required && slices.Contains(first.Excludes, name)
	}
	return g
}

func memberName(f catalog.Field) string { return f.Group + "." + f.Name }

// newControl shows an entry with its input, the n-th text of its name.
func newControl(e form.Entry, texts map[string][]string, n int) control {
	c := control{
		Entry: e, ID: strings.ReplaceAll(e.Wire(), ".", "-") + "-" + strconv.Itoa(n), Kind: widget(e),
		Required: e.Field.Required && len(e.Field.Unless) == 0 && !e.Within,
	}
	if all := texts[e.Wire()]; n < len(all) {
		c.Value = all[n]
	}
	if json.Unmarshal(e.Field.Default, &c.Standard) != nil {
		c.Standard = string(e.Field.Default)
	}
	if !e.Rows() {
		return c
	}
	rows := 1
	for _, m := range e.Members() {
		rows = max(rows, len(texts[m.Wire()]))
	}
	for i := range rows {
		var row []control
		for _, m := range e.Members() {
			row = append(row, newControl(m, texts, i))
		}
		c.Rows = append(c.Rows, row)
	}
	return c
}

// filled reports whether something stands in the control.
func (c control) filled() bool {
	return c.Value != "" || slices.ContainsFunc(c.Rows, func(row []control) bool { return slices.ContainsFunc(row, control.filled) })
}

func widget(e form.Entry) string {
	switch {
	case e.Rows():
		return "rows"
	case e.Field.Media:
		return "media"
	case e.Kind == form.Choice:
		return "choice"
	case e.Kind == form.Number:
		return "number"
	case e.Kind == form.Word:
		return "text"
	default:
		return "lines"
	}
}

// Title is the entry's name in words.
func (c control) Title() string { return title(c.Path[len(c.Path)-1]) }

// Help is the explanation beside the title.
func (c control) Help() string {
	words := []string{c.Field.Description}
	switch {
	case c.Kind == "media" && c.Field.Array:
		words = append(words, "Files, or addresses and ids of artifacts, one a line.")
	case c.Kind == "media":
		words = append(words, "A file, an address or the id of an artifact.")
	case c.Entry.Kind == form.List:
		words = append(words, "One a line.")
	case c.Entry.Kind == form.JSON && c.Kind != "rows":
		words = append(words, "Written as JSON.")
	}
	if bounds := c.Field.Bounds(); bounds != "" {
		words = append(words, "From "+bounds+".")
	}
	if c.Standard != "" && c.Kind != "choice" {
		words = append(words, "Default "+c.Standard+".")
	}
	return strings.TrimSpace(strings.Join(words, " "))
}

// Tall reports whether a text has room for several lines from the start.
func (c control) Tall() bool { return c.Entry.Kind == form.List || c.Field.Required && !c.Within }

// title is a name in words.
func title(name string) string {
	if name == "n" {
		return "Number of images"
	}
	first, size := utf8.DecodeRuneInString(name)
	return string(unicode.ToUpper(first)) + strings.ReplaceAll(name[size:], "_", " ")
}
