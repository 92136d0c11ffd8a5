package catalog

import (
	"bytes"

	"github.com/go-json-experiment/json/jsontext"

	"unitask/internal/fault"
)

// topLevel collects the top level of a creation body. Its slices share memory with the body.
type topLevel struct {
	object     bool
	capability string
	input      []byte
	parameters []byte
	metadata   []byte

	seen    map[string]jsontext.Kind // of known members, by name
	unknown []string
	last    string // name of the next value
	start   int64  // offset of the end of that name
}

// value records the value that ends at end; tok is its last token.
func (m *topLevel) value(tok jsontext.Token, body []byte, end int64) {
	raw := bytes.TrimLeft(body[m.start:end], " \t\r\n:")
	kind := jsontext.Kind(raw[0])
	switch m.last {
	case "capability":
		if kind == '"' {
			m.capability = tok.String()
		}
	case "input":
		m.input = raw
	case "parameters":
		m.parameters = raw
	case metadataMember:
		m.metadata = raw
	default:
		if len(m.unknown) < maxRows {
			m.unknown = append(m.unknown, m.last)
		}
		return
	}
	if m.seen == nil {
		m.seen = make(map[string]jsontext.Kind, 3)
	}
	m.seen[m.last] = kind
}

func (m *topLevel) rows() []fault.Detail {
	if !m.object {
		return []fault.Detail{{Field: bodyField, Message: "must be a JSON object"}}
	}
	var rows []fault.Detail
	for _, want := range []struct {
		name     string
		kind     jsontext.Kind
		required bool
		problem  string
	}{
		{"capability", '"', true, "must be a string"},
		{"input", '{', true, "must be an object"},
		{"parameters", '{', false, "must be an object"},
		{metadataMember, '{', false, "must be an object"},
	} {
		switch got, present := m.seen[want.name]; {
		case !present && want.required:
			rows = append(rows, fault.Detail{Field: want.name, Message: "is required"})
		case present && got != want.kind:
			rows = append(rows, fault.Detail{Field: want.name, Message: want.problem})
		}
	}
	if m.seen[metadataMember] == '{' {
		_, problems := metadataOf(m.metadata)
		rows = append(rows, problems...)
	}
	for _, name := range m.unknown {
		rows = append(rows, fault.Detail{Field: fieldPath(name), Message: hint(name, "", commonInputs, commonParameters)})
	}
	return rows[:min(len(rows), maxRows)]
}
