// Package catalog is the capability directory: names, schemas, examples, validation and the
// canonical form of a request.
//
// The directory is data: YAML, embedded and overridable. A capability that is only added in YAML is
// validated, fingerprinted and shown like a built-in one; nothing here knows a supplier or a price.
package catalog

import (
	"encoding/json"
	"time"
)

// Name is a capability's dotted name, such as "text.chat".
type Name string

// Mode says whether a capability normally ends within the request that submits it.
type Mode string

// The modes.
const (
	Sync  Mode = "sync"
	Async Mode = "async"
)

// Capability is one entry of the directory. It is immutable and safe for concurrent use.
type Capability struct {
	Name             Name
	Title            string
	Description      string
	Modality         string // "text", "image", "video", "audio"
	Mode             Mode
	InputSchema      json.RawMessage // JSON Schema 2020-12, what Validate checks with
	ParametersSchema json.RawMessage
	OutputSchema     json.RawMessage
	Example          json.RawMessage // a full request body that works
	PersonInputs     []string        // input members that may show a person: need input.authorization
	MediaInputs      []string        // JSON-pointer patterns of media values in the input: "/image", "/images/*"
	Deadline         time.Duration   // of a task, from acceptance
}

// Request is a decoded creation body: syntactically sound, not yet checked against a capability.
type Request struct {
	Capability Name
	Input      json.RawMessage // canonical form (RFC 8785); an object
	Parameters json.RawMessage // canonical form; "{}" where absent
}

// Limits bound what Decode takes; 0 means no bound.
type Limits struct {
	Depth int // nesting of arrays and objects
}
