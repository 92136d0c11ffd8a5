package s3test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"strconv"
	"sync"
	"testing"
)

// Proxy stands before a server and treats requests as its Fault says.
type Proxy struct {
	URL string

	mu       sync.Mutex
	fault    Fault
	requests []string
}

// Fault answers a request itself, and reports so, or leaves it to the server. Its first argument counts the requests
// since the fault was set, from 1.
type Fault func(n int, w http.ResponseWriter, r *http.Request) bool

// NewProxy starts a proxy that ends with the test.
func NewProxy(t testing.TB, s *Server) *Proxy {
	t.Helper()
	to, err := url.Parse(s.Endpoint())
	if err != nil {
		t.Fatal(err)
	}
	forward := &httputil.ReverseProxy{
		Rewrite: func(r *httputil.ProxyRequest) {
			r.SetURL(to)
			r.Out.Host = r.In.Host // which is signed
		},
		ErrorHandler: func(http.ResponseWriter, *http.Request, error) { panic(http.ErrAbortHandler) },
	}
	p := &Proxy{}
	listener := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		p.mu.Lock()
		p.requests = append(p.requests, r.Method+" "+r.URL.RequestURI())
		n, fault := len(p.requests), p.fault
		p.mu.Unlock()
		if fault == nil || !fault(n, w, r) {
			forward.ServeHTTP(w, r)
		}
	}))
	t.Cleanup(listener.Close)
	p.URL = listener.URL
	return p
}

// Set begins a fault, nil for none, and a new count of requests.
func (p *Proxy) Set(f Fault) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.fault, p.requests = f, nil
}

// Requests returns the method and the address of each request since the last Set.
func (p *Proxy) Requests() []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return append([]string(nil), p.requests...)
}

// Answer is a server's whole answer.
type Answer struct {
	Status int
	Header http.Header
	Body   []byte
}

// Write sends the head of an answer, and the first bytes of its body.
func (a Answer) Write(w http.ResponseWriter, bytes int) {
	for name, values := range a.Header {
		w.Header()[name] = values
	}
	w.WriteHeader(a.Status)
	_, _ = w.Write(a.Body[:bytes])
	_ = http.NewResponseController(w).Flush()
}

// Forward has the server carry out a request and returns its answer.
func Forward(t testing.TB, s *Server, r *http.Request) Answer {
	out, err := http.NewRequestWithContext(r.Context(), r.Method, s.Endpoint()+r.URL.RequestURI(), r.Body)
	if err != nil {
		t.Error(err)
		panic(http.ErrAbortHandler)
	}
	out.Header, out.Host, out.ContentLength = r.Header.Clone(), r.Host, r.ContentLength
	answer, err := http.DefaultTransport.RoundTrip(out)
	if err != nil {
		panic(http.ErrAbortHandler)
	}
	defer func() { _ = answer.Body.Close() }()
	body, err := io.ReadAll(answer.Body)
	if err != nil {
		panic(http.ErrAbortHandler)
	}
	return Answer{answer.StatusCode, answer.Header, body}
}

// Truncate answers with the first bytes of the server's answer alone. An honest head has the length of all of it, so
// that the connection breaks off; the other one has the length of these bytes.
func Truncate(t testing.TB, s *Server, w http.ResponseWriter, r *http.Request, keep int, honest bool) {
	answer := Forward(t, s, r)
	keep = min(keep, len(answer.Body))
	if !honest {
		answer.Header.Set("Content-Length", strconv.Itoa(keep))
	}
	answer.Write(w, keep)
	if honest {
		panic(http.ErrAbortHandler)
	}
}
