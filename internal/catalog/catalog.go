// Package catalog is the capability directory: names, schemas, examples, validation and the
// canonical form of a request.
//
// The directory is data: YAML, embedded and overridable. A capability that is only added in YAML is
// validated, fingerprinted and shown like a built-in one. Suppliers and prices are no part of it.
//
// # The YAML
//
// A file holds a list "capabilities" and, if several schemas share parts, a map "definitions". A
// schema refers to a definition as "#/$defs/NAME"; the definition is copied into it, so that a served
// schema is complete. A later file replaces capabilities and definitions by name.
//
//	definitions:
//	  tone: {type: string, enum: [calm, lively]}
//	capabilities:
//	  - name: text.rewrite
//	    title: Rewrite a text
//	    description: The text that callers read in the directory.
//	    modality: text
//	    mode: sync
//	    deadline: 5m
//	    person_inputs: []    # input members that may show a person
//	    input: {…}           # JSON Schema 2020-12
//	    parameters: {…}
//	    output: {…}
//	    example: {capability: text.rewrite, input: {…}}
//	    sample: {text: …}    # an output; only for an output schema for which none can be made of its keywords
//	  - name: text.rewrite.careful
//	    extends: text.rewrite
//	    title: Rewrite a text with care
//	    description: The text that callers read in the directory.
//	    parameters: {properties: {tone: {enum: [calm]}}}
//
// The second one is a tier: a capability with routes and prices of its own, whose work is that of another one. Its
// input, parameters and output are merge patches (RFC 7396) of the schemas that it extends, and may only narrow them.
// Mode, deadline and person_inputs are inherited unless it has its own, and so is the example.
//
// Four annotations go beyond JSON Schema: "x-media" (image, audio, video, document, file) marks a value that refers to media,
// "x-schema: strict" a parameter that is a strict JSON Schema itself, "x-conversation: strict" an input that is a list
// of messages in an order that every supplier takes, and "x-error" is the message to a caller when a pattern, format,
// not, anyOf or oneOf beside it fails.
//
// # Order of use
//
// Decode makes a Request of a body, Fingerprint identifies it, Validate checks it, and
// Capability.CheckAuthorization requires a person's authorization. Decode and Validate try package
// fastlane first.
package catalog

import (
	"encoding/json"
	"iter"
	"slices"
	"strings"
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
	Extends          Name // of a tier, the capability that it extends; "" for others
	Title            string
	Description      string
	Modality         string // "text", "image", "video", "audio"
	Mode             Mode
	InputSchema      json.RawMessage // JSON Schema 2020-12; Validate checks against it
	ParametersSchema json.RawMessage
	OutputSchema     json.RawMessage
	Example          json.RawMessage            // a full request body that works
	PersonInputs     []string                   // input members that may show a person: need input.authorization
	MediaInputs      []string                   // JSON-pointer patterns of media values in the input: "/image", "/images/*"
	MediaKinds       map[string]string          // by pattern of MediaInputs: "image", "audio", "video", "document" or "file"
	WordlessInputs   []string                   // JSON-pointer patterns of input members without words: listed values, ids
	OutputMedia      []string                   // the kinds of its result files: "image", "video", "audio"; nil if it has no files
	OutputText       bool                       // its result is, or has, a text
	NoFinishReason   bool                       // the output schema has no finish_reason and takes no other member
	Deadline         time.Duration              // of a task, from acceptance
	Defaults         map[string]json.RawMessage // of parameters, from their schema
	Maxima           map[string]float64         // of numbers in the request, from their schemas
	Filled           json.RawMessage            // Defaults as JSON: the parameters of a request without any
}

// Request is a decoded creation body: syntactically sound, not yet checked against a capability.
type Request struct {
	Capability Name
	Input      json.RawMessage   // canonical form (RFC 8785); an object
	Parameters json.RawMessage   // canonical form; "{}" if absent
	Metadata   map[string]string // within its bounds; nil if absent or empty, and no part of the fingerprint
	// Base64 are long strings of Input in their order, which its readers pass over (jsonread's Reader.Passing); not all
	// that there are.
	Base64 [][]byte
}

// Limits bound the bodies that Decode takes; 0 means no bound.
type Limits struct {
	Depth int // nesting of arrays and objects
}

// Catalog is a loaded directory, its schemas compiled. It is immutable and safe for concurrent use.
type Catalog struct {
	byName map[Name]*compiled
	sorted []Capability
}

// Get returns the capability of that name.
func (c *Catalog) Get(name Name) (Capability, bool) {
	e, ok := c.byName[name]
	if !ok {
		return Capability{}, false
	}
	return e.Capability, true
}

// All returns every capability, sorted by name.
func (c *Catalog) All() []Capability { return slices.Clone(c.sorted) }

// Names returns the names of all capabilities, sorted.
func (c *Catalog) Names() iter.Seq[Name] {
	return func(yield func(Name) bool) {
		for i := range c.sorted {
			if !yield(c.sorted[i].Name) {
				return
			}
		}
	}
}

func newCatalog(byName map[Name]*compiled) *Catalog {
	c := &Catalog{byName: byName}
	for _, e := range byName {
		c.sorted = append(c.sorted, e.Capability)
	}
	slices.SortFunc(c.sorted, func(a, b Capability) int { return strings.Compare(string(a.Name), string(b.Name)) })
	return c
}
