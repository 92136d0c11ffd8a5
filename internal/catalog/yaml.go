package catalog

import (
	"bytes"
	"encoding/json"
	"fmt"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
)

// declaredName is a capability's name and its line.
type declaredName struct {
	value Name
	line  int
}

// UnmarshalYAML implements yaml.NodeUnmarshaler.
func (n *declaredName) UnmarshalYAML(node ast.Node) error {
	n.line = node.GetToken().Position.Line
	return yaml.NodeToValue(node, &n.value)
}

// schema is a piece of JSON written in YAML: its members in the order of the file, and its line.
type schema struct {
	json json.RawMessage
	line int
}

// UnmarshalYAML implements yaml.NodeUnmarshaler.
func (s *schema) UnmarshalYAML(node ast.Node) error {
	var v any
	if err := yaml.NodeToValue(node, &v, yaml.UseOrderedMap()); err != nil {
		return err
	}
	s.line = node.GetToken().Position.Line
	var b bytes.Buffer
	if err := writeJSON(&b, v); err != nil {
		return fmt.Errorf("line %d: %w", s.line, err)
	}
	s.json = b.Bytes()
	return nil
}

func writeJSON(b *bytes.Buffer, v any) error {
	switch v := v.(type) {
	case yaml.MapSlice:
		return writeObject(b, v)
	case []any:
		b.WriteByte('[')
		for i, item := range v {
			if i > 0 {
				b.WriteByte(',')
			}
			if err := writeJSON(b, item); err != nil {
				return err
			}
		}
		b.WriteByte(']')
		return nil
	default:
		return writeScalar(b, v)
	}
}

func writeObject(b *bytes.Buffer, object yaml.MapSlice) error {
	b.WriteByte('{')
	for i, item := range object {
		if i > 0 {
			b.WriteByte(',')
		}
		if err := writeScalar(b, fmt.Sprint(item.Key)); err != nil {
			return err
		}
		b.WriteByte(':')
		if err := writeJSON(b, item.Value); err != nil {
			return err
		}
	}
	b.WriteByte('}')
	return nil
}

// writeScalar doesn't escape <, > and &: people read schemas too.
func writeScalar(b *bytes.Buffer, v any) error {
	enc := json.NewEncoder(b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return fmt.Errorf("no JSON for %T", v)
	}
	b.Truncate(b.Len() - 1) // the encoder's line feed
	return nil
}
