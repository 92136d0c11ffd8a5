package mcp

import (
	"bytes"
	"encoding/json"
	"fmt"

	"github.com/go-json-experiment/json/jsontext"
)

// Entry is how a client starts a server. It holds no key: the started program finds its own.
type Entry struct {
	Type    string            `json:"type,omitempty"` // "stdio" for clients that ask
	Command string            `json:"command"`
	Args    []string          `json:"args"`
	Env     map[string]string `json:"env,omitempty"`
}

// AddEntry returns a client's settings with the entry under a name of a section, in place of the former one.
// Everything else stays as it is, in its order; empty settings are new ones. Settings with comments, as some clients
// allow, are an error: a rewrite would lose them.
func AddEntry(settings []byte, section, name string, e Entry) ([]byte, error) {
	if len(bytes.TrimSpace(settings)) == 0 {
		settings = []byte("{}")
	}
	all, err := readObject(settings)
	if err != nil {
		return nil, fmt.Errorf("the settings are no plain JSON: %w", err)
	}
	var servers object
	if raw := all.get(section); raw != nil && raw.Kind() != 'n' {
		if servers, err = readObject(raw); err != nil {
			return nil, fmt.Errorf("%s: %w", section, err)
		}
	}
	raw, err := json.Marshal(e)
	if err != nil {
		return nil, err
	}
	out := all.with(section, servers.with(name, raw).value()).value()
	if err := out.Indent(jsontext.WithIndent("  ")); err != nil {
		return nil, err
	}
	return append(out, '\n'), nil
}
