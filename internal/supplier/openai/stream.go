package openai

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"mime"
	"net/http"
	"strings"

	jsonv2 "github.com/go-json-experiment/json"

	"unitask/internal/catalog"
	"unitask/internal/fault"
	"unitask/internal/supplier"
	"unitask/internal/supplier/wire"
)

var errDone = errors.New("the stream is complete")

// Stream is Submit for text.chat with the text delivered as it comes. A server that doesn't stream
// gives it in one piece; other capabilities give none.
func (a *adapter) Stream(ctx context.Context, r supplier.Request, delta func(supplier.Delta)) (supplier.Outcome, error) {
	if catalog.Name(r.Capability) != chat {
		return a.Submit(ctx, r)
	}
	ask, err := newChatRequest(r, a.maxTokens)
	if err != nil {
		return supplier.Outcome{}, unfit(err)
	}
	ask.Stream = true
	if a.streamUsage {
		ask.StreamOptions = &streamOptions{IncludeUsage: true}
	}
	body, err := jsonv2.Marshal(ask)
	if err != nil {
		return supplier.Outcome{}, unfit(errors.New("the request can't be encoded"))
	}
	s, err := a.client.Open(ctx, wire.Call{
		Path: "/chat/completions", Body: body, Limit: chatLimit,
		Header: http.Header{"Accept": {"text/event-stream"}},
	})
	if err != nil {
		return supplier.Outcome{}, err
	}
	defer s.Close()
	if s.Status < 200 || s.Status > 299 || isJSON(s.Header) {
		return whole(s, ask.bytes(), delta)
	}
	return (&reader{status: s.Status, delta: delta}).read(s, ask.bytes())
}

func isJSON(h http.Header) bool {
	t, _, _ := mime.ParseMediaType(h.Get("Content-Type"))
	return t == "application/json"
}

// whole takes an answer that isn't a stream.
func whole(s *wire.Stream, asked int, delta func(supplier.Delta)) (supplier.Outcome, error) {
	answer, err := s.Answer()
	if err != nil {
		return supplier.Outcome{}, err
	}
	if !answer.OK() {
		return supplier.Outcome{}, refusal(answer)
	}
	out, err := decodeChat(answer, asked)
	if err == nil && *out.Result.Text != "" {
		delta(supplier.Delta{Text: *out.Result.Text})
	}
	return out, err
}

// reader gathers one stream.
type reader struct {
	status   int
	delta    func(supplier.Delta)
	text     strings.Builder
	last     choice // the one that gave the finish reason
	finished bool
	usage    json.RawMessage
}

// read takes the stream to its end. Once the text is complete nothing can fail it: only the usage
// report may still be lost.
func (r *reader) read(body io.Reader, asked int) (supplier.Outcome, error) {
	for event, err := range wire.Events(body) {
		if err == nil {
			err = r.event(strings.TrimSpace(event.Data))
		}
		if errors.Is(err, errDone) {
			r.finished = r.finished || r.text.Len() > 0 // some servers give no finish reason
			break
		}
		if err != nil && !r.finished {
			return supplier.Outcome{}, r.late(err)
		}
	}
	if !r.finished {
		return supplier.Outcome{}, wire.Unusable(r.status, errCut)
	}
	return textOutcome(r.text.String(), r.last.reason(), r.usage, asked), nil
}

// event takes the data of one event; errDone ends the stream.
func (r *reader) event(data string) error {
	if data == "[DONE]" {
		return errDone
	}
	var body chatAnswer
	err := decode([]byte(data), &body)
	if problem := body.problem(wire.Answer{Status: r.status, Body: []byte(data)}, err); problem != nil {
		return problem
	}
	if len(body.Usage) > 0 && string(body.Usage) != "null" {
		r.usage = body.Usage
	}
	if len(body.Choices) == 0 {
		return nil
	}
	c := body.Choices[0]
	if e := c.failure(r.status, c.Delta); e != nil {
		return e
	}
	if c.Delta.Content.Value != "" && !r.finished {
		r.text.WriteString(c.Delta.Content.Value)
		r.delta(supplier.Delta{Text: c.Delta.Content.Value})
	}
	if c.finish() != "" && !r.finished {
		r.last, r.finished = c, true
	}
	return nil
}

// late corrects the verdict of an error that comes after text: the work was begun, and another
// route would tell the caller something else than what was shown. A review's refusal stays definite.
func (r *reader) late(err error) error {
	e := supplier.AsError(err)
	if r.text.Len() > 0 && e.Fault.Code != fault.ContentPolicyViolation {
		e.Sent = supplier.Unknown
	}
	return e
}
