package upload_test

import (
	"bytes"
	"io"
	"testing"
	"time"

	"unitask/internal/artifact"
	"unitask/internal/fault"
	"unitask/internal/upload"
)

// readerFunc is an io.Reader by one function.
type readerFunc func(p []byte) (int, error)

func (f readerFunc) Read(p []byte) (int, error) { return f(p) }

// meanwhile is a body during whose reading something happens, once n bytes were read.
func meanwhile(body []byte, n int, happens func()) io.Reader {
	return io.MultiReader(bytes.NewReader(body[:n]), readerFunc(func([]byte) (int, error) {
		happens()
		return 0, io.EOF
	}), bytes.NewReader(body[n:]))
}

// testEndsUnderWay: bytes that are under way when their upload is deleted, or its time is over, are taken no longer than
// to the end of a piece, and are not left behind.
func testEndsUnderWay(t *testing.T, b *bench) {
	body := file(2*upload.PieceSize + 100)
	receive := func(u upload.Upload, end func()) {
		t.Helper()
		from := meanwhile(body, upload.PieceSize-100, end)
		_, err := b.nodes[0].Receive(t.Context(), u.ID, 0, from)
		rest, _ := io.Copy(io.Discard, from)
		if fault.CodeOf(err) != fault.NotFound || rest < upload.PieceSize/2 {
			t.Errorf("%v, and %d bytes weren't read, want NOT_FOUND and %d at least", err, rest, upload.PieceSize/2)
		}
		for at := int64(0); at < int64(len(body)); at += upload.PieceSize {
			if m, err := b.store.Stat(t.Context(), upload.PieceID(u, at)); fault.CodeOf(err) != fault.NotFound {
				t.Errorf("the piece at %d: %+v, %v, want NOT_FOUND", at, m, err)
			}
		}
	}
	u := b.begin(announce(body))
	receive(u, func() {
		if err := b.nodes[1].Delete(t.Context(), owner, u.ID); err != nil {
			t.Error(err)
		}
	})
	b.settled(u)
	receive(b.begin(announce(body)), func() { b.clock.after.Store(int64(upload.Lifetime)) })
}

// testLatePiece: a piece that a node keeps after its upload was deleted, or refused for its hash, is none of the upload
// that is begun again.
func testLatePiece(t *testing.T, b *bench) {
	body := file(upload.PieceSize + 100)
	late := func(of upload.Upload) {
		_, err := b.store.Put(t.Context(), artifact.PutRequest{
			ID: upload.PieceID(of, upload.PieceSize), Owner: owner, Body: bytes.NewReader([]byte("late")), Limit: 100, Raw: true, TTL: time.Hour,
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	first := b.begin(announce(body))
	if err := b.nodes[0].Delete(t.Context(), owner, first.ID); err != nil {
		t.Fatal(err)
	}
	late(first)
	second := b.begin(announce(body))
	if second.ID != first.ID {
		t.Fatalf("the same file is %s, and was %s", second.ID, first.ID)
	}
	body[len(body)-1]++
	if _, err := b.nodes[1].Receive(t.Context(), second.ID, 0, bytes.NewReader(body)); err == nil {
		t.Fatal("other bytes were taken")
	}
	late(second)
	body[len(body)-1]--
	if now, err := b.nodes[0].Get(t.Context(), second.ID); err != nil || now.Received != 0 {
		t.Errorf("begun again: %+v, %v, want nothing received", now, err)
	}
	if now, err := b.nodes[1].Receive(t.Context(), second.ID, 0, bytes.NewReader(body)); err != nil || !now.Complete {
		t.Errorf("sent again: %+v, %v", now, err)
	}
}
