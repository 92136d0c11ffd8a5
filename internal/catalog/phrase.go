package catalog

import (
	"encoding/json"
	"fmt"
	"math/big"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/santhosh-tekuri/jsonschema/v6/kind"
)

// errorAnnotation is the member of a schema with the message to a caller who violated it.
const errorAnnotation = "x-error"

// vague reports whether a violation needs the schema's own message to be of help.
func vague(k jsonschema.ErrorKind) bool {
	switch k.(type) {
	case *kind.Pattern, *kind.Format, *kind.Not, *kind.AnyOf, *kind.OneOf, *kind.Contains:
		return true
	}
	return false
}

// phrase returns the demand that one violation misses, as the end of a sentence that begins with the
// field. It never repeats the caller's value.
func phrase(k jsonschema.ErrorKind) string {
	switch k := k.(type) {
	case *kind.Type:
		return "must be " + typePhrase(k.Want)
	case *kind.Enum:
		return "must be one of " + valueList(k.Want)
	case *kind.Const:
		return "must be " + valueList([]any{k.Want})
	case *kind.FalseSchema:
		return "is not allowed here"
	case *kind.Pattern:
		if k.Want == notBlank {
			return "must not be blank"
		}
		return "must match the pattern " + k.Want
	case *kind.Format:
		return "must be a valid " + k.Want
	case *kind.ContentEncoding:
		return "must be " + k.Want + " data"
	}
	return boundPhrase(k)
}

func boundPhrase(k jsonschema.ErrorKind) string {
	switch k := k.(type) {
	case *kind.MinLength:
		return sizePhrase("at least", k.Want, "character")
	case *kind.MaxLength:
		return sizePhrase("at most", k.Want, "character")
	case *kind.MinItems:
		return sizePhrase("at least", k.Want, "item")
	case *kind.MaxItems:
		return sizePhrase("at most", k.Want, "item")
	case *kind.MinProperties:
		return sizePhrase("at least", k.Want, "member")
	case *kind.MaxProperties:
		return sizePhrase("at most", k.Want, "member")
	case *kind.Minimum:
		return "must be at least " + decimal(k.Want)
	case *kind.Maximum:
		return "must be at most " + decimal(k.Want)
	case *kind.ExclusiveMinimum:
		return "must be more than " + decimal(k.Want)
	case *kind.ExclusiveMaximum:
		return "must be less than " + decimal(k.Want)
	case *kind.MultipleOf:
		return "must be a multiple of " + decimal(k.Want)
	case *kind.UniqueItems:
		return fmt.Sprintf("must not repeat an item: %d and %d are equal", k.Duplicates[0], k.Duplicates[1])
	}
	return "does not fit its schema"
}

func typePhrase(types []string) string {
	nouns := map[string]string{
		"string": "a string", "number": "a number", "integer": "an integer", "boolean": "true or false",
		"object": "an object", "array": "an array", "null": "null",
	}
	words := make([]string, len(types))
	for i, t := range types {
		words[i] = nouns[t]
	}
	return strings.Join(words, " or ")
}

func sizePhrase(bound string, n int, noun string) string {
	if bound == "at least" && n == 1 {
		return "must not be empty"
	}
	if n != 1 {
		noun += "s"
	}
	return fmt.Sprintf("must have %s %d %s", bound, n, noun)
}

func valueList(values []any) string {
	words := make([]string, len(values))
	for i, v := range values {
		if s, ok := v.(string); ok {
			words[i] = s
			continue
		}
		raw, err := json.Marshal(v)
		if err != nil {
			raw = []byte("another value")
		}
		words[i] = string(raw)
	}
	return strings.Join(words, ", ")
}

func decimal(r *big.Rat) string {
	if r.IsInt() {
		return r.Num().String()
	}
	return strings.TrimRight(r.FloatString(9), "0")
}
