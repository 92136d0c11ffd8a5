package s3store_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"unitask/internal/artifact"
	"unitask/internal/artifact/artifacttest"
	"unitask/internal/artifact/s3store/s3test"
	"unitask/internal/fault"
)

// large is bytes that are sent in several parts and read in several windows.
const large = 40 << 20

// film returns n bytes that pass for a film, each at its own offset.
func film(n int) []byte {
	b := make([]byte, n)
	for i := range b {
		b[i] = byte(i>>16 + i>>8 + i)
	}
	copy(b, "\x00\x00\x00\x10ftypisom\x00\x00\x00\x00")
	return b
}

func filmRequest(id string, body []byte) artifact.PutRequest {
	r := artifacttest.Request(id, "")
	r.Body, r.Limit = bytes.NewReader(body), int64(len(body))
	return r
}

// abort breaks the connection off without an answer.
func abort() { panic(http.ErrAbortHandler) }

// awaitParts waits until the server has some part of an upload.
func awaitParts(server *s3test.Server) {
	for _, parts := server.Objects(); len(parts) == 0; _, parts = server.Objects() {
		time.Sleep(10 * time.Millisecond)
	}
}

func TestLargeObject(t *testing.T) {
	t.Parallel()
	server := s3test.Start(t)
	s := open(t, server.Endpoint())
	id, body := artifacttest.NewID(), film(large+1)
	artifacttest.MustPut(t, s, filmRequest(id, body))
	if got := artifacttest.MustPut(t, s, filmRequest(id, body)); got.ID != id {
		t.Errorf("kept again: %+v", got)
	}
	other := film(large + 2)
	if got, err := s.Put(t.Context(), filmRequest(id, other)); !errors.Is(err, artifact.ErrExists) || got.Bytes != large+1 {
		t.Errorf("other bytes: %+v, %v", got, err)
	}
	if _, got := artifacttest.MustOpen(t, s, id); !bytes.Equal(got, body) {
		t.Error("other bytes come back")
	}
	s.hold(t, server, id)
}

// TestTwoNodes: of two nodes that put other bytes under one id at once exactly one wins, in one request or in parts.
func TestTwoNodes(t *testing.T) {
	t.Parallel()
	server := s3test.Start(t)
	for _, size := range []int{100, 17 << 20} {
		id := artifacttest.NewID()
		nodes := []opened{open(t, server.Endpoint()), open(t, server.Endpoint())}
		var won atomic.Int32
		metas := make(chan artifact.Meta, 2)
		for i, node := range nodes {
			body := film(size)
			body[size-1] = byte(i)
			go func() {
				m, err := node.Put(t.Context(), filmRequest(id, body))
				if err == nil {
					won.Add(1)
				} else if !errors.Is(err, artifact.ErrExists) {
					t.Error(err)
				}
				metas <- m
			}()
		}
		a, b := <-metas, <-metas
		if n := won.Load(); n != 1 || !cmp.Equal(a, b) {
			t.Errorf("%d bytes: %d won, with %+v and %+v", size, n, a, b)
		}
		nodes[0].hold(t, server, id)
		if err := nodes[0].Delete(t.Context(), id); err != nil {
			t.Fatal(err)
		}
	}
}

// TestStoreGone: without a server a Put waits as on a full disk, a read may be repeated, and both go on once it is
// back; an acknowledged object survives its death.
func TestStoreGone(t *testing.T) {
	t.Parallel()
	server := s3test.Start(t)
	s := open(t, server.Endpoint())
	if err := s.Check(t.Context()); err != nil {
		t.Fatal(err)
	}
	kept := artifacttest.MustPut(t, s, artifacttest.Request(artifacttest.NewID(), artifacttest.PNG1))
	_, r, err := s.Open(t.Context(), kept.ID)
	if err != nil {
		t.Fatal(err)
	}
	server.Kill()
	id := artifacttest.NewID()
	if _, err := s.Put(t.Context(), artifacttest.Request(id, artifacttest.PNG1)); fault.CodeOf(err) != fault.CapacityExhausted {
		t.Errorf("put: %v", err)
	}
	if _, err := s.Stat(t.Context(), kept.ID); fault.CodeOf(err) != fault.CapacityExhausted {
		t.Errorf("stat: %v", err)
	}
	if n, err := io.ReadAll(r); fault.CodeOf(err) != fault.CapacityExhausted || len(n) > 0 {
		t.Errorf("read %d: %v", len(n), err)
	}
	if _, err := s.Sweep(t.Context(), artifacttest.Start, 10); fault.CodeOf(err) != fault.CapacityExhausted {
		t.Errorf("sweep: %v", err)
	}
	if log := s.log.String(); strings.Count(log, "level=ERROR") != 1 || !strings.Contains(log, "doesn't answer") {
		t.Errorf("the log says %q", log)
	}
	if err := s.Check(t.Context()); err != nil {
		t.Errorf("a start without the server: %v", err)
	}
	server.Run()
	artifacttest.MustPut(t, s, artifacttest.Request(id, artifacttest.PNG1))
	if body, err := io.ReadAll(r); err != nil || string(body) != artifacttest.PNG1 {
		t.Errorf("read on: %q, %v", body, err)
	}
	s.hold(t, server, kept.ID, id)
}

// TestKilledInAPut: the server dies in the middle of an upload in parts. No object is left, the parts go with a sweep,
// and the same Put works later.
func TestKilledInAPut(t *testing.T) {
	t.Parallel()
	server := s3test.Start(t)
	proxy := s3test.NewProxy(t, server)
	s := open(t, proxy.URL)
	id, body := artifacttest.NewID(), film(large)
	proxy.Set(func(_ int, _ http.ResponseWriter, r *http.Request) bool {
		if strings.Contains(r.URL.RawQuery, "partNumber=5") {
			awaitParts(server)
			server.Kill()
		}
		return false
	})
	if _, err := s.Put(t.Context(), filmRequest(id, body)); fault.CodeOf(err) != fault.CapacityExhausted {
		t.Errorf("put: %v", err)
	}
	proxy.Set(nil)
	server.Run()
	if _, err := s.Stat(t.Context(), id); fault.CodeOf(err) != fault.NotFound {
		t.Errorf("stat: %v", err)
	}
	if _, parts := server.Objects(); len(parts) == 0 {
		t.Error("no parts were left: the server wasn't killed in the middle")
	}
	if _, err := s.Sweep(t.Context(), time.Now().Add(23*time.Hour), 10); err != nil {
		t.Error(err)
	}
	if _, parts := server.Objects(); len(parts) == 0 {
		t.Error("parts of an upload that may be under way are gone")
	}
	if _, err := s.Sweep(t.Context(), time.Now().Add(25*time.Hour), 10); err != nil {
		t.Error(err)
	}
	s.hold(t, server)
	artifacttest.MustPut(t, s, filmRequest(id, body))
	s.hold(t, server, id)
}

// TestFailedPartIsAborted: an upload whose part fails again and again leaves no parts, also if its caller has gone.
func TestFailedPartIsAborted(t *testing.T) {
	t.Parallel()
	server := s3test.Start(t)
	proxy := s3test.NewProxy(t, server)
	s := open(t, proxy.URL)
	for name, end := range map[string]func(context.CancelFunc, http.ResponseWriter){
		"503": func(_ context.CancelFunc, w http.ResponseWriter) { w.WriteHeader(http.StatusServiceUnavailable) },
		"canceled": func(cancel context.CancelFunc, _ http.ResponseWriter) {
			cancel()
			abort()
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := opened{s.Store, s.dir, s.log}
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			proxy.Set(func(_ int, w http.ResponseWriter, r *http.Request) bool {
				if strings.Contains(r.URL.RawQuery, "partNumber=5") {
					awaitParts(server)
					end(cancel, w)
					return true
				}
				return false
			})
			if _, err := s.Put(ctx, filmRequest(artifacttest.NewID(), film(large))); fault.CodeOf(err) != fault.CapacityExhausted {
				t.Errorf("put: %v", err)
			}
			s.hold(t, server)
		})
	}
}

// TestLostAnswer: a request that was carried out and whose answer was lost is no failure, whichever it is of a Put.
func TestLostAnswer(t *testing.T) {
	t.Parallel()
	server := s3test.Start(t)
	for _, size := range []int{100, 17 << 20} {
		proxy := s3test.NewProxy(t, server)
		s := open(t, proxy.URL)
		film := film(size)
		put := func() error {
			id := artifacttest.NewID()
			if _, err := s.Put(t.Context(), filmRequest(id, film)); err != nil {
				return err
			}
			if _, body := artifacttest.MustOpen(t, s, id); len(body) != size {
				t.Errorf("%d bytes come back, want %d", len(body), size)
			}
			return nil
		}
		proxy.Set(nil)
		if err := put(); err != nil {
			t.Fatal(err)
		}
		for lost := range proxy.Requests() {
			proxy.Set(func(n int, _ http.ResponseWriter, r *http.Request) bool {
				if n == lost+1 {
					s3test.Forward(t, server, r)
					abort()
				}
				return false
			})
			if err := put(); err != nil {
				t.Errorf("%d bytes, answer %d lost: %v", size, lost+1, err)
			}
		}
		proxy.Set(func(_ int, w http.ResponseWriter, r *http.Request) bool {
			if r.Method != http.MethodPost || strings.Contains(r.URL.RawQuery, "uploads") {
				return false
			}
			s3test.Forward(t, server, r)
			w.WriteHeader(http.StatusNotFound) // as stores say that don't remember an upload, to a repeated request
			_, _ = io.WriteString(w, "<Error><Code>NoSuchUpload</Code></Error>")
			return true
		})
		if err := put(); err != nil {
			t.Errorf("%d bytes, a forgotten upload: %v", size, err)
		}
	}
}

// TestTruncatedAnswer: an answer that ends early, whatever its head says, is asked for again from there on, and is
// an error if that doesn't help. It is never a short object.
func TestTruncatedAnswer(t *testing.T) {
	t.Parallel()
	server := s3test.Start(t)
	proxy := s3test.NewProxy(t, server)
	s := open(t, proxy.URL)
	id, body := artifacttest.NewID(), film(5<<20)
	artifacttest.MustPut(t, s, filmRequest(id, body))
	for name, fails := range map[string]func(n int) bool{
		"now and then": func(n int) bool { return n%2 == 1 },
		"always":       func(int) bool { return true },
	} {
		for _, keep := range []int{0, 1000} {
			for _, honest := range []bool{true, false} {
				t.Run(fmt.Sprintf("%s, %d bytes, honest %t", name, keep, honest), func(t *testing.T) {
					gets := 0
					proxy.Set(func(_ int, w http.ResponseWriter, r *http.Request) bool {
						if r.Method != http.MethodGet {
							return false
						}
						if gets++; gets > 20 || !fails(gets) { // a thousand bytes each would take all day
							return false
						}
						s3test.Truncate(t, server, w, r, keep, honest)
						return true
					})
					_, r, err := s.Open(t.Context(), id)
					if err != nil {
						t.Fatal(err)
					}
					got, err := io.ReadAll(r)
					if silent := name == "always" && keep == 0; silent != (err != nil) {
						t.Errorf("read %d of %d bytes: %v", len(got), len(body), err)
					}
					if !bytes.HasPrefix(body, got) || err == nil && len(got) != len(body) {
						t.Errorf("other bytes come back, %d of %d", len(got), len(body))
					}
				})
			}
		}
	}
}

// TestReplaced: a reader's bytes are those of the object that it opened, also if another one has the id now.
func TestReplaced(t *testing.T) {
	t.Parallel()
	server := s3test.Start(t)
	s := open(t, server.Endpoint())
	id, first := artifacttest.NewID(), film(3<<20)
	artifacttest.MustPut(t, s, filmRequest(id, first))
	_, r, err := s.Open(t.Context(), id)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := io.ReadFull(r, make([]byte, 1<<20)); err != nil {
		t.Fatal(err)
	}
	if err := s.Delete(t.Context(), id); err != nil {
		t.Fatal(err)
	}
	second := film(3 << 20)
	second[2<<20]++
	artifacttest.MustPut(t, s, filmRequest(id, second))
	if rest, err := io.ReadAll(r); err == nil || len(rest) > 0 {
		t.Errorf("read %d bytes of another object, %v", len(rest), err)
	}
}

// TestEntryFirst: an object that no sweep would find never comes about.
func TestEntryFirst(t *testing.T) {
	t.Parallel()
	server := s3test.Start(t)
	proxy := s3test.NewProxy(t, server)
	s := open(t, proxy.URL)
	for _, size := range []int{100, 17 << 20} {
		proxy.Set(func(_ int, _ http.ResponseWriter, r *http.Request) bool {
			if strings.Contains(r.URL.Path, "/due/") {
				abort()
			}
			return false
		})
		if _, err := s.Put(t.Context(), filmRequest(artifacttest.NewID(), film(size))); fault.CodeOf(err) != fault.CapacityExhausted {
			t.Errorf("put: %v", err)
		}
	}
	s.hold(t, server)
}
