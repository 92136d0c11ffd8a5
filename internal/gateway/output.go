package gateway

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"unitask/internal/api"
	"unitask/internal/catalog"
	"unitask/internal/fault"
	"unitask/internal/jsonread"
	"unitask/internal/routing"
	"unitask/internal/store"
	"unitask/internal/supplier"
	"unitask/internal/task"
)

// errUnfit is wrapped by the reasons why a result can't become the capability's output.
var errUnfit = errors.New("gateway: a result doesn't fit the capability's output")

// outputOf makes the task's output of a result and its kept files, and validates it by the capability's output schema
// as its caller will read it. A capability that was removed from the directory meanwhile has no schema. Its errors wrap
// errUnfit.
func (w *work) outputOf(route *routing.Route, result *supplier.Result, kept []task.Artifact) (task.Output, error) {
	directory, name := w.g.catalog.Load(), catalog.Name(w.t.Capability)
	entry, known := directory.Get(name)
	r := *result
	if entry.NoFinishReason {
		r.FinishReason = ""
	}
	var err error
	if entry.Base() == catalog.AudioTranscribe && r.Data == nil {
		if err = w.askedPieces(&r); err != nil {
			return task.Output{}, err
		}
	}
	packed := entry.Base() == catalog.TextEmbed && w.packs()
	if packed && r.Data != nil {
		if r.Embeddings, err = vectorsOf(r.Data); err != nil {
			return task.Output{}, err
		}
		r.Data = nil
	}
	out, err := w.arrange(route, &r, kept, packed)
	if err != nil || !known {
		return out, err
	}
	err = directory.CheckOutput(name, catalog.Output{
		Text: r.Text, FinishReason: r.FinishReason, Embeddings: r.Embeddings,
		More: r.Data != nil || len(r.Segments)+len(r.Words)+len(kept) > 0 || hasMore(&r) || w.answerSchema() != nil || packed,
		JSON: func() (json.RawMessage, error) {
			return json.Marshal(api.FromTask(task.Task{Output: &out}, placeholderURL).Output)
		},
	})
	if err != nil {
		err = fmt.Errorf("%w: %w", errUnfit, err)
	}
	return out, err
}

// arrange writes a result as JSON: as it is, or of its parts, each file in the member of its type.
func (w *work) arrange(route *routing.Route, r *supplier.Result, kept []task.Artifact, packed bool) (task.Output, error) {
	if r.Data != nil {
		return placed(r.Data, kept)
	}
	parts := task.Parts{Text: r.Text, FinishReason: r.FinishReason, Embeddings: r.Embeddings, Packed: packed}
	if hasMore(r) {
		if err := w.addMore(&parts, route, r); err != nil {
			return task.Output{}, err
		}
	}
	for _, s := range r.Segments {
		parts.Segments = append(parts.Segments, task.Segment(s))
	}
	for _, s := range r.Words {
		parts.Words = append(parts.Words, task.Segment(s))
	}
	for _, a := range kept {
		family, _, _ := strings.Cut(a.ContentType, "/")
		switch {
		case family == "image":
			parts.Images = append(parts.Images, a)
		case family == "video":
			parts.Videos = append(parts.Videos, a)
		case family == "audio" && parts.Audio == nil:
			parts.Audio = &a
		default:
			return task.Output{}, fmt.Errorf("%w: a file is of an unexpected type", errUnfit)
		}
	}
	if parts.Text == nil && len(parts.Embeddings) == 0 && len(kept) == 0 {
		return task.Output{}, fmt.Errorf("%w: it is empty", errUnfit)
	}
	whole := r.FinishReason != finishLength && r.FinishReason != supplier.FinishToolCalls
	if schema := w.answerSchema(); schema != nil && r.Text != nil && whole {
		var err error
		if parts.Data, err = catalog.Answer(schema, *r.Text); err != nil {
			return task.Output{}, fmt.Errorf("%w: %w", errUnfit, err)
		}
	}
	out, err := parts.Output()
	if err != nil {
		err = fmt.Errorf("%w: %w", errUnfit, err)
	}
	return out, err
}

// hasMore reports whether a text has parts that most have not.
func hasMore(r *supplier.Result) bool {
	return r.FinishReason == supplier.FinishToolCalls || len(r.ToolCalls)+len(r.Citations)+len(r.Reasoning)+len(r.State) > 0
}

// addMore adds the thoughts, pages and tool calls of a text. A call is held to the tools that the request offers: one of
// a strict tool must fit, unless the text was cut in it.
func (w *work) addMore(parts *task.Parts, route *routing.Route, r *supplier.Result) error {
	if r.FinishReason == supplier.FinishToolCalls && len(r.ToolCalls) == 0 {
		return fmt.Errorf("%w: it calls a tool, but doesn't say how", errUnfit)
	}
	parts.Reasoning = r.Reasoning
	for _, c := range r.Citations {
		parts.Citations = append(parts.Citations, task.Citation(c))
	}
	tools := catalog.ToolsOf(w.t.Parameters)
	for i, c := range r.ToolCalls {
		arguments, fits := catalog.Arguments(tools, c.Name, c.Arguments)
		if !fits && r.FinishReason != finishLength && catalog.IsStrict(tools, c.Name) {
			return fmt.Errorf("%w: a call doesn't fit its strict tool", errUnfit)
		}
		parts.ToolCalls = append(parts.ToolCalls, task.ToolCall{ID: w.callID(i), Name: c.Name, Arguments: arguments, Invalid: !fits})
	}
	var err error
	parts.State, err = w.sealState(route, r.State)
	return err
}

// finishLength is the reason of a text that was cut at its limit of tokens.
const finishLength = "length"

// answerSchema returns the JSON Schema that the caller gave for the answer; nil without one.
func (w *work) answerSchema() (schema json.RawMessage) {
	in := jsonread.New(w.t.Parameters)
	for m := in.Among(catalog.OutputSchema); m.Next(); {
		schema = in.Value()
	}
	return schema
}

// packs reports whether the caller asked for vectors in base64.
func (w *work) packs() bool {
	in := jsonread.New(w.t.Parameters)
	for m := in.Among(catalog.Encoding); m.Next(); {
		return string(in.Value()) == `"base64"`
	}
	return false
}

// vectorsOf returns the vectors of a supplier's JSON.
func vectorsOf(data json.RawMessage) ([][]float32, error) {
	var body struct {
		Embeddings [][]float32 `json:"embeddings"`
	}
	if err := json.Unmarshal(data, &body); err != nil {
		return nil, fmt.Errorf("%w: its vectors can't be read", errUnfit)
	}
	return body.Embeddings, nil
}

// placed returns a supplier's JSON as an output, the kept files in the places that it has for them.
func placed(data json.RawMessage, kept []task.Artifact) (task.Output, error) {
	value := jsontext.Value(slices.Clone(data))
	if err := value.Compact(); err != nil {
		return task.Output{}, fmt.Errorf("%w: it isn't JSON: %w", errUnfit, err)
	}
	places := make([]string, 0, 2*len(kept))
	for i, a := range kept {
		place := `{"artifact":` + strconv.Itoa(i) + `}`
		if !strings.Contains(string(value), place) {
			return task.Output{}, fmt.Errorf("%w: a file has no place in it", errUnfit)
		}
		places = append(places, place, task.Ref(a.ID))
	}
	return task.Output{JSON: json.RawMessage(strings.NewReplacer(places...).Replace(string(value))), Files: kept}, nil
}

// placeholderURL stands for the URL of an artifact, which is made at each read.
func placeholderURL(a task.Artifact) string {
	return "https://unitask.invalid" + api.PathArtifacts + a.ID + "?exp=1&sig=signature"
}

// unfit ends the attempt whose result can't become the output: the definite failure of work that the supplier
// did and is owed for. Another route may have the task, unless some of this text was told.
func (w *work) unfit(ctx context.Context, route routing.Route, r supplier.Result, kept []task.Artifact, err error) error {
	w.g.log.Error("a result doesn't fit the capability's output schema", nameOf(&w.t),
		slog.String("supplier", route.Supplier), slog.String("model", route.Model), slog.Any("error", err))
	e := supplier.NewError(supplier.Failed, fault.ProviderUnavailable, "the work's result is not what was asked for", err)
	w.learn(route, e)
	closing := w.paid(task.FailedAttempt, e.Fault.Code, route, r, w.measure(route, r, kept))
	for _, a := range kept {
		_ = w.g.artifacts.Delete(context.WithoutCancel(ctx), a.ID) // one that stays behind is swept in time
	}
	if w.text != nil && w.text.started() {
		return w.fail(ctx, closing, e.Fault.WithRetryAfter(retryUnavailable))
	}
	return w.advance(ctx, store.Step{Close: closing})
}
