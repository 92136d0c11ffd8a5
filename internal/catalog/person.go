package catalog

import (
	"encoding/json"
	"strings"

	"unitask/internal/bulk"
	"unitask/internal/fault"
	"unitask/internal/jsonread"
)

// Authorization is the input member in which a caller vouches for a person shown.
const Authorization = "authorization"

// CheckAuthorization returns AUTHORIZATION_REQUIRED when the input holds a member that may show a
// person and no authorization. Validate checks the form of an authorization.
func (c Capability) CheckAuthorization(input json.RawMessage) *fault.Error {
	if len(c.PersonInputs) == 0 {
		return nil
	}
	if ValueAt(input, "/"+Authorization) != nil {
		return nil
	}
	var shown []string
	for _, name := range c.PersonInputs {
		if ValueAt(input, "/"+escapeToken(name)) != nil {
			shown = append(shown, GroupInput+"."+name)
		}
	}
	if len(shown) == 0 {
		return nil
	}
	const field = GroupInput + "." + Authorization
	return fault.New(fault.AuthorizationRequired, field+" is required: "+strings.Join(shown, ", ")+" may show a person").
		WithDetails(
			fault.Detail{Field: field, Message: `supply {"person":"none"} if no identifiable person is shown`},
			fault.Detail{Field: field, Message: `or {"person":"authorized","statement":"…"} saying how each person shown agreed; "evidence" may hold media that prove it`},
		)
}

// WithoutAuthorization returns the input, which is in canonical form, without its member authorization.
func WithoutAuthorization(input json.RawMessage) json.RawMessage {
	defer bulk.Turn(len(input))()
	out := append(make([]byte, 0, len(input)), '{')
	r := jsonread.Sound(input)
	r.Open('{')
	for r.More('}') {
		name, _ := r.NameQuoted()
		value := r.Value()
		if string(name) == `"`+Authorization+`"` {
			continue
		}
		if len(out) > 1 {
			out = append(out, ',')
		}
		out = append(append(out, name...), ':')
		out = bulk.Append(out, value)
	}
	if !r.Done() {
		return input // no object, and so without members
	}
	return append(out, '}')
}
