package upstream_test

import (
	"context"
	"encoding/base64"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/http/httptrace"
	"os"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"unitask/internal/fault"
	"unitask/internal/supplier"
	"unitask/internal/supplier/upstream"
)

// TestMain names a proxy in the environment, which net/http reads once. Loopback addresses are
// exempt, so that only TestProxy would meet it.
func TestMain(m *testing.M) {
	dir, err := os.MkdirTemp("", "upstream-")
	if err != nil {
		panic(err)
	}
	if err := errors.Join(trust(dir), os.Setenv("HTTP_PROXY", "http://environment.example:1")); err != nil {
		panic(err)
	}
	code := m.Run()
	_ = os.RemoveAll(dir)
	os.Exit(code)
}

func newClient(t *testing.T, c upstream.Config) *upstream.Client {
	t.Helper()
	client, err := upstream.New(c)
	if err != nil {
		t.Fatal(err)
	}
	return client
}

// outcome is the part of an error that the tests compare.
type outcome struct {
	Code   fault.Code
	Sent   supplier.Sent
	Status int
}

func outcomeOf(err error) outcome {
	if err == nil {
		return outcome{}
	}
	e := supplier.AsError(err)
	return outcome{Code: e.Fault.Code, Sent: e.Sent, Status: e.Status}
}

func TestNew(t *testing.T) {
	tests := []struct {
		name string
		in   upstream.Config
		want string
	}{
		{"none", upstream.Config{}, "base_url is required"},
		{"no scheme", upstream.Config{BaseURL: "api.example.com/v1"}, "base_url must begin with http:// or https://"},
		{"scheme", upstream.Config{BaseURL: "ftp://example.com"}, "base_url must begin with http:// or https://"},
		{"opaque", upstream.Config{BaseURL: "http:example.com"}, "base_url is no URL"},
		{"malformed", upstream.Config{BaseURL: "http://exa mple.com"}, "base_url is no URL"},
		{"no host", upstream.Config{BaseURL: "https:///v1"}, "base_url has no host"},
		{"user", upstream.Config{BaseURL: "https://key@example.com"}, "base_url must have no user, query or fragment"},
		{"query", upstream.Config{BaseURL: "https://example.com/?key=x"}, "base_url must have no user, query or fragment"},
		{"timeout", upstream.Config{BaseURL: "https://example.com", Timeout: -1}, "timeout is negative"},
		{"proxy", upstream.Config{BaseURL: "https://example.com", Proxy: "ftp://p"}, "proxy must begin with http://, https:// or socks5://"},
		{"proxy host", upstream.Config{BaseURL: "https://example.com", Proxy: "p"}, "proxy is no URL"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, err := upstream.New(tt.in)
			if err == nil || err.Error() != tt.want {
				t.Errorf("got %v, want %q", err, tt.want)
			}
		})
	}
}

func TestDo(t *testing.T) {
	type seen struct {
		Method, URI, Body string
		Header            map[string]string
	}
	var got seen
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		got = seen{r.Method, r.RequestURI, string(body), map[string]string{}}
		for _, name := range []string{"Authorization", "Content-Type", "User-Agent", "X-More", "Idempotency-Key"} {
			if v := r.Header.Get(name); v != "" {
				got.Header[name] = v
			}
		}
		w.WriteHeader(http.StatusCreated)
		_, _ = io.WriteString(w, "done")
	}))
	defer srv.Close()
	c := newClient(t, upstream.Config{BaseURL: srv.URL + "/v1/", APIKey: func() (string, error) { return "k", nil }})
	answer, err := c.Do(t.Context(), upstream.Call{Path: "/x?a=b", Body: []byte(`{}`), Header: http.Header{"x-more": {"1"}}})
	if err != nil {
		t.Fatal(err)
	}
	if answer.Status != http.StatusCreated || string(answer.Body) != "done" || !answer.OK() {
		t.Errorf("answer %+v", answer)
	}
	want := seen{"POST", "/v1/x?a=b", "{}", map[string]string{
		"Authorization": "Bearer k", "Content-Type": "application/json", "User-Agent": "unitask", "X-More": "1",
	}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("request (-want +got):\n%s", diff)
	}
}

// sendTwice sends a call twice, of which the server breaks the second one off on a reused connection.
func sendTwice(t *testing.T, ctx context.Context, config upstream.Config) error {
	t.Helper()
	c, dials := counted(t, config)
	call := upstream.Call{Path: "/", Body: []byte(`{}`), Header: http.Header{"Idempotency-Key": {"task_0/1"}}}
	if _, err := c.Do(ctx, call); err != nil {
		return err
	}
	_, err := c.Do(ctx, call)
	httptrace.ContextClientTrace(ctx).GotConn(httptrace.GotConnInfo{Reused: dials.Load() == 1})
	want := outcome{Code: fault.ProviderUnavailable, Sent: supplier.Unknown}
	if diff := cmp.Diff(want, outcomeOf(err)); diff != "" {
		t.Errorf("outcome (-want +got):\n%s", diff)
	}
	return nil
}

// TestNeverReplayed kills a reused connection once it has brought a whole request that carries an
// Idempotency-Key. The control shows that net/http left to itself does send it again.
func TestNeverReplayed(t *testing.T) {
	tests := []struct {
		name string
		send func(t *testing.T, ctx context.Context, url string) error
		want int64
	}{
		{"client", func(t *testing.T, ctx context.Context, url string) error {
			return sendTwice(t, ctx, upstream.Config{BaseURL: url})
		}, 2},
		{"client, standard transport", func(t *testing.T, ctx context.Context, url string) error {
			return sendTwice(t, ctx, upstream.Config{BaseURL: url, Standard: true})
		}, 2},
		{"control", func(t *testing.T, ctx context.Context, url string) error {
			var plain http.Client
			defer plain.CloseIdleConnections()
			for range 2 {
				req, err := http.NewRequestWithContext(ctx, http.MethodPost, url, strings.NewReader(`{}`))
				if err != nil {
					return err
				}
				req.Header.Set("Idempotency-Key", "task_0/1")
				resp, err := plain.Do(req)
				if err != nil {
					return err
				}
				_, _ = io.Copy(io.Discard, resp.Body)
				_ = resp.Body.Close()
			}
			return nil
		}, 3},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var n atomic.Int64
			srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				_, _ = io.ReadAll(r.Body)
				if n.Add(1) == 2 {
					panic(http.ErrAbortHandler)
				}
			}))
			defer srv.Close()
			var reused atomic.Bool
			ctx := httptrace.WithClientTrace(t.Context(), &httptrace.ClientTrace{
				GotConn: func(i httptrace.GotConnInfo) { reused.Store(reused.Load() || i.Reused) },
			})
			if err := tt.send(t, ctx, srv.URL); err != nil {
				t.Fatal(err)
			}
			if !reused.Load() {
				t.Error("no connection was reused, so nothing was tried")
			}
			if got := n.Load(); got != tt.want {
				t.Errorf("submissions: got %d, want %d", got, tt.want)
			}
		})
	}
}

func TestLimit(t *testing.T) {
	body := strings.Repeat("x", 1000)
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/refused" {
			w.WriteHeader(http.StatusBadRequest)
		}
		_, _ = io.WriteString(w, body)
	}))
	defer srv.Close()
	c := newClient(t, upstream.Config{BaseURL: srv.URL})
	tests := []struct {
		name, path string
		limit      int64
		wantBytes  int
		want       outcome
	}{
		{"at the limit", "/", 1000, 1000, outcome{}},
		{"above it", "/", 999, 0, outcome{Code: fault.ProviderUnavailable, Sent: supplier.Unknown, Status: 200}},
		{"a refusal is cut", "/refused", 999, 999, outcome{}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			answer, err := c.Do(t.Context(), upstream.Call{Path: tt.path, Limit: tt.limit})
			if diff := cmp.Diff(tt.want, outcomeOf(err)); diff != "" {
				t.Errorf("outcome (-want +got):\n%s", diff)
			}
			if len(answer.Body) != tt.wantBytes {
				t.Errorf("bytes: got %d, want %d", len(answer.Body), tt.wantBytes)
			}
		})
	}
}

func TestKey(t *testing.T) {
	srv := httptest.NewServer(http.NotFoundHandler())
	defer srv.Close()
	for name, key := range map[string]string{
		"empty": "", "line break": "secret\nkey", "space": "secret key", "not ascii": "secretä", "too long": strings.Repeat("secret", 2000),
	} {
		t.Run(name, func(t *testing.T) {
			c := newClient(t, upstream.Config{BaseURL: srv.URL, APIKey: func() (string, error) { return key, nil }})
			_, err := c.Do(t.Context(), upstream.Call{Path: "/"})
			e := supplier.AsError(err)
			if e == nil || e.Sent != supplier.NotSent || !e.Operator || e.Fault.Code != fault.ProviderUnavailable {
				t.Fatalf("error %+v", e)
			}
			if key != "" && strings.Contains(err.Error(), key) {
				t.Errorf("error %q shows the key", err)
			}
		})
	}
}

func TestUntrustedCertificate(t *testing.T) {
	srv := httptest.NewUnstartedServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {
		t.Error("the request was sent")
	}))
	srv.Config.ErrorLog = quiet()
	srv.StartTLS()
	defer srv.Close()
	_, err := newClient(t, upstream.Config{BaseURL: srv.URL}).Do(t.Context(), upstream.Call{Path: "/", Body: []byte("{}")})
	want := outcome{Code: fault.ProviderUnavailable, Sent: supplier.NotSent}
	if diff := cmp.Diff(want, outcomeOf(err)); diff != "" {
		t.Errorf("outcome (-want +got):\n%s", diff)
	}
}

// TestProxy shows that only a configured proxy is used, not the environment's.
func TestProxy(t *testing.T) {
	errDialled := errors.New("dialled")
	for _, tt := range []struct{ name, proxy, want string }{
		{"none", "", "supplier.example:80"},
		{"configured", "http://proxy.example:3128", "proxy.example:3128"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var got string
			c := newClient(t, upstream.Config{
				BaseURL: "http://supplier.example", Proxy: tt.proxy,
				Dial: func(_ context.Context, _, address string) (net.Conn, error) {
					got = address
					return nil, errDialled
				},
			})
			_, err := c.Do(t.Context(), upstream.Call{Path: "/"})
			if e := supplier.AsError(err); e == nil || e.Sent != supplier.NotSent {
				t.Errorf("error %v", err)
			}
			if got != tt.want {
				t.Errorf("dialled %s, want %s", got, tt.want)
			}
		})
	}
}

// TestProxyPassword: the password comes from its function at each use, and no error repeats an address's content.
func TestProxyPassword(t *testing.T) {
	var asked string
	proxy := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked = r.Header.Get("Proxy-Authorization")
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, "{}")
	}))
	t.Cleanup(proxy.Close)
	for _, want := range []string{"one", "two"} {
		c := newClient(t, upstream.Config{
			BaseURL: "http://supplier.example", Proxy: strings.Replace(proxy.URL, "://", "://ann@", 1),
			ProxyPassword: func() (string, error) { return want, nil },
		})
		if _, err := c.Do(t.Context(), upstream.Call{Path: "/"}); err != nil {
			t.Fatal(err)
		}
		if basic := "Basic " + base64.StdEncoding.EncodeToString([]byte("ann:"+want)); asked != basic {
			t.Errorf("the proxy got %q, want %q", asked, basic)
		}
	}
	_, err := upstream.New(upstream.Config{BaseURL: "http://supplier.example", Proxy: "http://ann:hunter2@p:1"})
	if err == nil || strings.Contains(err.Error(), "hunter2") {
		t.Errorf("an address with a password: got %v, want a refusal that doesn't repeat it", err)
	}
}

// TestEachCallIsItsOwn: the shared header of requests stays as it is, whatever another call adds.
func TestEachCallIsItsOwn(t *testing.T) {
	type seen struct{ Method, URL, Type, Agent, Extra, Body string }
	requests := make(chan seen, 1)
	server := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		requests <- seen{r.Method, r.URL.String(), r.Header.Get("Content-Type"), r.UserAgent(), r.Header.Get("X-Extra"), string(body)}
	}))
	t.Cleanup(server.Close)
	client := newClient(t, upstream.Config{BaseURL: server.URL + "/v1"})
	for _, tt := range []struct {
		call upstream.Call
		want seen
	}{
		{upstream.Call{Path: "/a", Body: []byte("{}")}, seen{"POST", "/v1/a", "application/json", "unitask", "", "{}"}},
		{
			upstream.Call{Path: "/b?c=d%2Fe", Body: []byte("form"), Header: http.Header{"Content-Type": {"text/plain"}, "x-extra": {"1"}}},
			seen{"POST", "/v1/b?c=d%2Fe", "text/plain", "unitask", "1", "form"},
		},
		{upstream.Call{Path: "/a", Method: http.MethodGet}, seen{"GET", "/v1/a", "", "unitask", "", ""}},
		{upstream.Call{Path: "/a", Body: []byte("[]")}, seen{"POST", "/v1/a", "application/json", "unitask", "", "[]"}},
		{upstream.Call{Path: "/a%2Fb", Body: []byte{}}, seen{"POST", "/v1/a%2Fb", "application/json", "unitask", "", ""}},
	} {
		if _, err := client.Do(t.Context(), tt.call); err != nil {
			t.Fatal(err)
		}
		if got := <-requests; got != tt.want {
			t.Errorf("got %+v, want %+v", got, tt.want)
		}
	}
}

func TestPathNeedsItsSlash(t *testing.T) {
	c := newClient(t, upstream.Config{BaseURL: "http://supplier.example", Timeout: time.Second})
	_, err := c.Do(t.Context(), upstream.Call{Path: "@elsewhere.example/"})
	if diff := cmp.Diff(outcome{Code: fault.Internal, Sent: supplier.NotSent}, outcomeOf(err)); diff != "" {
		t.Errorf("outcome (-want +got):\n%s", diff)
	}
}

// TestHeaderOfEachCall gives each call the key of its moment and the headers of its own, whatever the call before
// it had.
func TestHeaderOfEachCall(t *testing.T) {
	got := make(chan string, 1)
	srv := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		got <- strings.Join([]string{r.Header.Get("Authorization"), r.Header.Get("Content-Type"), r.Header.Get("X-More")}, "|")
	}))
	defer srv.Close()
	key := ""
	c := newClient(t, upstream.Config{BaseURL: srv.URL, APIKey: func() (string, error) { return key, nil }})
	usual := upstream.Call{Path: "/", Body: []byte("{}")}
	special := upstream.Call{Path: "/", Body: []byte("{}"), Header: http.Header{"X-More": {"1"}}}
	bare := upstream.Call{Method: http.MethodGet, Path: "/"}
	for _, step := range []struct {
		key  string
		call upstream.Call
		want string
	}{
		{"one", usual, "Bearer one|application/json|"},
		{"one", usual, "Bearer one|application/json|"},
		{"two", usual, "Bearer two|application/json|"},
		{"two", special, "Bearer two|application/json|1"},
		{"two", bare, "Bearer two||"},
		{"two", usual, "Bearer two|application/json|"},
		{"one", bare, "Bearer one||"},
	} {
		key = step.key
		if _, err := c.Do(t.Context(), step.call); err != nil {
			t.Fatal(err)
		}
		if h := <-got; h != step.want {
			t.Errorf("%s %s went with %q, want %q", step.key, step.call.Method, h, step.want)
		}
	}
}
