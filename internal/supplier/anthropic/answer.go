package anthropic

import (
	"encoding/json"
	"errors"
	"strings"

	"unitask/internal/fault"
	"unitask/internal/supplier"
	"unitask/internal/supplier/upstream"
)

var (
	errNoText = errors.New("the answer holds no text")
	errReview = errors.New("the supplier's review refused the content")
)

type messageAnswer struct {
	upstream.Envelope
	Content    []block         `json:"content"`
	StopReason string          `json:"stop_reason"`
	Usage      json.RawMessage `json:"usage"`
}

// block is one piece of content; of thoughts and tools only the type is read.
type block struct {
	Type string `json:"type"`
	Text string `json:"text"`
}

// decodeChat turns an answer of success into a result. asked is how much text the request carried. An answer may well
// be empty: the model added no text.
func (a *adapter) decodeChat(answer upstream.Answer, asked int) (supplier.Outcome, error) {
	var body messageAnswer
	err := upstream.Decode(answer.Body, &body)
	if err = a.format.Problem(answer, body.Envelope, err); err != nil {
		return supplier.Outcome{}, err
	}
	if body.StopReason == stopRefusal {
		return supplier.Outcome{}, refused(answer.Status)
	}
	var text strings.Builder
	texts, reason := 0, body.StopReason
	for _, b := range body.Content {
		switch {
		case b.Type == "text":
			text.WriteString(b.Text)
			texts++
		case b.calls():
			reason = stopTool
		}
	}
	if body.Content == nil || texts == 0 && reason == "" {
		return supplier.Outcome{}, upstream.Unusable(answer.Status, errNoText)
	}
	var used usage
	used.read(body.Usage)
	return outcome(text.String(), reason, used, asked), nil
}

const (
	stopRefusal = "refusal"
	stopTool    = "tool_use"
)

// calls reports whether the block calls a tool, of ours or of the server's.
func (b block) calls() bool { return strings.HasSuffix(b.Type, stopTool) }

func refused(status int) *supplier.Error {
	e := upstream.Failure(supplier.Refused, fault.ContentPolicyViolation, errReview)
	e.Status = status
	return e
}

func outcome(text, stopReason string, used usage, asked int) supplier.Outcome {
	return supplier.Outcome{Result: &supplier.Result{
		Text: &text, FinishReason: finishReason(stopReason), Usage: upstream.Tokens(used.Usage, asked, len(text)),
	}}
}

// finishReason returns the neutral one; whatever ends a text without cutting it is "stop".
func finishReason(stopReason string) string {
	switch stopReason {
	case "max_tokens", "model_context_window_exceeded":
		return "length"
	case stopTool:
		return supplier.FinishToolCalls
	default:
		return "stop"
	}
}

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
