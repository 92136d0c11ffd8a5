package catalog

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	jsonv2 "github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// node is the part of a schema object that fields are made of.
type node struct {
	Ref         string          `json:"$ref"`
	Defs        map[string]node `json:"$defs"`
	Type        typeName        `json:"type"`
	Description string          `json:"description"`
	Enum        []any           `json:"enum"`
	Examples    []any           `json:"examples"`
	Default     jsontext.Value  `json:"default"`
	Minimum     *float64        `json:"minimum"`
	Maximum     *float64        `json:"maximum"`
	Media       string          `json:"x-media"`
	Schema      string          `json:"x-schema"`
	Opaque      bool            `json:"x-opaque"`
	Returned    bool            `json:"x-returned"`
	Items       *node           `json:"items"`
	Properties  properties      `json:"properties"`
	Required    []string        `json:"required"`
	OneOf       []node          `json:"oneOf"`
	AnyOf       []node          `json:"anyOf"`
	Not         *node           `json:"not"`
}

// UnmarshalJSONFrom implements json.UnmarshalerFrom. The schemas true and false have no fields.
func (n *node) UnmarshalJSONFrom(dec *jsontext.Decoder) error {
	if kind := dec.PeekKind(); kind == 't' || kind == 'f' {
		return dec.SkipValue()
	}
	type fields node // without this method
	return jsonv2.UnmarshalDecode(dec, (*fields)(n))
}

// resolve follows $ref inside the document; keywords beside it override those of the target.
func (n node) resolve(defs map[string]node, depth int) (node, error) {
	if n.Ref == "" {
		return n, nil
	}
	name, local := strings.CutPrefix(n.Ref, definitionPrefix)
	target, ok := defs[name]
	if !local || !ok || depth > maxFieldDepth {
		return node{}, fmt.Errorf("$ref %q leads nowhere", n.Ref)
	}
	target, err := target.resolve(defs, depth+1)
	if err != nil {
		return node{}, err
	}
	target.Returned = target.Returned || n.Returned
	if n.Description != "" {
		target.Description = n.Description
	}
	if n.Media != "" {
		target.Media = n.Media
	}
	if n.Default != nil {
		target.Default = n.Default
	}
	if n.Enum != nil {
		target.Enum = n.Enum
	}
	if n.Minimum != nil {
		target.Minimum = n.Minimum
	}
	if n.Maximum != nil {
		target.Maximum = n.Maximum
	}
	return target, nil
}

// alternatives returns the one member that each branch requires: the first, and the others.
func alternatives(branches []node) (first string, others []string) {
	for i, b := range branches {
		if len(b.Required) != 1 {
			return "", nil
		}
		if i == 0 {
			first = b.Required[0]
			continue
		}
		others = append(others, b.Required[0])
	}
	return first, others
}

// exclusions returns the members that must not be given together, each with the others.
func (n node) exclusions() map[string][]string {
	var sets [][]string
	if first, others := alternatives(n.OneOf); first != "" {
		sets = append(sets, append([]string{first}, others...))
	}
	if n.Not != nil && len(n.Not.Required) == 2 && len(n.Not.Properties) == 0 {
		sets = append(sets, n.Not.Required)
	}
	all := map[string][]string{}
	for _, set := range sets {
		for _, name := range set {
			for _, other := range set {
				if other != name && !slices.Contains(all[name], other) {
					all[name] = append(all[name], other)
				}
			}
		}
	}
	return all
}

// typeName is a schema's type; of several, the first that isn't null.
type typeName string

// UnmarshalJSON implements json.Unmarshaler.
func (t *typeName) UnmarshalJSON(raw []byte) error {
	var v any
	if err := json.Unmarshal(raw, &v); err != nil {
		return err
	}
	for _, name := range append(stringsOf(v), stringsOf([]any{v})...) {
		if name != "null" {
			*t = typeName(name)
			return nil
		}
	}
	return nil
}

// property is one member of a schema's "properties".
type property struct {
	name string
	node node
}

// properties keeps the order in which a schema lists its members, which a form has too.
type properties []property

// UnmarshalJSONFrom implements json.UnmarshalerFrom.
func (p *properties) UnmarshalJSONFrom(dec *jsontext.Decoder) error {
	if dec.PeekKind() != '{' {
		return dec.SkipValue()
	}
	if _, err := dec.ReadToken(); err != nil {
		return err
	}
	for dec.PeekKind() != '}' {
		name, err := dec.ReadToken()
		if err != nil {
			return err
		}
		next := property{name: name.String()}
		if err := jsonv2.UnmarshalDecode(dec, &next.node); err != nil {
			return err
		}
		*p = append(*p, next)
	}
	_, err := dec.ReadToken()
	return err
}
