package task

import (
	"encoding/hex"
	"time"

	"unitask/internal/jsonwrite"
)

// Write appends the task's record as encoding/json writes it, several times as fast: every task is
// written twice or more. Input, Parameters and jobs are taken to be JSON.
func (t *Task) Write(w *jsonwrite.Writer) {
	w.Begin('{')
	text(w, "id", t.ID)
	w.Name("scope")
	w.Begin('{')
	text(w, "account", t.Scope.Account)
	text(w, "mode", string(t.Scope.Mode))
	w.End('}')
	optional(w, "key_id", t.KeyID)
	text(w, "capability", t.Capability)
	flag(w, "sync", t.Sync)
	t.Metadata.Write(w)
	if len(t.UsageBy) > 0 {
		w.Name("usage_by")
		w.Begin('[')
		for _, name := range t.UsageBy {
			w.String(name)
		}
		w.End(']')
	}
	optional(w, "request_id", t.RequestID)
	optional(w, "traceparent", t.Traceparent)
	text(w, "state", string(t.State))
	if t.Progress != nil {
		w.Name("progress")
		w.Float(*t.Progress)
	}
	number(w, "rev", t.Revision)
	t.writeTimes(w)
	hash(w, "idem", t.IdempotencyHash)
	hash(w, "fingerprint", t.Fingerprint)
	count(w, "reopenings", int64(t.Reopenings))
	t.writeRequest(w)
	t.writeResult(w)
	t.writeAttempts(w)
	count(w, "round", int64(t.Round))
	flag(w, "cancel_requested", t.CancelRequested)
	count(w, "takeovers", int64(t.Takeovers))
	if t.LastWrite != (WriteMark{}) {
		w.Name("last_write")
		w.Begin('{')
		number(w, "epoch", t.LastWrite.Epoch)
		number(w, "number", t.LastWrite.Number)
		w.End('}')
	}
	optional(w, "reopened_by", t.ReopenedBy)
	w.End('}')
}

func (t *Task) writeTimes(w *jsonwrite.Writer) {
	w.Name("timeline")
	if t.Timeline == nil {
		w.Null()
	} else {
		w.Begin('[')
		for _, m := range t.Timeline {
			w.Begin('{')
			text(w, "state", string(m.State))
			moment(w, "at", &m.At)
			w.End('}')
		}
		w.End(']')
	}
	moment(w, "created_at", &t.CreatedAt)
	moment(w, "updated_at", &t.UpdatedAt)
	moment(w, "finished_at", t.FinishedAt)
	moment(w, "deadline_at", &t.DeadlineAt)
}

func (t *Task) writeRequest(w *jsonwrite.Writer) {
	raw(w, "input", t.Input)
	optional(w, "input_ref", t.InputRef)
	raw(w, "parameters", t.Parameters)
	if t.Authorization != nil {
		other(w, "authorization", t.Authorization)
	}
	moment(w, "input_until", t.InputUntil)
	w.Name("price")
	w.Begin('{')
	text(w, "unit", string(t.Price.Unit))
	number(w, "input", int64(t.Price.Input))
	number(w, "output", int64(t.Price.Output))
	if t.Price.Rates != nil {
		w.Name("rates")
		t.Price.Rates.write(w)
	}
	w.End('}')
	number(w, "reserved", int64(t.Reserved))
	if len(t.Holds) > 0 {
		w.Name("holds")
		w.Begin('[')
		for _, h := range t.Holds {
			w.Begin('{')
			text(w, "scope", h.Scope)
			text(w, "kind", string(h.Kind))
			number(w, "amount", h.Amount)
			w.End('}')
		}
		w.End(']')
	}
}

func (t *Task) writeResult(w *jsonwrite.Writer) {
	if o := t.Output; o != nil {
		w.Name("output")
		w.Begin('{')
		raw(w, "json", o.JSON)
		if len(o.Files) > 0 {
			other(w, "files", o.Files)
		}
		w.End('}')
	}
	if t.Failure != nil {
		other(w, "failure", t.Failure)
	}
	if t.Usage != nil {
		w.Name("usage")
		t.Usage.write(w)
	}
	count(w, "cost", int64(t.Cost))
}

func (t *Task) writeAttempts(w *jsonwrite.Writer) {
	if len(t.Attempts) == 0 {
		return
	}
	w.Name("attempts")
	w.Begin('[')
	for i := range t.Attempts {
		t.Attempts[i].write(w)
	}
	w.End(']')
}

func (a *Attempt) write(w *jsonwrite.Writer) {
	w.Begin('{')
	number(w, "n", int64(a.N))
	flag(w, "moderation", a.Moderation)
	text(w, "supplier", a.Supplier)
	text(w, "model", a.Model)
	text(w, "submit_key", a.SubmitKey)
	text(w, "state", string(a.State))
	if len(a.Caps) > 0 {
		w.Name("caps")
		w.Begin('[')
		for _, c := range a.Caps {
			w.Begin('{')
			text(w, "key", c.Key)
			number(w, "limit", int64(c.Limit))
			w.End('}')
		}
		w.End(']')
	}
	raw(w, "job", a.Job)
	optional(w, "reason", a.Reason)
	if len(a.Passed) > 0 {
		other(w, "passed", a.Passed)
	}
	count(w, "estimate", int64(a.Estimate))
	optional(w, "code", string(a.Code))
	if a.Usage != nil {
		w.Name("usage")
		a.Usage.write(w)
	}
	count(w, "cost", int64(a.Cost))
	flag(w, "cost_unknown", a.CostUnknown)
	moment(w, "started_at", &a.StartedAt)
	moment(w, "submitted_at", a.SubmittedAt)
	moment(w, "closed_at", a.ClosedAt)
	w.End('}')
}

func (r *Rates) write(w *jsonwrite.Writer) {
	w.Begin('{')
	amount(w, "cached_input", r.CachedInput)
	amount(w, "cache_write", r.CacheWrite)
	amount(w, "image_input", r.ImageInput)
	amount(w, "audio_input", r.AudioInput)
	amount(w, "reasoning", r.Reasoning)
	amount(w, "image_output", r.ImageOutput)
	amount(w, "audio_output", r.AudioOutput)
	amount(w, "page", r.Page)
	amount(w, "request", r.Request)
	amount(w, "search", r.Search)
	w.End('}')
}

func (u *Usage) write(w *jsonwrite.Writer) {
	w.Begin('{')
	count(w, "input_tokens", u.InputTokens)
	count(w, "output_tokens", u.OutputTokens)
	count(w, "images", u.Images)
	count(w, "ms", u.Milliseconds)
	count(w, "characters", u.Characters)
	count(w, "pages", u.Pages)
	count(w, "requests", u.Requests)
	count(w, "searches", u.Searches)
	count(w, "cached_input_tokens", u.CachedInputTokens)
	count(w, "cache_write_tokens", u.CacheWriteTokens)
	count(w, "image_input_tokens", u.ImageInputTokens)
	count(w, "audio_input_tokens", u.AudioInputTokens)
	count(w, "reasoning_tokens", u.ReasoningTokens)
	count(w, "image_output_tokens", u.ImageOutputTokens)
	count(w, "audio_output_tokens", u.AudioOutputTokens)
	w.End('}')
}

func text(w *jsonwrite.Writer, name, value string) {
	w.Name(name)
	w.String(value)
}

func optional(w *jsonwrite.Writer, name, value string) {
	if value != "" {
		text(w, name, value)
	}
}

func number(w *jsonwrite.Writer, name string, n int64) {
	w.Name(name)
	w.Int(n)
}

func amount(w *jsonwrite.Writer, name string, m *Money) {
	if m != nil {
		number(w, name, int64(*m))
	}
}

func count(w *jsonwrite.Writer, name string, n int64) {
	if n != 0 {
		number(w, name, n)
	}
}

func flag(w *jsonwrite.Writer, name string, set bool) {
	if set {
		w.Name(name)
		w.Bool(true)
	}
}

func raw(w *jsonwrite.Writer, name string, value []byte) {
	if len(value) > 0 {
		w.Name(name)
		w.JSON(value)
	}
}

func other(w *jsonwrite.Writer, name string, value any) {
	w.Name(name)
	w.Any(value)
}

func moment(w *jsonwrite.Writer, name string, at *time.Time) {
	if at != nil {
		w.Name(name)
		w.Time(*at)
	}
}

func hash(w *jsonwrite.Writer, name string, h Hash) {
	var digits [2*len(h) + 2]byte
	digits[0], digits[len(digits)-1] = '"', '"'
	hex.Encode(digits[1:], h[:])
	w.Name(name)
	w.JSON(digits[:])
}
