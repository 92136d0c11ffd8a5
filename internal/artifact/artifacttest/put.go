package artifacttest

import (
	"bytes"
	"context"
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

func testPutAndRead(t *testing.T, h Harness) {
	for _, tt := range Samples(t) {
		t.Run(tt.Name, func(t *testing.T) {
			id := NewID()
			put := Request(id, string(tt.Data))
			put.Limit = int64(len(tt.Data))
			put.Body = iotest.OneByteReader(put.Body)
			got, err := h.Store.Put(t.Context(), put)
			if err != nil {
				t.Fatal(err)
			}
			want := artifact.Meta{
				ID: id, Owner: owner, ContentType: tt.Kind, Bytes: int64(len(tt.Data)),
				SHA256: hash(string(tt.Data)), Width: tt.Width, Height: tt.Height, Duration: tt.Seconds,
				CreatedAt: Start, ExpiresAt: Start.Add(time.Hour),
			}
			stat, err := h.Store.Stat(t.Context(), id)
			if diff := cmp.Diff([]any{want, want, nil}, []any{got, stat, err}); diff != "" {
				t.Errorf("put and stat (-want +got):\n%s", diff)
			}
			opened, body := MustOpen(t, h.Store, id)
			if diff := cmp.Diff(want, opened); diff != "" {
				t.Errorf("open (-want +got):\n%s", diff)
			}
			if !bytes.Equal(body, tt.Data) {
				t.Error("other bytes come back")
			}
		})
	}
}

// testPutWithoutALimit has the greatest limit stand for no limit.
func testPutWithoutALimit(t *testing.T, h Harness) {
	put := Request(NewID(), PNG1)
	put.Limit = math.MaxInt64
	if got, err := h.Store.Put(t.Context(), put); err != nil || got.Bytes != int64(len(PNG1)) || got.SHA256 != hash(PNG1) {
		t.Errorf("kept %+v, %v", got, err)
	}
}

// testOpenSeeks reads an object here and there, and after its deletion what the store still gives.
func testOpenSeeks(t *testing.T, h Harness) {
	id := NewID()
	body := PNG1 + strings.Repeat("0123456789", 500_000)
	put := Request(id, body)
	put.Limit = int64(len(body))
	MustPut(t, h.Store, put)
	_, r, err := h.Store.Open(t.Context(), id)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = r.Close() }()
	for _, at := range []int{len(body) - 3, 0, 4_000_000, 8, 3_999_990} {
		if got, err := r.Seek(int64(at), io.SeekStart); err != nil || got != int64(at) {
			t.Fatal(got, err)
		}
		part := make([]byte, min(30, len(body)-at))
		if _, err := io.ReadFull(r, part); err != nil || string(part) != body[at:at+len(part)] {
			t.Errorf("at %d: %q, %v", at, part, err)
		}
	}
	if got, err := r.Seek(-10, io.SeekCurrent); err != nil || got != 4_000_010 {
		t.Errorf("sought 10 back from 4000020: %d, %v", got, err)
	}
	if _, err := r.Seek(-1, io.SeekStart); err == nil {
		t.Error("sought before the beginning")
	}
	if err := h.Store.Delete(t.Context(), id); err != nil {
		t.Fatal(err)
	}
	if _, err := r.Seek(-3, io.SeekEnd); err != nil {
		t.Fatal(err)
	}
	tail, err := io.ReadAll(r)
	read, gone := err == nil && string(tail) == "789", err != nil && len(tail) == 0
	if !read && (h.KeepsDeleted || !gone) {
		t.Errorf("the tail of an object deleted meanwhile is %q, %v", tail, err)
	}
}

func testPutAgain(t *testing.T, h Harness) {
	id := NewID()
	first := MustPut(t, h.Store, Request(id, PNG1))
	same := Request(id, PNG1)
	same.TTL = 2 * time.Hour
	if got := MustPut(t, h.Store, same); !cmp.Equal(first, got) {
		t.Errorf("the same bytes again: %+v, want %+v", got, first)
	}
	got, err := h.Store.Put(t.Context(), Request(id, PNG2))
	if !errors.Is(err, artifact.ErrExists) || !cmp.Equal(first, got) {
		t.Errorf("other bytes: %+v, %v, want the first with ErrExists", got, err)
	}
	if _, body := MustOpen(t, h.Store, id); string(body) != PNG1 {
		t.Errorf("the object is %q now", body)
	}
}

// testPutRace: of many at once under one id one wins, and every answer describes its object.
func testPutRace(t *testing.T, h Harness) {
	var ids []string
	for range 20 {
		id := NewID()
		ids = append(ids, id)
		var answers [8]artifact.Meta
		var all, spooled sync.WaitGroup
		spooled.Add(8)
		for i := range 8 {
			body := []string{PNG1, PNG2}[i%2]
			all.Go(func() {
				r := Request(id, body)
				r.Body = io.MultiReader(r.Body, readerFunc(func([]byte) (int, error) {
					spooled.Done()
					spooled.Wait() // no Put completes before all have come this far
					return 0, io.EOF
				}))
				m, err := h.Store.Put(t.Context(), r)
				if same := m.SHA256 == hash(body); err != nil && !errors.Is(err, artifact.ErrExists) || same != (err == nil) {
					t.Errorf("put: %v, with the Meta of its own bytes: %t", err, same)
				}
				answers[i] = m
			})
		}
		all.Wait()
		m, body := MustOpen(t, h.Store, id)
		if m.SHA256 != hash(string(body)) {
			t.Error("the Meta is of other bytes")
		}
		for _, answer := range answers {
			if !cmp.Equal(m, answer) {
				t.Errorf("kept %+v, but answered %+v", m, answer)
			}
		}
	}
	h.Hold(t, ids...)
}

func testPutRefuses(t *testing.T, h Harness) {
	tests := []struct {
		name    string
		change  func(*artifact.PutRequest)
		message string
	}{
		{"nothing", func(r *artifact.PutRequest) { r.Body = strings.NewReader("") }, " is empty"},
		{"too long", func(r *artifact.PutRequest) { r.Limit = int64(len(PNG1)) - 1 }, " is larger than 10 bytes"},
		{"markup", func(r *artifact.PutRequest) { r.Body = strings.NewReader("<svg>") }, " is of no supported content type"},
		{"another kind", func(r *artifact.PutRequest) { r.Kinds = []string{"video", "audio"} }, " is of another kind than was asked for"},
		{"text as a result", func(r *artifact.PutRequest) {
			r.Body, r.ContentType = strings.NewReader("hello"), "text/plain"
		}, " is of no supported content type"},
		{"a document as a result", func(r *artifact.PutRequest) { r.Body = strings.NewReader("%PDF-1.7") }, " is of no supported content type"},
		{"markup as a private input", func(r *artifact.PutRequest) {
			r.ID, r.Body, r.ContentType = task.NewID(task.PrefixInput, Start), strings.NewReader("<html>"), "text/html"
		}, " is of no supported content type"},
		{"no text", func(r *artifact.PutRequest) {
			r.ID, r.Body, r.ContentType = task.NewID(task.PrefixInput, Start), strings.NewReader("a\xff"), "text/plain"
		}, " is not text in UTF-8"},
		{"NUL in text", func(r *artifact.PutRequest) {
			r.ID, r.Body, r.ContentType = task.NewID(task.PrefixInput, Start), strings.NewReader("a\x00"), "text/plain"
		}, " is not text in UTF-8"},
		{"broken body", func(r *artifact.PutRequest) {
			r.Body = io.MultiReader(r.Body, iotest.ErrReader(errors.New("reset")))
		}, " could not be read"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			r := Request(NewID(), PNG1)
			tt.change(&r)
			_, err := h.Store.Put(t.Context(), r)
			MustBlame(t, err, "input.image"+tt.message)
			if _, err := h.Store.Stat(t.Context(), r.ID); fault.CodeOf(err) != fault.NotFound {
				t.Errorf("stat: %v, want NOT_FOUND", err)
			}
		})
	}
	h.Hold(t)
}

func testPutKeepsErrors(t *testing.T, h Harness) {
	coded := fault.New(fault.ProviderTimeout, "late")
	r := Request(NewID(), "")
	r.Body = iotest.ErrReader(coded)
	if _, err := h.Store.Put(t.Context(), r); !errors.Is(err, coded) {
		t.Errorf("put: %v, want the body's own fault", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	r.Body = io.MultiReader(strings.NewReader(PNG1), readerFunc(func([]byte) (int, error) { cancel(); return 0, nil }))
	if _, err := h.Store.Put(ctx, r); !errors.Is(err, context.Canceled) {
		t.Errorf("put: %v, want context.Canceled", err)
	}
	r = Request(NewID(), "<html>")
	r.Source = artifact.FromSupplier()
	if _, err := h.Store.Put(t.Context(), r); fault.CodeOf(err) != fault.ProviderUnavailable {
		t.Errorf("put: %v, want PROVIDER_UNAVAILABLE", err)
	}
	for _, bad := range []artifact.PutRequest{
		{Owner: owner, Limit: 1}, {ID: NewID(), Limit: 1}, {ID: NewID(), Owner: owner}, {ID: "../x", Owner: owner, Limit: 1},
	} {
		if _, err := h.Store.Put(t.Context(), bad); fault.CodeOf(err) != fault.Internal {
			t.Errorf("put %+v: %v, want an error of the program", bad, err)
		}
	}
	h.Hold(t)
}

func testPutText(t *testing.T, h Harness) {
	text := []string{"text/plain", "text/vtt", "application/x-subrip", "application/json"}
	long := strings.Repeat("x", artifact.SniffLen-1) + "é and on" // the head's end cuts a rune
	for _, kind := range text {
		r := Request(task.NewID(task.PrefixInput, Start), long)
		r.ContentType = strings.ToUpper(kind) + "; charset=utf-8"
		if got := MustPut(t, h.Store, r); got.ContentType != kind {
			t.Errorf("kept as %q, want %q", got.ContentType, kind)
		}
	}
	r := Request(task.NewID(task.PrefixInput, Start), PNG1)
	r.ContentType = "image/gif"
	if got := MustPut(t, h.Store, r); got.ContentType != "image/png" {
		t.Errorf("a claim of image/gif made it %q", got.ContentType)
	}
	r = Request(task.NewID(task.PrefixInput, Start), "%PDF-1.7 and on")
	want := MustPut(t, h.Store, r)
	if got, err := h.Store.Stat(t.Context(), r.ID); want.ContentType != "application/pdf" || err != nil || !cmp.Equal(want, got) {
		t.Errorf("a document as an input is kept as %+v, then %+v, %v", want, got, err)
	}
}

func testBadIDs(t *testing.T, h Harness) {
	for _, id := range []string{
		"", "art_", "../../etc/passwd", "art_../../../../../../etc/pas", "task_00000000000000000000000001",
		"art_0000000000000000000000000A", "art_000000000000000000000000\x00\x00", NewID(), NewID() + ".json",
	} {
		_, r, err := h.Store.Open(t.Context(), id)
		if r != nil || fault.CodeOf(err) != fault.NotFound {
			t.Errorf("open %q: %v, want NOT_FOUND", id, err)
		}
		if _, err := h.Store.Stat(t.Context(), id); fault.CodeOf(err) != fault.NotFound {
			t.Errorf("stat %q: %v, want NOT_FOUND", id, err)
		}
		if err := h.Store.Delete(t.Context(), id); err != nil {
			t.Errorf("delete %q: %v", id, err)
		}
	}
}
