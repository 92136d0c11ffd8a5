package artifact_test

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"unitask/internal/artifact"
	"unitask/internal/fault"
)

const (
	unreachable = "input.image could not be fetched from a public address"
	cutOff      = "input.image could not be read to its end"
)

// host is a loopback server that counts its requests.
type host struct {
	*httptest.Server
	hits atomic.Int64
}

func newHost(t *testing.T, handler http.HandlerFunc) *host {
	t.Helper()
	h := &host{}
	h.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h.hits.Add(1)
		handler(w, r)
	}))
	t.Cleanup(h.Close)
	return h
}

func (h *host) address() string { return strings.TrimPrefix(h.URL, "http://") }

func text(s string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, s) }
}

// fetch reads a caller's address to its end, with the host allowed by name.
func fetch(t *testing.T, c artifact.FetcherConfig, address string, limit int64) (string, error) {
	t.Helper()
	f, err := artifact.NewFetcher(c)
	if err != nil {
		t.Fatal(err)
	}
	got, err := f.Fetch(t.Context(), artifact.FetchRequest{URL: address, Limit: limit, Source: artifact.FromCaller("input.image")})
	if err != nil {
		return "", err
	}
	defer func() { _ = got.Close() }()
	b, err := io.ReadAll(got)
	return string(b), err
}

func TestFetch(t *testing.T) {
	h := newHost(t, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "image/png")
		_, _ = io.WriteString(w, "bytes")
	})
	f, err := artifact.NewFetcher(artifact.FetcherConfig{})
	if err != nil {
		t.Fatal(err)
	}
	got, err := f.Fetch(t.Context(), artifact.FetchRequest{URL: h.URL, Limit: 5, Hosts: []string{h.address()}})
	if err != nil {
		t.Fatal(err)
	}
	body, err := io.ReadAll(got)
	if err != nil || string(body) != "bytes" || got.ContentType != "image/png" || got.Length != 5 {
		t.Errorf("fetched %q, %q, %d, %v", body, got.ContentType, got.Length, err)
	}
	if err := got.Close(); err != nil {
		t.Error(err)
	}
	// The allowance ended with its request.
	if _, err := f.Fetch(t.Context(), artifact.FetchRequest{URL: h.URL, Limit: 5}); err == nil {
		t.Error("a host stayed allowed after the request that allowed it")
	}
	if got := h.hits.Load(); got != 1 {
		t.Errorf("%d requests arrived, want 1", got)
	}
}

// TestFetchSpellings: no way of writing this machine's own address reaches it.
func TestFetchSpellings(t *testing.T) {
	h := newHost(t, text("internal"))
	_, port, _ := strings.Cut(h.address(), ":")
	for _, name := range []string{
		"127.0.0.1", "127.0.0.2", "127.1", "0177.0.0.1", "0x7f.0.0.1", "2130706433", "0x7f000001", "017700000001",
		"localhost", "LOCALHOST", "localhost.", "0.0.0.0", "0", "[::1]", "[::]", "[::ffff:127.0.0.1]",
		"[::ffff:7f00:1]", "[0:0:0:0:0:ffff:7f00:0001]", "[::127.0.0.1]", "[64:ff9b::127.0.0.1]", "[::1%25lo]",
		"127。0。0。1", "①②⑦.0.0.1", "%31%32%37.0.0.1",
	} {
		ctx, cancel := context.WithTimeout(t.Context(), time.Second) // a DNS without a network
		f, err := artifact.NewFetcher(artifact.FetcherConfig{})
		if err != nil {
			t.Fatal(err)
		}
		for _, hosts := range [][]string{nil, {"localhost:1"}} {
			_, err = f.Fetch(ctx, artifact.FetchRequest{URL: "http://" + name + ":" + port, Limit: 100, Hosts: hosts})
			if fault.CodeOf(err) != fault.ProviderUnavailable {
				t.Errorf("%s: %v, want PROVIDER_UNAVAILABLE", name, err)
			}
		}
		cancel()
	}
	if got := h.hits.Load(); got != 0 {
		t.Errorf("%d requests arrived, want none", got)
	}
}

func TestFetchBadAddress(t *testing.T) {
	for address, problem := range map[string]string{
		"":                          "must be an http or https address",
		"file:///etc/passwd":        "must be an http or https address",
		"gopher://host":             "must be an http or https address",
		"//host/path":               "must be an http or https address",
		"http:host":                 "must name a host",
		"http:///path":              "must name a host",
		"http://user@host/":         "must not hold a user or a password",
		"http://user:secret@host/":  "must not hold a user or a password",
		"http://ho st/?sig=secret":  "is not a valid address",
		"http://127.0.0.1:1/?s=sec": "could not be fetched from a public address",
	} {
		_, err := fetch(t, artifact.FetcherConfig{}, address, 10)
		mustBlame(t, err, "input.image "+problem)
		if strings.Contains(err.Error(), "sec") {
			t.Errorf("%q: the error repeats it: %v", address, err)
		}
	}
}

func TestFetchRedirects(t *testing.T) {
	internal := newHost(t, text("internal"))
	var referer atomic.Value
	h := newHost(t, func(w http.ResponseWriter, r *http.Request) {
		referer.Store(r.Referer())
		var left int
		switch _, err := fmt.Sscanf(r.URL.Path, "/hop/%d", &left); {
		case err == nil && left > 0:
			http.Redirect(w, r, fmt.Sprintf("/hop/%d", left-1), http.StatusFound)
		case r.URL.Query().Has("to"):
			http.Redirect(w, r, r.URL.Query().Get("to"), http.StatusTemporaryRedirect)
		default:
			_, _ = io.WriteString(w, "arrived")
		}
	})
	allow := artifact.FetcherConfig{Allow: []string{h.address()}}
	if got, err := fetch(t, allow, h.URL+"/hop/3?sig=secret", 10); err != nil || got != "arrived" {
		t.Errorf("three redirects: %q, %v", got, err)
	}
	if got := referer.Load(); got != "" {
		t.Errorf("the redirect told %q where it came from", got)
	}
	for name, address := range map[string]string{
		"four redirects":     "/hop/4",
		"to a private host":  "/?to=" + url.QueryEscape(internal.URL),
		"to another scheme":  "/?to=" + url.QueryEscape("ftp://"+h.address()),
		"to a password":      "/?to=" + url.QueryEscape("http://user:secret@"+h.address()),
		"to the metadata":    "/?to=" + url.QueryEscape("http://169.254.169.254/latest"),
		"to a wrapped one":   "/?to=" + url.QueryEscape("http://[::ffff:127.0.0.1]"),
		"to the same as 0/8": "/?to=" + url.QueryEscape("http://0.0.0.0"),
	} {
		t.Run(name, func(t *testing.T) {
			_, err := fetch(t, allow, h.URL+address, 10)
			mustBlame(t, err, unreachable)
		})
	}
	if got := internal.hits.Load(); got != 0 {
		t.Errorf("%d requests arrived at the internal host, want none", got)
	}
}

func TestRedirectLeavesTLS(t *testing.T) {
	secure, plain := mustRequest(t, "https://host/"), mustRequest(t, "http://host/")
	if err := artifact.CheckRedirect(plain, []*http.Request{secure}); err == nil {
		t.Error("a redirect from https to http is followed")
	}
	if err := artifact.CheckRedirect(secure, []*http.Request{plain}); err != nil {
		t.Errorf("a redirect from http to https: %v", err)
	}
}

func TestFetchLimits(t *testing.T) {
	zeros := make([]byte, 8<<20)
	var bomb bytes.Buffer
	z := gzip.NewWriter(&bomb)
	_, _ = z.Write(zeros)
	_ = z.Close()
	hang := func(w http.ResponseWriter, r *http.Request, d time.Duration) {
		_ = http.NewResponseController(w).Flush()
		select {
		case <-r.Context().Done():
		case <-time.After(d):
		}
	}
	const short = 100 * time.Millisecond
	tests := []struct {
		name    string
		handler http.HandlerFunc
		config  artifact.FetcherConfig
		want    string // the body
		message string // the error
	}{
		{name: "at the limit", handler: text(strings.Repeat("x", 1024)), want: strings.Repeat("x", 1024)},
		{name: "one byte more", handler: text(strings.Repeat("x", 1025)), message: "input.image is larger than 1 KiB"},
		{name: "gzip bomb", handler: func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Encoding", "gzip")
			_, _ = w.Write(bomb.Bytes())
		}, message: "input.image is larger than 1 KiB"},
		{name: "unasked encoding", handler: func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Encoding", "br")
			_, _ = io.WriteString(w, "x")
		}, message: "input.image is sent in an encoding that was not asked for"},
		{name: "not found", handler: http.NotFound, message: "input.image could not be fetched: its host answered 404"},
		{
			name: "no content", handler: func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusNoContent) },
			message: "input.image could not be fetched: its host answered 204",
		},
		{name: "breaks off", handler: func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Length", "100")
			_, _ = io.WriteString(w, "x")
		}, message: cutOff},
		{name: "endless header", handler: func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("X-Long", strings.Repeat("x", 1<<20))
		}, message: unreachable},
		{
			name: "no header", handler: func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() },
			config: artifact.FetcherConfig{HeaderTimeout: short}, message: unreachable,
		},
		{name: "stalls", handler: func(w http.ResponseWriter, r *http.Request) {
			_, _ = io.WriteString(w, "x")
			hang(w, r, time.Minute)
		}, config: artifact.FetcherConfig{IdleTimeout: short}, message: cutOff},
		{name: "drips", handler: func(w http.ResponseWriter, r *http.Request) {
			for r.Context().Err() == nil {
				_, _ = io.WriteString(w, "x")
				hang(w, r, short/10)
			}
		}, config: artifact.FetcherConfig{IdleTimeout: time.Minute, Timeout: 3 * time.Second}, message: cutOff}, // the header comes within it on a busy machine too
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			h := newHost(t, tt.handler)
			tt.config.Allow = []string{h.address()}
			got, err := fetch(t, tt.config, h.URL, 1024)
			if tt.message != "" {
				mustBlame(t, err, tt.message)
				return
			}
			if err != nil || got != tt.want {
				t.Errorf("fetched %d bytes, %v", len(got), err)
			}
		})
	}
}

// TestFetchWithoutALimit has the greatest limit stand for no limit.
func TestFetchWithoutALimit(t *testing.T) {
	h := newHost(t, text("bytes"))
	got, err := fetch(t, artifact.FetcherConfig{Allow: []string{h.address()}}, h.URL, math.MaxInt64)
	if err != nil || got != "bytes" {
		t.Errorf("fetched %q, %v", got, err)
	}
}

func TestFetchSupplier(t *testing.T) {
	h := newHost(t, http.NotFound)
	f, err := artifact.NewFetcher(artifact.FetcherConfig{Allow: []string{"127.0.0.1"}})
	if err != nil {
		t.Fatal(err)
	}
	_, err = f.Fetch(t.Context(), artifact.FetchRequest{URL: h.URL, Limit: 1, Source: artifact.FromSupplier()})
	got := fault.From(err)
	if got.Code != fault.ProviderUnavailable || strings.Contains(got.Message, "127") || !strings.Contains(err.Error(), "404") {
		t.Errorf("fault %v with message %q, want PROVIDER_UNAVAILABLE with the status for the log alone", got, got.Message)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := f.Fetch(ctx, artifact.FetchRequest{URL: h.URL, Limit: 1}); !errors.Is(err, context.Canceled) {
		t.Errorf("canceled: %v, want context.Canceled inside", err)
	}
}

// mustBlame wants the INVALID_REQUEST about the field, with exactly that message.
func mustRequest(t *testing.T, address string) *http.Request {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, address, nil)
	if err != nil {
		t.Fatal(err)
	}
	return r
}
