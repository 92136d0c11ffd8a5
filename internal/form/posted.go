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
	for _, raw := range p.Files[e.Wire()] {
		if e.Field.Media && len(raw) > 0 {
			items = append(items, Inline(raw))
		}
	}
	for _, text := range p.Texts[e.Wire()] {
		lines := []string{clean(text)}
		if e.Kind == List {
			lines = strings.Split(lines[0], "\n")
		}
		for _, line := range lines {
			if strings.TrimSpace(line) != "" {
				items = append(items, read(e, line))
			}
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

// attached adds the files to the last row, as parts of its content. A file of no kind that a message may have is left
// for the schema to refuse, as a document.
func (p Posted) attached(e Entry, rows []any) []any {
	var parts []any
	for _, raw := range p.Files[e.Attaches()] {
		if len(raw) == 0 {
			continue // the browser's word for no file
		}
		medium := Inline(raw)
		part, kind := PartOf("", medium)
		if kind == "" {
			part = map[string]any{"type": "document", "document": medium}
		}
		parts = append(parts, part)
	}
	for _, text := range p.Texts[e.Attaches()] { // a file that went ahead: its artifact and its type
		id, contentType, _ := strings.Cut(strings.TrimSpace(text), " ")
		if part, kind := PartOf("", map[string]any{"content_type": contentType}); part != nil {
			part[kind] = map[string]any{"artifact": id}
			parts = append(parts, part)
		}
	}
	if len(parts) == 0 {
		return rows
	}
	into := Values{catalog.GroupInput: {}}
	if len(rows) > 0 {
		into[catalog.GroupInput][e.Path[0]] = rows
	}
	if _, err := into.Attach(e.Path[0], "", parts); err != nil { // rows are objects
		return rows
	}
	rows, _ = into[catalog.GroupInput][e.Path[0]].([]any)
	return rows
}

// read reads the value, or an item of it.
func read(e Entry, text string) any {
	trimmed := strings.TrimSpace(text)
	_, notNumber := strconv.ParseFloat(trimmed, 64)
	switch {
	case e.Field.Media:
		if value, ok := Reference(trimmed); ok {
			return value
		}
		return map[string]any{"url": trimmed}
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

// Fill returns the texts that a form shows for a request's values. Media aren't among them.
func Fill(fields []catalog.Field, input, parameters json.RawMessage) map[string][]string {
	groups := map[string]any{}
	for name, raw := range map[string]json.RawMessage{catalog.GroupInput: input, catalog.GroupParameters: parameters} {
		var group any
		if json.Unmarshal(raw, &group) == nil {
			groups[name] = group
		}
	}
	texts := map[string][]string{}
	for _, e := range Entries(fields) {
		value := at(groups[e.Field.Group], e.Path)
		items, _ := value.([]any)
		switch {
		case value == nil, e.Field.Media:
		case e.Rows():
			for _, m := range e.Members() {
				for _, row := range items {
					texts[m.Wire()] = append(texts[m.Wire()], textOf(at(row, m.Path[len(e.Path):])))
				}
			}
		case e.Kind == List:
			lines := make([]string, len(items))
			for i, item := range items {
				lines[i] = textOf(item)
			}
			texts[e.Wire()] = []string{strings.Join(lines, "\n")}
		default:
			texts[e.Wire()] = []string{textOf(value)}
		}
	}
	return texts
}

func at(value any, path []string) any {
	for _, step := range path {
		object, _ := value.(map[string]any)
		value = object[step]
	}
	return value
}

func textOf(value any) string {
	if text, ok := value.(string); ok {
		return text
	}
	if value == nil {
		return ""
	}
	raw, _ := json.Marshal(value) // it was read from JSON
	return string(raw)
}
