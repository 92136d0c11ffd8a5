package main

import (
	"context"
	"encoding/json"
	"strings"

	"unitask/internal/arguments"
	"unitask/internal/chat"
	"unitask/internal/hint"
	"unitask/internal/submit/talk"
)

// results asks for the results of the model's tool calls and sends them.
func (s *chatSession) results(ctx context.Context, calls []chat.Call) error {
	var messages []json.RawMessage
	for _, call := range calls {
		s.t.note("the result of %s, @FILE, or an empty line to skip it:", printable(call.Name))
		text, err := s.read(ctx, printable(call.Name)+" › ")
		if err != nil {
			return s.unread(ctx, err)
		}
		if strings.HasPrefix(text, "/") && !strings.HasPrefix(text, "//") {
			s.told(s.command(ctx, text))
			return nil
		}
		message, err := s.result(call, strings.TrimSpace(text))
		if s.told(err) {
			return nil
		}
		messages = append(messages, message)
	}
	s.told(s.ask(ctx, messages, nil))
	return nil
}

func (s *chatSession) result(call chat.Call, text string) (json.RawMessage, error) {
	if rest, ok := strings.CutPrefix(text, "//"); ok {
		text = "/" + rest
	}
	text, err := (&arguments.Reader{StdinUsed: true}).Text(text)
	if err != nil {
		return nil, &hint.UsageError{Message: err.Error(), Hint: "/help"}
	}
	if text == "" {
		text = talk.NoResult
	}
	return call.Result(text)
}
