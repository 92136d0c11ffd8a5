package client_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"unitask/internal/catalog"
)

// generator writes the file of a capability.
type generator struct {
	t          *testing.T
	capability string
	request    bool // the types are of the request, which callers write
	defs       map[string]schema
	own        types
	shared     types
}

func (g *generator) file(c catalog.Capability) string {
	name := exported(g.capability)
	in, parameters, out := g.read(c.InputSchema), g.read(c.ParametersSchema), g.read(c.OutputSchema)
	takes := len(parameters.Properties.names) > 0
	for _, taken := range []string{"parameters", "metadata"} {
		if slices.Contains(in.Properties.names, taken) {
			g.t.Fatalf("the input of %s has a member %s, which is taken", g.capability, taken)
		}
	}
	extra, given := "", "nil"
	if takes {
		extra, given = fmt.Sprintf("\nParameters %sParameters `json:\"-\"`\n", name), "in.Parameters"
	}
	extra += "Metadata map[string]string `json:\"-\"` // kept with the task: up to 16 pairs\n"
	g.request, g.defs = true, in.Defs
	g.own.add(g.t, name+"Input", g.structure(name+"Input", sentence(c.Title, name+"Input is the request of "+g.capability), in, extra))
	if takes {
		g.defs = parameters.Defs
		text := name + "Parameters are the parameters of " + g.capability + ". Absent ones have their defaults."
		g.own.add(g.t, name+"Parameters", g.structure(name+"Parameters", text, parameters, ""))
	}
	g.request, g.defs = false, out.Defs
	g.own.add(g.t, name+"Output", g.structure(name+"Output", name+"Output is the result of "+g.capability+".", out, ""))
	return fmt.Sprintf(`%s
func (c *Client) %[2]s(ctx context.Context, in %[2]sInput, options ...CallOption) (*Task[%[2]sOutput], error) {
	return Run[%[2]sOutput](ctx, c, in, options...)
}

func (in %[2]sInput) body() (json.RawMessage, error) {
	return Request[%[2]sOutput]{%[3]q, in, %[4]s, in.Metadata}.body()
}

func (%[2]sInput) output() (out %[2]sOutput) { return out }

`, comment("", name+" runs a task of "+g.capability+" to its end, as Run does. "+c.Description), name, g.capability, given) + g.own.text()
}

// sentence adds a capability's title to its type's comment.
func sentence(title, text string) string {
	return text + ": " + strings.ToLower(title[:1]) + title[1:] + "."
}

func (g *generator) read(raw json.RawMessage) schema {
	g.t.Helper()
	var s schema
	if err := json.Unmarshal(raw, &s); err != nil {
		g.t.Fatal(err)
	}
	return s
}

// structure writes an object's type.
func (g *generator) structure(name, text string, s schema, extra string) string {
	var b strings.Builder
	b.WriteString(comment("", text) + "\ntype " + name + " struct {\n")
	for _, member := range s.Properties.names {
		m := g.resolve(s.Properties.by[member])
		kind, omit := g.kindOf(m, name, member), ""
		if !slices.Contains(s.Required, member) {
			kind, omit = g.optional(kind, m)
		}
		if words := described(m); words != "" {
			b.WriteString(comment("\t", words) + "\n")
		}
		fmt.Fprintf(&b, "%s %s `json:\"%s%s\"`\n", exported(member), kind, member, omit)
	}
	return b.String() + extra + "}\n\n"
}

// resolve returns a schema with the definition that it refers to; its own words come first.
func (g *generator) resolve(s schema) schema {
	name, refers := strings.CutPrefix(s.Ref, "#/$defs/")
	if !refers {
		return s
	}
	base, ok := g.defs[name]
	if !ok {
		g.t.Fatalf("%s has no definition %s", g.capability, name)
	}
	base = g.resolve(base)
	base.shared = name
	if s.Description != "" {
		base.Description = s.Description
	}
	if s.Media != "" {
		base.Media = s.Media
	}
	if s.Default != nil {
		base.Default = s.Default
	}
	if s.Enum != nil {
		base.Enum = s.Enum
	}
	return base
}

// kindOf returns the Go type of a member that is there.
func (g *generator) kindOf(s schema, within, member string) string {
	switch {
	case s.Media != "":
		return "Media"
	case s.shared == "artifact":
		return "Artifact"
	case s.Type.is("string"):
		return "string"
	case s.Type.is("integer"):
		return "int"
	case s.Type.is("number"):
		return "float64"
	case s.Type.is("boolean"):
		return "bool"
	case s.Type.is("array"):
		items := g.resolve(*s.Items)
		if items.shared == "" {
			items.shared = s.shared
		}
		return "[]" + g.kindOf(items, within, singular(member))
	case s.Type.is("array", "string"):
		return "Vector"
	case s.Type.is("string", "array"):
		return "Several[" + g.kindOf(g.resolve(*s.Items), within, singular(member)) + "]"
	case s.Type.is("object") && len(s.Properties.names) > 0:
		return g.object(s, member)
	case s.Type.is("object") && g.request:
		return "any"
	case s.Type.is("object"), s.Type.is("string", "object"):
		return "json.RawMessage"
	}
	g.t.Fatalf("%s: no Go type for %s.%s of types %v", g.capability, within, member, s.Type)
	return ""
}

// object declares the type of an object: for all capabilities if it is a definition, else for this one.
func (g *generator) object(s schema, member string) string {
	name, into, request := exported(g.capability)+exported(member), g.own, g.request
	if s.shared != "" {
		name, into, g.request = exported(singular(s.shared)), g.shared, false
	}
	text := name + " is a part of a task's request or result."
	if s.Description != "" {
		text = name + ": " + s.Description
	}
	into.add(g.t, name, g.structure(name, text, s, ""))
	g.request = request
	return name
}

// optional returns the Go type of a member that may be absent, and how its absence is written. A zero that would be a
// value is told from an absent one by a pointer.
func (g *generator) optional(kind string, s schema) (string, string) {
	switch kind {
	case "int", "float64":
		if s.Minimum != nil && *s.Minimum > 0 || s.Enum != nil {
			return kind, ",omitzero"
		}
		return "*" + kind, ",omitempty"
	case "bool":
		if g.request {
			return "*bool", ",omitempty"
		}
		return kind, ",omitempty"
	case "string", "any", "json.RawMessage":
		return kind, ",omitempty"
	}
	if strings.HasPrefix(kind, "[]") {
		return kind, ",omitempty"
	}
	return "*" + kind, ",omitempty"
}

// described is a member's comment: its description, its values and its default.
func described(s schema) string {
	words := strings.TrimSpace(s.Description)
	if len(s.Enum) > 0 && s.Media == "" {
		var values []string
		for _, v := range s.Enum {
			values = append(values, fmt.Sprint(v))
		}
		words += " One of: " + strings.Join(values, ", ") + "."
	}
	if s.Default != nil {
		words += " Default: " + strings.Trim(string(s.Default), `"`) + "."
	}
	return strings.TrimSpace(words)
}

// comment writes words as a comment of narrow lines.
func comment(indent, words string) string {
	const width = 112
	line, lines := indent+"//", []string(nil)
	for _, w := range strings.Fields(words) {
		if len(line)+1+len(w) > width {
			lines, line = append(lines, line), indent+"//"
		}
		line += " " + w
	}
	return strings.Join(append(lines, line), "\n")
}

// exported returns a dotted or underscored name as Go spells it.
func exported(name string) string {
	var b strings.Builder
	for _, part := range strings.FieldsFunc(name, func(r rune) bool { return r == '.' || r == '_' }) {
		switch part {
		case "id", "url":
			b.WriteString(strings.ToUpper(part))
		default:
			b.WriteString(strings.ToUpper(part[:1]) + part[1:])
		}
	}
	return b.String()
}

// singular is the name of one of several.
func singular(name string) string { return strings.TrimSuffix(name, "s") }
