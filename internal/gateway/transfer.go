package gateway

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"slices"
	"strconv"
	"strings"
	"time"

	"unitask/internal/artifact"
	"unitask/internal/fault"
	"unitask/internal/routing"
	"unitask/internal/store"
	"unitask/internal/supplier"
	"unitask/internal/task"
)

// A failed transfer is tried again without generating anew.
const (
	transferTries = 4
	transferPause = time.Second
)

// transfer keeps the result's bytes and ends the task: attempt, move and settlement in one commit.
func (w *work) transfer(ctx context.Context, route routing.Route, r supplier.Result) error {
	if !w.t.Sync && w.t.State == task.Running {
		if err := w.advance(ctx, store.Step{Moves: []task.Transition{task.Transfer()}}); err != nil {
			return err
		}
		if w.t.CancelRequested {
			return nil
		}
	}
	kept, err := w.keepFiles(ctx, route, r.Files)
	if err != nil {
		return w.transferFailed(ctx, route, r, err)
	}
	out, err := outputOf(r, kept, w.t.Capability)
	if err != nil {
		return w.transferFailed(ctx, route, r, err)
	}
	usage := w.measure(r, kept)
	moves := []task.Transition{task.Succeed(out, usage)}
	if w.t.State == task.Running {
		moves = slices.Insert(moves, 0, task.Transfer())
	}
	return w.advance(ctx, store.Step{Close: w.paid(task.OK, "", route, r, usage), Moves: moves})
}

// transferFailed ends a task whose result couldn't be kept; the supplier did its work and is owed.
func (w *work) transferFailed(ctx context.Context, route routing.Route, r supplier.Result, err error) error {
	if stop := w.interrupted(ctx); stop != nil || w.t.CancelRequested || ctx.Err() != nil {
		return stop // the deadline and the cancellation are dealt with by the next step
	}
	w.g.log.Error("a result could not be kept", slog.String("task_id", w.t.ID),
		slog.String("supplier", route.Supplier), slog.Any("error", err))
	e := fault.From(err)
	if !e.Code.Retryable() {
		e = fault.New(fault.ProviderUnavailable, "the result could not be kept")
	}
	closing := w.paid(task.FailedAttempt, e.Code, route, r, w.measure(r, nil))
	return w.fail(ctx, closing, e.WithRetryAfter(max(e.RetryAfter, retryUnavailable)))
}

func (w *work) paid(state task.AttemptState, code fault.Code, route routing.Route, r supplier.Result, u task.Usage) *task.Closing {
	cost := route.Price.Cost(u)
	if r.Charged != nil {
		cost = task.Money(*r.Charged)
	}
	return &task.Closing{State: state, Code: code, Usage: &u, Cost: cost}
}

// keepFiles keeps every file under an id that a repeated transfer finds again.
func (w *work) keepFiles(ctx context.Context, route routing.Route, files []supplier.File) ([]task.Artifact, error) {
	kept := make([]task.Artifact, 0, len(files))
	for i, f := range files {
		id := task.DeriveID(task.PrefixArtifact, w.t.ID, strconv.Itoa(len(w.t.Attempts))+"/"+strconv.Itoa(i))
		meta, err := w.keepFile(ctx, route, id, f)
		if err != nil {
			return nil, err
		}
		kept = append(kept, task.Artifact{
			ID: id, ContentType: meta.ContentType, Bytes: meta.Bytes, SHA256: meta.SHA256,
			Width: max(meta.Width, 0), Height: max(meta.Height, 0), Duration: meta.Duration, ExpiresAt: meta.ExpiresAt,
		})
	}
	return kept, nil
}

// keepFile fetches and keeps one file, trying again while the work lives.
func (w *work) keepFile(ctx context.Context, route routing.Route, id string, f supplier.File) (artifact.Meta, error) {
	var last error
	for try := range transferTries {
		if try > 0 && !pause(ctx, transferPause<<(try-1)) {
			break
		}
		meta, err := w.keepOnce(ctx, route, id, f)
		if err == nil {
			return meta, nil
		}
		if last = err; len(f.Data) > 0 {
			break // the bytes at hand won't change
		}
	}
	return artifact.Meta{}, last
}

func (w *work) keepOnce(ctx context.Context, route routing.Route, id string, f supplier.File) (artifact.Meta, error) {
	body, err := w.openFile(ctx, route, f)
	if err != nil {
		return artifact.Meta{}, err
	}
	defer func() { _ = body.Close() }()
	meta, err := w.g.artifacts.Put(ctx, artifact.PutRequest{
		ID: id, Owner: owner(w.t.Scope), Body: body, Limit: w.g.limits.ArtifactBytes,
		TTL: w.g.limits.ArtifactTTL, Source: artifact.FromSupplier(),
	})
	if errors.Is(err, artifact.ErrExists) {
		return meta, nil // kept before a crash, from an answer that the supplier encoded otherwise
	}
	return meta, err
}

func (w *work) openFile(ctx context.Context, route routing.Route, f supplier.File) (io.ReadCloser, error) {
	switch {
	case f.Open != nil:
		return f.Open(ctx)
	case f.URL != "":
		return w.g.fetch(ctx, artifact.FetchRequest{
			URL: f.URL, Limit: w.g.limits.ArtifactBytes, Hosts: route.ResultHosts, Source: artifact.FromSupplier(),
		})
	default:
		return io.NopCloser(bytes.NewReader(f.Data)), nil
	}
}

// outputOf arranges a result as the task's output: files go where their type belongs.
func outputOf(r supplier.Result, kept []task.Artifact, capability string) (task.Output, error) {
	out := task.Output{Text: r.Text, FinishReason: r.FinishReason, Embeddings: r.Embeddings}
	for _, s := range r.Segments {
		out.Segments = append(out.Segments, task.Segment(s))
	}
	for _, a := range kept {
		family, _, _ := strings.Cut(a.ContentType, "/")
		switch {
		case family == "image":
			out.Images = append(out.Images, a)
		case family == "video":
			out.Videos = append(out.Videos, a)
		case family == "audio" && out.Audio == nil:
			out.Audio = &a
		default:
			return out, fmt.Errorf("gateway: a result of %s is of an unexpected type", capability)
		}
	}
	if out.Text == nil && len(out.Embeddings) == 0 && len(kept) == 0 {
		return out, fmt.Errorf("gateway: a result of %s is empty", capability)
	}
	return out, nil
}

// measure returns the work done: what the supplier reports, completed from what can be counted here.
func (w *work) measure(r supplier.Result, kept []task.Artifact) task.Usage {
	u := task.Usage(r.Usage)
	if w.request == nil {
		return u
	}
	for _, a := range kept {
		if r.Usage.Images == 0 && strings.HasPrefix(a.ContentType, "image/") {
			u.Images++
		}
		if r.Usage.Milliseconds == 0 && a.Duration > 0 {
			u.Milliseconds += int64(a.Duration * 1000)
		}
	}
	if w.t.Capability == "audio.speech" && u.Characters == 0 {
		u.Characters = w.size.Characters
	}
	return u
}
