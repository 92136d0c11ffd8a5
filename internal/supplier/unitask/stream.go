package unitask

import (
	"context"
	"strings"

	"unitask/internal/api"
	"unitask/internal/catalog"
	"unitask/internal/supplier"
	"unitask/internal/supplier/upstream"
)

// Stream creates a task, once, and delivers its text as it comes.
func (a *adapter) Stream(ctx context.Context, r supplier.Request, delta func(supplier.Delta)) (supplier.Outcome, error) {
	body, err := newCreation(r)
	if err != nil {
		return supplier.Outcome{}, upstream.Unfit(err)
	}
	return a.keyed(r).Stream(ctx, api.PathTasks, body, 0, &talk{adapter: a, request: r}, delta)
}

// talk is one streamed task.
type talk struct {
	adapter *adapter
	request supplier.Request
	told    supplier.Told
	result  *supplier.Result // once the task has succeeded
}

// Whole takes an answer that isn't a stream.
func (t *talk) Whole(a upstream.Answer) (supplier.Outcome, error) {
	return t.adapter.created(a, t.request)
}

// Event takes a piece, or the task as it stands. The last one holds all of the result: the missing part of it is sent
// then.
func (t *talk) Event(status int, e upstream.Event) (supplier.Delta, error) {
	switch e.Name {
	case api.EventDelta:
		var d api.Delta
		if upstream.Decode([]byte(e.Data), &d) != nil {
			return supplier.Delta{}, upstream.Unusable(status, errNoTask)
		}
		piece := supplier.Delta{Text: d.Text, Reasoning: d.Reasoning}
		if c := d.ToolCall; c != nil {
			if c.Index < 0 || c.Index > len(t.told.Calls()) {
				return supplier.Delta{}, upstream.Unusable(status, errNoTask)
			}
			piece.Calls = []supplier.CallPiece{{Index: c.Index, Name: c.Name, Arguments: c.Arguments}}
		}
		t.told.Add(piece)
		return piece, nil
	case api.EventTask:
		return t.stands(upstream.Answer{Status: status, Body: []byte(e.Data)})
	default:
		return supplier.Delta{}, nil
	}
}

// stands takes the task as it stands.
func (t *talk) stands(a upstream.Answer) (supplier.Delta, error) {
	var none supplier.Delta
	now, err := t.adapter.decode(a)
	if err != nil {
		return none, err
	}
	switch now.State {
	case succeeded:
		out, err := newState(t.request).result(now, a.Status)
		if err != nil {
			return none, err
		}
		rest, whole := t.rest(out.Result)
		if !whole || catalog.Name(t.request.Capability) == catalog.TextChat && out.Result.Text == nil {
			return none, upstream.Unusable(a.Status, errNoResult)
		}
		t.result = out.Result
		return rest, nil
	case failed:
		return none, t.adapter.failure(now.Error)
	case canceled:
		return none, upstream.Unusable(a.Status, errCanceled)
	default:
		return none, nil
	}
}

// rest returns the part of a result that wasn't told; whole is false if something else was. Of tool calls all or none
// are told.
func (t *talk) rest(r *supplier.Result) (rest supplier.Delta, whole bool) {
	var words, thoughts bool
	rest.Text, words = strings.CutPrefix(text(r), t.told.Text.String())
	rest.Reasoning, thoughts = strings.CutPrefix(r.Reasoning, t.told.Reasoning.String())
	told := len(t.told.Calls())
	if told == 0 {
		for i, c := range r.ToolCalls {
			rest.Calls = append(rest.Calls, supplier.CallPiece{Index: i, Name: c.Name, Arguments: c.Arguments})
		}
	}
	return rest, words && thoughts && (told == 0 || told == len(r.ToolCalls))
}

func text(r *supplier.Result) string {
	if r.Text == nil {
		return ""
	}
	return *r.Text
}

// Complete says whether the task has succeeded.
func (t *talk) Complete(bool) bool { return t.result != nil }

// Outcome returns the result as the task has it.
func (t *talk) Outcome(*supplier.Told) supplier.Outcome { return supplier.Outcome{Result: t.result} }
