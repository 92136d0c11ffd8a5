package catalog

import (
	"bytes"

	"github.com/go-json-experiment/json/jsontext"

	"unitask/internal/fault"
)

// members collects the top level of a creation body. The slices point into the body.
type members struct {
	object     bool
	capability string
	input      []byte
	parameters []byte

	seen    map[string]jsontext.Kind // of known members, the kind their value has
	unknown []string
	last    string // the name whose value comes next
	start   int64  // offset right behind that name
}

func (m *members) name(name string, end int64) {
	m.last, m.start = name, end
}

// value notes the value that ends at end; tok is its last token.
func (m *members) value(tok jsontext.Token, body []byte, end int64) {
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

func (m *members) rows() []fault.Detail {
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
	} {
		switch got, present := m.seen[want.name]; {
		case !present && want.required:
			rows = append(rows, fault.Detail{Field: want.name, Message: "is required"})
		case present && got != want.kind:
			rows = append(rows, fault.Detail{Field: want.name, Message: want.problem})
		}
	}
	for _, name := range m.unknown {
		rows = append(rows, fault.Detail{Field: fieldPath(name), Message: hint(name, "", commonInputs, commonParameters)})
	}
	return rows[:min(len(rows), maxRows)]
}
