package fastlane

import (
	"slices"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/santhosh-tekuri/jsonschema/v6"
)

// valueCase says which members an object has whose member that tells its kind has a value, as a part of a message:
// {if: {properties: {type: {const: "text"}}, required: [type]}, then: {required: [text], properties: {image: false}}}.
type valueCase struct {
	member   int
	value    string // as JSON
	needs    memberSet
	excludes memberSet
}

func (c valueCase) holds(value []byte, given memberSet) bool {
	return string(value) != c.value || given&c.needs == c.needs && given&c.excludes == 0
}

var (
	caseKeywords = []string{"DraftVersion", "Location", "If", "Then"}
	ifKeywords   = []string{"DraftVersion", "Location", "Properties", "Required"}
	constant     = slices.Concat(annotations, []string{"Const"})
	never        = slices.Concat(annotations, []string{"Bool"})
)

// addCases adds the branches of allOf, if all of them are cases of one member; false if they aren't.
func (s *Schema) addCases(branches []*jsonschema.Schema) bool {
	for _, b := range branches {
		c, understood := s.caseOf(b)
		if !understood || len(s.cases) > 0 && s.cases[0].member != c.member {
			return false
		}
		s.cases = append(slices.Clip(s.cases), c)
	}
	return true
}

func (s *Schema) caseOf(from *jsonschema.Schema) (c valueCase, understood bool) {
	if !hasOnly(from, caseKeywords) || from.If == nil || from.Then == nil ||
		!hasOnly(from.If, ifKeywords) || len(from.If.Properties) != 1 || !hasOnly(from.Then, ifKeywords) {
		return c, false
	}
	for name, is := range from.If.Properties {
		c.member = s.member(name)
		if c.member < 0 || !slices.Equal(from.If.Required, []string{name}) || !hasOnly(is, constant) || is.Const == nil {
			return c, false
		}
		text, ok := (*is.Const).(string)
		quoted, err := jsontext.AppendQuote(nil, text)
		if !ok || err != nil {
			return c, false
		}
		c.value = string(quoted)
	}
	understood = true
	c.needs = s.set(from.Then.Required, &understood)
	for name, is := range from.Then.Properties {
		if !hasOnly(is, never) || is.Bool == nil || *is.Bool {
			return c, false
		}
		if i := s.member(name); i >= 0 {
			c.excludes |= 1 << i
		}
	}
	return c, understood
}

// narrowMembers narrows members that are strings, as a reference with properties of its own does; false if it says
// more. A member that isn't listed is in no value that is accepted.
func (s *Schema) narrowMembers(properties map[string]*jsonschema.Schema) bool {
	s.members = slices.Clone(s.members)
	for name, from := range properties {
		i := s.member(name)
		if i < 0 {
			continue
		}
		narrow := *s.members[i].schema
		if narrow.kind != '"' || narrow.list != nil || !hasOnly(from, narrowing) ||
			from.Enum != nil && !narrow.setEnum(from.Enum.Values) || from.Pattern != nil && !narrow.setPattern(from.Pattern) {
			return false
		}
		s.members[i].schema = &narrow
	}
	return true
}

var narrowing = slices.Concat(annotations, []string{"Enum", "Pattern"})
