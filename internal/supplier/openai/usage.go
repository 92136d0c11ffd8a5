package openai

import (
	"encoding/json"
	"math"

	"unitask/internal/jsonread"
	"unitask/internal/supplier"
	"unitask/internal/supplier/upstream"
)

// Larger counts are nonsense: they are above any real report.
const (
	maxSeconds = 1e6 // of a recording
	maxCost    = 1e6 // US dollars
)

// usage is the counts of a report; a missing, malformed or impossible one is 0.
type usage struct {
	input, output int64 // tokens
	millis        int64
	cost          float64 // US dollars
}

// report is a usage report as it stands: of chats and embeddings, of images and recordings, and of an
// aggregator's charge.
type report struct {
	Prompt     json.RawMessage `json:"prompt_tokens"`
	Completion json.RawMessage `json:"completion_tokens"`
	Input      json.RawMessage `json:"input_tokens"`
	Output     json.RawMessage `json:"output_tokens"`
	Seconds    json.RawMessage `json:"seconds"`
	Cost       json.RawMessage `json:"cost"`
}

// parseUsage reads a usage report. It never fails: a paid answer isn't thrown away for a bad report.
func parseUsage(b json.RawMessage) usage {
	r, ok := scanReport(b)
	if !ok && len(b) > 0 {
		r = decodeReport(b)
	}
	return usage{
		input:  max(upstream.Count(r.Prompt), upstream.Count(r.Input)),
		output: max(upstream.Count(r.Completion), upstream.Count(r.Output)),
		millis: millis(r.Seconds),
		cost:   upstream.Number(r.Cost, maxCost),
	}
}

func decodeReport(b []byte) (r report) {
	_ = upstream.Decode(b, &r)
	return r
}

// scanReport reads the reports that there mostly are: no member twice or in another case. Of the rest it says that it
// isn't ok.
func scanReport(b []byte) (r report, ok bool) {
	in := jsonread.New(b)
	for m := in.Among("prompt_tokens", "completion_tokens", "input_tokens", "output_tokens", "seconds", "cost"); m.Next(); {
		switch m.Name {
		case "prompt_tokens":
			r.Prompt = in.Value()
		case "completion_tokens":
			r.Completion = in.Value()
		case "input_tokens":
			r.Input = in.Value()
		case "output_tokens":
			r.Output = in.Value()
		case "seconds":
			r.Seconds = in.Value()
		case "cost":
			r.Cost = in.Value()
		}
	}
	return r, in.Done()
}

func millis(seconds json.RawMessage) int64 {
	return int64(math.Round(upstream.Number(seconds, maxSeconds) * 1000))
}

// charged returns the server's stated charge in nano-USD, if it states one.
func (s settings) charged(u usage) *int64 {
	if !s.reportedCost || u.cost == 0 {
		return nil
	}
	return new(int64(math.Round(u.cost * 1e9)))
}

// tokens completes the report from the sizes of the texts, in bytes.
func (u usage) tokens(asked, answered int) supplier.Usage {
	return upstream.Tokens(u.input, u.output, asked, answered)
}
