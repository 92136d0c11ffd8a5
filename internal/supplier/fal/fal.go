// Package fal is the adapter for fal's queue: a submission begins a job, whose status is asked after and whose result
// is fetched when it is complete. The models' inputs and outputs are configuration (package modelmap); models.yaml
// holds the built-in maps.
//
// The supplier is told not to retry by itself, since routing does, and not to begin work whose deadline
// is over. It has no key of the caller's by which a submission could be repeated or looked up, so one of
// unknown outcome stays unknown.
//
// Invariants: the addresses in an answer are followed only below the configured one; a poll fails for good only if
// the supplier says that the work did.
package fal

import (
	"context"
	_ "embed"
	"math"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"unitask/internal/supplier"
	"unitask/internal/supplier/modelmap"
	"unitask/internal/supplier/upstream"
)

//go:embed models.yaml
var builtin []byte

const statusLimit = 1 << 20 // bytes of an answer about a job

// Kind returns the wire format for the list of kinds.
func Kind() supplier.Kind {
	return supplier.Kind{
		Name: "fal",
		Capabilities: []string{
			"audio.speech", "audio.transcribe", "image.background_remove", "image.edit", "image.generate", "image.upscale", "video.extend",
			"video.generate",
		},
		Maps: true,
		New:  New,
	}
}

type adapter struct {
	*modelmap.Maps
	format upstream.Format
	base   *url.URL
}

// New returns an adapter, which is a Poller, a Canceler, a Reacher, a Refuser and a Modeler too. Its errors are
// about c.
func New(c supplier.Config) (supplier.Adapter, error) {
	if err := upstream.NoMaxTokensField(c); err != nil {
		return nil, err
	}
	client, err := upstream.Connect(c, func(h http.Header, key string) { h.Set("Authorization", "Key "+key) })
	if err != nil {
		return nil, err
	}
	base, err := url.Parse(strings.TrimRight(c.BaseURL, "/"))
	if err != nil {
		return nil, err
	}
	maps, err := modelmap.Load(builtin, c.Models...)
	if err != nil {
		return nil, err
	}
	format := upstream.Format{
		Client: client, Header: http.Header{"X-Fal-No-Retry": {"1"}}, Meanings: meanings(), Judge: judge,
	}
	return &adapter{Maps: maps, format: format, base: base}, nil
}

// Reach asks the queue's address without a key: fal documents no request that is free.
func (a *adapter) Reach(ctx context.Context) error { return a.format.Client.Reach(ctx) }

// Submit puts the work into the queue, once. It always begins a job.
func (a *adapter) Submit(ctx context.Context, r supplier.Request) (supplier.Outcome, error) {
	name, input, err := a.Input(r)
	if err != nil {
		return supplier.Outcome{}, upstream.Unfit(err)
	}
	header := http.Header{}
	if deadline, ok := ctx.Deadline(); ok {
		seconds := math.Ceil(max(time.Until(deadline).Seconds(), 1))
		header.Set("X-Fal-Request-Timeout", strconv.FormatFloat(seconds, 'f', 0, 64))
	}
	answer, err := a.format.Send(ctx, upstream.Call{Path: pathOf(name), Body: input, Header: header, Limit: statusLimit})
	if err != nil {
		return supplier.Outcome{}, err
	}
	return a.decodeSubmission(answer, r, name)
}

// pathOf escapes a model's name as a path.
func pathOf(name string) string {
	return (&url.URL{Path: "/" + strings.Trim(name, "/")}).EscapedPath()
}

// Poll reads a job's state, and fetches its result if it is complete.
func (a *adapter) Poll(ctx context.Context, j supplier.Job) (supplier.Outcome, error) {
	s, err := stateOf(j)
	if err != nil {
		return supplier.Outcome{}, err
	}
	answer, err := a.format.Get(ctx, s.Path+"/status", statusLimit)
	if err != nil {
		return supplier.Outcome{}, err
	}
	switch word, err := a.decodeStatus(answer); {
	case err != nil:
		return supplier.Outcome{}, err
	case word == working:
		return supplier.Outcome{Job: &j}, nil
	}
	answer, err = a.format.Client.Do(ctx, upstream.Call{Method: http.MethodGet, Path: s.Path})
	if err != nil {
		return supplier.Outcome{}, err
	}
	return a.decodeResult(answer, j, s)
}

// Cancel asks to stop a job. One that has ended, or is no longer known, is left as it is.
func (a *adapter) Cancel(ctx context.Context, j supplier.Job) error {
	s, err := stateOf(j)
	if err != nil {
		return err
	}
	_, err = a.format.Send(ctx, upstream.Call{Method: http.MethodPut, Path: s.Path + "/cancel", Limit: statusLimit})
	if e := supplier.AsError(err); e != nil && (e.Status == http.StatusBadRequest || e.Status == http.StatusNotFound) {
		return nil
	}
	return err
}
