package gemini

import (
	"context"
	"encoding/json"

	"unitask/internal/catalog"
	"unitask/internal/supplier"
	"unitask/internal/supplier/upstream"
)

// chatParameters are the neutral request's: their members are all that this kind honours (see refuses).
type chatParameters struct {
	MaxOutputTokens json.RawMessage `json:"max_output_tokens"`
	Temperature     json.RawMessage `json:"temperature"`
	TopP            json.RawMessage `json:"top_p"`
	Stop            []string        `json:"stop"`
	Seed            json.RawMessage `json:"seed"`
	OutputSchema    json.RawMessage `json:"output_schema"`
}

func newChatRequest(r supplier.Request) (*generateRequest, error) {
	var in upstream.ChatInput
	var p chatParameters
	if err := upstream.DecodeRequest(r, &in, &p); err != nil {
		return nil, err
	}
	ask := &generateRequest{GenerationConfig: generationConfig{
		MaxOutputTokens: p.MaxOutputTokens, Temperature: p.Temperature, TopP: p.TopP, StopSequences: p.Stop, Seed: p.Seed,
	}}
	if len(p.OutputSchema) > 0 {
		outline, err := upstream.Outline(p.OutputSchema)
		if err != nil {
			return nil, err
		}
		ask.GenerationConfig.ResponseMimeType, ask.GenerationConfig.ResponseJSONSchema = "application/json", outline
	}
	talk, system := in.Talk()
	if system != "" {
		instruction := textContent("", system)
		ask.SystemInstruction = &instruction
	}
	for _, m := range talk {
		said, err := newContent(r, m)
		if err != nil {
			return nil, err
		}
		ask.Contents = append(ask.Contents, said)
	}
	return ask, nil
}

// newContent returns a message in the format.
func newContent(r supplier.Request, m upstream.ChatMessage) (content, error) {
	role := m.Role
	if role == "assistant" {
		role = "model"
	}
	if m.Content.Parts == nil {
		return textContent(role, m.Content.Text), nil
	}
	said := content{Role: role}
	for _, p := range m.Content.Parts {
		if p.Media == "" {
			said.Parts = append(said.Parts, part{Text: p.Text})
			continue
		}
		media := r.Media[p.Media]
		data, err := upstream.ReadMedia(media)
		if err != nil {
			return content{}, err
		}
		said.Parts = append(said.Parts, part{InlineData: &blob{MimeType: mimeType(media.ContentType), Data: data}})
	}
	return said, nil
}

// mimeType is the format's name of a content type.
func mimeType(contentType string) string {
	switch contentType {
	case "audio/mpeg":
		return "audio/mp3"
	case "text/markdown":
		return "text/plain"
	default:
		return contentType
	}
}

func (a *adapter) chat(ctx context.Context, r supplier.Request) (supplier.Outcome, error) {
	ask, err := newChatRequest(r)
	if err != nil {
		return supplier.Outcome{}, upstream.Unfit(err)
	}
	answer, err := a.format.Post(ctx, method(r.Model, "generateContent"), ask, upstream.TextLimit(r.Parameters))
	if err != nil {
		return supplier.Outcome{}, err
	}
	return a.decodeChat(answer, ask.bytes())
}

// decodeChat turns an answer of success into a result. asked is how much text the request carried.
func (a *adapter) decodeChat(answer upstream.Answer, asked int) (supplier.Outcome, error) {
	body, err := a.decodeGenerate(answer)
	if err != nil {
		return supplier.Outcome{}, err
	}
	text, ok := body.text()
	reason := body.Candidates[0].FinishReason
	if body.calls() {
		reason = finishCalls
	}
	if !ok && reason != finishLength && reason != finishCalls { // all of a short budget may go into thinking
		return supplier.Outcome{}, upstream.Unusable(answer.Status, errNoContent)
	}
	return textOutcome(text, reason, body.UsageMetadata, asked), nil
}

const (
	finishLength = "MAX_TOKENS"
	finishCalls  = "UNEXPECTED_TOOL_CALL"
	finishNone   = "FINISH_REASON_UNSPECIFIED" // some servers' value while the text goes on
)

func textOutcome(text, reason string, usage json.RawMessage, asked int) supplier.Outcome {
	neutral := "stop"
	switch reason {
	case finishLength:
		neutral = "length"
	case finishCalls:
		neutral = supplier.FinishToolCalls
	}
	return supplier.Outcome{Result: &supplier.Result{
		Text: &text, FinishReason: neutral, Usage: tokens(usage, asked, len(text)),
	}}
}

// Stream is Submit for text.chat with the text delivered as it comes; other capabilities don't stream.
func (a *adapter) Stream(ctx context.Context, r supplier.Request, delta func(supplier.Delta)) (supplier.Outcome, error) {
	if catalog.Name(r.Capability) != catalog.TextChat {
		return a.Submit(ctx, r)
	}
	ask, err := newChatRequest(r)
	if err != nil {
		return supplier.Outcome{}, upstream.Unfit(err)
	}
	path := method(r.Model, "streamGenerateContent") + "?alt=sse"
	return a.format.Stream(ctx, path, ask, upstream.TextLimit(r.Parameters), &talk{adapter: a, asked: ask.bytes()}, delta)
}

// talk is one streamed answer. The format has no end mark: a finish reason ends the text.
type talk struct {
	adapter *adapter
	asked   int
	finish  string
	calls   bool // a tool
	usage   json.RawMessage
}

// Whole takes an answer that isn't a stream.
func (t *talk) Whole(a upstream.Answer) (supplier.Outcome, error) {
	return t.adapter.decodeChat(a, t.asked)
}

// Event takes one event, which is an answer with a part of the text.
func (t *talk) Event(status int, e upstream.Event) (supplier.Delta, error) {
	var none supplier.Delta
	body, err := t.adapter.decodePiece(upstream.Answer{Status: status, Body: []byte(e.Data)})
	if err != nil {
		return none, err
	}
	if len(body.UsageMetadata) > 0 {
		t.usage = body.UsageMetadata
	}
	if len(body.Candidates) == 0 {
		return none, nil
	}
	if reason := body.Candidates[0].FinishReason; reason != "" && reason != finishNone && t.finish == "" {
		t.finish = reason
	}
	t.calls = t.calls || body.calls()
	text, _ := body.text()
	return supplier.Delta{Text: text}, nil
}

// Complete reports whether a finish reason has come.
func (t *talk) Complete(bool) bool { return t.finish != "" }

// Outcome is the result of all pieces.
func (t *talk) Outcome(told *supplier.Told) supplier.Outcome {
	reason := t.finish
	if t.calls {
		reason = finishCalls
	}
	return textOutcome(told.Text.String(), reason, t.usage, t.asked)
}
