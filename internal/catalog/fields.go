package catalog

import (
	"encoding/json"
	"fmt"

	jsonv2 "github.com/go-json-experiment/json"
)

// The groups of fields, which are the members of a creation body that hold them.
const (
	GroupInput      = "input"
	GroupParameters = "parameters"
)

// Field describes one member of a capability's input or parameters for forms, command lines and help.
// Rules that it can't express are left to validation.
type Field struct {
	Name        string
	Group       string   // GroupInput or GroupParameters
	Type        string   // "string", "integer", "number", "boolean", "object"; of the items if Array is set
	Enum        []string // the allowed values, strings as they are and others as JSON; nil if any
	Examples    []string // of values, strings as they are and others as JSON
	Default     json.RawMessage
	Minimum     *float64
	Maximum     *float64
	Required    bool
	Unless      []string // members of the group that make this one optional if one of them is given
	Excludes    []string // members of the group that must not be given together with it
	Media       bool     // a media value: {"url"}, {"data","content_type"} or {"artifact"}
	MediaKind   string   // if Media is set: "image", "audio", "video", "document" or "file"
	Array       bool
	Schema      bool // a JSON Schema, an object
	Opaque      bool // no words: an id, or a value that only the service reads
	Returned    bool // a part of an output that goes back as it is: no form asks for it
	Description string
	Members     []Field // of an object that isn't media, at any depth
	Parts       []Field // of a text that may be a list of objects in its place: their members
}

// Fields returns the capability's fields: input before parameters, each in the schema's order.
func (c Capability) Fields() []Field {
	fields, err := FieldsOf(c.InputSchema, c.ParametersSchema)
	if err != nil {
		return nil // a loaded capability's schemas have been through FieldsOf
	}
	return fields
}

// FieldsOf returns the fields of schemas as served by the directory.
func FieldsOf(inputSchema, parametersSchema json.RawMessage) ([]Field, error) {
	var fields []Field
	for _, group := range []struct {
		name   string
		schema json.RawMessage
	}{{GroupInput, inputSchema}, {GroupParameters, parametersSchema}} {
		var root node
		if err := jsonv2.Unmarshal(group.schema, &root); err != nil {
			return nil, fmt.Errorf("%s schema: %w", group.name, err)
		}
		found, err := root.fields(group.name, root.Defs, 0)
		if err != nil {
			return nil, fmt.Errorf("%s schema: %w", group.name, err)
		}
		fields = append(fields, found...)
	}
	return fields, nil
}

// maxFieldDepth bounds schemas that refer to themselves.
const maxFieldDepth = 8

func (n node) fields(group string, defs map[string]node, depth int) ([]Field, error) {
	if depth > maxFieldDepth {
		return nil, nil
	}
	required := map[string][]string{}
	for _, name := range n.Required {
		required[name] = nil
	}
	for _, branches := range [][]node{n.OneOf, n.AnyOf} {
		if first, others := alternatives(branches); first != "" {
			required[first] = others
		}
	}
	excludes := n.exclusions()
	var fields []Field
	for _, p := range n.Properties {
		f, err := p.node.field(group, defs, depth)
		if err != nil {
			return nil, err
		}
		f.Name = p.name
		f.Unless, f.Required = required[p.name]
		f.Excludes = excludes[p.name]
		fields = append(fields, f)
	}
	return fields, nil
}

func (n node) field(group string, defs map[string]node, depth int) (Field, error) {
	n, err := n.resolve(defs, 0)
	if err != nil {
		return Field{}, err
	}
	f := Field{
		Group: group, Type: string(n.Type), Default: json.RawMessage(n.Default), Minimum: n.Minimum, Maximum: n.Maximum,
		Media: n.Media != "", MediaKind: n.Media, Schema: n.Schema != "", Opaque: n.Opaque, Returned: n.Returned, Description: n.Description,
	}
	item := n
	if n.Type == "array" && n.Items != nil {
		if item, err = n.Items.resolve(defs, 0); err != nil {
			return Field{}, err
		}
		f.Array, f.Type, f.Media, f.MediaKind = true, string(item.Type), item.Media != "", item.Media
		f.Minimum, f.Maximum = item.Minimum, item.Maximum
	}
	for _, value := range item.Enum {
		f.Enum = append(f.Enum, valueList([]any{value}))
	}
	for _, value := range item.Examples {
		f.Examples = append(f.Examples, valueList([]any{value}))
	}
	if f.Type == "object" && !f.Media {
		f.Members, err = item.fields(group, defs, depth+1)
	}
	if err == nil && n.Type == "string" && n.Items != nil {
		if item, err = n.Items.resolve(defs, 0); err == nil {
			f.Parts, err = item.fields(group, defs, depth+1)
		}
	}
	return f, err
}
