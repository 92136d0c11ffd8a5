package task

import (
	"encoding/binary"
	"encoding/json"
	"math"
	"slices"
	"strings"

	"unitask/internal/jsonread"
	"unitask/internal/jsonwrite"
)

// Output is a finished task's result: JSON of the form that its capability's output schema gives. Each kept file
// stands in it as Ref writes its id.
type Output struct {
	JSON  json.RawMessage `json:"json,omitempty"`
	Files []Artifact      `json:"files,omitempty"`
}

// Parts are what the outputs of most capabilities are made of; those that apply are set.
type Parts struct {
	Text         *string         `json:"text"`
	Data         json.RawMessage `json:"data,omitempty"`
	ToolCalls    []ToolCall      `json:"tool_calls,omitempty"`
	Citations    []Citation      `json:"citations,omitempty"`
	Reasoning    string          `json:"reasoning,omitempty"`
	FinishReason string          `json:"finish_reason"`
	State        string          `json:"state,omitempty"`
	Segments     []Segment       `json:"segments"`
	Words        []Segment       `json:"words"`
	Images       []Artifact      `json:"images"`
	Videos       []Artifact      `json:"videos"`
	Audio        *Artifact       `json:"audio"`
	Embeddings   [][]float32     `json:"embeddings"`
	// Packed: each of Embeddings is written as the base64 of its numbers, each low byte first.
	Packed bool `json:"-"`
}

// ToolCall is a model's call of a tool.
type ToolCall struct {
	ID        string          `json:"id"`
	Name      string          `json:"name"`
	Arguments json.RawMessage `json:"arguments"` // an object, or a string of what the model wrote in its place
	Invalid   bool            `json:"invalid,omitempty"`
}

// Citation is a page that an answer rests on.
type Citation struct {
	URL   string `json:"url"`
	Title string `json:"title,omitempty"`
	Text  string `json:"text,omitempty"`
}

// Segment is one timed piece of a transcript; times in seconds.
type Segment struct {
	Start   float64 `json:"start"`
	End     float64 `json:"end"`
	Text    string  `json:"text"`
	Speaker string  `json:"speaker,omitempty"`
}

// Ref returns the place of an artifact in an Output's JSON, exactly as it is written there.
func Ref(id string) string { return `{"artifact":"` + id + `"}` }

// Output writes the parts as members of their names. Its error is that of a number that JSON can't represent.
func (p Parts) Output() (Output, error) {
	const around = 64 // bytes: names, brackets and the reason
	room := around
	if p.Text != nil {
		room += len(*p.Text) + len(*p.Text)/16
	}
	w := jsonwrite.New(room)
	w.Begin('{')
	if p.Text != nil {
		text(w, "text", *p.Text)
	}
	raw(w, "data", p.Data)
	if len(p.ToolCalls) > 0 {
		other(w, "tool_calls", p.ToolCalls)
	}
	if len(p.Citations) > 0 {
		other(w, "citations", p.Citations)
	}
	optional(w, "reasoning", p.Reasoning)
	optional(w, "finish_reason", p.FinishReason)
	optional(w, "state", p.State)
	if len(p.Segments) > 0 {
		other(w, "segments", p.Segments)
	}
	if len(p.Words) > 0 {
		other(w, "words", p.Words)
	}
	refs(w, "images", p.Images)
	refs(w, "videos", p.Videos)
	if p.Audio != nil {
		raw(w, "audio", []byte(Ref(p.Audio.ID)))
	}
	switch {
	case len(p.Embeddings) == 0:
	case p.Packed:
		other(w, "embeddings", packed(p.Embeddings))
	default:
		other(w, "embeddings", p.Embeddings)
	}
	w.End('}')
	out := Output{Files: slices.Concat(p.Images, p.Videos)}
	if p.Audio != nil {
		out.Files = append(out.Files, *p.Audio)
	}
	var err error
	out.JSON, err = w.Bytes()
	return out, err
}

// packed returns vectors as JSON writes them in base64.
func packed(vectors [][]float32) [][]byte {
	all := make([][]byte, len(vectors))
	for i, v := range vectors {
		all[i] = make([]byte, 0, 4*len(v))
		for _, n := range v {
			all[i] = binary.LittleEndian.AppendUint32(all[i], math.Float32bits(n))
		}
	}
	return all
}

func refs(w *jsonwrite.Writer, name string, all []Artifact) {
	if len(all) == 0 {
		return
	}
	w.Name(name)
	w.Begin('[')
	for _, a := range all {
		w.JSON([]byte(Ref(a.ID)))
	}
	w.End(']')
}

// Artifacts returns every artifact of the output, in order. They are not to be changed.
func (o *Output) Artifacts() []Artifact {
	if o == nil {
		return nil
	}
	return o.Files
}

// Text returns the output's text; nil if it has none.
func (o *Output) Text() *string {
	if o == nil {
		return nil
	}
	var found *string
	in := jsonread.New(o.JSON)
	for m := in.Among("text"); m.Next(); {
		if in.Peek() != '"' {
			return nil
		}
		_, says := in.Text()
		found = new(string(says))
	}
	if !in.Done() {
		return nil
	}
	return found
}

// Filled returns the JSON with each artifact as fill writes it. The bytes of a Ref don't occur within a JSON string,
// where a quotation mark is escaped.
func (o *Output) Filled(fill func(Artifact) []byte) json.RawMessage {
	if len(o.Files) == 0 {
		return o.JSON
	}
	pairs := make([]string, 0, 2*len(o.Files))
	for _, a := range o.Files {
		pairs = append(pairs, Ref(a.ID), string(fill(a)))
	}
	return json.RawMessage(strings.NewReplacer(pairs...).Replace(string(o.JSON)))
}

// Size returns about how many bytes the output takes in a task's record, its artifacts' descriptions left out.
func (o *Output) Size() int {
	if o == nil {
		return 0
	}
	return len(o.JSON)
}

// UnmarshalJSON reads a stored output, also one from before outputs were JSON: such a one is the Parts alone.
func (o *Output) UnmarshalJSON(stored []byte) error {
	var out Output
	var files []byte
	in := jsonread.New(stored)
	for m := in.Only("json", "files"); m.Next(); {
		if m.Name == "json" {
			out.JSON = slices.Clone(in.Value())
		} else {
			files = in.Value()
		}
	}
	var err error
	switch {
	case !in.Done():
		var former Parts
		if err = json.Unmarshal(stored, &former); err == nil {
			out, err = former.Output()
		}
	case files != nil:
		err = json.Unmarshal(files, &out.Files)
	}
	if err == nil {
		*o = out
	}
	return err
}
