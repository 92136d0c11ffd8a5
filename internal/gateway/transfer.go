package gateway

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"io"
	"log/slog"
	"slices"
	"strconv"
	"strings"
	"time"

	"unitask/internal/artifact"
	"unitask/internal/catalog"
	"unitask/internal/fault"
	"unitask/internal/routing"
	"unitask/internal/store"
	"unitask/internal/supplier"
	"unitask/internal/task"
)

// A failed transfer is tried again without generating anew: the files of a known job through another
// poll, which may bring fresh addresses, others as they are.
const (
	transferTries = 5
	transferPause = time.Second
	// keepTime is how long past its deadline, or its caller's cancellation, a task may take to keep a
	// result that it has in hand.
	keepTime = time.Minute
)

// transfer keeps the result's bytes and ends the task: attempt, move and settlement in one commit. A result that fits
// is all that says that the route works: a supplier may accept every job and finish no job.
func (w *work) transfer(ctx context.Context, route routing.Route, r supplier.Result) error {
	if !w.t.Sync && w.t.State == task.Running {
		if err := w.advance(ctx, store.Step{Moves: []task.Transition{task.Transfer()}}); err != nil {
			return err
		}
	}
	if calls := r.FinishReason == supplier.FinishToolCalls || len(r.ToolCalls) > 0; calls && len(catalog.ToolsOf(w.t.Parameters)) == 0 {
		return w.unasked(ctx, route, r)
	}
	out, kept, err := w.keep(ctx, &route, &r)
	if errors.Is(err, errUnfit) {
		return w.unfit(ctx, route, r, kept, err)
	}
	w.g.health.Worked(route.ID(), w.t.Scope.Account)
	if err != nil {
		return w.transferFailed(ctx, route, r, err)
	}
	usage := w.measure(route, r, kept)
	moves := []task.Transition{task.Succeed(out, usage)}
	if w.t.State == task.Running {
		moves = slices.Insert(moves, 0, task.Transfer())
	}
	return w.advance(ctx, store.Step{Close: w.paid(task.OK, "", route, r, usage), Moves: moves})
}

// keep stores the result's files and arranges the output. A result in hand outlives the deadline for
// a while and its caller's cancellation, after which no file is tried a second time: it is paid for.
// The node's end cuts it short.
func (w *work) keep(ctx context.Context, route *routing.Route, r *supplier.Result) (task.Output, []task.Artifact, error) {
	if len(r.Files) == 0 {
		out, err := w.outputOf(route, r, nil)
		return out, nil, err
	}
	limit := max(time.Until(w.ends), keepTime)
	keep, cancel := context.WithTimeout(context.WithoutCancel(ctx), limit)
	defer cancel()
	patience, hurry := context.WithCancel(keep)
	defer hurry()
	defer context.AfterFunc(ctx, func() {
		switch cause := w.cause(ctx); {
		case errors.Is(cause, errCancelRequested):
			hurry()
			sleep(keep, keepTime)
			cancel()
		case !errors.Is(cause, context.DeadlineExceeded):
			cancel()
		}
	})()
	kept, err := w.keepFiles(keep, patience, *route, r.Files)
	if err != nil {
		return task.Output{}, nil, err
	}
	out, err := w.outputOf(route, r, kept)
	return out, kept, err
}

// unasked ends a task whose model wants to call tools, which its request doesn't offer: it fails at the supplier's cost. No other
// route has it, because its text may have been shown and its work was paid: the caller's retry decides.
func (w *work) unasked(ctx context.Context, route routing.Route, r supplier.Result) error {
	e := fault.New(fault.ProviderUnavailable, "the work called for tools instead of ending; try again with the same key")
	return w.fail(ctx, w.paid(task.FailedAttempt, e.Code, route, r, w.measure(route, r, nil)), e.WithRetryAfter(retryUnavailable))
}

// transferFailed leaves a known job to another poll for a while, then ends the task. The supplier did its work and is
// owed; a retry of the caller's fetches a known job's result again without another payment.
func (w *work) transferFailed(ctx context.Context, route routing.Route, r supplier.Result, err error) error {
	if stop := w.interrupted(ctx); stop != nil {
		return stop
	}
	if w.t.CancelRequested {
		return w.canceled(ctx, w.paid(task.OK, "", route, r, w.measure(route, r, nil)))
	}
	w.g.log.Error("a result could not be kept", nameOf(&w.t),
		slog.String("supplier", route.Supplier), slog.Any("error", err))
	known := w.hasJob()
	if w.fetches++; known && w.fetches < transferTries && ctx.Err() == nil {
		return w.pause(ctx, transferPause<<(w.fetches-1))
	}
	e := fault.From(err)
	switch {
	case ctx.Err() != nil && !ofDisk(err):
		e = fault.New(fault.ProviderTimeout, "the result did not arrive before the task's deadline")
	case !e.Code.Retryable():
		e = fault.New(fault.ProviderUnavailable, "the result could not be kept")
	}
	state := task.FailedAttempt
	if known {
		state = task.UnknownOutcome
	}
	closing := w.paid(state, e.Code, route, r, w.measure(route, r, nil))
	return w.fail(ctx, closing, e.WithRetryAfter(max(e.RetryAfter, retryUnavailable)))
}

func (w *work) hasJob() bool {
	a := w.t.OpenAttempt()
	return a != nil && a.Job != nil
}

func (w *work) paid(state task.AttemptState, code fault.Code, route routing.Route, r supplier.Result, u task.Usage) *task.Closing {
	cost := route.Price.Cost(u)
	if r.Charged != nil {
		cost = task.Money(*r.Charged)
	}
	return &task.Closing{State: state, Code: code, Usage: &u, Cost: cost}
}

// keepFiles keeps every file under an id that a repeated transfer finds again. The end of patience ends
// the pauses between tries.
func (w *work) keepFiles(ctx, patience context.Context, route routing.Route, files []supplier.File) ([]task.Artifact, error) {
	kept := make([]task.Artifact, 0, len(files))
	for i, f := range files {
		id := task.DeriveID(task.PrefixArtifact, w.t.ID, strconv.Itoa(len(w.t.Attempts))+"/"+strconv.Itoa(i))
		meta, err := w.keepFile(ctx, patience, route, id, f)
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

// keepFile stores one file, and tries again if that may help.
func (w *work) keepFile(ctx, patience context.Context, route routing.Route, id string, f supplier.File) (artifact.Meta, error) {
	meta, err := w.keepOnce(ctx, route, id, f)
	for try := 1; err != nil && w.keepsAgain(route, f, try, err); try++ {
		if !sleep(patience, transferPause<<min(try-1, 3)) {
			break
		}
		meta, err = w.keepOnce(ctx, route, id, f)
	}
	return meta, err
}

// keepsAgain reports whether a file that could not be kept is tried again as it is: a result waits for
// a disk that is full or fails, and the address of a result without a job is all there is.
func (w *work) keepsAgain(route routing.Route, f supplier.File, try int, err error) bool {
	if ofDisk(err) {
		w.g.log.Error("a result waits for the place of artifacts", nameOf(&w.t), slog.Any("error", err))
		return true
	}
	if try >= transferTries || len(f.Data) > 0 || w.hasJob() {
		return false
	}
	w.g.log.Warn("fetching a result failed; it is fetched again", nameOf(&w.t),
		slog.String("supplier", route.Supplier), slog.String("code", string(fault.CodeOf(err))))
	return true
}

// ofDisk reports whether a file wasn't kept or read because the service's own disk or object store is full or fails, or
// because an input found no room in memory.
func ofDisk(err error) bool {
	return fault.CodeOf(err) == fault.CapacityExhausted || errors.Is(err, artifact.ErrDisk)
}

func (w *work) keepOnce(ctx context.Context, route routing.Route, id string, f supplier.File) (artifact.Meta, error) {
	body, err := w.openFile(ctx, route, f)
	if err != nil {
		return artifact.Meta{}, err
	}
	defer func() { _ = body.Close() }()
	meta, err := w.g.artifacts.Put(ctx, artifact.PutRequest{
		ID: id, Owner: owner(w.t.Scope), Capability: w.t.Capability, Body: body, Limit: w.g.limits.Load().ArtifactBytes,
		TTL: w.g.limits.Load().ArtifactTTL, Source: artifact.FromSupplier(), Kinds: w.outputKinds(),
	})
	if errors.Is(err, artifact.ErrExists) {
		return meta, nil // kept before a crash, from an answer that the supplier encoded otherwise
	}
	return meta, err
}

// outputKinds returns the kinds of the capability's files by its output schema.
func (w *work) outputKinds() []string {
	c, _ := w.g.catalog.Load().Get(catalog.Name(w.t.Capability))
	return c.OutputMedia
}

func (w *work) openFile(ctx context.Context, route routing.Route, f supplier.File) (io.ReadCloser, error) {
	switch {
	case f.Open != nil:
		body, err := f.Open(ctx)
		if err != nil {
			return nil, fault.Wrap(fault.ProviderUnavailable, err, "the result could not be retrieved")
		}
		return body, nil
	case f.URL != "":
		return w.g.fetch(ctx, artifact.FetchRequest{
			URL: f.URL, Limit: w.g.limits.Load().ArtifactBytes, Hosts: route.ResultHosts, Source: artifact.FromSupplier(),
		})
	default:
		return io.NopCloser(bytes.NewReader(f.Data)), nil
	}
}

// requested adds the request to the work, if it has a price: suppliers don't report it.
func (w *work) requested(route routing.Route, u task.Usage) task.Usage {
	if u.Requests == 0 && (w.t.Price.CountsRequests() || route.Price.CountsRequests()) {
		u.Requests = 1
	}
	return u
}

// measure returns the work done: the supplier's report, completed by counting here: in the stored files or, if that
// failed, from the supplier's description of them.
func (w *work) measure(route routing.Route, r supplier.Result, kept []task.Artifact) task.Usage {
	u := w.requested(route, task.Usage(r.Usage))
	if kept == nil {
		family, _, _ := strings.Cut(string(w.g.catalog.Load().Base(catalog.Name(w.t.Capability))), ".")
		for _, f := range r.Files {
			kept = append(kept, task.Artifact{ContentType: cmp.Or(f.ContentType, family+"/"), Duration: f.Duration})
		}
	}
	for _, a := range kept {
		if r.Usage.Images == 0 && strings.HasPrefix(a.ContentType, "image/") {
			u.Images++
		}
		if r.Usage.Milliseconds == 0 && a.Duration > 0 {
			u.Milliseconds += int64(a.Duration * 1000)
		}
	}
	if u.Characters == 0 && (w.t.Price.Unit == task.PerMillionCharacters || route.Price.Unit == task.PerMillionCharacters) {
		if w.size.Characters > 0 || w.readInput(context.Background()) == nil { // a large input's room may be gone by now
			u.Characters = w.size.Characters
		}
	}
	return u
}
