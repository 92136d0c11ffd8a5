package catalog

import (
	"errors"
	"maps"
	"reflect"
	"slices"
)

// The keywords of a schema by what a tier may do with them. The others must stay as they are.
var (
	// annotating ones say nothing about which values are valid.
	annotating = []string{"title", "description", "default", "examples", "deprecated", "$comment", errorAnnotation}
	upper      = []string{"maximum", "exclusiveMaximum", "maxLength", "maxItems", "maxProperties"}
	lower      = []string{"minimum", "exclusiveMinimum", "minLength", "minItems", "minProperties"}
	// addable ones make any schema that lacks them narrower.
	addable = slices.Concat(annotating, upper, lower, []string{
		"type", "enum", "const", "multipleOf", "pattern", "format", "items", "uniqueItems", "contains", "required",
		"dependentRequired", "additionalProperties", "propertyNames", "contentEncoding", "allOf", "anyOf", "oneOf", "not", "$ref",
	})
)

// narrows returns the reason why a schema may accept a value that another one doesn't; nil if it can't. The schemas
// are decoded JSON. Some that are narrower are refused too, because this compares them keyword by keyword.
func narrows(was, is any, path ...string) error {
	before, object := was.(map[string]any)
	after, isObject := is.(map[string]any)
	switch {
	case is == false || was == true:
		return nil
	case !object || !isObject:
		return narrowing(path, "must stay as it is")
	case opaque(before) && !reflect.DeepEqual(was, is):
		return narrowing(path, "must stay as it is: it has unevaluated members")
	}
	for _, keyword := range slices.Sorted(maps.Keys(before)) {
		if err := narrowsKeyword(keyword, before, after, append(slices.Clip(path), keyword)); err != nil {
			return err
		}
	}
	for _, keyword := range slices.Sorted(maps.Keys(after)) {
		_, had := before[keyword]
		_, lists := before["additionalProperties"]
		if !had && !slices.Contains(addable, keyword) && (keyword != "properties" || lists) {
			return narrowing(append(path, keyword), "can't be added")
		}
	}
	return nil
}

// opaque reports whether the effect of a schema's keywords depends on one another.
func opaque(schema map[string]any) bool {
	_, members := schema["unevaluatedProperties"]
	_, items := schema["unevaluatedItems"]
	return members || items
}

func narrowing(path []string, problem string) error {
	return errors.New(fieldPath(path...) + " " + problem)
}

// narrowsKeyword is narrows for one keyword of the former schema.
func narrowsKeyword(keyword string, before, after map[string]any, path []string) error {
	was, is := before[keyword], after[keyword]
	_, kept := after[keyword]
	number, old := numberOf(is), numberOf(was)
	switch {
	case slices.Contains(annotating, keyword) || kept && reflect.DeepEqual(was, is):
		return nil
	case keyword == "properties":
		return narrowsMembers(before, after, path)
	case !kept:
		return narrowing(path, "can't be removed")
	case keyword == "oneOf" || keyword == "anyOf":
		return narrowsChoice(keyword, before, after, path)
	case keyword == "items" || keyword == "additionalProperties":
		return narrows(was, is, path...)
	case slices.Contains(upper, keyword) && number != nil && old != nil && *number > *old:
		return narrowing(path, "is above the former "+valueList([]any{was}))
	case slices.Contains(lower, keyword) && number != nil && old != nil && *number < *old:
		return narrowing(path, "is below the former "+valueList([]any{was}))
	case slices.Contains(upper, keyword) || slices.Contains(lower, keyword):
		return nil
	case keyword == "enum" || keyword == "type":
		return contained(is, was, path, "can't have ")
	case keyword == "required":
		return contained(was, is, path, "must go on to have ")
	}
	return narrowing(path, "must stay as it is")
}

// numberOf returns a JSON number; nil for any other value, which the compiler of the schema refuses.
func numberOf(v any) *float64 {
	if n, ok := v.(float64); ok {
		return &n
	}
	return nil
}

// closed reports whether an object takes only the members that its schema lists.
func closed(schema map[string]any) bool {
	_, patterns := schema["patternProperties"]
	return schema["additionalProperties"] == false && !patterns
}

// narrowsMembers allows an object to take fewer members, if it takes no others than it lists.
func narrowsMembers(before, after map[string]any, path []string) error {
	was, _ := before["properties"].(map[string]any)
	is, _ := after["properties"].(map[string]any)
	for _, name := range slices.Sorted(maps.Keys(is)) {
		old, had := was[name]
		if !had {
			return narrowing(append(path, name), "is new")
		}
		if err := narrows(old, is[name], append(slices.Clip(path), name)...); err != nil {
			return err
		}
	}
	for _, name := range slices.Sorted(maps.Keys(was)) {
		if _, has := is[name]; !has && !closed(before) {
			return narrowing(append(path, name), "can't be removed: it would be taken as one that isn't listed")
		}
	}
	return nil
}

// narrowsChoice allows the branches of a choice to be removed that only require a removed member.
func narrowsChoice(keyword string, before, after map[string]any, path []string) error {
	was, is := listOf(before[keyword]), listOf(after[keyword])
	members, _ := after["properties"].(map[string]any)
	for _, branch := range is {
		if !slices.ContainsFunc(was, equal(branch)) {
			return narrowing(path, "has a new branch")
		}
	}
	for _, branch := range was {
		if slices.ContainsFunc(is, equal(branch)) {
			continue
		}
		required := soleMembers([]any{branch})
		// A value that is no object has all required members, by JSON Schema.
		if len(required) == 0 || before["type"] != "object" || !closed(before) || len(is) == 0 {
			return narrowing(path, "must keep its branches")
		}
		if _, has := members[required[0]]; has {
			return narrowing(path, "must keep the branch of "+required[0]+", which is a member")
		}
	}
	return nil
}

// contained returns an error if a list, or a single value, isn't a part of another one.
func contained(part, all any, path []string, problem string) error {
	for _, v := range listOf(part) {
		integer := v == "integer" && path[len(path)-1] == "type" && slices.Contains(listOf(all), any("number"))
		if !integer && !slices.ContainsFunc(listOf(all), equal(v)) {
			return narrowing(path, problem+valueList([]any{v}))
		}
	}
	return nil
}

func equal(a any) func(any) bool { return func(b any) bool { return reflect.DeepEqual(a, b) } }

func listOf(v any) []any {
	if list, ok := v.([]any); ok {
		return list
	}
	return []any{v}
}
