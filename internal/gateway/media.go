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
	"unitask/internal/bulk"
	"unitask/internal/catalog"
	"unitask/internal/fault"
	"unitask/internal/gate"
	"unitask/internal/routing"
	"unitask/internal/task"
)

// Fetcher reads foreign addresses without being turned against our own network.
type Fetcher interface {
	// Fetch opens the address; the caller closes the body.
	Fetch(ctx context.Context, r artifact.FetchRequest) (*artifact.Fetched, error)
	// RefusesURL returns the fault of a caller's address that shows without resolving it; "" for a good one.
	RefusesURL(address string) string
}

// inputMargin is how long a kept input outlives the task's deadline, should its deletion be missed.
const inputMargin = time.Hour

// media is one media value of an input, as the catalog's schema lets it through.
type media struct {
	URL         string
	Data        []byte // base64, which stands in the input itself
	Decodes     bool   // it was seen to be base64 when the input was read, but for stray bits
	ContentType string // of Data, as its sender claims
	Artifact    string
}

// owner names whose an artifact is: the account in one mode.
func owner(s task.Scope) string { return s.Owner() }

// mediaPlace is one media value of an input, with its JSON pointer, its dotted name and its kind.
type mediaPlace struct {
	pointer, field, kind string
	media
}

// placesOf returns the media of an input. base64 are the request's, if they are at hand.
func placesOf(entry catalog.Capability, input json.RawMessage, base64 ...[]byte) []mediaPlace {
	defer bulk.Turn(len(input))()
	var all []mediaPlace
	for _, pointer := range catalog.MediaPointers(entry, input, base64...) {
		m, field := mediaAt(input, pointer, base64...)
		all = append(all, mediaPlace{pointer, field, entry.MediaKind(pointer), m})
	}
	return all
}

// forSupplier returns the media a supplier works on. Evidence of an authorization isn't among them; tasks that an older
// version accepted still have it.
func forSupplier(all []mediaPlace) []mediaPlace {
	return slices.DeleteFunc(all, func(p mediaPlace) bool { return strings.HasPrefix(p.pointer, "/authorization/") })
}

// estimate returns an upper bound of the work that a request with so many media asks for.
func estimate(entry catalog.Capability, media int, input, parameters json.RawMessage, base64 ...[]byte) task.Usage {
	defer bulk.Turn(len(input))()
	return routing.Estimate(entry, media, input, parameters, base64...)
}

// checkMedia refuses, before the commit, media whose fault shows without a fetch.
func (g *Gateway) checkMedia(ctx context.Context, c gate.Caller, all []mediaPlace) error {
	for _, p := range all {
		if err := g.checkOne(ctx, c, p); err != nil {
			return err
		}
	}
	return nil
}

func (g *Gateway) checkOne(ctx context.Context, c gate.Caller, p mediaPlace) error {
	kind, field, m := p.kind, p.field, p.media
	switch {
	case m.Artifact != "":
		meta, err := g.artifacts.Stat(ctx, m.Artifact)
		if err != nil && fault.CodeOf(err) != fault.NotFound {
			return err
		}
		allowed := meta.Upload || account.Allows(c.Key.Scopes, meta.Capability)
		if err != nil || meta.Owner != owner(c.Scope()) || !allowed || meta.Expired(g.clock.Past()) {
			return fault.Invalid(field+".artifact", "names no artifact of this account")
		}
		if limit := g.limits.Load().artifactMedia(); meta.Bytes > limit {
			return artifact.FromCaller(field + ".artifact").TooLarge(limit)
		}
		return matchesType(kind, field+".artifact", meta.ContentType)
	case m.URL != "":
		if problem := g.fetcher.RefusesURL(m.URL); problem != "" {
			return fault.Invalid(field+".url", problem)
		}
	case kind == kindDocument:
		return g.checkDocument(field, m)
	default:
		head, err := g.headOf(field+".data", m)
		if err != nil {
			return err
		}
		if kind != "file" {
			if err := matchesType(kind, field+".data", artifact.Sniff(head)); err != nil {
				return err
			}
		}
		if proved := artifact.Contradicts(m.ContentType, head); proved != "" {
			return fault.Invalid(field+".content_type", "contradicts the bytes, which are "+proved)
		}
	}
	return nil
}

// kindDocument is the media kind of PDFs and texts, which are judged by all of their bytes.
const kindDocument = "document"

// checkDocument refuses an inline document that isn't what its sender claims.
func (g *Gateway) checkDocument(field string, m media) error {
	in, err := artifact.NewInline(field+".data", m.Data, g.limits.Load().InlineMedia)
	if err != nil {
		return err
	}
	defer bulk.Turn(len(m.Data))()
	proved, err := artifact.ReadDocument(in, m.ContentType, artifact.FromCaller(field+".data"))
	if err == nil && proved != m.ContentType {
		err = fault.Invalid(field+".content_type", "contradicts the bytes, which are "+proved)
	}
	return err
}

// headOf returns the first bytes of an inline media value that is sound to its end. No more of it is held at once.
func (g *Gateway) headOf(field string, m media) ([]byte, error) {
	in, err := artifact.NewInline(field, m.Data, g.limits.Load().InlineMedia)
	if err != nil {
		return nil, err
	}
	defer bulk.Turn(len(m.Data))()
	if err := in.Check(m.Decodes); err != nil {
		return nil, err
	}
	head := make([]byte, artifact.SniffLen)
	n, err := io.ReadFull(in, head)
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		err = nil
	}
	return head[:n], err
}

// matchesType refuses a media value whose bytes are something else than its place in the input asks for.
func matchesType(kind, field, contentType string) error {
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

// keepInput stores a large input apart from the task's record.
func (g *Gateway) keepInput(ctx context.Context, t task.Task, input json.RawMessage, ttl time.Duration) error {
	_, err := g.artifacts.Put(ctx, artifact.PutRequest{
		ID: t.InputRef, Owner: owner(t.Scope), Body: bytes.NewReader(input), ContentType: "application/json",
		Limit: int64(len(input)), TTL: ttl, Source: artifact.FromCaller("input"),
	})
	return err
}

// dropInput deletes a kept input; one that stays behind is swept when its time is over.
func (g *Gateway) dropInput(ctx context.Context, ref string) {
	if ref != "" {
		_ = g.artifacts.Delete(context.WithoutCancel(ctx), ref)
	}
}

// eraseInputs deletes the stored input and media of a task. t is the task as it was before its end, whose commit
// erased the input in the record.
func (g *Gateway) eraseInputs(ctx context.Context, t task.Task) {
	for _, id := range g.mediaIDs(ctx, t) {
		g.dropInput(ctx, id)
	}
	g.dropInput(ctx, t.InputRef)
}

// mediaIDs returns the artifacts that hold media which were fetched for a task. Of large inputs it reads one at a time.
func (g *Gateway) mediaIDs(ctx context.Context, t task.Task) []string {
	entry, ok := g.catalog.Load().Get(catalog.Name(t.Capability))
	if !ok {
		return nil
	}
	if t.InputRef != "" {
		g.erasing.Lock()
		defer g.erasing.Unlock()
	}
	input, err := g.inputOf(ctx, t)
	if err != nil {
		return nil
	}
	var ids []string
	for _, p := range forSupplier(placesOf(entry, input)) {
		if p.URL != "" {
			ids = append(ids, mediaID(t, p.pointer))
		}
	}
	return ids
}

// inputOf returns a task's input from its record or, if it is large, from its artifact.
func (g *Gateway) inputOf(ctx context.Context, t task.Task) (json.RawMessage, error) {
	if t.InputRef == "" {
		return t.Input, nil
	}
	meta, body, err := g.artifacts.Open(context.WithoutCancel(ctx), t.InputRef)
	if err != nil {
		return nil, erasedInput(err)
	}
	defer func() { _ = body.Close() }()
	input := make([]byte, meta.Bytes)
	if _, err := io.ReadFull(body, input); err != nil {
		return nil, fault.Wrap(fault.Internal, err, "the task's input could not be read")
	}
	return input, nil
}

// errInputGone is that a task's input isn't there: a node died that held it.
var errInputGone = errors.New("gateway: the task's input is gone")

func erasedInput(err error) error {
	if fault.CodeOf(err) == fault.NotFound {
		err = errInputGone
	}
	return fault.Wrap(fault.Internal, err, "the service was interrupted and has no input any more; the same request again brings it").
		WithRetryAfter(retryTimeout)
}

// mediaID is the artifact of a media value of a task's input: the same for every worker, another one after each
// reopening, so that the clean-up of one round leaves the next alone.
func mediaID(t task.Task, pointer string) string {
	return task.DeriveID(task.PrefixInput, t.ID, strconv.Itoa(t.Reopenings)+pointer)
}
