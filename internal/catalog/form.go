package catalog

import (
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/santhosh-tekuri/jsonschema/v6"
)

// form is a schema of the kind that most are, for a quick yes without a value being built: a value that fits it is
// valid. The validator judges values that don't fit, and all values of a schema that a form can't express: that has
// none, and no value fits nil.
type form struct {
	kind    byte     // the first byte of the value: '{', '[', '"', 't' for a boolean, '0' for a number
	whole   bool     // the number is an integer
	bounds  bounds   // of a number, of the items of an array or of the code points of a string
	words   []string // the allowed strings, as JSON; nil for any
	pattern jsonschema.Regexp
	items   *form
	members []formMember // at most mostMembers
	demands []demand
}

type bounds struct{ least, most float64 }

func (b bounds) hold(n float64) bool { return b.least <= n && n <= b.most }

type formMember struct {
	name string
	form *form
}

// memberSet is a set of an object's members, by their place in the form.
type memberSet uint64

const mostMembers = 64

// demand is an object's requirement beside its members' own forms: if it has all of when, then of the sets it has at
// least and at most so many wholly.
type demand struct {
	when        memberSet
	of          []memberSet
	least, most int
}

func (d demand) met(given memberSet) bool {
	if given&d.when != d.when {
		return true
	}
	n := 0
	for _, set := range d.of {
		if given&set == set {
			n++
		}
	}
	return d.least <= n && n <= d.most
}

// mostForms bounds the forms of one schema: one that refers to itself has no end.
const mostForms = 1000

// former makes forms of one document.
type former struct {
	definitions map[string]any
	left        int // of mostForms
}

func formOf(doc map[string]any) *form {
	definitions, _ := doc["$defs"].(map[string]any)
	b := former{definitions, mostForms}
	return b.form(doc)
}

// form returns the form of a schema; nil if the schema has an unknown keyword.
func (b *former) form(v any) *form {
	schema, ok := b.resolve(v)
	if !ok {
		return nil
	}
	f := &form{bounds: bounds{math.Inf(-1), math.Inf(1)}}
	switch schema["type"] {
	case "object":
		f.kind = '{'
	case "array":
		f.kind = '['
	case "string":
		f.kind = '"'
	case "boolean":
		f.kind = 't'
	case "number":
		f.kind = '0'
	case "integer":
		f.kind, f.whole = '0', true
	default:
		return nil
	}
	if !b.properties(f, schema["properties"]) {
		return nil
	}
	for keyword, v := range schema {
		if !b.keyword(f, keyword, v) {
			return nil
		}
	}
	return f
}

// resolve replaces a $ref by its target. Keywords beside it have the same meaning there.
func (b *former) resolve(v any) (map[string]any, bool) {
	schema, ok := v.(map[string]any)
	for ; ok && b.left > 0; b.left-- {
		ref, refers := schema["$ref"].(string)
		if !refers {
			b.left--
			return schema, true
		}
		name, local := strings.CutPrefix(ref, definitionPrefix)
		target, found := b.definitions[name].(map[string]any)
		if !local || !found || strings.ContainsAny(name, "~%/") {
			return nil, false
		}
		schema, ok = joined(schema, target)
	}
	return nil, false
}

// joined returns the target of a schema's $ref with the keywords beside it; false if the two together differ in
// meaning from one after the other.
func joined(schema, target map[string]any) (map[string]any, bool) {
	one := maps.Clone(target)
	for keyword, v := range schema {
		_, both := target[keyword]
		switch {
		case keyword == "$ref" || annotates(keyword):
		case both || !alone(keyword):
			return nil, false
		default:
			one[keyword] = v
		}
	}
	return one, true
}

// annotates reports whether the keyword has no effect on validity.
func annotates(keyword string) bool {
	switch keyword {
	case "title", "description", "default", "examples", "$comment", "deprecated", "$defs", "x-media", errorAnnotation:
		return true
	default:
		return false
	}
}

// alone reports whether the keyword means the same whatever stands beside it.
func alone(keyword string) bool {
	switch keyword {
	case "minLength", "maxLength", "pattern", "enum", "minimum", "maximum", "minItems", "maxItems":
		return true
	default:
		return false
	}
}

func (b *former) properties(f *form, v any) bool {
	properties, _ := v.(map[string]any)
	if len(properties) > mostMembers {
		return false
	}
	for _, name := range slices.Sorted(maps.Keys(properties)) {
		f.members = append(f.members, formMember{name, b.form(properties[name])})
	}
	return true
}

// keyword adds one keyword; false if it is unknown. A keyword of another kind of value has no effect.
func (b *former) keyword(f *form, keyword string, v any) bool {
	switch keyword {
	case "type", "properties":
	case "additionalProperties": // a member that isn't listed fits no form anyway
	case "items":
		if f.kind == '[' {
			f.items = b.form(v)
		}
	case "enum":
		return f.enum(v)
	case "pattern":
		if f.kind == '"' {
			return f.match(v)
		}
	case "minimum", "maximum":
		return f.bound(keyword, '0', v)
	case "minLength", "maxLength":
		return f.bound(keyword, '"', v)
	case "minItems", "maxItems":
		return f.bound(keyword, '[', v)
	case "required", "not", "oneOf", "anyOf", "dependentRequired":
		return f.kind == '{' && f.demand(keyword, v)
	default:
		return annotates(keyword)
	}
	return true
}

func (f *form) bound(keyword string, kind byte, v any) bool {
	n, ok := v.(float64)
	switch {
	case f.kind != kind:
	case strings.HasPrefix(keyword, "min"):
		f.bounds.least = n
	default:
		f.bounds.most = n
	}
	return ok
}

func (f *form) enum(v any) bool {
	listed, _ := v.([]any)
	words := texts(listed)
	for _, word := range words {
		quoted, err := jsontext.AppendQuote(nil, word)
		if err != nil {
			return false
		}
		f.words = append(f.words, string(quoted))
	}
	return f.kind == '"' && len(words) > 0 && len(words) == len(listed)
}

func (f *form) match(v any) bool {
	text, ok := v.(string)
	if !ok {
		return false
	}
	pattern, err := compilePattern(text)
	f.pattern = pattern
	return err == nil
}

// demand adds a keyword that asks for members, or keeps them apart.
func (f *form) demand(keyword string, v any) bool {
	switch keyword {
	case "required":
		set, ok := f.set(v)
		f.demands = append(f.demands, demand{of: []memberSet{set}, least: 1, most: 1})
		return ok
	case "not":
		sets, ok := f.branches([]any{v})
		f.demands = append(f.demands, demand{of: sets})
		return ok
	case "oneOf", "anyOf":
		branches, _ := v.([]any)
		sets, ok := f.branches(branches)
		d := demand{of: sets, least: 1, most: 1}
		if keyword == "anyOf" {
			d.most = len(sets)
		}
		f.demands = append(f.demands, d)
		return ok
	}
	conditions, ok := v.(map[string]any)
	for name, v := range conditions {
		when, listed := f.set([]any{name})
		set, also := f.set(v)
		f.demands = append(f.demands, demand{when: when, of: []memberSet{set}, least: 1, most: 1})
		ok = ok && listed && also
	}
	return ok
}

// branches returns the members that each branch asks for; false if one does more than that.
func (f *form) branches(all []any) ([]memberSet, bool) {
	var sets []memberSet
	for _, v := range all {
		branch, _ := v.(map[string]any)
		set, ok := f.set(branch["required"])
		if !ok || len(branch) != 1 {
			return nil, false
		}
		sets = append(sets, set)
	}
	return sets, true
}

// set returns the listed members as a set; false if one of them has no form that identifies it.
func (f *form) set(v any) (memberSet, bool) {
	listed, ok := v.([]any)
	names := texts(listed)
	var set memberSet
	for _, name := range names {
		at := slices.IndexFunc(f.members, func(m formMember) bool { return m.name == name })
		if at < 0 {
			return 0, false
		}
		set |= 1 << at
	}
	return set, ok && len(names) == len(listed)
}
