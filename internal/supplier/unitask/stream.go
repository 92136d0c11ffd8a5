package unitask

import (
	"context"
	"strings"

	"unitask/internal/api"
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
	told    strings.Builder
	result  *supplier.Result // once the task has succeeded
}

// Whole takes an answer that isn't a stream.
func (t *talk) Whole(a upstream.Answer) (supplier.Outcome, error) {
	return t.adapter.created(a, t.request)
}

// Event takes a piece of text, or the task as it stands. The last one holds all of the text: the missing part of it
// is sent then.
func (t *talk) Event(status int, e upstream.Event) (string, error) {
	switch e.Name {
	case api.EventDelta:
		var d api.Delta
		if upstream.Decode([]byte(e.Data), &d) != nil {
			return "", upstream.Unusable(status, errNoTask)
		}
		t.told.WriteString(d.Text)
		return d.Text, nil
	case api.EventTask:
		return t.stands(upstream.Answer{Status: status, Body: []byte(e.Data)})
	default:
		return "", nil
	}
}

// stands takes the task as it stands.
func (t *talk) stands(a upstream.Answer) (string, error) {
	now, err := t.adapter.decode(a)
	if err != nil {
		return "", err
	}
	switch now.State {
	case succeeded:
		out, err := newState(t.request).result(now, a.Status)
		if err != nil {
			return "", err
		}
		rest, whole := strings.CutPrefix(text(out.Result), t.told.String())
		if !whole {
			return "", upstream.Unusable(a.Status, errNoResult)
		}
		t.result = out.Result
		return rest, nil
	case failed:
		return "", t.adapter.failure(now.Error)
	case canceled:
		return "", upstream.Unusable(a.Status, errCanceled)
	default:
		return "", nil
	}
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
func (t *talk) Outcome(string) supplier.Outcome { return supplier.Outcome{Result: t.result} }
