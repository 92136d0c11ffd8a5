package openai

import (
	"cmp"
	"encoding/json"
	"strings"

	"unitask/internal/supplier"
	"unitask/internal/supplier/upstream"
)

// response is an answer of the Responses API, or what has come of it when an event of a stream tells.
type response struct {
	upstream.Envelope
	Status     string            `json:"status"`
	Output     []json.RawMessage `json:"output"` // items
	Usage      json.RawMessage   `json:"usage"`
	Incomplete struct {
		Reason string `json:"reason"`
	} `json:"incomplete_details"`
}

// item is one thing that the model did: it said a message, thought, called a function or searched the web.
type item struct {
	Type     string `json:"type"`
	function        // of a function_call, whose arguments are its text()
	Content  []said `json:"content"` // of a message, or of thoughts
	Summary  []said `json:"summary"` // of thoughts

	Encrypted text `json:"encrypted_content"` // thoughts
	Action    struct {
		Type string `json:"type"`
	} `json:"action"` // of a web_search_call
}

// said is a part of an item: a text that the model said or thought, or the words in which it refused.
type said struct {
	Type        string          `json:"type"`
	Text        text            `json:"text"`
	Refusal     string          `json:"refusal"`
	Annotations json.RawMessage `json:"annotations"`
}

// words returns the text of a message.
func (i item) words() string {
	var all strings.Builder
	for _, s := range i.Content {
		all.WriteString(s.Text.Value)
	}
	return all.String()
}

// thoughts returns the texts of thoughts, which blank lines part.
func (i item) thoughts() string {
	var all []string
	for _, s := range append(i.Summary, i.Content...) {
		if s.Text.Value != "" {
			all = append(all, s.Text.Value)
		}
	}
	return strings.Join(all, gap)
}

const gap = "\n\n"

// reply is the items of an answer put together.
type reply struct {
	text     strings.Builder
	spoken   bool // if only an empty text
	thoughts []string
	calls    []supplier.ToolCall
	cited    []supplier.Citation
	searches int64
	kept     []json.RawMessage // items of encrypted thoughts
	refusal  string
}

// take adds an item and returns it. One of a form or a type that isn't known is passed over.
func (y *reply) take(raw json.RawMessage) (i item) {
	if upstream.Decode(raw, &i) != nil {
		return item{}
	}
	switch i.Type {
	case "message":
		y.text.WriteString(i.words())
		for _, s := range i.Content {
			y.spoken = y.spoken || s.Text.Present
			y.cited = append(y.cited, citations(s.Annotations)...)
			y.refusal = cmp.Or(y.refusal, s.Refusal)
		}
	case "reasoning":
		if t := i.thoughts(); t != "" {
			y.thoughts = append(y.thoughts, t)
		}
		if i.Encrypted.Value != "" {
			y.kept = append(y.kept, raw)
		}
	case "function_call":
		if i.Name != "" {
			y.calls = append(y.calls, supplier.ToolCall{Name: i.Name, Arguments: i.text()})
		}
	case "web_search_call":
		if i.Action.Type == "" || i.Action.Type == "search" { // to open a page costs no search
			y.searches++
		}
	}
	return i
}

// result returns the answer as it ended, with all that it said.
func (y *reply) result(reason, text, thoughts string, calls []supplier.ToolCall) supplier.Result {
	r := supplier.Result{
		Text: &text, FinishReason: reason, ToolCalls: calls, Reasoning: thoughts, Citations: y.cited, Usage: supplier.Usage{Searches: y.searches},
	}
	if len(calls) > 0 {
		r.State = keep(kept{Items: y.kept})
	}
	return r
}

// decodeResponse turns an answer of success into a result. asked is how much text the request carried.
func (a *adapter) decodeResponse(answer upstream.Answer, asked int) (supplier.Outcome, error) {
	body, err := a.readResponse(answer)
	if err != nil {
		return supplier.Outcome{}, err
	}
	var said reply
	for _, raw := range body.Output {
		said.take(raw)
	}
	reason, err := body.ended(answer.Status, said.refusal, len(said.calls) > 0, said.spoken)
	if err != nil {
		return supplier.Outcome{}, err
	}
	r := said.result(reason, said.text.String(), strings.Join(said.thoughts, gap), said.calls)
	return a.measured(r, body.Usage, asked), nil
}

// readResponse reads an answer that may hide an error.
func (a *adapter) readResponse(answer upstream.Answer) (response, error) {
	var body response
	err := upstream.Decode(answer.Body, &body)
	if string(body.Error) == "null" { // as each answer without one has it
		body.Error = nil
	}
	return body, a.format.Problem(answer, body.Envelope, err)
}

// ended returns the neutral finish reason of an answer, or its failure. It called tools or not, and spoke, if only an
// empty text, or not.
func (b response) ended(status int, refusal string, called, spoken bool) (string, error) {
	c := choice{FinishReason: "stop"}
	switch b.Status {
	case "completed", "":
	case "incomplete":
		c.FinishReason = "length"
		if b.Incomplete.Reason == "content_filter" {
			c.FinishReason = b.Incomplete.Reason
		}
	default: // it failed, or isn't done
		c.FinishReason = "error"
	}
	if e := c.failure(status, piece{Refusal: refusal}); e != nil {
		return "", e
	}
	reason := c.reason(called)
	if reason == "stop" && !spoken {
		return "", upstream.Unusable(status, errNoText)
	}
	return reason, nil
}
