package gateway

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"strings"

	"unitask/internal/api"
	"unitask/internal/catalog"
	"unitask/internal/fault"
	"unitask/internal/routing"
	"unitask/internal/store"
	"unitask/internal/supplier"
	"unitask/internal/task"
)

// errUnfit is wrapped by the reasons why a result can't become the capability's output.
var errUnfit = errors.New("gateway: a result doesn't fit the capability's output")

// outputOf arranges a result as the task's output, each file in the member of its type, and validates it by the
// capability's output schema. Its errors wrap errUnfit.
func (w *work) outputOf(r supplier.Result, kept []task.Artifact) (out task.Output, err error) {
	out = task.Output{Text: r.Text, FinishReason: r.FinishReason, Embeddings: r.Embeddings}
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
			return out, fmt.Errorf("%w: a file is of an unexpected type", errUnfit)
		}
	}
	if out.Text == nil && len(out.Embeddings) == 0 && len(kept) == 0 {
		return out, fmt.Errorf("%w: it is empty", errUnfit)
	}
	err = w.checkOutput(&out)
	return out, err
}

// checkOutput holds an output against the capability's schema as its caller will read it, and leaves out of it a
// finish_reason that the schema doesn't have. A capability that was removed from the directory meanwhile has no
// schema.
func (w *work) checkOutput(out *task.Output) error {
	directory, name := w.g.catalog.Load(), catalog.Name(w.t.Capability)
	entry, ok := directory.Get(name)
	if !ok {
		return nil
	}
	if entry.NoFinishReason {
		out.FinishReason = ""
	}
	err := directory.CheckOutput(name, catalog.Output{
		Text: out.Text, FinishReason: out.FinishReason, Embeddings: out.Embeddings,
		More: len(out.Segments)+len(out.Images)+len(out.Videos) > 0 || out.Audio != nil,
		JSON: func() (json.RawMessage, error) {
			return json.Marshal(api.FromTask(task.Task{Output: out}, placeholderURL).Output)
		},
	})
	if err != nil {
		return fmt.Errorf("%w: %w", errUnfit, err)
	}
	return nil
}

// placeholderURL stands for the URL of an artifact, which is made at each read.
func placeholderURL(a task.Artifact) string {
	return "https://unitask.invalid" + api.PathArtifacts + a.ID + "?exp=1&sig=signature"
}

// unfit ends the attempt whose result can't become the output: the definite failure of work that the supplier
// did and is owed for. Another route may have the task, unless some of this text was told.
func (w *work) unfit(ctx context.Context, route routing.Route, r supplier.Result, kept []task.Artifact, err error) error {
	w.g.log.Error("a result doesn't fit the capability's output schema", slog.String("task_id", w.t.ID),
		slog.String("supplier", route.Supplier), slog.String("model", route.Model), slog.Any("error", err))
	e := supplier.NewError(supplier.Failed, fault.ProviderUnavailable, "the work's result is not what was asked for", err)
	w.learn(route, e)
	closing := w.paid(task.FailedAttempt, e.Fault.Code, route, r, w.measure(r, kept))
	for _, a := range kept {
		_ = w.g.artifacts.Delete(context.WithoutCancel(ctx), a.ID) // one that stays behind is swept in time
	}
	if w.text != nil && w.text.started() {
		return w.fail(ctx, closing, e.Fault.WithRetryAfter(retryUnavailable))
	}
	return w.advance(ctx, store.Step{Close: closing})
}
