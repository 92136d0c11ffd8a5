// Package form turns a capability's fields into the entries of a form, and the entered values into a request.
//
// The dashboard and the web trial show different widgets for the same entries and write the same requests. No value
// is refused here that the service would judge: its schema decides, and About says beside which entry its verdict
// belongs.
package form

import (
	"slices"
	"strings"

	"unitask/internal/catalog"
)

// Kind is how a value is entered.
type Kind int

// The kinds of entries.
const (
	Word   Kind = iota // one line of text
	Prose              // a text of several lines
	Choice             // one of a few values
	Number
	Media // a file, a URL or an artifact's id
	List  // one item a line
	JSON  // values without a simpler form
)

// Entry is one value of a form.
type Entry struct {
	Field  catalog.Field
	Path   []string // below the group
	Within bool     // a member of an object that may be left out
	Kind   Kind
	Kinds  []string // of files, for Suits: those of media, or "JSON"; nil if no file is taken

	optional int // how many steps of the path lead to the innermost object that may be left out
}

// Entries returns a form's values: those of objects one by one, as deep as the fields describe them.
func Entries(fields []catalog.Field) []Entry { return entries(fields, nil, 0) }

func entries(fields []catalog.Field, parents []string, optional int) []Entry {
	var all []Entry
	for _, f := range fields {
		path := append(slices.Clone(parents), f.Name)
		if len(f.Members) > 0 && !f.Array && !f.Media {
			inner := optional
			if !f.Required {
				inner = len(path)
			}
			all = append(all, entries(f.Members, path, inner)...)
			continue
		}
		e := Entry{Field: f, Path: path, Within: optional > 0, Kind: kindOf(f), optional: optional}
		switch {
		case f.Media:
			e.Kinds = []string{f.MediaKind}
		case e.Kind == JSON:
			e.Kinds = []string{"JSON"}
		}
		all = append(all, e)
	}
	return all
}

func kindOf(f catalog.Field) Kind {
	switch {
	case f.Array && (f.Media || f.Type == "string" || f.Type == "integer" || f.Type == "number"):
		return List
	case f.Array:
		return JSON
	case f.Media:
		return Media
	case len(f.Enum) > 0, f.Type == "boolean":
		return Choice
	case f.Type == "integer", f.Type == "number":
		return Number
	case f.Type == "string" && f.Group == catalog.GroupInput:
		return Prose
	case f.Type == "string":
		return Word
	default:
		return JSON
	}
}

// person is the input in which a caller vouches for people shown in media. A required medium is asked for at once,
// not among the rest.
const person = "authorization"

// Ordered returns a form's entries, first those that a request can't do without, and how many these are. Without
// required fields all are first.
func Ordered(fields []catalog.Field) ([]Entry, int) {
	all := Entries(fields)
	needsMedia := slices.ContainsFunc(fields, func(f catalog.Field) bool { return f.Media && f.Required })
	first := func(e Entry) int {
		if e.Field.Required && !e.Within || needsMedia && e.Path[0] == person && e.Field.Required {
			return 0
		}
		return 1
	}
	slices.SortStableFunc(all, func(a, b Entry) int { return first(a) - first(b) })
	shown := slices.IndexFunc(all, func(e Entry) bool { return first(e) == 1 })
	if shown <= 0 {
		shown = len(all)
	}
	return all, shown
}

// Name is the form's name of the value.
func (e Entry) Name() string { return strings.Join(e.Path, ".") }

// Wire is the service's name of it, in the details of an error.
func (e Entry) Wire() string { return e.Field.Group + "." + e.Name() }

// Choices returns the values of a Choice; the first is "" if the value may be left out.
func (e Entry) Choices() []string {
	choices := e.Field.Enum
	if e.Field.Type == "boolean" {
		choices = []string{"true", "false"}
	}
	if !e.Field.Required || e.Within {
		choices = append([]string{""}, choices...)
	}
	return choices
}

// Here adds the wire names of the entry and of its objects to those that are there.
func (e Entry) Here(here map[string]bool) {
	for i := range e.Path {
		here[e.wire(i+1)] = true
	}
}

// wire is the service's name of what the first steps of the path lead to.
func (e Entry) wire(steps int) string { return e.Field.Group + "." + strings.Join(e.Path[:steps], ".") }

// Missing reports whether a value must be given and isn't among those that are there, of which Here tells. A member of
// an object that is left out isn't missing.
func (e Entry) Missing(here map[string]bool) bool {
	object := e.Field.Group
	if len(e.Path) > 1 {
		object = e.wire(len(e.Path) - 1)
	}
	instead := slices.ContainsFunc(e.Field.Unless, func(name string) bool { return here[object+"."+name] })
	asked := !e.Within || here[e.wire(e.optional)]
	return e.Field.Required && asked && !instead && !here[e.Wire()]
}

// About returns the entry that a detail's field is or belongs to, -1 without one; an object's own is its first
// member.
func About(all []Entry, field string) int {
	best, inside := -1, false
	for i, e := range all {
		name := e.Wire()
		within := field == name || strings.HasPrefix(field, name+".") || strings.HasPrefix(field, name+"[")
		switch {
		case within && (!inside || len(name) > len(all[best].Wire())):
			best, inside = i, true
		case best < 0 && strings.Contains(field, ".") && strings.HasPrefix(name, field+"."):
			best = i
		}
	}
	return best
}

// Primary is the field that a lone prompt goes to.
func Primary(fields []catalog.Field) (catalog.Field, bool) {
	for _, name := range []string{"prompt", "text", "texts"} {
		for _, field := range fields {
			if field.Group == catalog.GroupInput && field.Name == name {
				return field, true
			}
		}
	}
	at := slices.IndexFunc(fields, func(x catalog.Field) bool { return x.Group == catalog.GroupInput && x.Required })
	if at < 0 {
		return catalog.Field{}, false
	}
	return fields[at], true
}
