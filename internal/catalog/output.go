package catalog

import (
	"encoding/json"
	"errors"
	"math"
	"slices"

	"unitask/internal/fault"
)

// Output is a task's output, in parts that are judged without being written as JSON.
type Output struct {
	Text         *string
	FinishReason string // beside Text; "" without one
	Embeddings   [][]float32
	More         bool // it has other members too
	// JSON returns the whole as its caller will read it. It is called if the parts aren't conclusive.
	JSON func() (json.RawMessage, error)
}

var errNotNumber = errors.New("output.embeddings holds a value that is no number")

// CheckOutput reports why an output doesn't fit the capability's output schema; nil if it does.
func (c *Catalog) CheckOutput(name Name, o Output) error {
	e, ok := c.entries[name]
	if !ok {
		return fault.Invalid("capability", "is not a known capability")
	}
	if !finite(o.Embeddings) {
		return errNotNumber
	}
	if e.output.form.takesParts(o) {
		return nil
	}
	raw, err := o.JSON()
	if err != nil {
		return err
	}
	return c.ValidateOutput(name, raw)
}

// finite reports whether JSON has words for all of the numbers.
func finite(vectors [][]float32) bool {
	for _, vector := range vectors {
		for _, n := range vector {
			if f := float64(n); math.IsNaN(f) || math.IsInf(f, 0) {
				return false
			}
		}
	}
	return true
}

// takesParts reports whether an output surely is valid.
func (f *form) takesParts(o Output) bool {
	if f == nil || f.kind != '{' || o.More {
		return false
	}
	var given memberSet
	for _, part := range []struct {
		name string
		has  bool
		fits func(*form) bool
	}{
		{"text", o.Text != nil, (*form).anyString},
		{"finish_reason", o.FinishReason != "", func(m *form) bool { return slices.Contains(m.words, `"`+o.FinishReason+`"`) }},
		{"embeddings", o.Embeddings != nil, func(m *form) bool { return m.takesVectors(o.Embeddings) }},
	} {
		if !part.has {
			continue
		}
		i := slices.IndexFunc(f.members, func(m formMember) bool { return m.name == part.name })
		if i < 0 || f.members[i].form == nil || !part.fits(f.members[i].form) {
			return false
		}
		given |= 1 << i
	}
	return f.met(given)
}

// anyString reports whether every string is valid.
func (f *form) anyString() bool {
	return f.kind == '"' && f.words == nil && f.pattern == nil && f.unbounded()
}

func (f *form) unbounded() bool {
	return math.IsInf(f.bounds.least, -1) && math.IsInf(f.bounds.most, 1)
}

// takesVectors reports whether lists of numbers surely are valid.
func (f *form) takesVectors(vectors [][]float32) bool {
	if f.kind != '[' || f.items == nil || f.items.kind != '[' || !f.bounds.hold(float64(len(vectors))) {
		return false
	}
	vector, number := f.items, f.items.items
	if number == nil || number.kind != '0' || number.whole || !number.unbounded() {
		return false
	}
	return !slices.ContainsFunc(vectors, func(v []float32) bool { return !vector.bounds.hold(float64(len(v))) })
}

// The members of an output that suppliers' results fill, by the result's kind.
var filled = []struct {
	first   string // the member that the result always fills
	members []string
	names   []Name // the built-in capabilities whose results these are
}{
	{"text", []string{"text", "finish_reason", "segments"}, []Name{TextChat, AudioTranscribe}},
	{"embeddings", []string{"embeddings"}, []Name{TextEmbed}},
	{"images", []string{"images"}, []Name{ImageGenerate, ImageEdit}},
	{"videos", []string{"videos"}, []Name{VideoGenerate}},
	{"audio", []string{"audio"}, []Name{AudioSpeech}},
}

// Unfillable says why no supplier's result can ever fit the capability's output schema, "" if one can. A built-in
// capability's results don't depend on an overlay's schema.
func (c Capability) Unfillable() string {
	doc, err := document(c.OutputSchema)
	if err != nil {
		return "is no schema"
	}
	properties, _ := doc["properties"].(map[string]any)
	required := texts(doc["required"])
	best := ""
	builtIn := slices.Contains(builtIns(), c.Name)
	for _, kind := range filled {
		if builtIn && !slices.Contains(kind.names, c.Name) {
			continue
		}
		lacks := slices.IndexFunc(required, func(name string) bool { return !slices.Contains(kind.members, name) })
		_, has := properties[kind.first]
		switch {
		case lacks < 0 && (has || doc["additionalProperties"] != false):
			return ""
		case lacks >= 0 && (best == "" || has):
			best = "asks for " + fieldPath(required[lacks]) + ", which no result fills"
		case best == "":
			best = "has no " + kind.first + ", which every result fills"
		}
	}
	return best
}

// builtIns returns the names of the built-in capabilities.
func builtIns() []Name {
	var all []Name
	for _, kind := range filled {
		all = append(all, kind.names...)
	}
	return all
}
