package api

import (
	"bytes"
	"encoding/json"
	"maps"
	"slices"
	"strings"

	jsonv2 "github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"unitask/internal/task"
)

// Output is a result: JSON of the form that its capability's output schema gives. A reader also has those of its
// members that most capabilities have; a member of such a name whose value has another form is in the JSON alone.
//
// An Output that was read, by json.Unmarshal or Read, has all fields. One with JSON alone is written as it; one
// without JSON is written as the other fields.
type Output struct {
	JSON json.RawMessage `json:"-"`

	Text         *string         `json:"text,omitempty"`
	Data         json.RawMessage `json:"data,omitempty"`
	ToolCalls    []task.ToolCall `json:"tool_calls,omitempty"`
	Citations    []task.Citation `json:"citations,omitempty"`
	Reasoning    string          `json:"reasoning,omitempty"`
	FinishReason string          `json:"finish_reason,omitempty"`
	State        string          `json:"state,omitempty"`
	Segments     []task.Segment  `json:"segments,omitempty"`
	Words        []task.Segment  `json:"words,omitempty"`
	Images       []Artifact      `json:"images,omitempty"`
	Videos       []Artifact      `json:"videos,omitempty"`
	Audio        *Artifact       `json:"audio,omitempty"`
	Embeddings   [][]float32     `json:"embeddings,omitempty"`

	// Open: it has other members too. Files are the artifacts in them.
	Open  bool       `json:"-"`
	Files []Artifact `json:"-"`
}

// Shown returns an output that was read as its readers are shown it, its files apart: all of an open one, the data that
// a model answered with, or its tool calls and the text beside them; nil for one that is shown by its other members.
func (o *Output) Shown() json.RawMessage {
	switch {
	case o.Open:
		return o.JSON
	case len(o.ToolCalls) == 0:
		return o.Data
	}
	calling := Output{ToolCalls: o.ToolCalls}
	if o.Text != nil && *o.Text != "" {
		calling.Text = o.Text
	}
	shown, err := json.Marshal(&calling)
	if err != nil {
		return o.JSON // they were read from it
	}
	return shown
}

// Indented returns Shown in lines, for people; "" if it is nil.
func (o *Output) Indented() string {
	var b bytes.Buffer
	if json.Indent(&b, o.Shown(), "", "  ") != nil {
		return string(o.Shown())
	}
	return b.String()
}

// Rest returns the members of an output that was read which no field has, as an object: nil if every one has a field, and
// all of the output if that is no object.
func (o *Output) Rest() json.RawMessage {
	var members map[string]json.RawMessage
	if !o.Open || !read(&members, o.JSON) {
		if o.Open {
			return o.JSON
		}
		return nil
	}
	maps.DeleteFunc(members, func(name string, value json.RawMessage) bool { return new(Output).take(name, value) })
	rest, err := json.Marshal(members)
	if err != nil {
		return o.JSON // they were read from it
	}
	return rest
}

// Artifacts returns every artifact of an output that was read, in order.
func (o *Output) Artifacts() []Artifact {
	if o == nil {
		return nil
	}
	all := slices.Concat(o.Images, o.Videos)
	if o.Audio != nil {
		all = append(all, *o.Audio)
	}
	return append(all, o.Files...)
}

// MarshalJSON writes the whole result.
func (o *Output) MarshalJSON() ([]byte, error) {
	if o.JSON != nil {
		return o.JSON, nil
	}
	type fields Output
	return json.Marshal((*fields)(o))
}

// Read returns the output of an answer as its reader has it.
func (o *Output) Read() (*Output, error) {
	var out Output
	raw, err := json.Marshal(o)
	if err == nil {
		err = json.Unmarshal(raw, &out)
	}
	return &out, err
}

// UnmarshalJSON reads any JSON.
func (o *Output) UnmarshalJSON(raw []byte) error {
	*o = Output{JSON: slices.Clone(raw)}
	var members map[string]json.RawMessage
	if !read(&members, raw) {
		o.Open, o.Files = true, artifactsIn(raw)
		return nil
	}
	for _, name := range slices.Sorted(maps.Keys(members)) {
		value := members[name]
		known := o.take(name, value)
		o.Open = o.Open || !known
		if !known || name == "data" {
			o.Files = append(o.Files, artifactsIn(value)...)
		}
	}
	return nil
}

// take reads a member into the field of its name; false without one of this form.
func (o *Output) take(name string, value json.RawMessage) bool {
	switch name {
	case "text":
		return read(&o.Text, value)
	case "data":
		return read(&o.Data, value)
	case "tool_calls":
		return read(&o.ToolCalls, value)
	case "citations":
		return read(&o.Citations, value)
	case "reasoning":
		return read(&o.Reasoning, value)
	case "state":
		return read(&o.State, value)
	case "finish_reason":
		return read(&o.FinishReason, value)
	case "segments":
		return readPieces(&o.Segments, value)
	case "words":
		return readPieces(&o.Words, value)
	case "images":
		return readFiles(&o.Images, value)
	case "videos":
		return readFiles(&o.Videos, value)
	case "audio":
		var one []Artifact
		ok := readFiles(&one, slices.Concat([]byte("["), value, []byte("]")))
		if ok {
			o.Audio = &one[0]
		}
		return ok
	case "embeddings":
		return read(&o.Embeddings, value)
	default:
		return false
	}
}

// read sets a field to a value, if it has the field's form.
func read[T any](field *T, value json.RawMessage) bool {
	var v T
	if json.Unmarshal(value, &v) != nil {
		return false
	}
	*field = v
	return true
}

// readPieces sets a field to a list of segments without other members.
func readPieces(field *[]task.Segment, value json.RawMessage) bool {
	var all []task.Segment
	if jsonv2.Unmarshal(value, &all, jsonv2.RejectUnknownMembers(true)) != nil {
		return false
	}
	*field = all
	return true
}

// readFiles sets a field to a list of artifacts alone.
func readFiles(field *[]Artifact, value json.RawMessage) bool {
	var all []Artifact
	if !read(&all, value) || slices.ContainsFunc(all, func(a Artifact) bool { return !a.valid() }) {
		return false
	}
	*field = all
	return true
}

// place is an artifact's place in a JSON value, in bytes.
type place struct {
	from, to int
	artifact Artifact
}

// placesIn returns every artifact within a JSON value, in order. An artifact is an object of scalars alone.
func placesIn(value []byte) []place {
	var all []place
	flat := -1 // where the innermost object of scalars so far begins; -1 without one
	d := jsontext.NewDecoder(bytes.NewReader(value), jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))
	for {
		token, err := d.ReadToken()
		if err != nil {
			return all
		}
		end := int(d.InputOffset())
		switch token.Kind() {
		case '{':
			flat = end - 1
		case '[', ']':
			flat = -1
		case '}':
			var one Artifact
			if flat >= 0 && read(&one, value[flat:end]) && one.valid() {
				all = append(all, place{flat, end, one})
			}
			flat = -1
		}
	}
}

func artifactsIn(value []byte) []Artifact {
	var all []Artifact
	for _, p := range placesIn(value) {
		all = append(all, p.artifact)
	}
	return all
}

// Replaced returns the JSON with other bytes in the place of each artifact, in order.
func (o *Output) Replaced(by func(Artifact) []byte) json.RawMessage {
	var out []byte
	rest := 0
	for _, p := range placesIn(o.JSON) {
		out = append(append(out, o.JSON[rest:p.from]...), by(p.artifact)...)
		rest = p.to
	}
	return append(out, o.JSON[rest:]...)
}

// valid reports whether it was read from an artifact, and not from another object.
func (a Artifact) valid() bool {
	return strings.HasPrefix(a.ID, task.PrefixArtifact) && a.URL != "" && a.ContentType != ""
}
