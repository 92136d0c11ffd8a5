package mcp_test

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"unitask/internal/api"
	"unitask/internal/journal"
	"unitask/internal/mcp"
)

// bearing sends the key with each request.
type bearing struct{}

func (bearing) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.Header.Set("Authorization", "Bearer "+key)
	return http.DefaultTransport.RoundTrip(r)
}

// overHTTP is a client connected to a handler's tools, and these; room says whether answers may carry files.
func overHTTP(t *testing.T, f *fake, handler http.Handler, room bool) (*sdk.ClientSession, *mcp.HTTP) {
	t.Helper()
	f.journal = journal.Open(t.TempDir())
	h, err := mcp.NewHTTP(mcp.HTTPConfig{BaseURL: "http://service", Limit: 2 * time.Second})
	if err != nil {
		t.Fatal(err)
	}
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h.Serve(w, r, mcp.Visit{API: handler, Directory: func() []api.Capability { return f.entries }, Room: func(int64) bool { return room }})
	}))
	t.Cleanup(srv.Close)
	c := sdk.NewClient(&sdk.Implementation{Name: "test", Version: "1"}, nil)
	s, err := c.Connect(t.Context(), &sdk.StreamableClientTransport{
		Endpoint: srv.URL, HTTPClient: &http.Client{Transport: bearing{}}, DisableStandaloneSSE: true,
	}, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	return s, h
}

func generate(t *testing.T, s *sdk.ClientSession) *sdk.CallToolResult {
	t.Helper()
	got, err := s.CallTool(t.Context(), &sdk.CallToolParams{Name: "image_generate", Arguments: json.RawMessage(`{"input":{"prompt":"a fox"}}`)})
	if err != nil {
		t.Fatal(err)
	}
	return got
}

// TestHTTPFiles: a file is in the answer if there is room for it, else it is a link; a file elsewhere is a link too, and
// its address isn't called.
func TestHTTPFiles(t *testing.T) {
	called := false
	elsewhere := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { called = true }))
	defer elsewhere.Close()
	for name, tt := range map[string]struct {
		room bool
		url  string // "": the service's own
		want string
	}{
		"room":      {true, "", "image"},
		"no room":   {false, "", "resource_link"},
		"elsewhere": {true, elsewhere.URL, "resource_link"},
	} {
		t.Run(name, func(t *testing.T) {
			f := newFake(t)
			a := f.artifact("image/png", 1000)
			if tt.url != "" {
				a.URL = tt.url
			}
			f.output.Images = []api.Artifact{a}
			session, _ := overHTTP(t, f, http.HandlerFunc(f.serve), tt.room)
			got := generate(t, session)
			raw, err := json.Marshal(got.Content)
			if err != nil || !strings.HasPrefix(string(raw), `[{"type":"`+tt.want+`"`) {
				t.Errorf("%.200s, %v", raw, err)
			}
		})
	}
	if called {
		t.Error("another address is called")
	}
}

// TestHTTPBroken: an answer of the service that breaks off or never comes leaves no call without one.
func TestHTTPBroken(t *testing.T) {
	for name, broken := range map[string]http.HandlerFunc{
		"before it began": func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) },
		"in the middle": func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(http.StatusAccepted)
			_, _ = w.Write([]byte(`{"id":"task_`))
			panic(http.ErrAbortHandler)
		},
		"never": func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() },
		"too late": func(w http.ResponseWriter, r *http.Request) { // the request ends all the same
			<-r.Context().Done()
			time.Sleep(100 * time.Millisecond) // its caller has given up
			w.WriteHeader(http.StatusInternalServerError)
			_, _ = w.Write([]byte(`{}`))
		},
	} {
		t.Run(name, func(t *testing.T) {
			session, _ := overHTTP(t, newFake(t), broken, true)
			got := generate(t, session)
			if !got.IsError || !strings.Contains(text(got), "idempotency_key") {
				t.Errorf("%q", text(got))
			}
		})
	}
}

// TestHTTPEnded: a call that the service ends before it answers doesn't take the call's time for over.
func TestHTTPEnded(t *testing.T) {
	called := make(chan struct{})
	session, h := overHTTP(t, newFake(t), http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		close(called)
		<-r.Context().Done()
	}), true)
	go func() {
		<-called
		h.Close()
	}()
	got := text(generate(t, session))
	if !strings.HasPrefix(got, "ERROR\nthe call was ended before the service answered; ") || !strings.Contains(got, "idempotency_key") {
		t.Errorf("%q", got)
	}
}
