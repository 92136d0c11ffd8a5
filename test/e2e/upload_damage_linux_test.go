package e2e_test

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// flipper is a proxy that changes one byte of an upload once, and keeps which parts it was given.
type flipper struct {
	at     int64 // of the byte, among all bytes that come by
	host   *host
	passed atomic.Int64

	mu    sync.Mutex
	parts []string
}

func (f *flipper) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.Method == http.MethodPut {
		f.mu.Lock()
		f.parts = append(f.parts, r.Header.Get("Content-Range"))
		f.mu.Unlock()
		r.Body = struct {
			io.Reader
			io.Closer
		}{&flipped{r.Body, f}, r.Body}
	}
	to, err := url.Parse(f.host.Base)
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadGateway)
		return
	}
	proxy := httputil.NewSingleHostReverseProxy(to)
	proxy.ServeHTTP(w, r)
}

// flipped is a body with the proxy's wrong byte, if it is in it.
type flipped struct {
	io.Reader
	proxy *flipper
}

func (f *flipped) Read(b []byte) (int, error) {
	n, err := f.Reader.Read(b)
	end := f.proxy.passed.Add(int64(n))
	if i := f.proxy.at - (end - int64(n)); i >= 0 && i < int64(n) {
		b[i] ^= 1
	}
	return n, err
}

// TestUploadDamagedOnce sends a file of four parts by the real client, over a proxy that changes one byte of the third:
// that part alone is sent again.
func TestUploadDamagedOnce(t *testing.T) {
	const size = 17 << 20
	h := newHost(t)
	f := &flipper{at: 10 << 20, host: h}
	proxy := httptest.NewServer(f)
	t.Cleanup(proxy.Close)
	h.Config = "base_url: " + proxy.URL + "\n"
	h.start()
	path, _ := bigFile(t, h.Dir, size)
	if out := h.client("upload", path, "--base-url", proxy.URL); out.code != 0 || !strings.HasPrefix(out.stdout, "art_") {
		t.Fatalf("exit %d\n%s%s", out.code, out.stdout, out.stderr)
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	part := func(begin, end int) string { return fmt.Sprintf("bytes %d-%d/%d", begin, end-1, size) }
	want := []string{part(0, 64<<10), part(64<<10, 8<<20), part(8<<20, 16<<20), part(8<<20, 16<<20), part(16<<20, size)}
	if diff := cmp.Diff(want, f.parts); diff != "" || f.passed.Load() != size+8<<20 {
		t.Errorf("%d bytes were sent, parts (-want +got):\n%s", f.passed.Load(), diff)
	}
}
