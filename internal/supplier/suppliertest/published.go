package suppliertest

import (
	"bytes"
	"errors"
	"io"
	"io/fs"
	"maps"
	"net/http"
	"net/http/httptest"
	"regexp"
	"slices"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"unitask/internal/supplier"
	"unitask/internal/supplier/openapicheck"
)

// excerpt is the published document of the kind under test, nil without one.
var excerpt = sync.OnceValues(func() (*openapicheck.Document, error) {
	d, err := openapicheck.Load("testdata/openapi.json")
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil //nolint:nilnil // most properties hold without a document too
	}
	return d, err
})

// Held returns a handler that holds each request against the published document in the testdata of the
// package under test, should there be one, before next answers it.
func Held(t testing.TB, next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			return
		}
		hold(t, r, body)
		r.Body = io.NopCloser(bytes.NewReader(body))
		next.ServeHTTP(w, r)
	})
}

// hold is Held for a request whose body has been read.
func hold(t testing.TB, r *http.Request, body []byte) openapicheck.Sent {
	t.Helper()
	d, err := excerpt()
	if err != nil {
		t.Error(err)
	}
	if d == nil {
		return openapicheck.Sent{}
	}
	sent, err := d.Request(r, body)
	if err != nil {
		t.Errorf("not as published: %v", err)
	}
	return sent
}

// Base returns the end of a kind's base URLs.
func Base(k supplier.Kind) string {
	if k.Name == "openai" {
		return "/v1" // the version, which other kinds have in their paths
	}
	return ""
}

// Published says how a kind's exchanges are held against its supplier's published document.
type Published struct {
	Harness Harness
	Others  []Harness          // of the same kind with other options
	More    []supplier.Request // beyond those of the harness and of the directory
	// Other runs the kind's other operations; nil: nothing. The upstream answers it with OtherAnswer.
	Other       func(t *testing.T, a supplier.Adapter)
	OtherAnswer http.Handler
	// Want is all that the kind says, by operation: each operation of the document, and of the members that the
	// document lists each that the adapter can send.
	Want map[string][]string
}

// RunPublished holds requests and answers against the document: the cases of the harness, whole, from the submission
// over the questions to the cancellation, and then a request for each value of each parameter that the directory has
// and the kind doesn't refuse. The recorded members are exactly p.Want.
func RunPublished(t *testing.T, p Published) {
	d, err := excerpt()
	if err != nil || d == nil {
		t.Fatalf("no document: %v", err)
	}
	trimmed, err := d.Trimmed()
	if diff := cmp.Diff(d.Raw(), trimmed); diff != "" || err != nil {
		t.Errorf("the document isn't as trim makes it (-is +trimmed): %v\n%s", err, diff)
	}
	r := &recorder{document: d, said: map[string]map[string]bool{}}
	for _, request := range p.More {
		r.submit(t, p.Harness, request)
	}
	for _, h := range append([]Harness{p.Harness}, p.Others...) {
		for _, c := range h.Cases {
			r.runCase(t, h, c)
		}
		for _, request := range variants(t, h) {
			r.submit(t, h, request)
		}
	}
	if p.Harness.Abilities.Probe {
		if _, err := r.adapter(t, p.Harness, p.Harness.Upstream.Probe).(supplier.Prober).Probe(t.Context()); err != nil {
			t.Errorf("probe: %v", err)
		}
	}
	if p.Other != nil {
		p.Other(t, r.adapter(t, p.Harness, p.OtherAnswer))
	}
	r.compare(t, p.Want)
}

// recorder is an upstream that validates exchanges by a document and gathers their members.
type recorder struct {
	document *openapicheck.Document

	mu   sync.Mutex
	said map[string]map[string]bool // members, by operation
}

// adapter returns an adapter whose exchanges are held against the document, answers of success included.
func (r *recorder) adapter(t *testing.T, h Harness, answer http.Handler) supplier.Adapter {
	t.Helper()
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		body, err := io.ReadAll(req.Body)
		if err != nil {
			t.Error(err)
		}
		sent := hold(t, req, body)
		r.note(sent)
		answered := httptest.NewRecorder()
		answer.ServeHTTP(answered, req)
		if kind := answered.Header().Get("Content-Type"); answered.Code < 300 && sent.Operation != "" {
			if err := r.document.Answer(sent.Operation, answered.Code, kind, answered.Body.Bytes()); err != nil {
				t.Errorf("the fake's answer isn't as published: %v", err)
			}
		}
		maps.Copy(w.Header(), answered.Header())
		w.WriteHeader(answered.Code)
		_, _ = w.Write(answered.Body.Bytes())
	}))
	t.Cleanup(srv.Close)
	return newAdapter(t, h, srv.URL, fixedKey)
}

// withoutSchema cuts the name of a member within a caller's JSON Schema.
var withoutSchema = regexp.MustCompile(`^(.*(\.schema|JsonSchema))\..*`)

func (r *recorder) note(sent openapicheck.Sent) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.said[sent.Operation] == nil {
		r.said[sent.Operation] = map[string]bool{}
	}
	for _, member := range sent.Members {
		r.said[sent.Operation][withoutSchema.ReplaceAllString(member, "$1")] = true
	}
}

// compare checks that each operation was called, and its members.
func (r *recorder) compare(t *testing.T, want map[string][]string) {
	t.Helper()
	got := map[string][]string{}
	for name, members := range r.said {
		got[name] = slices.Sorted(maps.Keys(members))
	}
	for _, name := range r.document.Operations() {
		if r.said[name] == nil {
			t.Errorf("%s was never asked for", name)
		}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("said (-want +got):\n%s", diff)
	}
}

// runCase follows a case to its end, streams it, and cancels its job.
func (r *recorder) runCase(t *testing.T, h Harness, c Case) {
	t.Helper()
	a := r.adapter(t, h, c.Answer)
	out := submit(t, a, c)
	checkResult(t, c, finish(t, h, a, out))
	if canceler, ok := a.(supplier.Canceler); ok && out.Job != nil {
		if err := canceler.Cancel(t.Context(), *out.Job); err != nil {
			t.Errorf("cancel: %v", err)
		}
	}
	if c.Stream != nil {
		testStream(t, r.adapter(t, h, c.Stream), c)
	}
}

// submit sends a request, unless the kind refuses it, to an upstream that has no room: only the request matters.
func (r *recorder) submit(t *testing.T, h Harness, request supplier.Request) {
	t.Helper()
	a := r.adapter(t, h, http.HandlerFunc(denounce(http.StatusServiceUnavailable)))
	if supplier.Refuses(h.Kind, a, request) != "" {
		return
	}
	if _, err := a.Submit(t.Context(), request); supplier.AsError(err).Status != http.StatusServiceUnavailable {
		t.Errorf("%s %s: %v", request.Capability, request.Parameters, err)
	}
}
