package anthropic

import (
	"encoding/json"

	"unitask/internal/supplier"
	"unitask/internal/supplier/upstream"
)

// usage is the counts in the reports of one answer; a stream has several, each of them the whole so far.
type usage struct{ supplier.Usage }

// read takes a report; a missing one leaves the count as it is. The reported input is without what was read from a
// cache or written to it.
func (u *usage) read(b json.RawMessage) {
	var report struct {
		Input         json.RawMessage `json:"input_tokens"`
		Written       json.RawMessage `json:"cache_creation_input_tokens"`
		Read          json.RawMessage `json:"cache_read_input_tokens"`
		Output        json.RawMessage `json:"output_tokens"`
		OutputDetails json.RawMessage `json:"output_tokens_details"`
		Tools         json.RawMessage `json:"server_tool_use"`
	}
	if len(b) == 0 || upstream.Decode(b, &report) != nil {
		return
	}
	written, read := upstream.Count(report.Written), upstream.Count(report.Read)
	if n := upstream.Count(report.Input) + written + read; n > 0 {
		u.InputTokens, u.CacheWriteTokens, u.CachedInputTokens = n, written, read
	}
	if n := upstream.Count(report.Output); n > 0 {
		u.OutputTokens = n
	}
	var details struct {
		Thinking json.RawMessage `json:"thinking_tokens"`
	}
	if len(report.OutputDetails) > 0 && upstream.Decode(report.OutputDetails, &details) == nil {
		u.ReasoningTokens = max(u.ReasoningTokens, upstream.Count(details.Thinking))
	}
	var tools struct {
		Searches json.RawMessage `json:"web_search_requests"`
	}
	if len(report.Tools) > 0 && upstream.Decode(report.Tools, &tools) == nil {
		u.Searches = max(u.Searches, upstream.Count(tools.Searches))
	}
}
