package unitask

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"unitask/internal/api"
	"unitask/internal/fault"
	"unitask/internal/supplier"
	"unitask/internal/supplier/upstream"
	"unitask/internal/task"
)

// The states in which a task has ended.
const (
	succeeded = task.Succeeded
	failed    = task.Failed
	canceled  = task.Canceled
)

var (
	errNoTask   = errors.New("the answer holds no task of a known state")
	errNoResult = errors.New("the task succeeded without a usable result")
	errNoState  = errors.New("the stored job is unreadable")
	errCanceled = errors.New("the task was canceled")
)

// answered is the decoded part of a task. Its members are those of api.Task; other members may be of any form.
type answered struct {
	ID       string          `json:"id"`
	State    task.State      `json:"state"`
	Progress *float64        `json:"progress"`
	Output   *api.Output     `json:"output"`
	Error    json.RawMessage `json:"error"`
	Usage    *usage          `json:"usage"`
}

type usage struct {
	InputTokens  json.RawMessage `json:"input_tokens"`
	OutputTokens json.RawMessage `json:"output_tokens"`
	Images       json.RawMessage `json:"images"`
	Seconds      json.RawMessage `json:"seconds"`
	Characters   json.RawMessage `json:"characters"`
	Pages        json.RawMessage `json:"pages"`
	Requests     json.RawMessage `json:"requests"`
	Searches     json.RawMessage `json:"searches"`

	CachedInputTokens json.RawMessage `json:"cached_input_tokens"`
	CacheWriteTokens  json.RawMessage `json:"cache_write_tokens"`
	ImageInputTokens  json.RawMessage `json:"image_input_tokens"`
	AudioInputTokens  json.RawMessage `json:"audio_input_tokens"`
	ReasoningTokens   json.RawMessage `json:"reasoning_tokens"`
	ImageOutputTokens json.RawMessage `json:"image_output_tokens"`
	AudioOutputTokens json.RawMessage `json:"audio_output_tokens"`

	Cost struct {
		Amount string `json:"amount"`
	} `json:"cost"`
}

// read returns the measured usage, and its charge, nil if not stated.
func (u usage) read() (supplier.Usage, *int64) {
	measured := upstream.Bounded(supplier.Usage{
		InputTokens: upstream.Count(u.InputTokens), OutputTokens: upstream.Count(u.OutputTokens), Images: upstream.Count(u.Images),
		Milliseconds: int64(math.Round(upstream.Number(u.Seconds, mostSeconds) * 1000)), Characters: upstream.Count(u.Characters),
		Pages: upstream.Count(u.Pages), Requests: upstream.Count(u.Requests), Searches: upstream.Count(u.Searches),
		CachedInputTokens: upstream.Count(u.CachedInputTokens), CacheWriteTokens: upstream.Count(u.CacheWriteTokens),
		ImageInputTokens: upstream.Count(u.ImageInputTokens), AudioInputTokens: upstream.Count(u.AudioInputTokens),
		ReasoningTokens:   upstream.Count(u.ReasoningTokens),
		ImageOutputTokens: upstream.Count(u.ImageOutputTokens), AudioOutputTokens: upstream.Count(u.AudioOutputTokens),
	})
	if cost, err := task.ParseMoney(u.Cost.Amount); err == nil {
		return measured, new(int64(cost))
	}
	return measured, nil
}

// decode returns the task that an answer of success holds, or the error of one that holds an error instead.
func (a *adapter) decode(answer upstream.Answer) (answered, error) {
	var t answered
	err := upstream.Decode(answer.Body, &t)
	if err == nil && t.ID == "" {
		err = a.format.Problem(answer, upstream.Envelope{Error: t.Error}, nil)
		if err != nil {
			return t, err
		}
	}
	if err != nil || !upstream.FitsPath(t.ID) {
		return t, upstream.Unusable(answer.Status, errNoTask)
	}
	switch t.State {
	case task.Queued, task.Running, task.Transferring, succeeded, failed, canceled:
		return t, nil
	}
	return t, upstream.Unusable(answer.Status, errNoTask)
}

// job is the task as work that goes on.
func (t answered) job(j supplier.Job) supplier.Outcome {
	j.ID, j.Progress = t.ID, nil
	if p := t.Progress; p != nil && *p >= 0 && *p <= 1 {
		j.Progress = p
	}
	return supplier.Outcome{Job: &j}
}

// state is the stored part of a job beside its id and model.
type state struct {
	Asked int `json:"asked,omitzero"` // bytes of the request's text, for an estimate of its tokens
}

func newState(r supplier.Request) state {
	if strings.HasPrefix(r.Capability, "text.") {
		return state{Asked: len(r.Input)}
	}
	return state{}
}

func (s state) stored() json.RawMessage {
	raw, err := json.Marshal(s)
	if err != nil {
		panic(err) // a number can always be encoded
	}
	return raw
}

func stateOf(j supplier.Job) (state, error) {
	var s state
	if json.Unmarshal(j.State, &s) != nil || !upstream.FitsPath(j.ID) {
		return s, upstream.Failure(supplier.Failed, fault.Internal, errNoState)
	}
	return s, nil
}

// result turns a task that succeeded into its result.
func (s state) result(t answered, status int) (supplier.Outcome, error) {
	if t.Output == nil {
		return supplier.Outcome{}, upstream.Unusable(status, errNoResult)
	}
	r, ok := resultOf(t.Output)
	if !ok {
		return supplier.Outcome{}, upstream.Unusable(status, errNoResult)
	}
	s.measure(&r, t)
	return supplier.Outcome{Result: &r}, nil
}

// resultOf returns an output as a result; false if it has no part of one, or a file without an address.
func resultOf(o *api.Output) (r supplier.Result, ok bool) {
	ok = true
	place := func(a api.Artifact) []byte {
		f, found := upstream.File(a.URL)
		f.ContentType, f.Width, f.Height, f.Duration = a.ContentType, known(a.Width), known(a.Height), known(a.Duration)
		r.Files, ok = append(r.Files, f), ok && found
		return fmt.Appendf(nil, `{"artifact":%d}`, len(r.Files)-1)
	}
	if o.Open {
		r.Data = o.Replaced(place)
		return r, ok
	}
	r.Text, r.Embeddings, r.Reasoning = o.Text, o.Embeddings, o.Reasoning
	if o.Text != nil {
		r.FinishReason = finish(o.FinishReason)
	}
	for _, c := range o.ToolCalls {
		past := upstream.PastCall{Arguments: c.Arguments}
		r.ToolCalls = append(r.ToolCalls, supplier.ToolCall{Name: c.Name, Arguments: past.Text()})
	}
	for _, c := range o.Citations {
		r.Citations = append(r.Citations, supplier.Citation(c))
	}
	if o.State != "" {
		r.State, _ = json.Marshal(o.State) // a string always has a form
	}
	for _, one := range o.Segments {
		r.Segments = append(r.Segments, supplier.Segment(one))
	}
	for _, one := range o.Words {
		r.Words = append(r.Words, supplier.Segment(one))
	}
	for _, a := range o.Artifacts() {
		place(a)
	}
	return r, ok && (r.Text != nil || len(r.Embeddings) > 0 || len(r.Files) > 0)
}

// known returns a measure, 0 without one.
func known[T int | float64](n *T) T {
	if n == nil {
		return 0
	}
	return max(*n, 0)
}

// finish returns why a text ended, in the words of the contract.
func finish(reason string) string {
	switch reason {
	case "length", "content_filter", supplier.FinishToolCalls:
		return reason
	default:
		return "stop"
	}
}

// mostSeconds is longer than any work; a larger number is nonsense.
const mostSeconds = 1 << 30

// measure adds the other gateway's usage and charge. A text without a report is estimated.
func (s state) measure(r *supplier.Result, t answered) {
	if t.Usage != nil {
		r.Usage, r.Charged = t.Usage.read()
	}
	if s.Asked > 0 && r.Text != nil {
		r.Usage = upstream.Tokens(r.Usage, s.Asked, len(*r.Text))
	}
}

// ended returns the error of a job that didn't succeed. It is definite, and a failure was free, even if it was
// canceled meanwhile.
func (a *adapter) ended(t answered) *supplier.Error {
	if t.State == canceled {
		return t.stopped()
	}
	e := a.failure(t.Error)
	e.Sent, e.Usage, e.Charged = supplier.Failed, new(supplier.Usage), new(int64)
	return e
}

// stopped returns the error of a canceled task, with the other gateway's charge. One without usage did no work; one
// with a cost alone was charged as reserved, unmeasured.
func (t answered) stopped() *supplier.Error {
	e := upstream.Failure(supplier.Failed, fault.ProviderUnavailable, errCanceled)
	if t.Usage == nil {
		e.Usage, e.Charged = new(supplier.Usage), new(int64)
		return e
	}
	measured, charged := t.Usage.read()
	if e.Charged = charged; measured != (supplier.Usage{}) {
		e.Usage = &measured
	}
	return e
}

// failure judges the error of a task as the answer to a creation that failed so. The pause that a field of its
// head would advise stands in the error itself.
func (a *adapter) failure(report json.RawMessage) *supplier.Error {
	var e api.Error
	_ = upstream.Decode(report, &e) // without a code it is a fault of the other gateway's
	body, err := json.Marshal(api.ErrorResponse{Error: api.Error{Code: e.Code, Details: e.Details}})
	if err != nil {
		body = nil
	}
	refusal := a.format.Refusal(upstream.Answer{Status: api.Status(&fault.Error{Code: e.Code}), Body: body})
	refusal.RetryAfter = upstream.RetryAfter(strconv.Itoa(e.RetryAfterSeconds), time.Time{})
	return refusal
}
