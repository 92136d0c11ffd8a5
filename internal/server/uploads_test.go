package server_test

import (
	"bufio"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"unitask/internal/api"
	"unitask/internal/artifact/artifacttest"
	"unitask/internal/fault"
	"unitask/internal/gateway"
	"unitask/internal/task"
	"unitask/test/fixture"
)

// picture is a PNG that a task may be about, of more bytes than a small one has.
func picture(t testing.TB) string {
	t.Helper()
	for _, sample := range artifacttest.Samples(t) {
		if sample.Kind == "image/png" {
			return string(sample.Data) + strings.Repeat("\x00", 100_000)
		}
	}
	t.Fatal("no sample")
	return ""
}

func announcement(kind, body string) string {
	sum := sha256.Sum256([]byte(body))
	return fmt.Sprintf(`{"content_type":%q,"bytes":%d,"sha256":%q}`, kind, len(body), hex.EncodeToString(sum[:]))
}

func (w *world) announce(key, body string) response {
	w.t.Helper()
	return w.do(request{method: http.MethodPost, path: api.PathUploads, key: key, body: body, header: map[string]string{"Content-Type": "application/json"}})
}

func (w *world) upload(key, kind, body string) api.Upload {
	w.t.Helper()
	made := w.announce(key, announcement(kind, body))
	if made.StatusCode != http.StatusCreated {
		w.t.Fatalf("%d %s", made.StatusCode, made.body)
	}
	return decode[api.UploadResponse](w.t, made).Upload
}

func (w *world) put(target, body, contentRange string) response {
	w.t.Helper()
	r := request{method: http.MethodPut, path: target, body: body, header: map[string]string{}}
	if contentRange != "" {
		r.header["Content-Range"] = contentRange
	}
	return w.do(r)
}

// TestUpload sends a file in two parts, the first of them cut off, and uses it in a task; then it is deleted.
func TestUpload(t *testing.T) {
	w := newWorld(t, options{gateway: gateway.Limits{InlineMedia: 50_000}}) // which doesn't bound files that went ahead
	body := picture(t)
	u := w.upload(w.test, "image/png", body)
	if u.State != api.UploadOpen || u.Received != 0 || u.Bytes != int64(len(body)) || !strings.HasPrefix(u.URL, w.base+"/uploads/"+u.Artifact+"?") {
		t.Errorf("announced: %+v", u)
	}
	if again := w.announce(w.test, announcement("image/png", body)); again.StatusCode != http.StatusOK || decode[api.UploadResponse](t, again).Upload != u {
		t.Errorf("announced again: %d %s", again.StatusCode, again.body)
	}
	w.cutOff(u, body, 70_000)
	now := decode[api.UploadResponse](t, w.do(request{path: u.URL})).Upload
	if now.Received != 70_000 || now.State != api.UploadOpen || now.URL != u.URL {
		t.Fatalf("after a cut: %+v", now)
	}
	wrong := w.put(u.URL, body, "")
	if e := wrong.error(t).Error; wrong.StatusCode != http.StatusConflict || e.Code != fault.InvalidRequest || e.Details[1] != (fault.Detail{Field: "received", Message: "70000"}) {
		t.Errorf("the whole again: %d %s", wrong.StatusCode, wrong.body)
	}
	refers := `{"capability":"image.edit","input":{"prompt":"x","images":[{"artifact":"` + u.Artifact + `"}],"authorization":{"person":"none"}}}`
	if early := w.post("too early", refers); early.StatusCode != http.StatusBadRequest {
		t.Errorf("named before it is complete: %d %s", early.StatusCode, early.body)
	}
	sent := decode[api.UploadResponse](t, w.put(u.URL, body[70_000:], fmt.Sprintf("bytes 70000-%d/%d", len(body)-1, len(body)))).Upload
	if sent.State != api.UploadComplete || sent.Received != u.Bytes || sent.URL != "" {
		t.Fatalf("the rest: %+v", sent)
	}
	only := w.key(api.KeyCreate{Mode: task.Test, Scopes: []string{"image.edit"}})
	made := w.post("with an upload", refers, with("Prefer", "wait=20"), by(only))
	if done := made.task(t); done.State != task.Succeeded {
		t.Errorf("the task: %s", made.body)
	}
	for name, key := range map[string]string{"another account": w.otherAccountsKey(), "the other mode": w.live} {
		if got := w.post("not theirs "+name, refers, by(key)); got.StatusCode == http.StatusOK || got.StatusCode == http.StatusAccepted {
			t.Errorf("%s: %d %s", name, got.StatusCode, got.body)
		}
	}
	path := api.PathUploads + "/" + u.Artifact
	if got := decode[api.UploadResponse](t, w.do(request{path: path, key: w.test})).Upload; got.State != api.UploadComplete {
		t.Errorf("by its key: %+v", got)
	}
	if got := w.do(request{method: http.MethodDelete, path: path, key: w.test}); got.StatusCode != http.StatusOK {
		t.Errorf("deleted: %d %s", got.StatusCode, got.body)
	}
	if got := w.post("when it is gone", refers); got.StatusCode != http.StatusBadRequest {
		t.Errorf("named after its deletion: %d %s", got.StatusCode, got.body)
	}
}

// TestUploadList lists the account's uploads in the key's mode, in pages, and another key's shows others.
func TestUploadList(t *testing.T) {
	w := newWorld(t, options{})
	list := func(key, query string) api.UploadList {
		t.Helper()
		return decode[api.UploadList](t, w.do(request{path: api.PathUploads + query, key: key}))
	}
	if got := w.do(request{path: api.PathUploads, key: w.test}); !strings.HasPrefix(string(got.body), `{"data":[],"next_cursor":null,`) {
		t.Errorf("without uploads: %s", got.body)
	}
	first, second := w.upload(w.test, "text/plain", "one"), w.upload(w.test, "text/plain", "another")
	first = decode[api.UploadResponse](t, w.put(first.URL, "one", "")).Upload // which expires after the open one
	page := list(w.test, "?limit=1")
	if len(page.Data) != 1 || page.Data[0] != second || page.NextCursor == nil {
		t.Fatalf("the first page: %+v", page)
	}
	page = list(w.test, "?limit=1&cursor="+*page.NextCursor)
	if len(page.Data) != 1 || page.Data[0] != first || page.NextCursor != nil {
		t.Errorf("the second page: %+v, want %+v", page, first)
	}
	for name, key := range map[string]string{"another account": w.otherAccountsKey(), "the other mode": w.live} {
		if page := list(key, ""); len(page.Data) != 0 {
			t.Errorf("%s: %+v", name, page)
		}
	}
	hooks := w.key(api.KeyCreate{Mode: task.Test, Scopes: []string{api.ScopeWebhooks}})
	for _, r := range []request{{path: api.PathUploads}, {path: api.PathUploads + "/" + first.Artifact}, {method: http.MethodDelete, path: api.PathUploads + "/" + first.Artifact}} {
		r.key = hooks
		if got := w.do(r); got.StatusCode != http.StatusNotFound {
			t.Errorf("%s %s with a key of webhooks alone: %d %s", r.method, r.path, got.StatusCode, got.body)
		}
	}
	if page := list(w.key(api.KeyCreate{Mode: task.Test, Scopes: []string{"text.chat", api.ScopeWebhooks}}), ""); len(page.Data) != 2 {
		t.Errorf("with a key of a capability: %+v", page)
	}
	for _, query := range []string{"?limit=0", "?limit=201", "?cursor=x", "?state=open"} {
		if got := w.do(request{path: api.PathUploads + query, key: w.test}); got.StatusCode != http.StatusBadRequest {
			t.Errorf("%s: %d %s", query, got.StatusCode, got.body)
		}
	}
	if got := w.do(request{path: api.PathUploads}); got.StatusCode != http.StatusUnauthorized {
		t.Errorf("without a key: %d", got.StatusCode)
	}
}

// cutOff sends n bytes of a body that claims to be whole, and hangs up once the server has read them.
func (w *world) cutOff(u api.Upload, body string, n int) {
	w.t.Helper()
	target := fixture.Must(url.Parse(u.URL))(w.t)
	conn := fixture.Must((&net.Dialer{}).DialContext(w.t.Context(), "tcp", target.Host))(w.t)
	_, _ = fmt.Fprintf(conn, "PUT %s HTTP/1.1\r\nHost: x\r\nContent-Length: %d\r\n\r\n%s", target.RequestURI(), len(body), body[:n])
	fixture.Must(0, conn.(*net.TCPConn).CloseWrite())(w.t)
	answer, err := http.ReadResponse(bufio.NewReader(conn), nil)
	if err != nil {
		w.t.Fatal(err)
	}
	_, _ = io.Copy(io.Discard, answer.Body)
	_ = answer.Body.Close()
	_ = conn.Close()
	if answer.StatusCode != http.StatusBadRequest {
		w.t.Errorf("a body that is cut off: %s", answer.Status)
	}
}

// TestUploadRefuses names what is wrong with a request about an upload.
func TestUploadRefuses(t *testing.T) {
	w := newWorld(t, options{})
	good := announcement("image/png", picture(t))
	for _, tt := range []struct{ name, body, want string }{
		{"no object", `[]`, "body must be one JSON object"},
		{"half an object", `{"bytes":1`, "body must be one JSON object"},
		{"two values", good + "{}", "body must be one JSON object"},
		{"an unknown member", `{"name":"a.png"}`, "name is not a known member"},
		{"a doubled member", `{"bytes":1,"bytes":1}`, "bytes is given twice"},
		{"a fraction", `{"bytes":1.5}`, "bytes must be a whole number"},
		{"null", `{"content_type":"image/png","bytes":null,"sha256":"` + strings.Repeat("a", 64) + `"}`, "bytes is required and must be 1 or more"},
		{"a number for a text", `{"sha256":1}`, "sha256 must be a string"},
		{"below 1", strings.Replace(good, `"bytes":`, `"bytes":-`, 1), "bytes must be 1 or more"},
		{"another hash", strings.Replace(good, `"sha256":"`, `"sha256":"0`, 1), "sha256 must be 64 hexadecimal digits"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got := w.announce(w.test, tt.body); got.StatusCode != http.StatusBadRequest || got.error(t).Error.Message != tt.want {
				t.Errorf("%d %s, want %s", got.StatusCode, got.body, tt.want)
			}
		})
	}
	if got := w.announce("", good); got.StatusCode != http.StatusUnauthorized {
		t.Errorf("without a key: %d", got.StatusCode)
	}
	if got := w.announce(w.test, `{"content_type":"image/png","bytes":3000000000,"sha256":"`+strings.Repeat("a", 64)+`"}`); got.StatusCode != http.StatusRequestEntityTooLarge {
		t.Errorf("too large: %d %s", got.StatusCode, got.body)
	}
}

// TestUploadBytesRefuses names what is wrong with a request that brings bytes.
func TestUploadBytesRefuses(t *testing.T) {
	w := newWorld(t, options{})
	u := w.upload(w.test, "image/png", "\x89PNG\r\n\x1a\n12")
	for _, tt := range []struct{ name, body, contentRange, want string }{
		{"a part without a range", "\x89PNG", "", "Content-Length must be 10, the announced size, if there is no Content-Range"},
		{"no range", "\x89PNG", "bytes=0-3", "Content-Range must be of the form bytes 0-1023/4096"},
		{"another size", "\x89PNG", "bytes 0-3/11", "Content-Range must end with the announced size, 10"},
		{"outside", "\x89PNG", "bytes 7-10/10", "Content-Range lies outside the file"},
		{"backwards", "\x89PNG", "bytes 3-0/10", "Content-Range lies outside the file"},
		{"another length", "\x89PNG", "bytes 0-4/10", "Content-Length must be 5, the length of the Content-Range"},
		{"a small part", "\x89PNG", "bytes 0-3/10", "Content-Range must be of 65536 bytes or more, or to the end of the file"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got := w.put(u.URL, tt.body, tt.contentRange); got.StatusCode != http.StatusBadRequest || got.error(t).Error.Message != tt.want {
				t.Errorf("%d %s, want %s", got.StatusCode, got.body, tt.want)
			}
		})
	}
	chunked := fixture.Must(http.NewRequestWithContext(t.Context(), http.MethodPut, u.URL, io.MultiReader(strings.NewReader("\x89PNG"))))(t)
	if got := w.send(chunked); got.error(t).Error.Message != "Content-Length is required" {
		t.Errorf("without a length: %s", got.body)
	}
	other := w.upload(w.test, "image/png", "\x89PNG\r\n\x1a\n13")
	_, query, _ := strings.Cut(u.URL, "?")
	signed := w.Signer.Sign(u.Artifact, u.ExpiresAt.Time)
	for name, target := range map[string]string{
		"another upload's": "/uploads/" + other.Artifact + "?" + query, "no signature": "/uploads/" + u.Artifact,
		"a result's signature": "/uploads/" + u.Artifact + "?" + signed,
	} {
		if got := w.put(target, "\x89PNG\r\n\x1a\n12", ""); got.StatusCode != http.StatusNotFound {
			t.Errorf("%s: %d %s", name, got.StatusCode, got.body)
		}
	}
	differs := w.put(u.URL, "\x89PNG\r\n\x1a\n13", "")
	want := []fault.Detail{{Field: "sha256", Message: "isn't that of the bytes that arrived: send them again from the first"}, {Field: "received", Message: "0"}}
	if diff := cmp.Diff(want, differs.error(t).Error.Details); differs.StatusCode != http.StatusConflict || diff != "" {
		t.Errorf("another hash: %d\n%s", differs.StatusCode, diff)
	}
	if got := w.put(u.URL, "\x89PNG\r\n\x1a\n12", ""); decode[api.UploadResponse](t, got).Upload.State != api.UploadComplete {
		t.Errorf("the announced bytes: %s", got.body)
	}
	if got := w.do(request{path: "/artifacts/" + u.Artifact + "?" + signed}); got.StatusCode != http.StatusNotFound {
		t.Errorf("read as a result: %d", got.StatusCode)
	}
}

// TestUploadPace bounds the requests with an upload's signed address that bring no bytes, and no others.
func TestUploadPace(t *testing.T) {
	var later atomic.Int64
	start := time.Now()
	w := newWorld(t, options{now: func() time.Time { return start.Add(time.Duration(later.Load())) }})
	body := strings.Repeat("x", 130<<10)
	u, other := w.upload(w.test, "text/plain", body), w.upload(w.test, "text/plain", "another")
	busy := func() (answered int) {
		for ; answered < 200; answered++ {
			got := w.do(request{path: u.URL})
			if answered%2 == 1 {
				got = w.put(u.URL, "x", fmt.Sprintf("bytes 0-0/%d", len(body)))
			}
			if got.StatusCode == http.StatusTooManyRequests {
				if got.Header.Get("Retry-After") != "1" {
					t.Errorf("refused with %v", got.Header)
				}
				break
			}
		}
		return answered
	}
	if n := busy(); n < 30 || n > 60 {
		t.Errorf("%d requests that bring nothing are answered at once, want 60 at most", n)
	}
	if got := w.do(request{path: other.URL}); got.StatusCode != http.StatusOK {
		t.Errorf("another upload: %d %s", got.StatusCode, got.body)
	}
	later.Store(int64(time.Second))
	if got := w.put(u.URL, body[:70<<10], fmt.Sprintf("bytes 0-%d/%d", 70<<10-1, len(body))); got.StatusCode != http.StatusOK {
		t.Errorf("bytes, a second later: %d %s", got.StatusCode, got.body)
	}
	if got := w.put(u.URL, body[70<<10:], fmt.Sprintf("bytes %d-%d/%d", 70<<10, len(body)-1, len(body))); got.StatusCode != http.StatusOK {
		t.Errorf("more bytes at once, which the first ones didn't use up: %d %s", got.StatusCode, got.body)
	}
}
