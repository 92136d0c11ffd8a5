package gemini

import (
	"encoding/json"

	"unitask/internal/supplier"
	"unitask/internal/supplier/upstream"
)

// report is a usage report as it stands. Thoughts are counted beside the candidates, cached tokens within the prompt,
// and beside it what a search found (toolUsePromptTokenCount), which Google doesn't charge for.
type report struct {
	Prompt            json.RawMessage `json:"promptTokenCount"`
	Cached            json.RawMessage `json:"cachedContentTokenCount"`
	Candidates        json.RawMessage `json:"candidatesTokenCount"`
	Thoughts          json.RawMessage `json:"thoughtsTokenCount"`
	PromptDetails     json.RawMessage `json:"promptTokensDetails"`
	CacheDetails      json.RawMessage `json:"cacheTokensDetails"`
	CandidatesDetails json.RawMessage `json:"candidatesTokensDetails"`
}

// count returns the tokens of a modality in a list of the report.
func count(list json.RawMessage, modality string) (n int64) {
	var rows []struct {
		Modality string          `json:"modality"`
		Count    json.RawMessage `json:"tokenCount"`
	}
	if len(list) == 0 || upstream.Decode(list, &rows) != nil {
		return 0
	}
	for _, row := range rows {
		if row.Modality == modality {
			n += upstream.Count(row.Count)
		}
	}
	return n
}

// tokens reads a usage report and completes it from the sizes of the texts, in bytes.
func tokens(b json.RawMessage, asked, answered int) supplier.Usage {
	var r report
	if len(b) > 0 {
		_ = upstream.Decode(b, &r) // a paid answer isn't thrown away for a bad report
	}
	fresh := func(modality string) int64 { return count(r.PromptDetails, modality) - count(r.CacheDetails, modality) }
	return upstream.Tokens(supplier.Usage{
		InputTokens:       upstream.Count(r.Prompt),
		OutputTokens:      upstream.Count(r.Candidates) + upstream.Count(r.Thoughts),
		CachedInputTokens: upstream.Count(r.Cached), ImageInputTokens: fresh("IMAGE"), AudioInputTokens: fresh("AUDIO"),
		ReasoningTokens:   upstream.Count(r.Thoughts),
		ImageOutputTokens: count(r.CandidatesDetails, "IMAGE"), AudioOutputTokens: count(r.CandidatesDetails, "AUDIO"),
	}, asked, answered)
}
