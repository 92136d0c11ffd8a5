package catalog

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// The bounds of the work that a caller's schema may cause. A validator follows each reference anew, so that a few lines
// of references to one another could keep it busy for hours.
const (
	maxExpanded = 5_000 // schemas, each counted as often as it is referred to
	maxPatterns = 4_096 // bytes of all regular expressions
)

// expansion follows a schema's references.
type expansion struct {
	root     any
	schemas  int
	patterns int
	open     map[string]map[string]bool // references that are being followed: at which places below they are met again
	places   map[string]string          // where below the start each of them is
}

// excess returns why a schema may cause too much work; "" if it can't.
func excess(root any) string {
	e := expansion{root: root, open: map[string]map[string]bool{"#": {}}, places: map[string]string{"#": ""}}
	return e.follow(root, "")
}

// follow counts a schema at a place of the value: the names of members on the way to it.
func (e *expansion) follow(v any, place string) string {
	if list, ok := v.([]any); ok {
		return e.each(list, place)
	}
	schema, ok := v.(map[string]any)
	if !ok {
		return ""
	}
	if e.schemas++; e.schemas > maxExpanded {
		return fmt.Sprintf("grows to more than %d schemas when its references are followed", maxExpanded)
	}
	for _, keyword := range slices.Sorted(maps.Keys(schema)) {
		if why := e.keyword(keyword, schema[keyword], place); why != "" {
			return why
		}
	}
	return ""
}

func (e *expansion) each(list []any, place string) string {
	for _, one := range list {
		if why := e.follow(one, place); why != "" {
			return why
		}
	}
	return ""
}

func (e *expansion) keyword(keyword string, value any, place string) string {
	switch keyword {
	case "$ref":
		ref, _ := value.(string)
		return e.reference(ref, place)
	case "$id", "$anchor", "$dynamicRef", "$dynamicAnchor", "$recursiveRef", "$recursiveAnchor":
		if keyword != "$id" || e.schemas > 1 {
			return "can't have " + keyword
		}
		return ""
	case "pattern":
		text, _ := value.(string)
		return e.pattern(text)
	case "properties", "patternProperties", "dependentSchemas", "dependencies":
		members, _ := value.(map[string]any)
		for _, name := range slices.Sorted(maps.Keys(members)) {
			at := place + "/" + escapeToken(name)
			switch keyword {
			case "patternProperties":
				if why := e.pattern(name); why != "" {
					return why
				}
				at = place + "/*"
			case "dependentSchemas", "dependencies":
				at = place
			}
			if why := e.follow(members[name], at); why != "" {
				return why
			}
		}
		return ""
	case "items", "prefixItems", "additionalItems", "contains", "unevaluatedItems", "additionalProperties", "unevaluatedProperties", "propertyNames":
		return e.follow(value, place+"/*")
	case "allOf", "anyOf", "oneOf", "not", "if", "then", "else":
		return e.follow(value, place)
	}
	return "" // definitions count where they are referred to
}

func (e *expansion) pattern(text string) string {
	if e.patterns += len(text); e.patterns > maxPatterns {
		return fmt.Sprintf("must have at most %d bytes of patterns", maxPatterns)
	}
	return ""
}

// reference follows one, unless it is being followed already. Such a one goes on with a part of the value, and may be
// met once for each part: twice for the same one, each level of the value would double the work.
func (e *expansion) reference(ref, place string) string {
	if ref != "#" && !strings.HasPrefix(ref, "#/") || strings.Contains(ref, "%") {
		return "must refer to its parts by # or #/ and their path"
	}
	if met, open := e.open[ref]; open {
		below := strings.TrimPrefix(place, e.places[ref])
		if met[below] {
			return "refers to itself twice for the same part of a value"
		}
		met[below] = true
		return ""
	}
	e.open[ref], e.places[ref] = map[string]bool{}, place
	defer func() { delete(e.open, ref); delete(e.places, ref) }()
	return e.follow(lookup(e.root, strings.TrimPrefix(ref, "#")), place)
}
