package server_test

import (
	"bufio"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"unitask/docs"
	"unitask/internal/api"
	"unitask/internal/artifact"
	"unitask/internal/fault"
	"unitask/internal/server"
	"unitask/internal/sse"
	"unitask/internal/task"
	"unitask/test/fixture"
)

// TestAccept: a stream is sent if it is named and weighs no less than JSON; a request that accepts no known type gets
// JSON.
func TestAccept(t *testing.T) {
	w := newWorld(t, options{})
	id := w.post("to-be-followed", chat("hello")).task(t).ID
	for i, tt := range []struct {
		accept string
		stream bool
	}{
		{"text/event-stream", true},
		{"Text/Event-Stream", true},
		{"text/event-stream, */*", true},
		{"application/json, text/event-stream", true},
		{"text/event-stream;q=0.5, application/json;q=0.4", true},
		{"text/event-stream; q=0.9, application/*;q=0.5, */*;q=1", true},
		{"application/json, text/event-stream;q=0.5", false},
		{"text/event-stream;q=0.1, application/json", false},
		{"text/event-stream;q=0.3, */*;q=0.8", false},
		{"application/*, text/event-stream;level=1;q=0.999", false},
		{"text/event-stream;q=0", false},
		{"text/event-stream;q=NaN", false},
		{"text/html, application/xml;q=0.9", false},
		{"text/*", false},
	} {
		want := "application/json; charset=utf-8"
		if tt.stream {
			want = sse.ContentType
		}
		accept := map[string]string{"Accept": tt.accept}
		for _, got := range []response{
			w.post(fmt.Sprintf("accept-key-%d", i), chat("hello"), with("Accept", tt.accept)),
			w.do(request{path: api.PathTasks + "/" + id, key: w.test, header: accept}),
		} {
			if kind := got.Header.Get("Content-Type"); kind != want || got.StatusCode != 200 {
				t.Errorf("%s %s: %d %s, want %s", got.Request.Method, tt.accept, got.StatusCode, kind, want)
			}
		}
	}
}

// TestContentTypeParameters: parameters of the media type are no reason to refuse a body, but a charset that JSON
// doesn't have is.
func TestContentTypeParameters(t *testing.T) {
	w := newWorld(t, options{})
	for i, kind := range []string{
		"application/json; charset=utf-8", `Application/JSON ; Charset="UTF-8"`, "application/json; odata.metadata=minimal", "application/json; charset=utf-8; version=1",
	} {
		if got := w.post(fmt.Sprintf("media-type-%d", i), chat("hello"), with("Content-Type", kind)); got.StatusCode != 200 {
			t.Errorf("%s: %d %s", kind, got.StatusCode, got.body)
		}
	}
}

// TestQueryStrings: a parameter that a request doesn't have is refused by its name at every path of the document.
func TestQueryStrings(t *testing.T) {
	w := newWorld(t, options{})
	made := w.post("with-an-artifact", image("a fox"), with("Prefer", "wait=20")).task(t)
	path := api.PathTasks + "/" + made.ID
	for _, base := range []request{
		{path: api.PathCapabilities + "?"},
		{path: api.PathTasks + "?"},
		{path: path + "?"},
		{path: path + "/timeline?"},
		{path: path + "/input?"},
		{path: path + "/cancel?", method: http.MethodPost},
		{path: api.PathTasks + "?", method: http.MethodPost},
		{path: made.Output.Images[0].URL + "&"},
		{path: api.PathHealth + "?"},
		{path: api.PathReady + "?"},
		{path: api.PathOpenAPIYAML + "?"},
		{path: api.PathOpenAPIJSON + "?"},
	} {
		for query, field := range map[string]string{"verbose=1": "verbose", "b=1&B=2&b=3": "B", "a%1b=": `"a\x1b"`, "=": `""`} {
			r := base
			r.path, r.key = r.path+query, w.test
			got := w.do(r)
			e := got.error(t).Error
			if got.StatusCode != 400 || e.Code != fault.InvalidRequest || len(e.Details) == 0 || e.Details[0].Field != field {
				t.Errorf("%s %s%s: %d %s", r.method, base.path, query, got.StatusCode, got.body)
			}
		}
	}
	if got := w.do(request{path: api.PathTasks + "?" + strings.Repeat("x", 5) + "=1&" + manyParameters(), key: w.test}).error(t); len(got.Error.Details) > 20 {
		t.Errorf("%d rows", len(got.Error.Details))
	}
	if got := w.do(request{path: api.PathHealth + "?"}); got.StatusCode != 200 {
		t.Errorf("an empty query string: %d", got.StatusCode)
	}
}

func manyParameters() string {
	var b strings.Builder
	for i := range 500 {
		fmt.Fprintf(&b, "p%d=1&", i)
	}
	return b.String()
}

// TestForeignBodies: a body made for another API gets the members to use instead, one row a field.
func TestForeignBodies(t *testing.T) {
	w := newWorld(t, options{})
	for i, tt := range []struct{ body, field, message string }{
		{`{"model":"m","messages":[{"role":"user","content":"a"}]}`, "messages", "is not a known member; use input.messages"},
		{`{"capability":"text.chat","input":{"prompt":"a"},"max_tokens":5}`, "max_tokens", "is not a known member; use parameters.max_output_tokens"},
		{`{"capability":"text.chat","input":{"prompt":"a"},"parameters":{"max_tokens":5}}`, "parameters.max_tokens", "is not a known member; use parameters.max_output_tokens"},
		{`{"capability":"text.chat","input":{"prompt":""}}`, "input.prompt", "must not be blank"},
		{
			`{"capability":"text.chat","input":{"messages":[{"role":"developer","content":"a"}]}}`, "input.messages.0.role",
			"must be one of user, assistant, system, tool; put what the model is to be into input.system",
		},
	} {
		got := w.post(fmt.Sprintf("foreign-body-%d", i), tt.body)
		rows := map[string]string{}
		for _, d := range got.error(t).Error.Details {
			if _, twice := rows[d.Field]; twice {
				t.Errorf("%s: two rows for %s", tt.body, d.Field)
			}
			rows[d.Field] = d.Message
		}
		if got.StatusCode != 400 || rows[tt.field] != tt.message {
			t.Errorf("%s: %d %s", tt.body, got.StatusCode, got.body)
		}
	}
}

// TestRoot: a browser that opens the address of the service finds the pages; a client gets 404.
func TestRoot(t *testing.T) {
	const browser = "text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,image/webp,*/*;q=0.8"
	w := newWorld(t, options{})
	w.client.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	ask := func(method, accept string) (int, string) {
		got := w.do(request{method: method, path: "/", header: map[string]string{"Accept": accept}})
		return got.StatusCode, got.Header.Get("Location")
	}
	for _, method := range []string{http.MethodGet, http.MethodHead} {
		if status, to := ask(method, browser); status != http.StatusSeeOther || to != "/console/" {
			t.Errorf("%s by a browser: %d %q", method, status, to)
		}
	}
	for _, accept := range []string{"", "*/*", "application/json", "text/html;q=0.1, application/json"} {
		if status, to := ask(http.MethodGet, accept); status != 404 || to != "" {
			t.Errorf("%q: %d %q", accept, status, to)
		}
	}
	if status, _ := ask(http.MethodPost, browser); status != 404 {
		t.Errorf("POST: %d", status)
	}
	without := fixture.Must(server.New(server.Config{
		Gateway: w.Gateway, Gate: w.Gate, Artifacts: fixture.Must(artifact.NewFolder(artifact.FolderConfig{Dir: t.TempDir()}))(t),
		Signer: w.Signer, BaseURL: w.base,
	}))(t)
	for _, path := range []string{"/", "/favicon.ico"} {
		r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, path, nil)
		r.Header.Set("Accept", browser)
		got := httptest.NewRecorder()
		if without.ServeHTTP(got, r); got.Code != 404 {
			t.Errorf("%s without pages: %d", path, got.Code)
		}
	}
}

// TestBeforeAnyHandler: requests that net/http refuses are answered without an id, as the documents say.
func TestBeforeAnyHandler(t *testing.T) {
	w := newWorld(t, options{})
	post := "POST " + api.PathTasks + " HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer " + w.test + "\r\nContent-Type: application/json\r\nIdempotency-Key: 12345678\r\n"
	for _, tt := range []struct {
		said   string
		status int
	}{
		{post + "Expect: the-unexpected\r\nContent-Length: 2\r\n\r\n{}", http.StatusExpectationFailed},
		{post + "Transfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n", http.StatusNotImplemented},
	} {
		conn := fixture.Must((&net.Dialer{}).DialContext(t.Context(), "tcp", strings.TrimPrefix(w.base, "http://")))(t)
		_ = conn.SetDeadline(time.Now().Add(20 * time.Second))
		_ = fixture.Must(conn.Write([]byte(tt.said)))(t)
		got, err := http.ReadResponse(bufio.NewReader(conn), nil)
		if err != nil {
			t.Fatal(err)
		}
		_ = got.Body.Close()
		_ = conn.Close()
		if got.StatusCode != tt.status || got.Header.Get(api.HeaderRequestID) != "" {
			t.Errorf("%d %v, want %d without an id", got.StatusCode, got.Header, tt.status)
		}
		if said := fmt.Sprintf("%d", tt.status); !strings.Contains(string(docs.OpenAPI), said) {
			t.Errorf("the document doesn't say %s", said)
		}
	}
	if list := decode[api.TaskList](t, w.do(request{path: api.PathTasks, key: w.test})); len(list.Data) != 0 {
		t.Errorf("a refused request made %d tasks", len(list.Data))
	}
}

// TestArtifactConditions reads an artifact under the conditions and ranges of RFC 9110.
func TestArtifactConditions(t *testing.T) {
	w := newWorld(t, options{})
	url := w.post("a picture", image("a red fox"), with("Prefer", "wait=20")).task(t).Output.Images[0].URL
	whole := w.do(request{path: url})
	tag, size := whole.Header.Get("ETag"), len(whole.body)
	const past, future = "Mon, 01 Jan 2001 00:00:00 GMT", "Fri, 01 Jan 2100 00:00:00 GMT"
	type answer struct {
		Status int
		Bytes  int // -1 if they don't count
		Range  string
	}
	all, none := answer{200, size, ""}, answer{416, -1, fmt.Sprintf("bytes */%d", size)}
	part := func(from, to int) answer {
		return answer{206, to - from + 1, fmt.Sprintf("bytes %d-%d/%d", from, to, size)}
	}
	for _, tt := range []struct {
		name   string
		header map[string]string
		want   answer
	}{
		{"a match", map[string]string{"If-Match": tag}, all},
		{"any match", map[string]string{"If-Match": "*"}, all},
		{"no match", map[string]string{"If-Match": `"another"`}, answer{412, -1, ""}},
		{"a weak match", map[string]string{"If-Match": "W/" + tag}, answer{412, -1, ""}},
		{"unmodified", map[string]string{"If-Unmodified-Since": future}, all},
		{"modified", map[string]string{"If-Unmodified-Since": past}, answer{412, -1, ""}},
		{"a match goes before a time", map[string]string{"If-Match": tag, "If-Unmodified-Since": past}, all},
		{"no match with a range", map[string]string{"If-Match": `"another"`, "Range": "bytes=0-1"}, answer{412, -1, ""}},
		{"not modified", map[string]string{"If-Modified-Since": future}, answer{304, 0, ""}},
		{"a range", map[string]string{"Range": "bytes=1-3"}, part(1, 3)},
		{"a range in capitals", map[string]string{"Range": "Bytes=1-3"}, part(1, 3)},
		{"an open range", map[string]string{"Range": "bytes=5-"}, part(5, size-1)},
		{"a suffix", map[string]string{"Range": "bytes=-4"}, part(size-4, size-1)},
		{"a suffix of all", map[string]string{"Range": "bytes=-99999999"}, part(0, size-1)},
		{"a suffix of nothing", map[string]string{"Range": "bytes=-0"}, none},
		{"a longer suffix of nothing", map[string]string{"Range": "bytes= -000"}, none},
		{"outside", map[string]string{"Range": "bytes=99999999-"}, none},
		{"another unit", map[string]string{"Range": "items=0-1"}, all},
		{"no unit", map[string]string{"Range": "0-1"}, all},
		{"two ranges", map[string]string{"Range": "bytes=0-1,3-4"}, all},
		{"If-Range that holds", map[string]string{"Range": "bytes=1-3", "If-Range": tag}, part(1, 3)},
		{"If-Range that doesn't", map[string]string{"Range": "bytes=1-3", "If-Range": `"another"`}, all},
	} {
		got := w.do(request{path: url, header: tt.header})
		had := answer{got.StatusCode, len(got.body), got.Header.Get("Content-Range")}
		if had.Status >= 400 {
			had.Bytes = -1
			if e := got.error(t).Error; e.Code != fault.InvalidRequest || len(e.Details) != 1 || tt.header[e.Details[0].Field] == "" {
				t.Errorf("%s: %s", tt.name, got.body)
			}
		}
		if diff := cmp.Diff(tt.want, had); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tt.name, diff)
		}
	}
	for value, want := range map[string]int{"bytes=0-1": 200, "bytes=99999999-": 200} {
		if got := w.do(request{method: http.MethodHead, path: url, header: map[string]string{"Range": value}}); got.StatusCode != want || got.ContentLength != int64(size) {
			t.Errorf("HEAD with %s: %d, %d bytes", value, got.StatusCode, got.ContentLength)
		}
	}
	if got := w.do(request{method: http.MethodHead, path: url, header: map[string]string{"If-Match": `"x"`}}); got.StatusCode != 412 {
		t.Errorf("HEAD without a match: %d", got.StatusCode)
	}
	if got := w.do(request{path: api.PathArtifacts + task.NewID(task.PrefixArtifact, time.Now()) + "?exp=1&sig=x&more=1"}); got.StatusCode != 404 {
		t.Errorf("an unknown artifact with a foreign parameter: %d", got.StatusCode)
	}
}
