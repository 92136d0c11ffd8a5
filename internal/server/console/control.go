package console

import (
	"encoding/json"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"unitask/internal/blank"
	"unitask/internal/catalog"
)

// group is controls that belong together: one value, or an object's.
type group struct {
	Legend, Help string // of an object
	Controls     []control
}

// control is one entry of a form as a page shows it.
type control struct {
	blank.Entry
	ID       string
	Kind     string // of widget: "text", "lines", "choice", "number", "media", "rows"
	Value    string
	Rows     [][]control // of "rows", each with its members
	Required bool
	Standard string // what the service takes where nothing is given
}

// groups makes a capability's form: what is always shown and what may be unfolded. An object's members stay
// together where the first of them is.
func groups(fields []catalog.Field, texts map[string][]string) (shown, rest []group) {
	entries, first := blank.Ordered(fields)
	under := func(e blank.Entry) string { return e.Field.Group + "." + e.Path[0] }
	placed := map[string]bool{}
	for i, e := range entries {
		if placed[under(e)] {
			continue
		}
		placed[under(e)] = true
		var g group
		for _, other := range entries[i:] {
			if under(other) == under(e) {
				g.Controls = append(g.Controls, newControl(other, texts, 0))
			}
		}
		if len(e.Path) > 1 {
			at := slices.IndexFunc(fields, func(f catalog.Field) bool { return f.Group == e.Field.Group && f.Name == e.Path[0] })
			g.Legend, g.Help = title(e.Path[0]), fields[at].Description
		}
		if i < first {
			shown = append(shown, g)
		} else {
			rest = append(rest, g)
		}
	}
	return shown, rest
}

// newControl shows an entry with what was entered, the n-th text of its name.
func newControl(e blank.Entry, texts map[string][]string, n int) control {
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

func widget(e blank.Entry) string {
	switch {
	case e.Rows():
		return "rows"
	case e.Field.Media:
		return "media"
	case e.Kind == blank.Choice:
		return "choice"
	case e.Kind == blank.Number:
		return "number"
	case e.Kind == blank.Word:
		return "text"
	default:
		return "lines"
	}
}

// Title is the entry's name in words.
func (c control) Title() string { return title(c.Path[len(c.Path)-1]) }

// Help says what there is to know beside the title.
func (c control) Help() string {
	words := []string{c.Field.Description}
	switch {
	case c.Kind == "media" && c.Field.Array:
		words = append(words, "Files, or addresses and ids of artifacts, one a line.")
	case c.Kind == "media":
		words = append(words, "A file, an address or the id of an artifact.")
	case c.Entry.Kind == blank.List:
		words = append(words, "One a line.")
	case c.Entry.Kind == blank.JSON && c.Kind != "rows":
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
func (c control) Tall() bool { return c.Entry.Kind == blank.List || c.Field.Required && !c.Within }

func title(name string) string {
	first, size := utf8.DecodeRuneInString(name)
	return string(unicode.ToUpper(first)) + strings.ReplaceAll(name[size:], "_", " ")
}
