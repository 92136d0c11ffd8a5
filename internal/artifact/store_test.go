package artifact_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"math"
	"strings"
	"sync"
	"testing"
	"testing/iotest"
	"time"

	"github.com/google/go-cmp/cmp"

	"unitask/internal/artifact"
	"unitask/internal/fault"
	"unitask/internal/task"
)

var (
	start = time.Date(2026, 3, 4, 5, 6, 7, 8e6, time.UTC)
	png1  = "\x89PNG\r\n\x1a\n" + "one"
	png2  = "\x89PNG\r\n\x1a\n" + "two"
)

const owner = "acct_1"

// newStore opens a store in a fresh folder, whose clock stands at start.
func newStore(t *testing.T) (artifact.Store, string) {
	t.Helper()
	dir := t.TempDir()
	s, err := artifact.NewFolder(artifact.FolderConfig{Dir: dir, Now: func() time.Time { return start }})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s, dir
}

func newID() string { return task.NewID(task.PrefixArtifact, start) }

func request(id, body string) artifact.PutRequest {
	return artifact.PutRequest{
		ID: id, Owner: owner, Body: strings.NewReader(body), Limit: 1 << 20, TTL: time.Hour,
		Source: artifact.FromCaller("input.image"),
	}
}

func TestPutAndRead(t *testing.T) {
	s, _ := newStore(t)
	for _, tt := range samples(t) {
		t.Run(tt.name, func(t *testing.T) {
			id := newID()
			put := request(id, string(tt.data))
			put.Limit = int64(len(tt.data))
			put.Body = iotest.OneByteReader(put.Body)
			got, err := s.Put(t.Context(), put)
			if err != nil {
				t.Fatal(err)
			}
			want := artifact.Meta{
				ID: id, Owner: owner, ContentType: tt.kind, Bytes: int64(len(tt.data)),
				SHA256: hash(string(tt.data)), Width: tt.width, Height: tt.height, Duration: tt.seconds,
				CreatedAt: start, ExpiresAt: start.Add(time.Hour),
			}
			stat, err := s.Stat(t.Context(), id)
			if diff := cmp.Diff([]any{want, want, nil}, []any{got, stat, err}); diff != "" {
				t.Errorf("put and stat (-want +got):\n%s", diff)
			}
			opened, body := mustOpen(t, s, id)
			if diff := cmp.Diff(want, opened); diff != "" {
				t.Errorf("open (-want +got):\n%s", diff)
			}
			if !bytes.Equal(body, tt.data) {
				t.Error("other bytes come back")
			}
		})
	}
}

// TestPutWithoutALimit has the greatest limit stand for no limit.
func TestPutWithoutALimit(t *testing.T) {
	s, _ := newStore(t)
	put := request(newID(), png1)
	put.Limit = math.MaxInt64
	if got, err := s.Put(t.Context(), put); err != nil || got.Bytes != int64(len(png1)) || got.SHA256 != hash(png1) {
		t.Errorf("kept %+v, %v", got, err)
	}
}

func TestOpenSeeks(t *testing.T) {
	s, _ := newStore(t)
	id := newID()
	mustPut(t, s, request(id, png1))
	_, r, err := s.Open(t.Context(), id)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = r.Close() }()
	if err := s.Delete(t.Context(), id); err != nil {
		t.Fatal(err)
	}
	if _, err := r.Seek(-3, io.SeekEnd); err != nil {
		t.Fatal(err)
	}
	if tail, err := io.ReadAll(r); err != nil || string(tail) != "one" {
		t.Errorf("the tail of an object deleted meanwhile is %q, %v", tail, err)
	}
}

func TestPutAgain(t *testing.T) {
	s, _ := newStore(t)
	id := newID()
	first := mustPut(t, s, request(id, png1))
	same := request(id, png1)
	same.TTL = 2 * time.Hour
	if got := mustPut(t, s, same); !cmp.Equal(first, got) {
		t.Errorf("the same bytes again: %+v, want %+v", got, first)
	}
	got, err := s.Put(t.Context(), request(id, png2))
	if !errors.Is(err, artifact.ErrExists) || !cmp.Equal(first, got) {
		t.Errorf("other bytes: %+v, %v, want the first with ErrExists", got, err)
	}
	if _, body := mustOpen(t, s, id); string(body) != png1 {
		t.Errorf("the object is %q now", body)
	}
}

// TestPutRace: of many at once under one id one wins, and every answer describes its object.
func TestPutRace(t *testing.T) {
	s, dir := newStore(t)
	var ids []string
	for range 20 {
		id := newID()
		ids = append(ids, id)
		var answers [8]artifact.Meta
		var all, spooled sync.WaitGroup
		spooled.Add(8)
		for i := range 8 {
			body := []string{png1, png2}[i%2]
			all.Go(func() {
				r := request(id, body)
				r.Body = io.MultiReader(r.Body, readerFunc(func([]byte) (int, error) {
					spooled.Done()
					spooled.Wait() // no Put completes before all have come this far
					return 0, io.EOF
				}))
				m, err := s.Put(t.Context(), r)
				if same := m.SHA256 == hash(body); err != nil && !errors.Is(err, artifact.ErrExists) || same != (err == nil) {
					t.Errorf("put: %v, with the Meta of its own bytes: %t", err, same)
				}
				answers[i] = m
			})
		}
		all.Wait()
		m, body := mustOpen(t, s, id)
		if m.SHA256 != hash(string(body)) {
			t.Error("the Meta is of other bytes")
		}
		for _, answer := range answers {
			if !cmp.Equal(m, answer) {
				t.Errorf("kept %+v, but answered %+v", m, answer)
			}
		}
	}
	mustHold(t, dir, ids...)
}

func hash(s string) string {
	sum := sha256.Sum256([]byte(s))
	return hex.EncodeToString(sum[:])
}

func TestPutRefuses(t *testing.T) {
	s, dir := newStore(t)
	tests := []struct {
		name    string
		change  func(*artifact.PutRequest)
		message string
	}{
		{"nothing", func(r *artifact.PutRequest) { r.Body = strings.NewReader("") }, " is empty"},
		{"too long", func(r *artifact.PutRequest) { r.Limit = int64(len(png1)) - 1 }, " is larger than 10 bytes"},
		{"markup", func(r *artifact.PutRequest) { r.Body = strings.NewReader("<svg>") }, " is of no supported content type"},
		{"another kind", func(r *artifact.PutRequest) { r.Kinds = []string{"video", "audio"} }, " is of another kind than was asked for"},
		{"text as a result", func(r *artifact.PutRequest) {
			r.Body, r.ContentType = strings.NewReader("hello"), "text/plain"
		}, " is of no supported content type"},
		{"markup as a private input", func(r *artifact.PutRequest) {
			r.ID, r.Body, r.ContentType = task.NewID(task.PrefixInput, start), strings.NewReader("<html>"), "text/html"
		}, " is of no supported content type"},
		{"no text", func(r *artifact.PutRequest) {
			r.ID, r.Body, r.ContentType = task.NewID(task.PrefixInput, start), strings.NewReader("a\xff"), "text/plain"
		}, " is not text in UTF-8"},
		{"NUL in text", func(r *artifact.PutRequest) {
			r.ID, r.Body, r.ContentType = task.NewID(task.PrefixInput, start), strings.NewReader("a\x00"), "text/plain"
		}, " is not text in UTF-8"},
		{"broken body", func(r *artifact.PutRequest) {
			r.Body = io.MultiReader(r.Body, iotest.ErrReader(errors.New("reset")))
		}, " could not be read"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			r := request(newID(), png1)
			tt.change(&r)
			_, err := s.Put(t.Context(), r)
			mustBlame(t, err, "input.image"+tt.message)
			if _, err := s.Stat(t.Context(), r.ID); fault.CodeOf(err) != fault.NotFound {
				t.Errorf("stat: %v, want NOT_FOUND", err)
			}
		})
	}
	mustHold(t, dir)
}

func TestPutKeepsErrors(t *testing.T) {
	s, dir := newStore(t)
	coded := fault.New(fault.ProviderTimeout, "late")
	r := request(newID(), "")
	r.Body = iotest.ErrReader(coded)
	if _, err := s.Put(t.Context(), r); !errors.Is(err, coded) {
		t.Errorf("put: %v, want the body's own fault", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	r.Body = io.MultiReader(strings.NewReader(png1), readerFunc(func([]byte) (int, error) { cancel(); return 0, nil }))
	if _, err := s.Put(ctx, r); !errors.Is(err, context.Canceled) {
		t.Errorf("put: %v, want context.Canceled", err)
	}
	r = request(newID(), "<html>")
	r.Source = artifact.FromSupplier()
	if _, err := s.Put(t.Context(), r); fault.CodeOf(err) != fault.ProviderUnavailable {
		t.Errorf("put: %v, want PROVIDER_UNAVAILABLE", err)
	}
	for _, bad := range []artifact.PutRequest{
		{Owner: owner, Limit: 1}, {ID: newID(), Limit: 1}, {ID: newID(), Owner: owner}, {ID: "../x", Owner: owner, Limit: 1},
	} {
		if _, err := s.Put(t.Context(), bad); fault.CodeOf(err) != fault.Internal {
			t.Errorf("put %+v: %v, want an error of the program", bad, err)
		}
	}
	mustHold(t, dir)
}

func TestPutText(t *testing.T) {
	s, _ := newStore(t)
	_, text := artifact.Types()
	long := strings.Repeat("x", artifact.SniffLen-1) + "é and on" // the head's end cuts a rune
	for _, kind := range text {
		r := request(task.NewID(task.PrefixInput, start), long)
		r.ContentType = strings.ToUpper(kind) + "; charset=utf-8"
		if got := mustPut(t, s, r); got.ContentType != kind {
			t.Errorf("kept as %q, want %q", got.ContentType, kind)
		}
	}
	r := request(task.NewID(task.PrefixInput, start), png1)
	r.ContentType = "image/gif"
	if got := mustPut(t, s, r); got.ContentType != "image/png" {
		t.Errorf("a claim of image/gif made it %q", got.ContentType)
	}
}

func TestBadIDs(t *testing.T) {
	s, _ := newStore(t)
	for _, id := range []string{
		"", "art_", "../../etc/passwd", "art_../../../../../../etc/pas", "task_00000000000000000000000001",
		"art_0000000000000000000000000A", "art_000000000000000000000000\x00\x00", newID(), newID() + ".json",
	} {
		_, r, err := s.Open(t.Context(), id)
		if r != nil || fault.CodeOf(err) != fault.NotFound {
			t.Errorf("open %q: %v, want NOT_FOUND", id, err)
		}
		if _, err := s.Stat(t.Context(), id); fault.CodeOf(err) != fault.NotFound {
			t.Errorf("stat %q: %v, want NOT_FOUND", id, err)
		}
		if err := s.Delete(t.Context(), id); err != nil {
			t.Errorf("delete %q: %v", id, err)
		}
	}
}

type readerFunc func([]byte) (int, error)

func (f readerFunc) Read(p []byte) (int, error) { return f(p) }

func mustPut(t *testing.T, s artifact.Store, r artifact.PutRequest) artifact.Meta {
	t.Helper()
	m, err := s.Put(t.Context(), r)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func mustOpen(t *testing.T, s artifact.Store, id string) (artifact.Meta, []byte) {
	t.Helper()
	m, r, err := s.Open(t.Context(), id)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = r.Close() }()
	body, err := io.ReadAll(r)
	if err != nil {
		t.Fatal(err)
	}
	return m, body
}
