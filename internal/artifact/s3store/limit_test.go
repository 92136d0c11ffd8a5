package s3store_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"unitask/internal/artifact"
	"unitask/internal/artifact/artifacttest"
	"unitask/internal/artifact/s3store"
	"unitask/internal/artifact/s3store/s3test"
	"unitask/internal/fault"
)

// TestBusyStore: a store that asks for patience gets some within a Put, and then the Put waits as on a full disk.
func TestBusyStore(t *testing.T) {
	t.Parallel()
	server := s3test.Start(t)
	proxy := s3test.NewProxy(t, server)
	s := open(t, proxy.URL)
	id := artifacttest.NewID()
	slowDown := func(most int) s3test.Fault {
		return func(n int, w http.ResponseWriter, _ *http.Request) bool {
			if n > most {
				return false
			}
			w.WriteHeader(http.StatusServiceUnavailable)
			_, _ = io.WriteString(w, `<Error><Code>SlowDown</Code><Message>reduce your request rate</Message></Error>`)
			return true
		}
	}
	proxy.Set(slowDown(1000))
	if _, err := s.Put(t.Context(), artifacttest.Request(id, artifacttest.PNG1)); fault.CodeOf(err) != fault.CapacityExhausted {
		t.Errorf("put: %v", err)
	}
	proxy.Set(slowDown(2))
	artifacttest.MustPut(t, s, artifacttest.Request(id, artifacttest.PNG1))
	s.hold(t, server, id)
}

// TestStalledStore: a server that takes a request and falls silent, at any point, costs a bounded time.
func TestStalledStore(t *testing.T) {
	t.Parallel()
	server := s3test.Start(t)
	proxy := s3test.NewProxy(t, server)
	s := openFor(t, proxy.URL, 2*time.Second)
	id, body := artifacttest.NewID(), film(3<<20)
	artifacttest.MustPut(t, s, filmRequest(id, body))
	bounded := func(what string, want time.Duration, f func() error) {
		t.Helper()
		began := time.Now()
		err := f()
		if took := time.Since(began); fault.CodeOf(err) != fault.CapacityExhausted || took > want {
			t.Errorf("%s: %v after %v, want an error within %v", what, err, took, want)
		}
	}
	silent := func(_ int, _ http.ResponseWriter, r *http.Request) bool {
		<-r.Context().Done()
		return true
	}
	proxy.Set(silent)
	bounded("stat", 3*time.Second, func() error { _, err := s.Stat(t.Context(), id); return err })
	bounded("sweep", 6*time.Second, func() error { _, err := s.Sweep(t.Context(), artifacttest.Start, 10); return err })
	bounded("put", 3*time.Second, func() error {
		_, err := s.Put(t.Context(), filmRequest(artifacttest.NewID(), body))
		return err
	})
	proxy.Set(func(_ int, w http.ResponseWriter, r *http.Request) bool {
		if r.Method != http.MethodGet {
			return false
		}
		answer := s3test.Forward(t, server, r)
		answer.Write(w, len(answer.Body)/2)
		<-r.Context().Done()
		return true
	})
	_, r, err := s.Open(t.Context(), id)
	if err != nil {
		t.Fatal(err)
	}
	read := make(chan error, 1)
	go func() {
		_, err := io.ReadFull(r, make([]byte, 600<<10)) // of the second answer, too
		read <- err
	}()
	select {
	case err := <-read:
		if err != nil {
			t.Error(err)
		}
	case <-time.After(30 * time.Second):
		t.Fatal("the reader waits for ever")
	}
	_ = r.Close()
}

// TestStalledUpload: a server that stops reading in the middle of a body doesn't hold the upload.
func TestStalledUpload(t *testing.T) {
	t.Parallel()
	proxy := s3test.NewProxy(t, s3test.Start(t))
	s := openFor(t, proxy.URL, 2*time.Second)
	proxy.Set(func(_ int, _ http.ResponseWriter, r *http.Request) bool {
		if r.ContentLength < 1<<20 {
			return false
		}
		<-t.Context().Done() // the end of the connection shows to readers alone
		return true
	})
	began := time.Now()
	_, err := s.Put(t.Context(), filmRequest(artifacttest.NewID(), film(15<<20)))
	if took := time.Since(began); fault.CodeOf(err) != fault.CapacityExhausted || took < time.Second || took > 11*time.Second {
		t.Errorf("put: %v after %v", err, took)
	}
}

// TestRefused: a key that the store refuses is an error at the start, named in the log, and no loss of a result.
func TestRefused(t *testing.T) {
	server := s3test.Start(t)
	t.Setenv("AWS_SECRET_ACCESS_KEY", "another")
	s := open(t, server.Endpoint())
	if err := s.Check(t.Context()); err == nil || !strings.Contains(err.Error(), "SignatureDoesNotMatch") {
		t.Errorf("the check says %v", err)
	}
	_, err := s.Put(t.Context(), artifacttest.Request(artifacttest.NewID(), artifacttest.PNG1))
	if fault.CodeOf(err) != fault.Internal || !strings.Contains(fmt.Sprint(err), artifact.ErrDisk.Error()) {
		t.Errorf("put: %v", err)
	}
	if _, err := s.Stat(t.Context(), artifacttest.NewID()); fault.CodeOf(err) != fault.Internal {
		t.Errorf("stat: %v", err)
	}
	if log := s.log.String(); !strings.Contains(log, "look at the credentials") || strings.Contains(log, "another") {
		t.Errorf("the log says %q", log)
	}
}

// TestCheck: a place that can't serve is an error in words.
func TestCheck(t *testing.T) {
	server := s3test.Start(t)
	proxy := s3test.NewProxy(t, server)
	proxy.Set(func(_ int, w http.ResponseWriter, r *http.Request) bool {
		_, _ = io.Copy(io.Discard, r.Body)
		w.WriteHeader(http.StatusOK) // as a store that overwrites
		return true
	})
	if err := open(t, proxy.URL).Check(t.Context()); err == nil || !strings.Contains(err.Error(), "If-None-Match") {
		t.Errorf("a store without conditions: %v", err)
	}
	missing := place(t, server.Endpoint())
	missing.Name = "elsewhere"
	s, err := s3store.New(t.Context(), s3store.Config{Bucket: missing, Dir: t.TempDir(), Stall: time.Second})
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Check(t.Context()); err == nil || !strings.Contains(err.Error(), "NoSuchBucket") {
		t.Errorf("no such bucket: %v", err)
	}
	t.Setenv("AWS_ACCESS_KEY_ID", "")
	if err := open(t, server.Endpoint()).Check(t.Context()); err == nil || !strings.Contains(err.Error(), "no credentials") {
		t.Errorf("no credentials: %v", err)
	}
}

// TestRangeIgnored: a store that answers a range with the whole object is an error, and its bytes aren't taken.
func TestRangeIgnored(t *testing.T) {
	t.Parallel()
	server := s3test.Start(t)
	proxy := s3test.NewProxy(t, server)
	s := open(t, proxy.URL)
	id, body := artifacttest.NewID(), film(2<<20)
	artifacttest.MustPut(t, s, filmRequest(id, body))
	proxy.Set(func(_ int, w http.ResponseWriter, r *http.Request) bool {
		if r.Method == http.MethodGet {
			_, _ = w.Write(body)
		}
		return r.Method == http.MethodGet
	})
	_, r, err := s.Open(t.Context(), id)
	if err != nil {
		t.Fatal(err)
	}
	if got, err := io.ReadAll(r); err == nil || len(got) > 0 {
		t.Errorf("read %d bytes, %v", len(got), err)
	}
}

// TestRequests counts the requests of each step, which are paid for.
func TestRequests(t *testing.T) {
	t.Parallel()
	server := s3test.Start(t)
	proxy := s3test.NewProxy(t, server)
	s := open(t, proxy.URL)
	small, big := artifacttest.NewID(), artifacttest.NewID()
	artifacttest.MustPut(t, s, filmRequest(big, film(17<<20)))
	sweep := func(after time.Duration) func() {
		return func() {
			if _, err := s.Sweep(t.Context(), artifacttest.Start.Add(after), 1000); err != nil {
				t.Error(err)
			}
		}
	}
	var r io.ReadSeekCloser
	for _, step := range []struct {
		name string
		run  func()
		want map[string]int
	}{
		{"put", func() { artifacttest.MustPut(t, s, artifacttest.Request(small, artifacttest.PNG1)) }, map[string]int{"PUT": 2}},
		{"stat", func() { _, _ = s.Stat(t.Context(), small) }, map[string]int{"HEAD": 1}},
		{"open and seek", func() {
			_, r, _ = s.Open(t.Context(), big)
			_, _ = r.Seek(0, io.SeekEnd)
			_, _ = r.Seek(10<<20, io.SeekStart)
		}, map[string]int{"HEAD": 1}},
		{"read 100 bytes", func() { _, _ = io.ReadFull(r, make([]byte, 100)) }, map[string]int{"GET": 1}},
		{"read all", func() { artifacttest.MustOpen(t, s, big) }, map[string]int{"HEAD": 1, "GET": 5}},
		{"first sweep", sweep(0), map[string]int{"GET": 3}},
		{"sweep of an hour", sweep(59 * time.Minute), map[string]int{"GET": 1}},
		{"sweep of two that are due", sweep(time.Hour), map[string]int{"GET": 3, "HEAD": 2, "DELETE": 4}},
	} {
		proxy.Set(nil)
		step.run()
		got := map[string]int{}
		for _, request := range proxy.Requests() {
			method, _, _ := strings.Cut(request, " ")
			got[method]++
		}
		if diff := cmp.Diff(step.want, got); diff != "" {
			t.Errorf("%s: requests (-want +got):\n%s%q", step.name, diff, proxy.Requests())
		}
	}
}

// TestSweepOfMany: entries without objects, and foreign ones, don't hold a sweep up, which goes over as many pages as
// it takes.
func TestSweepOfMany(t *testing.T) {
	t.Parallel()
	server := s3test.Start(t)
	s := open(t, server.Endpoint())
	folder := filepath.Join(server.Folder(), filepath.FromSlash(place(t, "").Prefix), "due")
	if err := os.MkdirAll(folder, 0o700); err != nil {
		t.Fatal(err)
	}
	for range 1100 {
		name := artifacttest.Start.Format("20060102T150405.000Z") + "-" + artifacttest.NewID()
		if err := os.WriteFile(filepath.Join(folder, name), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	kept := artifacttest.MustPut(t, s, artifacttest.Request(artifacttest.NewID(), artifacttest.PNG1)).ID
	if n, err := s.Sweep(t.Context(), artifacttest.Start.Add(time.Minute), 1000); n != 0 || err != nil {
		t.Errorf("%d deleted, %v", n, err)
	}
	if left, err := os.ReadDir(folder); len(left) != 1 || err != nil {
		t.Errorf("%d entries are left, %v", len(left), err)
	}
	if n, err := s.Sweep(t.Context(), artifacttest.Start.Add(time.Hour), 1000); n != 1 || err != nil {
		t.Errorf("%d deleted, %v", n, err)
	}
	if keys, _ := server.Objects(); slices.ContainsFunc(keys, func(key string) bool { return strings.Contains(key, kept) }) {
		t.Error("the object is still there")
	}
}

// TestMemory: an object of 200 MB passes through, both ways, within a few megabytes.
func TestMemory(t *testing.T) {
	const size, most = 200 << 20, 16 << 20
	server := s3test.Start(t)
	s := open(t, server.Endpoint())
	id := artifacttest.NewID()
	r := artifacttest.Request(id, "")
	r.Body, r.Limit = io.MultiReader(strings.NewReader(string(film(32))), io.LimitReader(zeros{}, size-32)), size
	runtime.GC()
	var before runtime.MemStats
	runtime.ReadMemStats(&before)
	ctx, stop := context.WithCancel(t.Context())
	peak := make(chan uint64)
	go func() {
		var now runtime.MemStats
		highest := uint64(0)
		for ctx.Err() == nil {
			runtime.ReadMemStats(&now)
			highest = max(highest, now.HeapInuse)
			time.Sleep(5 * time.Millisecond)
		}
		peak <- highest
	}()
	began := time.Now()
	artifacttest.MustPut(t, s, r)
	put := time.Since(began)
	_, body, err := s.Open(t.Context(), id)
	if err != nil {
		t.Fatal(err)
	}
	n, err := io.Copy(io.Discard, body)
	if n != size || err != nil {
		t.Errorf("read %d, %v", n, err)
	}
	stop()
	grown := int64(<-peak) - int64(before.HeapInuse)
	t.Logf("%d MB: put in %v, read in %v, the heap grew by %.1f MB", size>>20, put, time.Since(began)-put, float64(grown)/(1<<20))
	if grown > most {
		t.Errorf("the heap grew by %d bytes, want at most %d", grown, most)
	}
}

type zeros struct{}

func (zeros) Read(p []byte) (int, error) {
	clear(p)
	return len(p), nil
}
