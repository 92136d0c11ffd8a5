package catalog

import (
	"encoding/json"
	"strings"

	jsonv2 "github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"unitask/internal/fault"
)

// Authorization is the input member in which a caller vouches for a person shown.
const Authorization = "authorization"

// CheckAuthorization returns AUTHORIZATION_REQUIRED when the input holds a member that may show a
// person and no authorization. Whether an authorization is well-formed is Validate's to say.
func (c Capability) CheckAuthorization(input json.RawMessage) *fault.Error {
	if len(c.PersonInputs) == 0 {
		return nil
	}
	var members map[string]jsontext.Value
	if err := jsonv2.Unmarshal(input, &members); err != nil {
		return fault.From(err)
	}
	if _, given := members[Authorization]; given {
		return nil
	}
	var shown []string
	for _, name := range c.PersonInputs {
		if _, present := members[name]; present {
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

// WithoutAuthorization returns the input without what was declared about a person, in canonical form.
func WithoutAuthorization(input json.RawMessage) json.RawMessage {
	var members map[string]jsontext.Value
	if jsonv2.Unmarshal(input, &members) != nil {
		return input // no object: it declares nothing
	}
	delete(members, Authorization)
	out, err := jsonv2.Marshal(members, jsonv2.Deterministic(true))
	if err != nil || (*jsontext.Value)(&out).Canonicalize() != nil {
		return input // what was read is what is written
	}
	return out
}
