package fastlane

import (
	"maps"
	"math"
	"math/big"
	"reflect"
	"slices"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/santhosh-tekuri/jsonschema/v6"
)

// Schema is a JSON Schema that consists of common keywords, or a part of one. The zero Schema, into
// which any other is compiled, accepts no value.
type Schema struct {
	kind     byte // first byte of a value: '{', '[', '"', 't' for a boolean, '0' for a number
	integer  bool
	min, max float64  // of a number, of an array's items or of a string's code points
	enum     []string // of a string, as JSON; nil for any
	pattern  matcher  // of a string; nil for any
	base64   bool     // of a string
	items    *Schema
	list     *Schema    // for the arrays of a schema whose kind is another; nil if it takes none
	members  []property // at most maxProperties
	rules    []rule
	cases    []valueCase // all of one member
}

// matcher is a regular expression over a string's bytes.
type matcher interface{ Match(text []byte) bool }

// partMatcher is a matcher of every text of which it matches a part.
type partMatcher interface{ MatchPart(part []byte) bool }

type property struct {
	name   string
	schema *Schema
}

const maxProperties = 64

// memberSet is a set of an object's members, by index.
type memberSet uint64

// rule says which members an object has: of one with all members of when, at least min and at most
// max of the sets are complete.
type rule struct {
	when     memberSet
	sets     []memberSet
	min, max int
}

func (r rule) holds(given memberSet) bool {
	if given&r.when != r.when {
		return true
	}
	n := 0
	for _, set := range r.sets {
		if given&set == set {
			n++
		}
	}
	return r.min <= n && n <= r.max
}

// Compile returns the fast lane's part of a schema.
func Compile(schema *jsonschema.Schema) *Schema { return compiler{}.compile(schema) }

// compiler holds a document's schemas. One that refers to itself finds itself here, and is zero until complete.
type compiler map[*jsonschema.Schema]*Schema

func (c compiler) compile(from *jsonschema.Schema) *Schema {
	if s, ok := c[from]; ok {
		return s
	}
	s, complete := &Schema{}, Schema{}
	c[from] = s
	if from.Ref != nil && hasOnly(from, reference) {
		c[from] = c.compile(from.Ref)
	} else if hasOnly(from, keywords) && c.fill(&complete, from) {
		*s = complete
	}
	return c[from]
}

// The fields of a compiled schema that the fast lane understands. AdditionalProperties is among them
// because no value with an unlisted member is accepted anyway.
var (
	annotations = []string{"DraftVersion", "Location", "Title", "Description", "Default", "Comment", "ReadOnly", "WriteOnly", "Examples", "Deprecated"}
	required    = []string{"DraftVersion", "Location", "Required"}
	reference   = slices.Concat(annotations, []string{"Ref"})
	keywords    = slices.Concat(reference, []string{
		"Types", "Enum", "Pattern", "MinLength", "MaxLength", "Minimum", "Maximum", "Items2020", "MinItems", "MaxItems",
		"Properties", "AdditionalProperties", "Required", "Not", "AllOf", "AnyOf", "OneOf", "DependentRequired", "ContentEncoding",
	})
)

// hasOnly reports whether no field of the schema is set but these.
func hasOnly(schema *jsonschema.Schema, names []string) bool {
	v := reflect.ValueOf(schema).Elem()
	for i := range v.NumField() {
		if f := v.Type().Field(i); f.IsExported() && !slices.Contains(names, f.Name) && !v.Field(i).IsZero() {
			return false
		}
	}
	return true
}

var kinds = map[string]byte{"object": '{', "array": '[', "string": '"', "boolean": 't', "number": '0', "integer": '0'}

// fill compiles a schema; false if it isn't understood. A keyword of another kind of value has no effect.
func (c compiler) fill(s *Schema, from *jsonschema.Schema) bool {
	var types []string
	if from.Types != nil {
		types = from.Types.ToStrings()
	}
	switch {
	case from.Ref != nil:
		if *s = *c.compile(from.Ref); len(types) > 0 || from.Items2020 != nil || !s.narrowMembers(from.Properties) {
			return false
		}
	case len(types) == 0:
		return false
	default: // of several types, values of the first are taken
		*s = Schema{kind: kinds[types[0]], integer: types[0] == "integer", min: unboundedLow, max: unboundedHigh}
	}
	if from.Enum != nil && !s.setEnum(from.Enum.Values) {
		return false
	}
	if from.Ref == nil && !c.setMembers(s, from.Properties) {
		return false
	}
	if !s.addRules(from) || !s.addCases(from.AllOf) || len(s.rules)+len(s.cases) > 0 && s.kind != '{' {
		return false
	}
	switch s.kind {
	case '[':
		if from.Ref == nil {
			s.items = &Schema{}
		}
		if from.Items2020 != nil {
			s.items = c.compile(from.Items2020)
		}
		s.narrow(length(from.MinItems, unboundedLow), length(from.MaxItems, unboundedHigh))
	case '"':
		if slices.Contains(types, "array") && from.Items2020 != nil {
			s.list = &Schema{kind: '[', items: c.compile(from.Items2020), min: unboundedLow, max: unboundedHigh}
			s.list.narrow(length(from.MinItems, unboundedLow), length(from.MaxItems, unboundedHigh))
		}
		s.narrow(length(from.MinLength, unboundedLow), length(from.MaxLength, unboundedHigh))
		return (from.Pattern == nil || s.setPattern(from.Pattern)) && s.setEncoding(from.ContentEncoding)
	case '0':
		s.narrow(number(from.Minimum, unboundedLow), number(from.Maximum, unboundedHigh))
	}
	return s.kind != 0
}

func (s *Schema) narrow(low, high float64) { s.min, s.max = max(s.min, low), min(s.max, high) }

var unboundedLow, unboundedHigh = math.Inf(-1), math.Inf(1)

func length(n *int, absent float64) float64 {
	if n == nil {
		return absent
	}
	return float64(*n)
}

func number(n *big.Rat, absent float64) float64 {
	if n == nil {
		return absent
	}
	f, _ := n.Float64()
	return f
}

func (s *Schema) setEnum(values []any) bool {
	if s.kind != '"' || s.enum != nil {
		return false
	}
	for _, v := range values {
		text, ok := v.(string)
		quoted, err := jsontext.AppendQuote(nil, text)
		if !ok || err != nil {
			return false
		}
		s.enum = append(s.enum, string(quoted))
	}
	return s.enum != nil
}

func (s *Schema) setPattern(pattern jsonschema.Regexp) bool {
	m, ok := pattern.(matcher)
	if !ok || s.pattern != nil {
		return false
	}
	s.pattern = m
	return true
}

func (s *Schema) setEncoding(encoding *jsonschema.Decoder) bool {
	s.base64 = s.base64 || encoding != nil
	return encoding == nil || encoding.Name == "base64"
}

func (c compiler) setMembers(s *Schema, properties map[string]*jsonschema.Schema) bool {
	if len(properties) > maxProperties {
		return false
	}
	for _, name := range slices.Sorted(maps.Keys(properties)) {
		s.members = append(s.members, property{name, c.compile(properties[name])})
	}
	return true
}

// addRules adds the keywords that require members, or exclude one another; false if one isn't understood.
func (s *Schema) addRules(from *jsonschema.Schema) bool {
	understood := true
	add := func(when []string, lists [][]string, low, high int) {
		r := rule{when: s.set(when, &understood), min: low, max: high}
		for _, names := range lists {
			r.sets = append(r.sets, s.set(names, &understood))
		}
		s.rules = append(slices.Clip(s.rules), r)
	}
	branches := func(schemas ...*jsonschema.Schema) (lists [][]string) {
		for _, b := range schemas {
			understood = understood && hasOnly(b, required)
			lists = append(lists, b.Required)
		}
		return lists
	}
	if len(from.Required) > 0 {
		add(nil, [][]string{from.Required}, 1, 1)
	}
	if from.Not != nil {
		add(nil, branches(from.Not), 0, 0)
	}
	if len(from.OneOf) > 0 {
		add(nil, branches(from.OneOf...), 1, 1)
	}
	if len(from.AnyOf) > 0 {
		add(nil, branches(from.AnyOf...), 1, len(from.AnyOf))
	}
	for name, names := range from.DependentRequired {
		add([]string{name}, [][]string{names}, 1, 1)
	}
	return understood
}

// set returns the members with these names; understood becomes false if one isn't listed.
func (s *Schema) set(names []string, understood *bool) (set memberSet) {
	for _, name := range names {
		i := s.member(name)
		if i < 0 {
			*understood = false
			continue
		}
		set |= 1 << i
	}
	return set
}
