package sdk_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"unitask/internal/catalog"
)

// TestTypeScriptTypes compares src/capabilities.ts with the types that the directory's schemas are.
func TestTypeScriptTypes(t *testing.T) {
	const path = typeScriptFolder + "/src/capabilities.ts"
	directory, err := catalog.Default()
	if err != nil {
		t.Fatal(err)
	}
	want := capabilities(t, directory)
	if *update {
		if err := os.WriteFile(path, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	got, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, string(got)); diff != "" {
		t.Errorf("%s isn't of this directory; write it by: go test ./test/sdk -run TestTypeScriptTypes -update\n%s", path, diff)
	}
}

// capabilities writes the types of all capabilities.
func capabilities(t *testing.T, directory *catalog.Catalog) string {
	t.Helper()
	w := writer{t: t, definitions: map[string]string{}}
	var own, list strings.Builder
	for _, c := range directory.All() {
		name := camel(string(c.Name))
		fmt.Fprintf(&list, "  '%s': { input: %[2]sInput; parameters: %[2]sParameters; output: %[2]sOutput }\n", c.Name, name)
		for _, part := range []struct {
			name, says string
			raw        json.RawMessage
		}{
			{"Input", "The input of " + string(c.Name) + ". " + c.Description, c.InputSchema},
			{"Parameters", "The parameters of " + string(c.Name) + ".", c.ParametersSchema},
			{"Output", "The output of " + string(c.Name) + ".", c.OutputSchema},
		} {
			s := w.read(part.raw)
			fmt.Fprintf(&own, "\n/** %s */\nexport type %s%s = %s\n", part.says, name, part.name, w.of(s, ""))
		}
	}
	if len(directory.All()) < 10 {
		t.Fatalf("only %d capabilities", len(directory.All()))
	}
	var all strings.Builder
	all.WriteString("// Made from the capability directory by: go test ./test/sdk -run TestTypeScriptTypes -update\n\n" +
		"/** The input, parameters and output of each capability of the built-in directory, by its name. */\n" +
		"export interface Capabilities {\n" + list.String() + "}\n")
	for _, name := range w.names {
		all.WriteString("\n" + w.definitions[name])
	}
	return all.String() + own.String()
}

// schema is the part of a JSON Schema that types are made of.
type schema struct {
	Ref        string            `json:"$ref"`
	Defs       map[string]schema `json:"$defs"`
	Type       kinds             `json:"type"`
	Says       string            `json:"description"`
	Enum       []any             `json:"enum"`
	Properties members           `json:"properties"`
	Required   []string          `json:"required"`
	Items      *schema           `json:"items"`
	OneOf      []struct {
		Required []string `json:"required"`
	} `json:"oneOf"`
}

// kinds is a type or a list of types.
type kinds []string

func (k *kinds) UnmarshalJSON(b []byte) error {
	var one string
	if json.Unmarshal(b, &one) == nil {
		*k = kinds{one}
		return nil
	}
	return json.Unmarshal(b, (*[]string)(k))
}

// members are an object's, in their order.
type members []member

type member struct {
	name   string
	schema schema
}

func (m *members) UnmarshalJSON(b []byte) error {
	d := json.NewDecoder(bytes.NewReader(b))
	if _, err := d.Token(); err != nil {
		return err
	}
	*m = members{}
	for d.More() {
		name, err := d.Token()
		if err != nil {
			return err
		}
		var s schema
		if err := d.Decode(&s); err != nil {
			return err
		}
		*m = append(*m, member{fmt.Sprint(name), s})
	}
	return nil
}

// writer turns schemas into TypeScript. Definitions of objects, lists and sets of values become types of their own.
type writer struct {
	t           *testing.T
	defs        map[string]schema // of the schema at work
	definitions map[string]string
	names       []string // of definitions, in the order of their first use
}

func (w *writer) read(raw json.RawMessage) schema {
	w.t.Helper()
	var s schema
	if err := json.Unmarshal(raw, &s); err != nil {
		w.t.Fatal(err)
	}
	w.defs = s.Defs
	return s
}

// of returns the type of a schema's values; indent is that of its line.
func (w *writer) of(s schema, indent string) string {
	if s.Ref != "" {
		return w.reference(strings.TrimPrefix(s.Ref, "#/$defs/"))
	}
	if len(s.Enum) > 0 {
		values := make([]string, 0, len(s.Enum))
		for _, v := range s.Enum {
			raw, err := json.Marshal(v)
			if err != nil {
				w.t.Fatal(err)
			}
			values = append(values, strings.ReplaceAll(string(raw), `"`, "'"))
		}
		return strings.Join(values, " | ")
	}
	types := make([]string, 0, len(s.Type))
	for _, kind := range s.Type {
		types = append(types, w.kind(kind, s, indent))
	}
	if len(types) == 0 {
		w.t.Fatalf("a schema without a type: %+v", s)
	}
	return strings.Join(types, " | ")
}

func (w *writer) kind(kind string, s schema, indent string) string {
	switch kind {
	case "string", "boolean", "null":
		return kind
	case "integer", "number":
		return "number"
	case "array":
		return "Array<" + w.of(*s.Items, indent) + ">"
	case "object":
		return w.object(s, indent)
	}
	w.t.Fatalf("a schema of type %q", kind)
	return ""
}

// object writes an object. Of members of which a schema wants exactly one, the type has exactly one.
func (w *writer) object(s schema, indent string) string {
	if s.Properties == nil {
		return "Record<string, unknown>"
	}
	if len(s.Properties) == 0 {
		return "Record<string, never>"
	}
	var choice []string
	for _, one := range s.OneOf {
		choice = append(choice, one.Required...)
	}
	text := w.members(s, indent, func(name string) string {
		if slices.Contains(choice, name) {
			return "-"
		}
		return mark(!slices.Contains(s.Required, name))
	})
	var forms []string
	for _, chosen := range choice {
		forms = append(forms, w.members(s, indent, func(name string) string {
			switch {
			case !slices.Contains(choice, name):
				return "-"
			case name == chosen:
				return ""
			}
			return "never"
		}))
	}
	switch {
	case len(forms) == 0:
		return text
	case text == "{\n"+indent+"}":
		return strings.Join(forms, " | ")
	}
	return text + " & (" + strings.Join(forms, " | ") + ")"
}

func mark(optional bool) string {
	if optional {
		return "?"
	}
	return ""
}

// members writes those members of an object that form doesn't answer "-" to: "" and "?" are required and optional
// ones, and "never" are absent.
func (w *writer) members(s schema, indent string, form func(name string) string) string {
	var b strings.Builder
	b.WriteString("{\n")
	for _, m := range s.Properties {
		how := form(m.name)
		says := m.schema.Says
		if says == "" {
			says = w.defs[strings.TrimPrefix(m.schema.Ref, "#/$defs/")].Says
		}
		switch {
		case how == "-":
			continue
		case how == "never":
			fmt.Fprintf(&b, "%s  %s?: never\n", indent, m.name)
			continue
		case says != "":
			fmt.Fprintf(&b, "%s  /** %s */\n", indent, says)
		}
		fmt.Fprintf(&b, "%s  %s%s: %s\n", indent, m.name, how, w.of(m.schema, indent+"  "))
	}
	return b.String() + indent + "}"
}

// reference returns the name of a definition's type, or its type where a name says no more.
func (w *writer) reference(name string) string {
	def, ok := w.defs[name]
	switch {
	case !ok:
		w.t.Fatalf("no definition %s", name)
	case def.Ref != "" || len(def.Enum) == 0 && slices.Contains([]string{"string", "integer", "number"}, def.Type[0]):
		return w.of(def, "")
	}
	as := camel(name)
	if _, known := w.definitions[as]; !known {
		w.names = append(w.names, as)
		w.definitions[as] = "" // it may refer to itself
	}
	text := fmt.Sprintf("export type %s = %s\n", as, w.of(def, ""))
	if def.Says != "" {
		text = "/** " + def.Says + " */\n" + text
	}
	if before := w.definitions[as]; before != "" && before != text {
		w.t.Fatalf("two definitions are called %s", as)
	}
	w.definitions[as] = text
	return as
}
