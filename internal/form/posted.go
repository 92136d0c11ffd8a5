package form

import (
	"encoding/json"
	"slices"
	"strconv"
	"strings"

	"unitask/internal/catalog"
)

// Posted is the values of a page's form, by the wire names of its entries. Rows of objects stand under the names of
// their members, such as input.messages.role, the first of each being the first row.
//
// A file has a text of its own where its place among other media counts, such as "file:fox.png image/png", and without
// its bytes stands for itself.
type Posted struct {
	Texts map[string][]string
	Files map[string][][]byte
}

// Values returns the entered values. A text that isn't of its entry's type stays a text, so that the schema's own
// words refuse it.
func (p Posted) Values(fields []catalog.Field) Values {
	v := Values{}
	for _, e := range Entries(fields) {
		if value := p.value(e); value != nil {
			v.Put(e.Field.Group, e.Path, value)
		}
	}
	return v
}

// value returns the value of one entry, nil if empty.
func (p Posted) value(e Entry) any {
	if e.Rows() {
		return list(p.attached(e, p.rows(e)))
	}
	var items []any
	if e.Field.Media {
		for _, one := range p.media(e.Wire(), e.Kind == List) {
			items = append(items, one.value)
		}
	} else {
		for _, line := range p.lines(e.Wire(), e.Kind == List) {
			items = append(items, read(e, line))
		}
	}
	if e.Kind == List {
		return list(items)
	}
	if len(items) == 0 {
		return nil
	}
	return items[0]
}

// lines returns the texts of a name that aren't blank, the lines of each if they are wanted.
func (p Posted) lines(name string, split bool) []string {
	var lines []string
	for _, text := range p.Texts[name] {
		all := []string{clean(text)}
		if split {
			all = strings.Split(all[0], "\n")
		}
		for _, line := range all {
			if strings.TrimSpace(line) != "" {
				lines = append(lines, line)
			}
		}
	}
	return lines
}

// list returns nil for no items: an absent value, and no empty one.
func list(items []any) any {
	if len(items) == 0 {
		return nil
	}
	return items
}

// rows returns the objects of an entry; a row without a text of its own doesn't count.
func (p Posted) rows(e Entry) []any {
	var count int
	for _, m := range e.Members() {
		count = max(count, len(p.Texts[m.Wire()]))
	}
	var rows []any
	for i := range count {
		row, written := map[string]any{}, false
		for _, m := range e.Members() {
			texts := p.Texts[m.Wire()]
			if i >= len(texts) || strings.TrimSpace(texts[i]) == "" {
				continue
			}
			row[m.Field.Name] = read(m, clean(texts[i]))
			written = written || m.Kind != Choice
		}
		if written {
			rows = append(rows, row)
		}
	}
	return rows
}

// read reads the value, or an item of it.
func read(e Entry, text string) any {
	trimmed := strings.TrimSpace(text)
	_, notNumber := strconv.ParseFloat(trimmed, 64)
	switch {
	case e.Field.Type == "string":
		return text
	case !json.Valid([]byte(trimmed)):
		return text
	case (e.Field.Type == "integer" || e.Field.Type == "number") && notNumber == nil:
		return json.Number(trimmed)
	default:
		return json.RawMessage(trimmed)
	}
}

// clean undoes browsers' changes of line ends.
func clean(text string) string {
	return strings.ToValidUTF8(strings.ReplaceAll(text, "\r\n", "\n"), "\uFFFD")
}

// Rows reports whether the entry is a list of flat objects, which a page shows as rows. Members that are returned aren't
// shown.
func (e Entry) Rows() bool {
	return e.Field.Array && len(e.Field.Members) > 0 &&
		!slices.ContainsFunc(e.Field.Members, func(m catalog.Field) bool { return !m.Returned && (m.Array || m.Media || m.Type == "object") })
}

// Members returns the entries of one row.
func (e Entry) Members() []Entry {
	var all []Entry
	for _, m := range e.Field.Members {
		if m.Returned {
			continue
		}
		all = append(all, Entry{Field: m, Path: append(slices.Clone(e.Path), m.Name), Kind: kindOf(m)})
	}
	return all
}
