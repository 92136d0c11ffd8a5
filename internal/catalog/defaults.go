package catalog

import (
	"encoding/json"
	"maps"
)

// FillDefaults returns the parameters with the schema's defaults added, so that the directory's
// promises hold with every supplier. The fingerprint is taken before.
func (c Capability) FillDefaults(parameters json.RawMessage) json.RawMessage {
	if string(parameters) == "{}" && c.Filled != nil {
		return c.Filled
	}
	var given map[string]json.RawMessage
	if len(c.Defaults) == 0 || json.Unmarshal(parameters, &given) != nil {
		return parameters
	}
	filled := maps.Clone(c.Defaults)
	maps.Copy(filled, given)
	out, err := json.Marshal(filled)
	if err != nil {
		return parameters
	}
	return out
}
