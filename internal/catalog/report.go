package catalog

import (
	"cmp"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/santhosh-tekuri/jsonschema/v6/kind"

	"unitask/internal/fault"
)

// report turns a validator's tree of errors into rows for callers.
type report struct {
	doc                any // the schema, for its annotations
	prefix             string
	inputs, parameters []string // the capability's members, for hints
	found              []finding
}

// finding is a row with its path still in tokens, so that rows sort by index and not by digit.
type finding struct {
	path    []string
	problem string
}

// rows returns the findings in the order of fields, one row a field.
func (r *report) rows() []fault.Detail {
	slices.SortFunc(r.found, func(a, b finding) int {
		return cmp.Or(slices.CompareFunc(a.path, b.path, compareTokens), strings.Compare(a.problem, b.problem))
	})
	var rows []fault.Detail
	for from := 0; from < len(r.found) && len(rows) < maxRows; {
		path, problems, to := r.found[from].path, []string(nil), from
		for ; to < len(r.found) && slices.Equal(r.found[to].path, path); to++ {
			problems = append(problems, r.found[to].problem)
		}
		rows = append(rows, fault.Detail{
			Field: fieldPath(append([]string{r.prefix}, path...)...), Message: joinedProblems(slices.Compact(problems)),
		})
		from = to
	}
	return rows
}

func compareTokens(a, b string) int {
	if a == b {
		return 0
	}
	i, errA := strconv.Atoi(a)
	j, errB := strconv.Atoi(b)
	if errA == nil && errB == nil {
		return cmp.Compare(i, j)
	}
	return strings.Compare(a, b)
}

// add walks the tree; an error that groups others adds no finding of its own.
func (r *report) add(e *jsonschema.ValidationError) {
	switch k := e.ErrorKind.(type) {
	case *kind.Schema, *kind.Group, *kind.AllOf, *kind.Reference:
		for _, cause := range e.Causes {
			r.add(cause)
		}
	case *kind.Required:
		r.addMembers(e, k.Missing, "is required")
	case *kind.DependentRequired:
		r.addMembers(e, k.Missing, "is required with "+k.Prop)
	case *kind.AdditionalProperties:
		for _, name := range k.Properties {
			r.addMembers(e, []string{name}, r.unknown(e.InstanceLocation, name))
		}
	case *kind.AnyOf:
		r.addChoice(e, "anyOf")
	case *kind.OneOf:
		r.addChoice(e, "oneOf", k.Subschemas...)
	case *kind.Not:
		r.addNot(e)
	case *kind.Enum:
		r.addProblem(e, e.InstanceLocation, r.enumProblem(e.InstanceLocation, k))
	default:
		r.addProblem(e, e.InstanceLocation, phrase(e.ErrorKind))
	}
}

// unknown returns the problem of a member that an object at the path doesn't have.
func (r *report) unknown(path []string, name string) string {
	if len(path) > 0 {
		return unknownMember
	}
	return hint(name, r.prefix, r.inputs, r.parameters)
}

func (r *report) addMembers(e *jsonschema.ValidationError, names []string, problem string) {
	for _, name := range names {
		r.found = append(r.found, finding{append(slices.Clone(e.InstanceLocation), name), problem})
	}
}

// addProblem adds one row; the schema's own message replaces a vague one.
func (r *report) addProblem(e *jsonschema.ValidationError, path []string, problem string) {
	if vague(e.ErrorKind) {
		if own, ok := r.annotation(e)[errorAnnotation].(string); ok {
			problem = own
		}
	}
	r.found = append(r.found, finding{slices.Clone(path), problem})
}

// addChoice explains a failed anyOf or oneOf in one row: it names the members if each branch only
// requires one, else it gives the problem of the closest branch.
func (r *report) addChoice(e *jsonschema.ValidationError, keyword string, matched ...int) {
	branches, _ := r.annotation(e)[keyword].([]any)
	names := soleMembers(branches)
	switch {
	case len(names) == 0:
		r.addProblem(e, e.InstanceLocation, closest(e))
	case len(matched) == 0:
		problem := "is required"
		if len(names) > 1 {
			problem += ", unless " + strings.Join(names[1:], " or ") + " is given"
		}
		r.addMembers(e, names[:1], problem)
	default:
		r.addMembers(e, []string{names[matched[1]]}, "must not be given together with "+names[matched[0]])
	}
}

// addNot explains {"not": {"required": [a, b]}} as members that exclude each other.
func (r *report) addNot(e *jsonschema.ValidationError) {
	not, _ := r.annotation(e)["not"].(map[string]any)
	names := stringsOf(not["required"])
	if len(not) != 1 || len(names) < 2 {
		r.addProblem(e, e.InstanceLocation, "is not allowed")
		return
	}
	last := len(names) - 1
	r.addMembers(e, names[last:], "must not be given together with "+strings.Join(names[:last], " and "))
}

// annotation returns the schema object that failed; nil for the schemas true and false.
func (r *report) annotation(e *jsonschema.ValidationError) map[string]any {
	_, fragment, _ := strings.Cut(e.SchemaURL, "#")
	pointer, err := url.PathUnescape(fragment)
	if err != nil {
		return nil
	}
	object, _ := lookup(r.doc, pointer).(map[string]any)
	return object
}

// soleMembers returns the one member that each branch requires; nil if a branch has other keywords.
func soleMembers(branches []any) []string {
	var names []string
	for _, branch := range branches {
		object, _ := branch.(map[string]any)
		required := stringsOf(object["required"])
		if len(object) != 1 || len(required) != 1 {
			return nil
		}
		names = append(names, required[0])
	}
	return names
}

// closest returns the problem of a branch that failed on the value itself, not on one inside it.
func closest(e *jsonschema.ValidationError) string {
	leaf := deepest(e)
	if leaf == e || len(leaf.InstanceLocation) > len(e.InstanceLocation) {
		return "does not fit any of the allowed forms"
	}
	return phrase(leaf.ErrorKind)
}

// deepest returns the first error without causes among those farthest inside the value.
func deepest(e *jsonschema.ValidationError) *jsonschema.ValidationError {
	if len(e.Causes) == 0 {
		return e
	}
	best := deepest(e.Causes[0])
	for _, cause := range e.Causes[1:] {
		if leaf := deepest(cause); len(leaf.InstanceLocation) > len(best.InstanceLocation) {
			best = leaf
		}
	}
	return best
}
