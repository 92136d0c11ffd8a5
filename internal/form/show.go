package form

import (
	"bytes"
	"encoding/json"
	"errors"
	"maps"
	"reflect"
	"slices"
	"strings"

	"unitask/internal/catalog"
)

// Fill returns the texts that a form shows for a request's values. Media aren't among them.
func Fill(fields []catalog.Field, input, parameters json.RawMessage) map[string][]string {
	groups := map[string]any{}
	for name, raw := range map[string]json.RawMessage{catalog.GroupInput: input, catalog.GroupParameters: parameters} {
		if group, err := exact(raw); err == nil {
			groups[name] = group
		}
	}
	texts := map[string][]string{}
	for _, e := range Entries(fields) {
		if !e.Field.Media {
			fill(texts, e, at(groups[e.Field.Group], e.Path))
		}
	}
	return texts
}

// Show returns the texts that a form shows for a whole request, media among them, and the rest of it: the members that
// the texts don't make as they are. Join puts both together again.
func Show(fields []catalog.Field, request json.RawMessage) (texts map[string][]string, rest map[string]any, err error) {
	value, err := exact(request)
	if err != nil {
		return nil, nil, err
	}
	whole, ok := value.(map[string]any)
	if !ok {
		return nil, nil, errNoObject
	}
	texts = map[string][]string{}
	taken := map[string]bool{} // fields of which a form sends one or the other
	for _, e := range Entries(fields) {
		want := at(whole[e.Field.Group], e.Path)
		mine := map[string][]string{}
		fill(mine, e, want)
		rival := slices.ContainsFunc(e.Field.Excludes, func(name string) bool { return taken[e.Field.Group+"."+name] })
		if want == nil || rival || !holds(e, mine) || !reflect.DeepEqual(plain(Posted{Texts: mine}.value(e)), want) {
			continue
		}
		maps.Copy(texts, mine)
		taken[e.Field.Group+"."+e.Path[0]] = true
	}
	made := map[string]any{"capability": whole["capability"]}
	for group, members := range (Posted{Texts: texts}).Values(fields) {
		made[group] = plain(members)
	}
	for _, group := range []string{catalog.GroupInput, catalog.GroupParameters} {
		if _, ok := made[group]; !ok {
			made[group] = map[string]any{} // a form without values makes these
		}
	}
	return texts, without(whole, made), nil
}

// holds reports whether the widget of an entry holds the texts as they are: a choice, the lines that a page's field has.
func holds(e Entry, texts map[string][]string) bool {
	for _, one := range append([]Entry{e}, e.Members()...) {
		breaks := "\r" // browsers write it as \n
		if one.Kind == Word || one.Kind == Number || one.Kind == Media {
			breaks = "\r\n"
		}
		for _, text := range texts[one.Wire()] {
			if strings.ContainsAny(text, breaks) || one.Kind == Choice && !slices.Contains(one.Choices(), text) && text != "" {
				return false
			}
		}
	}
	return true
}

var errNoObject = errors.New("must be an object")

// Join adds to a request the rest that a form doesn't show. Where both have a value, that of the form counts.
func Join(request json.RawMessage, rest map[string]any) (json.RawMessage, error) {
	if len(rest) == 0 {
		return request, nil
	}
	value, err := exact(request)
	if err != nil {
		return nil, err
	}
	whole, ok := value.(map[string]any)
	if !ok {
		return nil, errNoObject
	}
	return json.Marshal(joined(whole, rest))
}

func joined(whole, rest map[string]any) map[string]any {
	for name, member := range rest {
		inner, both := whole[name].(map[string]any)
		more, ok := member.(map[string]any)
		switch {
		case both && ok:
			whole[name] = joined(inner, more)
		case whole[name] == nil || both && len(inner) == 0:
			whole[name] = member
		}
	}
	return whole
}

// without returns the members of an object that another one hasn't as they are, at any depth.
func without(whole, made map[string]any) map[string]any {
	rest := map[string]any{}
	for name, member := range whole {
		had, there := made[name]
		inner, ok := member.(map[string]any)
		object, both := had.(map[string]any)
		switch {
		case ok && both:
			if left := without(inner, object); len(left) > 0 {
				rest[name] = left
			}
		case !there || !reflect.DeepEqual(member, had):
			rest[name] = member
		}
	}
	return rest
}

// Names returns the wire names of the values in the rest of a request, in order.
func Names(rest map[string]any) []string {
	var names []string
	for name, member := range rest {
		inner, ok := member.(map[string]any)
		if !ok || len(inner) == 0 {
			names = append(names, name)
			continue
		}
		for _, below := range Names(inner) {
			names = append(names, name+"."+below)
		}
	}
	slices.Sort(names)
	return names
}

// fill sets the texts that show an entry's value.
func fill(texts map[string][]string, e Entry, value any) {
	items, _ := value.([]any)
	switch {
	case value == nil:
	case e.Rows():
		fillRows(texts, e, items)
	case e.Field.Media && e.Kind == List:
		for _, item := range items {
			texts[e.Wire()] = append(texts[e.Wire()], mediumText(item))
		}
	case e.Field.Media:
		texts[e.Wire()] = []string{mediumText(value)}
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

// fillRows sets the texts of rows, and those of the files that go along with the last one.
func fillRows(texts map[string][]string, e Entry, rows []any) {
	for i, row := range rows {
		words, files, attached := attachedTexts(at(row, []string{"content"}))
		attached = attached && i == len(rows)-1 && e.Attaches() != ""
		for _, m := range e.Members() {
			text := textOf(at(row, m.Path[len(e.Path):]))
			if attached && m.Field.Name == "content" {
				text = words
			}
			texts[m.Wire()] = append(texts[m.Wire()], text)
		}
		if attached {
			texts[e.Attaches()] = files
		}
	}
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
	var out bytes.Buffer
	e := json.NewEncoder(&out)
	e.SetEscapeHTML(false)
	_ = e.Encode(value) // it was read from JSON
	return strings.TrimSpace(out.String())
}

// exact decodes a value whose numbers stay as they are written.
func exact(raw []byte) (any, error) {
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	var value any
	err := d.Decode(&value)
	return value, err
}

// plain is a value as it is read from its JSON; nil for one without.
func plain(value any) any {
	raw, err := json.Marshal(value)
	if err != nil {
		return nil
	}
	value, _ = exact(raw)
	return value
}
