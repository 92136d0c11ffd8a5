package client_test

import (
	"io"
	"log/slog"
	"net"
	"net/http"
	"sync"
	"testing"
	"time"

	"unitask/internal/client/clienttest"

	"unitask/client"
	"unitask/internal/api"
	"unitask/internal/artifact"
	"unitask/internal/catalog"
	"unitask/internal/node"
	"unitask/internal/routing"
	"unitask/internal/store/memstore"
	"unitask/internal/supplier"
	"unitask/internal/supplier/sandbox"
	"unitask/internal/task"
	"unitask/test/fixture"
)

// overlay adds a capability that this package has no types of.
const overlay = `capabilities:
  - name: text.shout
    title: Shout
    description: Says a text louder.
    modality: text
    mode: sync
    deadline: 1m
    input: {type: object, properties: {text: {type: string}}, required: [text], additionalProperties: false}
    parameters: {type: object, properties: {}, additionalProperties: false}
    output: {type: object, properties: {text: {type: string}}, required: [text], additionalProperties: false}
    example: {capability: text.shout, input: {text: hello}}
`

// service is the whole service on a socket, with the sandbox behind it.
type service struct {
	url, key string
}

func newService(t *testing.T) service {
	t.Helper()
	directory := fixture.Must(catalog.Load([]byte(overlay)))(t)
	kind := sandbox.Kind()
	adapter := fixture.Must(kind.New(supplier.Config{Name: sandbox.Cheap, Options: map[string]string{"speed": "0"}}))(t)
	var routes []routing.Route
	for name := range directory.Names() {
		routes = append(routes, routing.Route{
			Capability: name, Supplier: sandbox.Cheap, Model: sandbox.Cheap, Mode: task.Test, Approved: true, Kind: kind, Adapter: adapter,
			Price: task.Price{Unit: task.PerMillionTokens, Input: task.USD, Output: task.USD},
		})
	}
	ln := fixture.Must((&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0"))(t)
	made := service{url: "http://" + ln.Addr().String()}
	s := fixture.Must(node.NewService(t.Context(), memstore.New(time.Now), node.ServiceConfig{
		Parts: node.Parts{
			Catalog: directory, Suppliers: node.Suppliers{Routes: routes}, KeyPrefix: "svc", Logger: slog.New(slog.DiscardHandler),
			Artifacts: fixture.Must(artifact.NewFolder(artifact.FolderConfig{Dir: t.TempDir()}))(t),
			Fetcher:   fixture.Must(artifact.NewFetcher(artifact.FetcherConfig{}))(t),
		},
		BaseURL: made.url, BodyFolder: t.TempDir(),
	}))(t)
	s.Gateway.Start()
	fixture.Serve(t, ln, s.API.Serve, s.Shutdown)
	made.key = fixture.Must(s.Operator.CreateKey(t.Context(), api.KeyCreate{Name: "tests", Mode: task.Test}))(t).Secret
	return made
}

// client returns a client whose connections fail as broken says; nil is a sound network.
func (s service) client(t *testing.T, broken trouble, options ...client.Option) *client.Client {
	t.Helper()
	transport := &http.Transport{}
	t.Cleanup(transport.CloseIdleConnections)
	over := http.RoundTripper(transport)
	if broken != nil {
		over = clienttest.RoundTripper(func(r *http.Request) (*http.Response, error) { return broken(r, transport.RoundTrip) })
	}
	options = append(options, client.WithHTTPClient(&http.Client{Transport: over}))
	return fixture.Must(client.New(s.url, s.key, options...))(t)
}

// tasks counts the account's tasks.
func (s service) tasks(t *testing.T) int {
	t.Helper()
	n := 0
	for _, err := range s.client(t, nil).List(t.Context(), client.ListOptions{}) {
		if err != nil {
			t.Fatal(err)
		}
		n++
	}
	return n
}

// send makes a request for real.
type send func(*http.Request) (*http.Response, error)

// trouble makes a request in its own way.
type trouble func(*http.Request, send) (*http.Response, error)

// lost has the service do a request, and loses its answer.
func lost(r *http.Request, do send) (*http.Response, error) {
	resp, err := do(r)
	if err != nil {
		return nil, err
	}
	_, _ = io.Copy(io.Discard, resp.Body)
	_ = resp.Body.Close()
	return nil, io.ErrUnexpectedEOF
}

// cut returns the answer with a body that breaks off after n bytes.
func cut(n int64) trouble {
	return func(r *http.Request, do send) (*http.Response, error) {
		resp, err := do(r)
		if err == nil {
			resp.Body = &short{ReadCloser: resp.Body, left: n}
		}
		return resp, err
	}
}

type short struct {
	io.ReadCloser
	left int64
}

func (s *short) Read(b []byte) (int, error) {
	if s.left == 0 {
		return 0, io.ErrUnexpectedEOF
	}
	n, err := s.ReadCloser.Read(b[:min(int64(len(b)), s.left)])
	s.left -= int64(n)
	return n, err
}

// refused answers as a service does that can't take the request now.
func refused(status int, body string) trouble {
	return func(*http.Request, send) (*http.Response, error) {
		return answered(func(w http.ResponseWriter) {
			w.Header().Set("Retry-After", "1")
			w.WriteHeader(status)
			_, _ = io.WriteString(w, body)
		}), nil
	}
}

// first lets the faults happen to the first requests that match, one each, and keeps the keys of all creations.
type first struct {
	method string
	faults []trouble

	mu     sync.Mutex
	keys   []string
	ranges []string // of all PUTs
}

func (f *first) do(r *http.Request, do send) (*http.Response, error) {
	f.mu.Lock()
	if r.Method == http.MethodPut {
		f.ranges = append(f.ranges, r.Header.Get("Content-Range"))
	}
	if r.Method == http.MethodPost {
		f.keys = append(f.keys, r.Header.Get(api.HeaderIdempotencyKey))
	}
	var broken trouble
	if r.Method == f.method && len(f.faults) > 0 {
		broken, f.faults = f.faults[0], f.faults[1:]
	}
	f.mu.Unlock()
	if broken != nil {
		return broken(r, do)
	}
	return do(r)
}
