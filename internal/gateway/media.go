package gateway

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"

	"unitask/internal/account"
	"unitask/internal/artifact"
	"unitask/internal/catalog"
	"unitask/internal/fault"
	"unitask/internal/gate"
	"unitask/internal/jsonread"
	"unitask/internal/routing"
	"unitask/internal/supplier"
	"unitask/internal/task"
)

// Fetcher reads foreign addresses without being turned against our own network.
type Fetcher interface {
	// Fetch opens the address; the caller closes the body.
	Fetch(ctx context.Context, r artifact.FetchRequest) (*artifact.Fetched, error)
	// RefusesURL returns what is wrong with a caller's address that can be told without looking it up; "" for nothing.
	RefusesURL(address string) string
}

// inputMargin is how long a kept input outlives the task's deadline, should its deletion be missed.
const inputMargin = time.Hour

// media is one media value of an input, as the catalog's schema lets it through.
type media struct {
	URL         string
	Data        []byte // base64, which stands in the input itself
	ContentType string // of Data, as its sender claims
	Artifact    string
}

// owner names whose an artifact is: the account in one mode.
func owner(s task.Scope) string { return s.Account + "/" + string(s.Mode) }

// material returns the pointers of the media a supplier works on. Evidence of an authorization isn't
// among them; tasks that an older version accepted still have it.
func material(entry catalog.Capability, input json.RawMessage) []string {
	return slices.DeleteFunc(catalog.MediaPointers(entry, input), func(pointer string) bool {
		return strings.HasPrefix(pointer, "/authorization/")
	})
}

// checkMedia refuses before the commit what can be seen to be wrong without a fetch.
func (g *Gateway) checkMedia(ctx context.Context, c gate.Caller, entry catalog.Capability, input json.RawMessage) error {
	for _, pointer := range catalog.MediaPointers(entry, input) {
		m, field := mediaAt(input, pointer)
		if err := g.checkOne(ctx, c, entry.MediaKind(pointer), field, m); err != nil {
			return err
		}
	}
	return nil
}

func (g *Gateway) checkOne(ctx context.Context, c gate.Caller, kind, field string, m media) error {
	switch {
	case m.Artifact != "":
		meta, err := g.artifacts.Stat(ctx, m.Artifact)
		if err != nil || meta.Owner != owner(c.Scope()) || !account.Allows(c.Key.Scopes, meta.Capability) || meta.Expired(g.clock.Past()) {
			return fault.Invalid(field+".artifact", "names no artifact of this account")
		}
		if limit := g.limits.Load().InlineMedia; meta.Bytes > limit {
			return artifact.FromCaller(field + ".artifact").TooLarge(limit)
		}
		return suits(kind, field+".artifact", meta.ContentType)
	case m.URL != "":
		if problem := g.fetcher.RefusesURL(m.URL); problem != "" {
			return fault.Invalid(field+".url", problem)
		}
	default:
		head, err := g.headOf(field+".data", m.Data)
		if err != nil {
			return err
		}
		if kind != "file" {
			if err := suits(kind, field+".data", artifact.Sniff(head)); err != nil {
				return err
			}
		}
		if proved := artifact.Contradicts(m.ContentType, head); proved != "" {
			return fault.Invalid(field+".content_type", "contradicts the bytes, which are "+proved)
		}
	}
	return nil
}

// headOf returns the first bytes of an inline media value that is sound to its end. No more of it is held at once.
func (g *Gateway) headOf(field string, data []byte) ([]byte, error) {
	in, err := artifact.NewInline(field, data, g.limits.Load().InlineMedia)
	if err != nil {
		return nil, err
	}
	head := make([]byte, artifact.SniffLen)
	n, err := io.ReadFull(in, head)
	if err == nil {
		_, err = io.Copy(io.Discard, in)
	}
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		err = nil
	}
	return head[:n], err
}

// suits refuses a media value whose bytes are something else than its place in the input asks for.
func suits(kind, field, contentType string) error {
	if artifact.Suits(kind, contentType) {
		return nil
	}
	return fault.Invalid(field, "is no "+kind+" of a supported type")
}

// open reads a media value from wherever it is.
func (g *Gateway) open(ctx context.Context, field string, m media) (io.ReadCloser, error) {
	switch {
	case m.Artifact != "":
		_, body, err := g.artifacts.Open(ctx, m.Artifact)
		return body, err
	case m.URL != "":
		return g.fetch(ctx, artifact.FetchRequest{
			URL: m.URL, Limit: g.limits.Load().InlineMedia, Source: artifact.FromCaller(field + ".url"),
		})
	default:
		in, err := artifact.NewInline(field+".data", m.Data, g.limits.Load().InlineMedia)
		return io.NopCloser(in), err
	}
}

func (g *Gateway) fetch(ctx context.Context, r artifact.FetchRequest) (io.ReadCloser, error) {
	fetched, err := g.fetcher.Fetch(ctx, r)
	if err != nil {
		return nil, err
	}
	return fetched, nil
}

// keepInput puts a large input where it doesn't burden the task's record.
func (g *Gateway) keepInput(ctx context.Context, s task.Scope, input json.RawMessage, deadline time.Duration) (string, error) {
	id := task.NewID(task.PrefixInput, g.now())
	_, err := g.artifacts.Put(ctx, artifact.PutRequest{
		ID: id, Owner: owner(s), Body: bytes.NewReader(input), ContentType: "application/json",
		Limit: int64(len(input)), TTL: deadline + inputMargin, Source: artifact.FromCaller("input"),
	})
	return id, err
}

// dropInput deletes a kept input; one that stays behind is swept when its time is over.
func (g *Gateway) dropInput(ctx context.Context, ref string) {
	if ref != "" {
		_ = g.artifacts.Delete(context.WithoutCancel(ctx), ref)
	}
}

// eraseInputs deletes what was kept of a task's input. t is the task as it was before its end, whose
// commit erased the input in the record.
func (g *Gateway) eraseInputs(ctx context.Context, t task.Task) {
	entry, ok := g.catalog.Load().Get(catalog.Name(t.Capability))
	if input, err := g.inputOf(ctx, t); ok && err == nil {
		for _, pointer := range material(entry, input) {
			g.dropInput(ctx, mediaID(t, pointer))
		}
	}
	g.dropInput(ctx, t.InputRef)
}

// inputOf returns a task's input from its record or from where a large one is kept.
func (g *Gateway) inputOf(ctx context.Context, t task.Task) (json.RawMessage, error) {
	if t.InputRef == "" {
		return t.Input, nil
	}
	_, body, err := g.artifacts.Open(context.WithoutCancel(ctx), t.InputRef)
	if err != nil {
		return nil, fault.Wrap(fault.Internal, err, "the task's input is gone")
	}
	defer func() { _ = body.Close() }()
	input, err := io.ReadAll(body)
	if err != nil {
		return nil, fault.Wrap(fault.Internal, err, "the task's input could not be read")
	}
	return input, nil
}

// mediaID is where a media value of a task's input is kept: the same for every worker, another one
// after each reopening, so that the clean-up of one round leaves the next alone.
func mediaID(t task.Task, pointer string) string {
	return task.DeriveID(task.PrefixInput, t.ID, strconv.Itoa(t.Reopenings)+pointer)
}

// readInput reads the request without its media, once a worker.
func (w *work) readInput(ctx context.Context) error {
	if w.request != nil {
		return nil
	}
	input, err := w.g.inputOf(ctx, w.t)
	if err != nil {
		return err
	}
	entry, ok := w.g.catalog.Load().Get(catalog.Name(w.t.Capability))
	if !ok {
		return fault.New(fault.ProviderUnavailable, "the capability is no longer served")
	}
	w.size = routing.Estimate(entry.Name, len(material(entry, input)), input, w.t.Parameters)
	w.request = &supplier.Request{
		Capability: w.t.Capability, Input: input, Parameters: w.t.Parameters, Authorization: wordOf(w.t.Authorization),
	}
	return nil
}

// wordOf returns what a supplier hears of what was declared about a person; nil for nothing.
func wordOf(a *task.Authorization) *supplier.Authorization {
	if a == nil {
		return nil
	}
	return &supplier.Authorization{Person: a.Person, Statement: a.Statement}
}

// prepare reads the input with its media, once a worker: what is fetched here is at hand for every
// route tried.
func (w *work) prepare(ctx context.Context) error {
	if err := w.readInput(ctx); err != nil || w.media {
		return err
	}
	entry, _ := w.g.catalog.Load().Get(catalog.Name(w.t.Capability))
	for _, pointer := range material(entry, w.request.Input) {
		m, err := w.bring(ctx, pointer, entry.MediaKind(pointer))
		if err != nil {
			return err
		}
		if w.request.Media == nil {
			w.request.Media = map[string]supplier.Media{}
		}
		w.request.Media[pointer] = m
	}
	w.media = true
	return nil
}

// bring puts one media value into the artifact store, where its type is known for sure.
func (w *work) bring(ctx context.Context, pointer, kind string) (supplier.Media, error) {
	m, field := mediaAt(w.request.Input, pointer)
	id := m.Artifact
	if id == "" {
		id = mediaID(w.t, pointer)
	}
	meta, err := w.g.artifacts.Stat(ctx, id)
	if err != nil && m.Artifact != "" {
		return supplier.Media{}, fault.Invalid(field, "is no longer there")
	}
	if err != nil {
		if meta, err = w.keepMedia(ctx, id, field, m); err != nil {
			return supplier.Media{}, err
		}
	}
	if err := suits(kind, field, meta.ContentType); err != nil {
		return supplier.Media{}, err
	}
	return supplier.Media{
		ContentType: meta.ContentType, Bytes: meta.Bytes,
		Open: func() (io.ReadCloser, error) {
			_, body, err := w.g.artifacts.Open(context.WithoutCancel(ctx), id)
			return body, err
		},
	}, nil
}

func (w *work) keepMedia(ctx context.Context, id, field string, m media) (artifact.Meta, error) {
	body, err := w.g.open(ctx, field, m)
	if err != nil {
		return artifact.Meta{}, err
	}
	defer func() { _ = body.Close() }()
	return w.g.artifacts.Put(ctx, artifact.PutRequest{
		ID: id, Owner: owner(w.t.Scope), Body: body, Limit: w.g.limits.Load().InlineMedia,
		TTL: max(time.Until(w.ends), 0) + inputMargin, Source: artifact.FromCaller(field),
	})
}

// mediaAt returns the media value at a JSON pointer into the input, and its field's dotted name.
func mediaAt(input json.RawMessage, pointer string) (m media, field string) {
	r := jsonread.New(catalog.ValueAt(input, pointer))
	for members := r.Among("url", "data", "content_type", "artifact"); members.Next(); {
		switch _, says := r.Text(); members.Name {
		case "url":
			m.URL = string(says)
		case "data":
			m.Data = says
		case "content_type":
			m.ContentType = string(says)
		case "artifact":
			m.Artifact = string(says)
		}
	}
	return m, "input." + strings.ReplaceAll(strings.TrimPrefix(pointer, "/"), "/", ".")
}
