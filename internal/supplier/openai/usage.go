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
	supplier.Usage
	cost float64 // US dollars
}

// report is a usage report as it stands: of chats and embeddings, of images and recordings, and of servers with members
// of their own: an aggregator's charge, DeepSeek's cache, and Perplexity's searches and the pages cited.
type report struct {
	Prompt            json.RawMessage `json:"prompt_tokens"`
	Completion        json.RawMessage `json:"completion_tokens"`
	PromptDetails     json.RawMessage `json:"prompt_tokens_details"`
	CompletionDetails json.RawMessage `json:"completion_tokens_details"`
	Total             json.RawMessage `json:"total_tokens"`
	Input             json.RawMessage `json:"input_tokens"`
	Output            json.RawMessage `json:"output_tokens"`
	InputDetails      json.RawMessage `json:"input_tokens_details"` // of images
	OutputDetails     json.RawMessage `json:"output_tokens_details"`
	RecordingDetails  json.RawMessage `json:"input_token_details"` // of recordings
	Seconds           json.RawMessage `json:"seconds"`
	Cost              json.RawMessage `json:"cost"`
	Hit               json.RawMessage `json:"prompt_cache_hit_tokens"`
	Reasoning         json.RawMessage `json:"reasoning_tokens"`
	Searches          json.RawMessage `json:"num_search_queries"`
	Citations         json.RawMessage `json:"citation_tokens"`
}

// details is the parts of a direction's tokens.
type details struct {
	Cached    json.RawMessage `json:"cached_tokens"`
	Written   json.RawMessage `json:"cache_write_tokens"`
	Image     json.RawMessage `json:"image_tokens"`
	Audio     json.RawMessage `json:"audio_tokens"`
	Reasoning json.RawMessage `json:"reasoning_tokens"`
}

// parseUsage reads a usage report. It never fails: a paid answer isn't thrown away for a bad report.
func parseUsage(b json.RawMessage) usage {
	r, ok := scanReport(b)
	if !ok && len(b) > 0 {
		r = decodeReport(b)
	}
	in, out := readDetails(r.PromptDetails, r.InputDetails, r.RecordingDetails), readDetails(r.CompletionDetails, r.OutputDetails)
	u := usage{
		Usage: supplier.Usage{
			InputTokens: max(upstream.Count(r.Prompt), upstream.Count(r.Input)), OutputTokens: max(upstream.Count(r.Completion), upstream.Count(r.Output)),
			Milliseconds: millis(r.Seconds), Searches: upstream.Count(r.Searches),
			CachedInputTokens: max(upstream.Count(in.Cached), upstream.Count(r.Hit)), CacheWriteTokens: upstream.Count(in.Written),
			ImageInputTokens: upstream.Count(in.Image), AudioInputTokens: upstream.Count(in.Audio),
			ReasoningTokens:   max(upstream.Count(out.Reasoning), upstream.Count(r.Reasoning)),
			ImageOutputTokens: upstream.Count(out.Image), AudioOutputTokens: upstream.Count(out.Audio),
		},
		cost: upstream.Number(r.Cost, maxCost),
	}
	u.OutputTokens += u.apart(upstream.Count(r.Total))
	u.InputTokens += upstream.Count(r.Citations) // which the prompt and the total are without
	return u
}

// apart returns the reasoning that is counted beside the output instead of within it, as xAI and Perplexity do: the
// total says so, or there is more of it than output.
func (u usage) apart(total int64) int64 {
	if u.ReasoningTokens > u.OutputTokens || total == u.InputTokens+u.OutputTokens+u.ReasoningTokens {
		return u.ReasoningTokens
	}
	return 0
}

func decodeReport(b []byte) (r report) {
	_ = upstream.Decode(b, &r)
	return r
}

// scanReport reads the reports that there mostly are: no member twice or in another case. Of the rest it says that it
// isn't ok.
func scanReport(b []byte) (r report, ok bool) {
	in := jsonread.New(b)
	for m := in.Among(
		"prompt_tokens", "completion_tokens", "prompt_tokens_details", "completion_tokens_details", "total_tokens",
		"input_tokens", "output_tokens", "input_tokens_details", "output_tokens_details", "input_token_details",
		"seconds", "cost", "prompt_cache_hit_tokens", "reasoning_tokens", "num_search_queries", "citation_tokens",
	); m.Next(); {
		*r.member(m.Name) = in.Value()
	}
	return r, in.Done()
}

// member is the place of a known member.
func (r *report) member(name string) *json.RawMessage {
	switch name {
	case "prompt_tokens":
		return &r.Prompt
	case "completion_tokens":
		return &r.Completion
	case "prompt_tokens_details":
		return &r.PromptDetails
	case "completion_tokens_details":
		return &r.CompletionDetails
	case "total_tokens":
		return &r.Total
	case "input_tokens":
		return &r.Input
	case "output_tokens":
		return &r.Output
	case "input_tokens_details":
		return &r.InputDetails
	case "output_tokens_details":
		return &r.OutputDetails
	case "input_token_details":
		return &r.RecordingDetails
	case "seconds":
		return &r.Seconds
	case "cost":
		return &r.Cost
	case "prompt_cache_hit_tokens":
		return &r.Hit
	case "reasoning_tokens":
		return &r.Reasoning
	case "num_search_queries":
		return &r.Searches
	default: // citation_tokens
		return &r.Citations
	}
}

// readDetails reads the first of the objects that is there.
func readDetails(objects ...json.RawMessage) details {
	for _, b := range objects {
		if len(b) == 0 || b[0] != '{' {
			continue
		}
		d, ok := scanDetails(b)
		if !ok {
			d = decodeDetails(b)
		}
		return d
	}
	return details{}
}

func decodeDetails(b []byte) (d details) {
	_ = upstream.Decode(b, &d)
	return d
}

// scanDetails is scanReport of details.
func scanDetails(b []byte) (d details, ok bool) {
	in := jsonread.New(b)
	for m := in.Among("cached_tokens", "cache_write_tokens", "image_tokens", "audio_tokens", "reasoning_tokens"); m.Next(); {
		switch m.Name {
		case "cached_tokens":
			d.Cached = in.Value()
		case "cache_write_tokens":
			d.Written = in.Value()
		case "image_tokens":
			d.Image = in.Value()
		case "audio_tokens":
			d.Audio = in.Value()
		case "reasoning_tokens":
			d.Reasoning = in.Value()
		}
	}
	return d, in.Done()
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
	return upstream.Tokens(u.Usage, asked, answered)
}
