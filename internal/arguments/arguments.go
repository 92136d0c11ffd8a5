// Package arguments makes requests from the words of a command line and from the lines of a batch: it fits them to the
// fields of a capability, and reads files and stdin.
package arguments

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"unitask/internal/api"
	"unitask/internal/catalog"
	"unitask/internal/form"
	"unitask/internal/hint"
)

// Argument is one word of the command line after the capability.
type Argument struct {
	Name  string // "" for the prompt
	Raw   bool   // written name:=value: the value is JSON
	Value string
}

// Parse reads name=value and name:=value; anything else is a prompt.
func Parse(word string) Argument {
	name, value, found := strings.Cut(word, "=")
	bare, raw := strings.CutSuffix(name, ":")
	if !found || !ValidName(bare) {
		return Argument{Value: word}
	}
	return Argument{Name: bare, Raw: raw, Value: value}
}

// ValidName reports whether a schema's member can be a field here: letters, digits and underscores, with dots between
// the members of objects.
func ValidName(name string) bool {
	for part := range strings.SplitSeq(name, ".") {
		letter := func(r rune) bool { return 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' || r == '_' }
		if part == "" || !letter(rune(part[0])) {
			return false
		}
		if strings.ContainsFunc(part, func(r rune) bool { return !letter(r) && (r < '0' || r > '9') }) {
			return false
		}
	}
	return true
}

// fitter fits words to a capability's fields.
type fitter struct {
	capability api.Capability
	fields     []catalog.Field
	read       *Reader
	groups     form.Values
	along      attachment
	dash       bool // a word after the prompt asks for stdin
}

// Fit makes the request that the words ask for. The fields' types, values and bounds are checked here, so that a
// typing error costs no request; the rest of the schema is the service's to check.
func Fit(c api.Capability, words []string, r *Reader) (api.CreateRequest, error) {
	f, err := newFitter(c, words, r)
	if err != nil {
		return api.CreateRequest{}, err
	}
	return f.finish()
}

// newFitter fits words; required fields may still be absent.
func newFitter(c api.Capability, words []string, r *Reader) (*fitter, error) {
	fields, err := catalog.FieldsOf(c.InputSchema, c.ParametersSchema)
	if err != nil {
		return nil, fmt.Errorf("the schema of %s can't be read: %w", c.Name, err)
	}
	f := &fitter{capability: c, fields: fields, read: r, groups: form.Values{
		catalog.GroupInput: {}, catalog.GroupParameters: {},
	}}
	for _, word := range words {
		if err := f.add(Parse(word)); err != nil {
			return nil, err
		}
	}
	return f, nil
}

func (f *fitter) finish() (api.CreateRequest, error) {
	if err := f.pipe(); err != nil {
		return api.CreateRequest{}, err
	}
	if err := f.combine(); err != nil {
		return api.CreateRequest{}, err
	}
	if err := f.complete(); err != nil {
		return api.CreateRequest{}, err
	}
	if err := f.judge(); err != nil {
		return api.CreateRequest{}, err
	}
	if err := f.read.send(); err != nil {
		return api.CreateRequest{}, f.unread("", err)
	}
	return f.groups.Request(string(f.capability.Name))
}

func (f *fitter) add(a Argument) error {
	path, err := f.pathOf(a.Name)
	if err != nil {
		return err
	}
	into, field, err := f.place(path)
	if err != nil {
		return err
	}
	last := path[len(path)-1]
	if a.Name == "" && !field.Array && (into[last] != nil || f.leads(a.Value)) {
		if attached, err := f.attach(last, a.Value); attached {
			return err
		}
		return f.second(a.Value)
	}
	return f.put(into, last, field, a)
}

// second takes a word after the prompt that isn't a file of the message: a dash asks for stdin in the same way.
func (f *fitter) second(word string) error {
	media := slices.IndexFunc(f.fields, func(x catalog.Field) bool { return x.Media })
	switch {
	case word == "-" && !f.read.StdinUsed:
		f.read.Piped, f.dash = true, true
		return nil
	case strings.HasPrefix(word, "@") && !strings.HasPrefix(word, "@@") && media >= 0:
		return f.usage("there is more than one prompt; a file is written %s=%s", f.fields[media].Name, word)
	default:
		return f.usage("there is more than one prompt; quote it as one word")
	}
}

// pathOf takes a name apart; "" is the field that a prompt goes to.
func (f *fitter) pathOf(name string) ([]string, error) {
	if name != "" {
		return strings.Split(name, "."), nil
	}
	primary, ok := form.Primary(f.fields)
	if !ok {
		return nil, f.usage("%s takes no prompt: write name=value", f.capability.Name)
	}
	return []string{primary.Name}, nil
}

// place finds the field at a path and the object that its value goes into.
func (f *fitter) place(path []string) (map[string]any, catalog.Field, error) {
	field, err := f.find(path)
	if err != nil {
		return nil, field, err
	}
	into := f.groups[field.Group]
	for _, step := range path[:len(path)-1] {
		inner, ok := into[step].(map[string]any)
		if !ok {
			inner = map[string]any{}
			into[step] = inner
		}
		into = inner
	}
	return into, field, nil
}

// put adds a value: another item to an array, or the items of a list in JSON, otherwise the one value.
func (f *fitter) put(into map[string]any, name string, field catalog.Field, a Argument) error {
	if list := textList(field, a); list != nil {
		before, _ := into[name].([]any)
		all := append([]any{}, before...)
		for _, text := range list {
			if err := oneOf(field, text); err != nil {
				return f.unread(field.Name, err)
			}
			all = append(all, text)
		}
		into[name] = all
		return nil
	}
	if a.Raw {
		value, err := f.read.json(a.Value)
		if err != nil {
			return f.usage("%s: %v", a.Name, err)
		}
		into[name] = value
		return nil
	}
	value, err := f.read.value(field, a.Value)
	if err != nil {
		return f.unread(field.Name, err)
	}
	if !field.Array {
		into[name] = value
		return nil
	}
	all, _ := into[name].([]any)
	into[name] = append(all, items(value)...)
	return nil
}

// textList returns the texts of a list in JSON that is given to a list of texts; nil for any other value. One that is a
// text itself is written name:='["[]"]'.
func textList(field catalog.Field, a Argument) (list []string) {
	if a.Raw || !field.Array || field.Media || field.Type != "string" || json.Unmarshal([]byte(a.Value), &list) != nil {
		return nil
	}
	return list
}

// find returns the field at a path; an unknown name is answered with the known ones.
func (f *fitter) find(path []string) (catalog.Field, error) {
	fields := f.fields
	for i, step := range path {
		at := slices.IndexFunc(fields, func(x catalog.Field) bool { return x.Name == step })
		if at < 0 {
			return catalog.Field{}, f.unknown(path[:i], step, fields)
		}
		if i == len(path)-1 {
			return fields[at], nil
		}
		if fields = fields[at].Members; fields == nil {
			return catalog.Field{}, f.usage("%s has no members", strings.Join(path[:i+1], "."))
		}
	}
	return catalog.Field{}, f.usage("a name is missing")
}

func (f *fitter) unknown(parents []string, name string, fields []catalog.Field) error {
	var names []string
	for _, field := range fields {
		names = append(names, field.Name)
	}
	where := string(f.capability.Name)
	if len(parents) > 0 {
		where += " " + strings.Join(parents, ".")
	}
	message := fmt.Sprintf("%s has no %q; it has %s", where, name, strings.Join(names, ", "))
	switch near := catalog.Nearest(name, names); {
	case near != "":
		message = fmt.Sprintf("%s has no %q: did you mean %s? It has %s", where, name, near, strings.Join(names, ", "))
	case len(parents) == 0:
		if primary, ok := form.Primary(f.fields); ok {
			message += fmt.Sprintf("; a text with = in it is written %s=TEXT", primary.Name)
		}
	}
	return f.usage("%s", message)
}

// complete asks for the absent required fields.
func (f *fitter) complete() error {
	var missing []string
	for _, field := range f.fields {
		if f.lacks(field) {
			missing = append(missing, strings.Join(append([]string{field.Name}, field.Unless...), " or "))
		}
	}
	if len(missing) == 0 {
		return nil
	}
	return f.usage("%s needs %s", f.capability.Name, strings.Join(missing, ", "))
}

func (f *fitter) usage(format string, args ...any) error {
	return &hint.UsageError{Message: fmt.Sprintf(format, args...), Hint: "unitask capabilities " + string(f.capability.Name)}
}
