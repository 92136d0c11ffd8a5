package gateway

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"io"
	"strconv"
	"strings"
	"time"

	"unitask/internal/artifact"
	"unitask/internal/catalog"
	"unitask/internal/fault"
	"unitask/internal/supplier"
	"unitask/internal/task"
)

// readInput reads the request without its media, once a worker.
func (w *work) readInput(ctx context.Context) error {
	if w.request != nil {
		return nil
	}
	if size, err := w.inputSize(ctx); err != nil {
		return err
	} else if size > 0 && w.loaded == 0 {
		if err := w.load(ctx, size); err != nil {
			return err
		}
	}
	input, err := w.g.inputOf(ctx, w.t)
	if err != nil {
		return err
	}
	entry, ok := w.g.catalog.Load().Get(catalog.Name(w.t.Capability))
	if !ok {
		return fault.New(fault.ProviderUnavailable, "the capability is no longer served")
	}
	w.places = forSupplier(placesOf(entry, input))
	w.size = estimate(entry, len(w.places), input, w.t.Parameters)
	request := supplier.NewRequest(entry, input, w.t.Parameters)
	request.Authorization = declarationOf(w.t.Authorization)
	w.request = &request
	return nil
}

// inputSize returns how large an input is that is kept apart from the task's record; 0 for one that isn't.
func (w *work) inputSize(ctx context.Context) (int64, error) {
	if w.t.InputRef == "" {
		return 0, nil
	}
	meta, err := w.g.artifacts.Stat(context.WithoutCancel(ctx), w.t.InputRef)
	if err != nil {
		return 0, erasedInput(err)
	}
	return meta.Bytes, nil
}

// declarationOf returns the part of a declaration about a person that a supplier gets; nil for no declaration.
func declarationOf(a *task.Authorization) *supplier.Authorization {
	if a == nil {
		return nil
	}
	return &supplier.Authorization{Person: a.Person, Statement: a.Statement}
}

// prepare reads the input with its media, once a worker: media fetched here serve every route that is tried.
func (w *work) prepare(ctx context.Context) error {
	if err := w.readInput(ctx); err != nil || w.media {
		return err
	}
	apart, err := w.mediaRefs(ctx)
	if err != nil {
		return err
	}
	media, more, err := w.mediaApart(ctx, apart)
	if err != nil {
		return err
	}
	if most := w.g.limits.Load().artifactMedia(); more > most {
		return fault.Invalid("input", "has media that are larger than "+strconv.FormatInt(most>>20, 10)+" MiB together")
	}
	if err := w.reload(ctx, more); err != nil {
		return err
	}
	if err := w.mediaWithin(media); err != nil {
		return err
	}
	w.request.Media, w.media = media, true
	return nil
}

// mediaRef is a media value whose bytes don't stand in the input, and its artifact.
type mediaRef struct {
	pointer, field, kind string

	id  string
	url string // "" for an artifact that is there
}

// mediaRefs returns the media whose bytes don't stand in the input. None is fetched yet, so that no worker waits for a
// foreign server with a large input in memory.
func (w *work) mediaRefs(ctx context.Context) ([]mediaRef, error) {
	if w.places == nil {
		entry, _ := w.g.catalog.Load().Get(catalog.Name(w.t.Capability))
		w.places = forSupplier(placesOf(entry, w.request.Input))
	}
	var all []mediaRef
	for _, p := range w.places {
		r := mediaRef{pointer: p.pointer, field: p.field, kind: p.kind, id: p.Artifact}
		switch {
		case p.Artifact != "":
		case p.URL != "":
			r.id = mediaID(w.t, p.pointer)
		default:
			continue
		}
		_, err := w.g.artifacts.Stat(ctx, r.id)
		switch {
		case err == nil:
		case fault.CodeOf(err) != fault.NotFound:
			return nil, err
		case p.Artifact != "":
			return nil, fault.Invalid(p.field, "is no longer there")
		default:
			r.url = p.URL
		}
		all = append(all, r)
	}
	return all, nil
}

// mediaApart returns such media, with their types known for sure, fetched if necessary, and how many bytes they are.
func (w *work) mediaApart(ctx context.Context, apart []mediaRef) (all map[string]supplier.Media, bytes int64, err error) {
	all = make(map[string]supplier.Media, len(w.places))
	for _, p := range apart {
		if p.url != "" {
			if err := w.setAside(ctx); err != nil {
				return nil, 0, err
			}
			w.fetched = append(w.fetched, p.id) // a refused document is kept before it is judged
			if err := w.fetchMedia(ctx, p); err != nil {
				return nil, 0, err
			}
		}
		meta, err := w.g.artifacts.Stat(ctx, p.id)
		if err != nil {
			return nil, 0, err
		}
		if err := matchesType(p.kind, p.field, meta.ContentType); err != nil {
			return nil, 0, err
		}
		bytes += meta.Bytes
		all[p.pointer] = supplier.Media{
			ContentType: meta.ContentType, Bytes: meta.Bytes,
			Open: func() (io.ReadCloser, error) {
				_, body, err := w.g.artifacts.Open(context.WithoutCancel(ctx), p.id)
				return body, err
			},
		}
	}
	return all, bytes, nil
}

// mediaWithin adds the media whose bytes stand in the input, which have to stay there as long as they are read.
func (w *work) mediaWithin(all map[string]supplier.Media) error {
	for _, p := range w.places {
		if p.Artifact != "" || p.URL != "" {
			continue
		}
		inline, err := w.inlineMedia(p)
		if err != nil {
			return err
		}
		all[p.pointer] = inline
	}
	return nil
}

// inlineMedia returns a media value whose bytes stand in the input.
func (w *work) inlineMedia(p mediaPlace) (supplier.Media, error) {
	open := func() (*artifact.Inline, error) {
		return artifact.NewInline(p.field+".data", p.Data, w.g.limits.Load().InlineMedia)
	}
	in, err := open()
	if err == nil && !w.held.only() { // else it was checked a moment ago, as it was accepted
		err = in.Check(p.Decodes)
	}
	if err != nil {
		return supplier.Media{}, err
	}
	head := make([]byte, artifact.SniffLen)
	n, err := io.ReadFull(in, head)
	if err != nil && !errors.Is(err, io.ErrUnexpectedEOF) {
		return supplier.Media{}, err
	}
	claim := ""
	if p.kind == kindDocument {
		claim = cmp.Or(p.ContentType, "text/plain") // if it isn't a PDF
	}
	kind, err := artifact.InputType(head[:n], claim, artifact.FromCaller(p.field))
	if err != nil {
		return supplier.Media{}, err
	}
	if err := matchesType(p.kind, p.field, kind); err != nil {
		return supplier.Media{}, err
	}
	return supplier.Media{
		ContentType: kind, Bytes: in.Len(), Base64: p.Data,
		Open: func() (io.ReadCloser, error) {
			in, err := open()
			return io.NopCloser(in), err
		},
	}, nil
}

// reload reads a dropped input again, with room for the fetched media. All of the room is taken at once: tasks that
// held some and waited for more could wait for each other.
func (w *work) reload(ctx context.Context, more int64) error {
	if more <= inlineInput {
		return w.readInput(ctx)
	}
	if err := w.setAside(ctx); err != nil {
		return err
	}
	own, err := w.inputSize(ctx)
	if err != nil {
		return err
	}
	if err := w.load(ctx, own+more); err != nil {
		return err
	}
	return w.readInput(ctx)
}

// fetchMedia keeps the bytes at a foreign address as the media value's artifact.
func (w *work) fetchMedia(ctx context.Context, p mediaRef) error {
	body, err := w.g.open(ctx, p.field, media{URL: p.url})
	if err != nil {
		return err
	}
	defer func() { _ = body.Close() }()
	put := artifact.PutRequest{
		ID: p.id, Owner: owner(w.t.Scope), Body: body, Limit: w.g.limits.Load().InlineMedia,
		TTL: max(time.Until(w.ends), 0) + inputMargin, Source: artifact.FromCaller(p.field),
	}
	if p.kind == kindDocument {
		put.ContentType = "text/plain" // if it isn't a PDF
	}
	if _, err = w.g.artifacts.Put(ctx, put); err != nil || p.kind != kindDocument {
		return err
	}
	_, kept, err := w.g.artifacts.Open(ctx, p.id)
	if err != nil {
		return err
	}
	defer func() { _ = kept.Close() }()
	_, err = artifact.ReadDocument(kept, "", put.Source)
	return err
}

// mediaAt returns the media value at a JSON pointer into the input, and its field's dotted name.
func mediaAt(input json.RawMessage, pointer string, base64 ...[]byte) (m media, field string) {
	r := catalog.ReaderAt(input, pointer, base64...)
	for members := r.Among("url", "data", "content_type", "artifact"); members.Next(); {
		raw, spelling := r.Quoted()
		switch says := spelling.Unquote(raw); members.Name {
		case "url":
			m.URL = string(says)
		case "data":
			m.Data, m.Decodes = says, spelling.Base64
		case "content_type":
			m.ContentType = string(says)
		case "artifact":
			m.Artifact = string(says)
		}
	}
	return m, "input." + strings.ReplaceAll(strings.TrimPrefix(pointer, "/"), "/", ".")
}
