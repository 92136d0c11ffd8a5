// Package unitask is the adapter for another gateway of this kind: its capabilities become suppliers'
// models, whatever they are called there.
//
// A submission is a task's creation under the submit key as its Idempotency-Key. The gateway honours it: sent again,
// the same creation gives the same task, and after a retryable failure it goes on with that task, so a submission of
// unknown outcome may be repeated. A key can't be looked up without its request, so it isn't a Finder. The charge is
// taken from the other gateway's answer; a task that fails there is free, which is why its failure may go to another
// route.
//
// Media go out as bytes, since addresses and artifacts of this gateway are unknown there. Evidence of an
// authorization stays here, because it is judged here; the declaration goes along.
//
// Invariants: a submission is one request; a timeout there is an unknown outcome here, so that the
// caller's own retry reaches the same task; jobs are asked after every two to five seconds.
package unitask

import (
	"context"
	"errors"
	"math/rand/v2"
	"net/http"
	"strconv"
	"time"

	"unitask/internal/api"
	"unitask/internal/catalog"
	"unitask/internal/supplier"
	"unitask/internal/supplier/upstream"
)

const (
	probeLimit = 16 << 20 // bytes of a directory, of which only the status counts
	// How long a request may be held, and the rest of its exchange's timeout for the answer.
	pollWait   = 4 * time.Second
	waitMargin = time.Second
	// So that those who ask do it at different times.
	jitter = 250 * time.Millisecond
)

// Kind returns the wire format for the list of kinds. The other gateway's offers decide its capabilities.
func Kind() supplier.Kind {
	return supplier.Kind{
		Name: "unitask",
		Capabilities: []string{
			"audio.speech", "audio.transcribe", "image.background_remove", "image.edit", "image.generate", "image.upscale", "text.chat",
			"text.embed", "text.moderate", "text.rerank", "video.extend", "video.generate",
		},
		Maps:      true,
		AnyOutput: true,
		New:       New,
	}
}

type adapter struct {
	format upstream.Format
	wait   time.Duration
}

// New returns an adapter, which is a Poller, a Canceler, a Streamer, a KeyHonorer, a Prober and a
// Modeler too. Its errors are about c.
func New(c supplier.Config) (supplier.Adapter, error) {
	if err := upstream.NoMaxTokensField(c); err != nil {
		return nil, err
	}
	if len(c.Models) > 0 {
		return nil, errors.New("models: the kind unitask has no maps of models")
	}
	client, err := upstream.Connect(c, nil)
	if err != nil {
		return nil, err
	}
	wait := pollWait
	if c.Timeout > 0 {
		wait = max(0, min(wait, c.Timeout-waitMargin)).Truncate(time.Second)
	}
	return &adapter{format: upstream.Format{Client: client, Meanings: meanings(), Judge: judge}, wait: wait}, nil
}

// Knows reports that any name may be one of the other gateway's capabilities: it will say.
func (*adapter) Knows(catalog.Name, string) bool { return true }

// HonorsSubmitKey reports that a creation may be repeated under its key.
func (*adapter) HonorsSubmitKey() bool { return true }

// Submit creates a task, once. One that has failed already is a job all the same: Poll says so.
func (a *adapter) Submit(ctx context.Context, r supplier.Request) (supplier.Outcome, error) {
	body, err := newCreation(r)
	if err != nil {
		return supplier.Outcome{}, upstream.Unfit(err)
	}
	answer, err := a.keyed(r).Post(ctx, api.PathTasks, body, upstream.VectorsLimit)
	if err != nil {
		return supplier.Outcome{}, err
	}
	return a.created(answer, r)
}

// keyed returns the format of requests under the submit key.
func (a *adapter) keyed(r supplier.Request) upstream.Format {
	f := a.format
	f.Header = http.Header{api.HeaderIdempotencyKey: {r.SubmitKey}}
	return f
}

// created takes the answer to a creation.
func (a *adapter) created(answer upstream.Answer, r supplier.Request) (supplier.Outcome, error) {
	t, err := a.decode(answer)
	if err != nil {
		return supplier.Outcome{}, err
	}
	s := newState(r)
	if t.State == succeeded {
		return s.result(t, answer.Status)
	}
	return t.job(supplier.Job{Model: r.Model, State: s.stored()}), nil
}

// Poll asks after a task and lets the question be held for a while.
func (a *adapter) Poll(ctx context.Context, j supplier.Job) (supplier.Outcome, error) {
	s, err := stateOf(j)
	if err != nil {
		return supplier.Outcome{}, err
	}
	call := upstream.Call{Method: http.MethodGet, Path: pathOf(j), Header: http.Header{}, Limit: upstream.VectorsLimit}
	if a.wait > 0 {
		call.Header.Set(api.HeaderPrefer, "wait="+strconv.Itoa(int(a.wait/time.Second)))
	}
	start := time.Now()
	answer, err := a.format.Send(ctx, call)
	if err != nil {
		return supplier.Outcome{}, err
	}
	t, err := a.decode(answer)
	if err != nil {
		return supplier.Outcome{}, err
	}
	switch t.State {
	case succeeded:
		return s.result(t, answer.Status)
	case failed, canceled:
		return supplier.Outcome{}, a.ended(t)
	}
	out := t.job(j)
	out.Job.PollAfter = max(api.MinPoll-time.Since(start), 0) + rand.N(jitter) + time.Millisecond
	return out, nil
}

// Cancel stops a task. One that has ended, or is no longer known, is left as it is.
func (a *adapter) Cancel(ctx context.Context, j supplier.Job) error {
	if _, err := stateOf(j); err != nil {
		return err
	}
	_, err := a.format.Send(ctx, upstream.Call{Path: pathOf(j) + "/cancel"})
	if e := supplier.AsError(err); e != nil && e.Status == http.StatusNotFound {
		return nil
	}
	return err
}

func pathOf(j supplier.Job) string { return api.PathTasks + "/" + j.ID }

// Probe asks for the directory, which is free.
func (a *adapter) Probe(ctx context.Context) (keyed bool, err error) {
	return a.format.Probe(ctx, api.PathCapabilities, probeLimit)
}
