package sandbox

import (
	"encoding/json"

	"unitask/internal/catalog"
	"unitask/internal/supplier"
)

// shaped is a result for a capability of which the sandbox doesn't know: JSON that fits its output schema. The zero
// shaped leaves results as they are.
type shaped struct {
	Data  json.RawMessage `json:"data,omitempty"`
	Files int             `json:"files,omitempty"` // places of files in Data
}

// shapeOf returns the request as one of a capability that the sandbox has, and the result that takes the place of that
// capability's own, if that doesn't fit.
func shapeOf(r supplier.Request) (shaped, supplier.Request) {
	own := native(r)
	if own.Capability == r.Capability || len(r.OutputSchema) == 0 {
		return shaped{}, own
	}
	shape, err := catalog.NewShape(r.OutputSchema)
	if err != nil || shape.FitsUsual(catalog.Name(r.Capability), textOf(own)) {
		return shaped{}, own
	}
	data, files, err := shape.Sample(string(r.Input)+string(r.Parameters), textsOf(r.Input))
	if err != nil {
		return shaped{}, own // of other texts one was made when the directory was loaded
	}
	if files == 0 {
		own = nativeAs("text.chat", r)
	} else if own.Capability == "text.chat" {
		own = nativeAs("image.generate", r)
	}
	return shaped{data, files}, own
}

// textOf returns the text that a request would be answered with; "" for one of another result.
func textOf(r supplier.Request) string {
	if r.Capability != "text.chat" {
		return ""
	}
	if p, _, err := readChat(r); err == nil {
		if result, err := p.make(); err == nil {
			return *result.Text
		}
	}
	return ""
}

// shape returns the result with the data in its place, and its first file for each place.
func (s shaped) shape(r *supplier.Result) *supplier.Result {
	if s.Data == nil {
		return r
	}
	out := &supplier.Result{Data: s.Data, Usage: r.Usage}
	for range s.Files {
		out.Files = append(out.Files, r.Files[0])
	}
	return out
}

// answerOf returns a text that is JSON of a caller's schema, about what was asked.
func answerOf(schema json.RawMessage, ask string) (string, error) {
	shape, err := catalog.NewShape(schema)
	if err != nil {
		return "", refusal("output_schema can't be read")
	}
	answer, _, err := shape.Sample(ask, []string{ask})
	if err != nil {
		return "", refusal("the sandbox finds no answer that fits output_schema")
	}
	return string(answer), nil
}
