package mcp

import (
	"errors"
	"fmt"
	"strings"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"unitask/internal/api"
	"unitask/internal/client"
	"unitask/internal/fault"
)

// refusal answers an error; key is the one it was submitted under, "" if it wasn't.
func (s *Server) refusal(err error, key string) *sdk.CallToolResult {
	return broken(nil, s.explain(err, key))
}

// failure answers a task that ended without a result.
func (s *Server) failure(ended api.Task, key string) *sdk.CallToolResult {
	f := ended.Fault()
	if f == nil {
		return broken(metaOf(ended), fmt.Sprintf("%s was %s", ended.ID, ended.State))
	}
	return broken(metaOf(ended), s.explain(&client.Error{Fault: f, RequestID: ended.RequestID}, key))
}

func broken(meta sdk.Meta, text string) *sdk.CallToolResult {
	return &sdk.CallToolResult{Meta: meta, IsError: true, Content: []sdk.Content{&sdk.TextContent{Text: text}}}
}

// explain returns the error, the next step, and the request's id.
func (s *Server) explain(err error, key string) string {
	f, coded := errors.AsType[*fault.Error](err)
	if !coded {
		return withHint(err.Error(), s.hint(err, nil, key))
	}
	message := f.Message
	if f.TaskID != "" {
		message = f.TaskID + " failed: " + message
	}
	lines := []string{fmt.Sprintf("%s (%s)", message, f.Code)}
	for _, d := range f.Details {
		if line := d.Field + " " + d.Message; line != f.Message {
			lines = append(lines, "  "+line)
		}
	}
	text := withHint(strings.Join(lines, "\n"), s.hint(err, f, key))
	if id := client.RequestID(err); id != "" {
		text += "\nrequest id: " + id
	}
	return text
}

// hint is for the model if it can act, else for the person behind it.
func (s *Server) hint(err error, f *fault.Error, key string) string {
	_, lost := errors.AsType[*client.UnreachableError](err)
	switch {
	case f == nil && lost && key != "":
		return again(key, 0)
	case f == nil:
		return s.Hint(err)
	case f.Retryable() && key != "":
		return again(key, api.Seconds(f.RetryAfter))
	case f.Code == fault.InvalidRequest:
		return "correct the arguments by the tool's input schema; nothing was charged"
	case f.Code == fault.AuthorizationRequired:
		return `input.authorization {"person":"none"} declares that no identifiable person is shown, ` +
			`{"person":"authorized","statement":"…"} how whoever is shown agreed; ask the user before you declare either`
	case f.Code == fault.IdempotencyConflict:
		return "leave " + argKey + " out"
	case f.Code == fault.NotFound:
		return "the id may be of another account, or too old"
	default:
		return s.Hint(err)
	}
}

func again(key string, seconds int) string {
	when := "later"
	if seconds > 0 {
		when = fmt.Sprintf("in %d s", seconds)
	}
	return fmt.Sprintf("call the tool again %s with the same arguments and %s %q: that tries the same task and pays for it once", when, argKey, key)
}

func withHint(text, hint string) string {
	if hint == "" {
		return text
	}
	return text + "\nhint: " + hint
}
