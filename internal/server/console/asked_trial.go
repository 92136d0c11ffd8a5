package console

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"html/template"
	"net/url"
	"slices"

	"unitask/internal/api"
	"unitask/internal/gate"
	"unitask/internal/gateway"
)

// inTrial returns the address of the trial's form filled with a request, "" if its capability isn't callable any more. The
// request is in the fragment, which a browser sends to no server.
func (c *Console) inTrial(caller gate.Caller, req api.CreateRequest) template.URL {
	open := slices.ContainsFunc(c.gateway.Capabilities(caller), func(o gateway.Offer) bool { return string(o.Capability.Name) == req.Capability })
	d := json.NewDecoder(bytes.NewReader(req.Input))
	d.UseNumber()
	var input any
	if !open || d.Decode(&input) != nil {
		return ""
	}
	var err error
	if req.Input, err = json.Marshal(present(input)); err != nil {
		return ""
	}
	raw, err := json.Marshal(req)
	if err != nil {
		return ""
	}
	query := url.Values{"capability": {req.Capability}, "mode": {string(caller.Key.Mode)}}
	return template.URL(c.path("/trial?"+query.Encode()) + "#request=" + base64.RawURLEncoding.EncodeToString(raw)) //nolint:gosec // of this console
}

// present returns a value without the media that were too large to be kept: the form asks for them.
func present(value any) any {
	switch v := value.(type) {
	case map[string]any:
		for name, member := range v {
			if isOmitted(member) {
				delete(v, name)
				continue
			}
			v[name] = present(member)
		}
	case []any:
		v = slices.DeleteFunc(v, isOmitted)
		for i := range v {
			v[i] = present(v[i])
		}
		return v
	}
	return value
}

func isOmitted(value any) bool {
	object, _ := value.(map[string]any)
	_, omitted := object["omitted"].(map[string]any)
	return omitted && len(object) == 1
}
