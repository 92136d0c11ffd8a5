package sdk_test

import (
	"encoding/json"
	"flag"
	"fmt"
	"maps"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"unitask/internal/catalog"
)

var update = flag.Bool("update", false, "write the types of the capabilities anew")

const pythonTypes = "../../sdk/python/src/unitask/types.py"

// TestPythonTypes: the package's types are those of the directory.
func TestPythonTypes(t *testing.T) {
	directory, err := catalog.Default()
	if err != nil {
		t.Fatal(err)
	}
	want := generate(t, directory.All())
	if *update {
		if err := os.WriteFile(pythonTypes, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	got, err := os.ReadFile(pythonTypes)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, string(got)); diff != "" {
		t.Errorf("run go test ./test/sdk -run TestPythonTypes -update\n%s", diff)
	}
}

// types are the TypedDicts that were written so far, by name.
type types struct {
	t    *testing.T
	text strings.Builder
	done map[string]string
}

// generate writes the module of the types and of the methods that use them.
func generate(t *testing.T, all []catalog.Capability) string {
	g := &types{t: t, done: map[string]string{}}
	var sync, async strings.Builder
	for _, c := range all {
		name := camel(string(c.Name))
		parameters := ""
		g.object(name+"Input", c.InputSchema)
		g.object(name+"Output", c.OutputSchema)
		if fields := properties(decode(t, c.ParametersSchema)); len(fields) > 0 {
			parameters = name + "Parameters"
			g.object(parameters, c.ParametersSchema)
		}
		method(&sync, "", c, name, parameters)
		method(&async, "async ", c, name, parameters)
	}
	return header + g.text.String() + fmt.Sprintf(mixin, "SyncCapabilities", "") + sync.String() +
		fmt.Sprintf(mixin, "AsyncCapabilities", "async ") + async.String()
}

const header = `"""The capabilities' inputs, parameters and outputs. Written by go test ./test/sdk -run TestPythonTypes -update; don't edit."""

from __future__ import annotations

from typing import Any, Literal, Mapping, Required, Sequence, TypedDict, Unpack

from ._task import Task


class Options(TypedDict, total=False):
    """What goes with a creation."""

    metadata: Mapping[str, str]
    """Up to 16 texts of the caller's own, kept with the task."""
    idempotency_key: str
    """8 to 128 characters: the same key and request are one task. A fresh one by default."""
    timeout: float | None
    """How many seconds to wait for the end; None: as long as it takes."""
`

const mixin = `

class %[1]s:
    """A method for each capability of the built-in directory; run takes any."""

    %[2]sdef run(
        self,
        capability: str,
        input: Mapping[str, Any],
        parameters: Mapping[str, Any] | None = None,
        *,
        metadata: Mapping[str, str] | None = None,
        idempotency_key: str | None = None,
        timeout: float | None = None,
    ) -> Task[Any]:
        raise NotImplementedError
`

func method(b *strings.Builder, async string, c catalog.Capability, name, parameters string) {
	await := ""
	if async != "" {
		await = "await "
	}
	argument, value := "", "None"
	if parameters != "" {
		argument, value = ", parameters: "+parameters+" | None = None", "parameters"
	}
	fmt.Fprintf(b, `
    %sdef %s(
        self, input: %sInput%s, **options: Unpack[Options]
    ) -> Task[%sOutput]:
        """%s"""
        return %sself.run(%q, input, %s, **options)
`, async, strings.ReplaceAll(string(c.Name), ".", "_"), name, argument, name, sentence(c.Description), await, c.Name, value)
}

// sentence is a docstring of one line.
func sentence(text string) string {
	return strings.ReplaceAll(strings.TrimSpace(text), `"`, `'`)
}

// object writes the TypedDict of a schema and those that it needs, before it.
func (g *types) object(name string, raw json.RawMessage) {
	root := decode(g.t, raw)
	g.dict(name, root, root)
}

func decode(t *testing.T, raw json.RawMessage) (v map[string]any) {
	t.Helper()
	if err := json.Unmarshal(raw, &v); err != nil {
		t.Fatal(err)
	}
	return v
}

func properties(schema map[string]any) map[string]any {
	fields, _ := schema["properties"].(map[string]any)
	return fields
}

// dict writes a TypedDict unless the same is there already, and returns its name.
func (g *types) dict(name string, schema, root map[string]any) string {
	var b strings.Builder
	required, _ := schema["required"].([]any)
	if d := description(schema); d != "" {
		fmt.Fprintf(&b, "    \"\"\"%s\"\"\"\n\n", sentence(d))
	}
	for _, field := range slices.Sorted(maps.Keys(properties(schema))) {
		of := properties(schema)[field].(map[string]any)
		kind := g.kind(name, field, of, root)
		if slices.Contains(required, any(field)) {
			kind = "Required[" + kind + "]"
		}
		fmt.Fprintf(&b, "    %s: %s\n", field, kind)
		if d := description(of); d != "" {
			fmt.Fprintf(&b, "    \"\"\"%s\"\"\"\n", sentence(d))
		}
	}
	if g.done[name] == "" {
		g.done[name] = b.String()
		fmt.Fprintf(&g.text, "\n\nclass %s(TypedDict, total=False):\n%s", name, b.String())
	}
	if g.done[name] != b.String() {
		g.t.Fatalf("two definitions are called %s", name)
	}
	return name
}

func description(schema map[string]any) string {
	d, _ := schema["description"].(string)
	return d
}

// kind is the Python type of a schema; object is the name of the TypedDict that has the field.
func (g *types) kind(object, field string, schema, root map[string]any) string {
	if ref, ok := schema["$ref"].(string); ok {
		name := strings.TrimPrefix(ref, "#/$defs/")
		target, ok := root["$defs"].(map[string]any)[name].(map[string]any)
		if !ok {
			g.t.Fatalf("%s.%s refers to %s", object, field, ref)
		}
		return g.kind("", name, target, root)
	}
	if values, ok := schema["enum"].([]any); ok {
		var all []string
		for _, v := range values {
			all = append(all, literal(v))
		}
		return "Literal[" + strings.Join(all, ", ") + "]"
	}
	if v, ok := schema["const"]; ok {
		return "Literal[" + literal(v) + "]"
	}
	var kinds []string
	switch v := schema["type"].(type) {
	case string:
		kinds = []string{v}
	case []any:
		for _, kind := range v {
			kinds = append(kinds, kind.(string))
		}
	default:
		for _, one := range alternatives(schema) {
			kinds = append(kinds, g.kind(object, field, one, root))
		}
		if kinds == nil {
			return "Any"
		}
		return strings.Join(kinds, " | ")
	}
	for i, kind := range kinds {
		kinds[i] = g.simple(kind, object, field, schema, root)
	}
	return strings.Join(kinds, " | ")
}

// alternatives are those of anyOf or oneOf that have a type of their own.
func alternatives(schema map[string]any) (all []map[string]any) {
	for _, word := range []string{"anyOf", "oneOf"} {
		list, _ := schema[word].([]any)
		for _, one := range list {
			if one, ok := one.(map[string]any); ok && (one["type"] != nil || one["$ref"] != nil) {
				all = append(all, one)
			}
		}
	}
	return all
}

func (g *types) simple(kind, object, field string, schema, root map[string]any) string {
	switch kind {
	case "string":
		return "str"
	case "integer":
		return "int"
	case "number":
		return "float"
	case "boolean":
		return "bool"
	case "null":
		return "None"
	case "array":
		items, ok := schema["items"].(map[string]any)
		if !ok {
			return "Sequence[Any]"
		}
		return "Sequence[" + g.kind(object, strings.TrimSuffix(field, "s"), items, root) + "]"
	case "object":
		if len(properties(schema)) == 0 {
			return "Mapping[str, Any]"
		}
		return g.dict(object+camel(field), schema, root)
	}
	g.t.Fatalf("%s.%s is of type %q", object, field, kind)
	return ""
}

func literal(v any) string {
	switch v := v.(type) {
	case string:
		return strconv.Quote(v)
	case bool:
		return camel(strconv.FormatBool(v))
	default:
		return fmt.Sprint(v)
	}
}

// camel makes a class's name of a capability's or a field's: TextChat of text.chat.
func camel(name string) string {
	var b strings.Builder
	for part := range strings.FieldsFuncSeq(name, func(r rune) bool { return r == '.' || r == '_' || r == '-' }) {
		b.WriteString(strings.ToUpper(part[:1]) + part[1:])
	}
	return b.String()
}
