package main

import (
	"encoding/json"
	"strings"

	"unitask/internal/api"
	"unitask/internal/catalog"
	"unitask/internal/snippet"
)

// exampleCommand writes the entry's example as a command.
func exampleCommand(c api.Capability, fields []catalog.Field) (string, error) {
	var example api.CreateRequest
	if err := json.Unmarshal(c.Example, &example); err != nil {
		return "", err
	}
	return snippet.Command(fields, example)
}

// shortExample is an example's JSON with long base64 cut out of sight.
func shortExample(raw json.RawMessage) (string, error) {
	var value any
	if err := json.Unmarshal(raw, &value); err != nil {
		return "", err
	}
	out, err := json.MarshalIndent(shortened(value), "", "  ")
	return printable(string(out)), err
}

func shortened(value any) any {
	const longest = 80
	switch v := value.(type) {
	case string:
		if len(v) > longest && !strings.Contains(v, " ") {
			return v[:longest/2] + "…"
		}
	case []any:
		for i := range v {
			v[i] = shortened(v[i])
		}
	case map[string]any:
		for name := range v {
			v[name] = shortened(v[name])
		}
	}
	return value
}
