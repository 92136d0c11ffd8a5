package openai

import (
	"encoding/json"
	"net/url"

	"unitask/internal/catalog"
	"unitask/internal/fault"
	"unitask/internal/jsonwrite"
	"unitask/internal/task"
)

// The statuses of a response.
const (
	statusQueued     = "queued"
	statusRuns       = "in_progress"
	statusCompleted  = "completed"
	statusIncomplete = "incomplete"
	statusFailed     = "failed"
	statusCanceled   = "cancelled"
)

// Retrieved returns the Call of a task that is read as a response; false if it is none. The request's own members
// aren't known any more.
func Retrieved(t *task.Task, directory *catalog.Catalog) (Call, bool) {
	return Call{Model: t.Capability, Base: chatBase, Background: true, response: &response{}}, directory.Base(catalog.Name(t.Capability)) == chatBase
}

// Retrieval reads the query string of a response's retrieval.
func Retrieval(query string) (stream bool, err error) {
	values, err := url.ParseQuery(query)
	if err != nil {
		return false, fault.Wrap(fault.InvalidRequest, err, "the query string is malformed")
	}
	w := jsonwrite.New(1 << 8)
	w.Begin('{')
	for _, name := range []string{"include", "include[]"} {
		if all, ok := values[name]; ok {
			w.Name("include")
			w.Any(all)
			delete(values, name)
			break
		}
	}
	for name, all := range values {
		w.Key(name)
		if one := all[0]; len(all) == 1 && json.Valid([]byte(one)) {
			w.JSON([]byte(one))
		} else {
			w.Any(all)
		}
	}
	w.End('}')
	raw, _ := w.Bytes() // texts alone
	c, err := read(raw, retrievalMembers, func(r *request) Call {
		r.included()
		return Call{Stream: r.Flag(r.values, "", "stream")}
	})
	return c.Stream, err
}

// statusOf returns the status of the response that a task is.
func statusOf(t *task.Task, p task.Parts) string {
	switch t.State {
	case task.Queued:
		return statusQueued
	case task.Succeeded:
		if whyIncomplete(p) != "" {
			return statusIncomplete
		}
		return statusCompleted
	case task.Failed:
		return statusFailed
	case task.Canceled:
		return statusCanceled
	default:
		return statusRuns
	}
}

// whyIncomplete returns why an answer ends early, in OpenAI's terms; "" if it doesn't.
func whyIncomplete(p task.Parts) string {
	switch p.FinishReason {
	case "length":
		return "max_output_tokens"
	case "content_filter":
		return "content_filter"
	}
	return ""
}

// writeResponse writes a task, however it is, as a response.
func (c *Call) writeResponse(w *jsonwrite.Writer, t *task.Task) error {
	if t.State != task.Succeeded {
		c.respond(w, t, told{status: statusOf(t, task.Parts{})})
		return nil
	}
	p, err := partsOf(t)
	if err == nil {
		c.respond(w, t, told{status: statusOf(t, p), incomplete: whyIncomplete(p), items: itemsOf(t, p)})
	}
	return err
}

// told is the part of a response that changes until its end.
type told struct {
	status, incomplete string
	items              []*outputItem
}

func (c *Call) respond(w *jsonwrite.Writer, t *task.Task, now told) {
	w.Begin('{')
	named(w, "id", responseID(t))
	named(w, "object", "response")
	count(w, "created_at", t.CreatedAt.Unix())
	named(w, "status", now.status)
	w.Name("completed_at")
	if now.status == statusCompleted && t.FinishedAt != nil {
		w.Int(t.FinishedAt.Unix())
	} else {
		w.Null()
	}
	w.Name("error")
	writeFailure(w, t, now.status)
	w.Name("incomplete_details")
	if now.incomplete == "" {
		w.Null()
	} else {
		w.Begin('{')
		named(w, "reason", now.incomplete)
		w.End('}')
	}
	named(w, fieldModel, c.Model)
	for _, one := range repeated {
		value, ok := c.response.asked[one.name]
		if !ok && one.otherwise != "" {
			value = []byte(one.otherwise)
		}
		writeIf(w, one.name, value)
	}
	w.Name("output")
	w.Begin('[')
	for _, i := range now.items {
		status := statusCompleted
		if now.status == statusIncomplete && i.kind == itemMessage {
			status = statusIncomplete
		}
		i.write(w, status)
	}
	w.End(']')
	w.Name(memberMetadata)
	if len(t.Metadata) == 0 {
		w.JSON([]byte("{}"))
	} else {
		w.Any(t.Metadata)
	}
	if t.State.Terminal() && t.Usage != nil {
		w.Name("usage")
		writeResponseUsage(w, t.Usage)
	}
	w.End('}')
}

// writeFailure writes why a task failed; null if it didn't.
func writeFailure(w *jsonwrite.Writer, t *task.Task, status string) {
	if status != statusFailed || t.Failure == nil {
		w.Null()
		return
	}
	code := "server_error"
	switch t.Failure.Code {
	case fault.InvalidRequest, fault.ContentPolicyViolation:
		code = "invalid_prompt"
	case fault.RateLimitExceeded:
		code = "rate_limit_exceeded"
	}
	w.Begin('{')
	named(w, "code", code)
	named(w, "message", t.Failure.Message)
	named(w, "service_code", string(t.Failure.Code))
	w.End('}')
}

func writeResponseUsage(w *jsonwrite.Writer, u *task.Usage) {
	w.Begin('{')
	count(w, "input_tokens", u.InputTokens)
	w.Name("input_tokens_details")
	w.Begin('{')
	count(w, "cached_tokens", u.CachedInputTokens)
	count(w, "cache_write_tokens", u.CacheWriteTokens)
	w.End('}')
	count(w, "output_tokens", u.OutputTokens)
	w.Name("output_tokens_details")
	w.Begin('{')
	count(w, "reasoning_tokens", u.ReasoningTokens)
	w.End('}')
	count(w, "total_tokens", u.InputTokens+u.OutputTokens)
	w.End('}')
}
