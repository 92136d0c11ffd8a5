package catalog

import (
	"encoding/json"
	"errors"
	"math"
	"slices"

	"unitask/internal/fault"
)

// Output is a task's output in parts, which mostly are validated without being written as JSON.
type Output struct {
	Text         *string
	FinishReason string // beside Text; "" if absent
	Embeddings   [][]float32
	More         bool // the output has other members too
	// JSON returns the whole output as its caller will read it. It is called if the parts don't suffice.
	JSON func() (json.RawMessage, error)
}

var errNotNumber = errors.New("output.embeddings holds a value that is no number")

// CheckOutput reports why an output doesn't fit the capability's output schema; nil if it does.
func (c *Catalog) CheckOutput(name Name, o Output) error {
	e, ok := c.byName[name]
	if !ok {
		return fault.Invalid("capability", "is not a known capability")
	}
	if !finite(o.Embeddings) {
		return errNotNumber
	}
	if !o.More && e.output.fast.AcceptsOutput(o.Text, o.FinishReason, o.Embeddings) {
		return nil
	}
	raw, err := o.JSON()
	if err != nil {
		return err
	}
	return c.ValidateOutput(name, raw)
}

// finite reports whether JSON can represent all of the numbers.
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

// resultMembers are the members of an output that suppliers' results fill, by kind of result.
var resultMembers = []struct {
	first   string // the member that the result always fills
	members []string
	names   []Name // the built-in capabilities whose results these are
	own     bool   // no other capability's
}{
	{"text", []string{"text", "finish_reason", "segments", "words"}, []Name{TextChat, AudioTranscribe}, false},
	{"embeddings", []string{"embeddings"}, []Name{TextEmbed}, false},
	{"images", []string{"images"}, []Name{ImageGenerate, ImageEdit, ImageUpscale, ImageBackgroundRemove}, false},
	{"videos", []string{"videos"}, []Name{VideoGenerate, VideoExtend}, false},
	{"audio", []string{"audio"}, []Name{AudioSpeech}, false},
	{"results", []string{"results"}, []Name{TextModerate, TextRerank}, true},
}

// Unfillable returns the reason why no supplier's result can ever fit the capability's output schema; "" if one can.
// A built-in capability's kind of result is fixed, whatever schema an overlay gives it.
func (c Capability) Unfillable() string {
	doc, err := document(c.OutputSchema)
	if err != nil {
		return "is no schema"
	}
	properties, _ := doc["properties"].(map[string]any)
	required := stringsOf(doc["required"])
	best := ""
	builtIn := slices.Contains(builtIns(), c.Base())
	for _, kind := range resultMembers {
		if (builtIn || kind.own) && !slices.Contains(kind.names, c.Base()) {
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
	for _, kind := range resultMembers {
		all = append(all, kind.names...)
	}
	return all
}
