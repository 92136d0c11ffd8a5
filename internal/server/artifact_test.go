package server_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"image/png"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"unitask/internal/api"
	"unitask/internal/fault"
	"unitask/internal/task"
	"unitask/test/fixture"
)

func TestArtifact(t *testing.T) {
	w := newWorld(t, options{})
	done := w.post("a picture", image("a red fox"), with("Prefer", "wait=20")).task(t)
	if done.State != task.Succeeded {
		t.Fatalf("%+v", done)
	}
	a := done.Output.Images[0]
	whole := w.do(request{path: a.URL})
	sum := sha256.Sum256(whole.body)
	picture, err := png.Decode(bytes.NewReader(whole.body))
	if err != nil || picture.Bounds().Dx() != *a.Width || int64(len(whole.body)) != a.Bytes || hex.EncodeToString(sum[:]) != a.SHA256 {
		t.Fatalf("the picture isn't what the task says: %v %+v", err, a)
	}
	got := map[string]string{}
	for _, name := range []string{"Content-Type", "Etag", "Cache-Control", "X-Content-Type-Options", "Content-Security-Policy", "Content-Disposition", "Accept-Ranges"} {
		got[name] = whole.Header.Get(name)
	}
	want := map[string]string{
		"Content-Type": "image/png", "Etag": `"` + a.SHA256 + `"`, "Cache-Control": "private, max-age=300", "X-Content-Type-Options": "nosniff",
		"Content-Security-Policy": "sandbox; default-src 'none'", "Content-Disposition": "inline; filename=" + a.ID + ".png", "Accept-Ranges": "bytes",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	part := w.do(request{path: a.URL, header: map[string]string{"Range": "bytes=1-3"}})
	if part.StatusCode != http.StatusPartialContent || string(part.body) != "PNG" {
		t.Errorf("a range: %d %q", part.StatusCode, part.body)
	}
	if got := w.do(request{path: a.URL, header: map[string]string{"Range": "bytes=99999999-"}}); got.StatusCode != http.StatusRequestedRangeNotSatisfiable ||
		got.error(t).Error.Code != fault.InvalidRequest || got.Header.Get("Content-Range") == "" {
		t.Errorf("a range outside: %d %v %s", got.StatusCode, got.Header, got.body)
	}
	if got := w.do(request{path: a.URL, header: map[string]string{"If-None-Match": whole.Header.Get("ETag")}}); got.StatusCode != http.StatusNotModified {
		t.Errorf("unchanged: %d", got.StatusCode)
	}
	if got := w.do(request{method: http.MethodHead, path: a.URL}); got.StatusCode != 200 || got.ContentLength != a.Bytes {
		t.Errorf("HEAD: %d, %d bytes", got.StatusCode, got.ContentLength)
	}
	if used := w.post("b picture", `{"capability":"image.edit","input":{"prompt":"blue","images":[{"artifact":"`+a.ID+`"}],"authorization":{"person":"none"}}}`); used.StatusCode != 202 {
		t.Errorf("an own artifact as input: %d %s", used.StatusCode, used.body)
	}
	if other := w.post("c picture", `{"capability":"image.edit","input":{"prompt":"blue","images":[{"artifact":"`+a.ID+`"}],"authorization":{"person":"none"}}}`,
		by(w.otherAccountsKey())); other.StatusCode != 400 {
		t.Errorf("another account's artifact as input: %d %s", other.StatusCode, other.body)
	}
	base, query, _ := strings.Cut(a.URL, "?")
	for name, path := range map[string]string{
		"no signature": base, "half a signature": base + "?" + strings.Split(query, "&")[0], "a wrong signature": a.URL[:len(a.URL)-2] + "AA",
		"another artifact's": w.base + api.PathArtifacts + task.NewID(task.PrefixArtifact, time.Now()) + "?" + query,
		"a later end":        strings.Replace(a.URL, "exp=", "exp=9", 1), "doubled": a.URL + "&" + query,
	} {
		if got := w.do(request{path: path}); got.StatusCode != 404 || got.error(t).Error.Code != fault.NotFound {
			t.Errorf("%s: %d %s", name, got.StatusCode, got.body)
		}
	}
}

// TestArtifactURLsExpire moves the clock: a URL ends, a read of the task gives a fresh one, and the
// ETag goes with the window.
func TestArtifactURLsExpire(t *testing.T) {
	var ahead atomic.Int64
	now := func() time.Time { return time.Now().Add(time.Duration(ahead.Load())) }
	w := newWorld(t, options{now: now})
	done := w.post("a picture", image("a red fox"), with("Prefer", "wait=20"))
	first := done.task(t).Output.Images[0].URL
	path := api.PathTasks + "/" + done.task(t).ID
	read := w.do(request{path: path, key: w.test})
	ahead.Store(int64(61 * time.Minute))
	if got := w.do(request{path: first}); got.StatusCode != 404 {
		t.Errorf("an expired URL: %d", got.StatusCode)
	}
	fresh := w.do(request{path: path, key: w.test, header: map[string]string{"If-None-Match": read.Header.Get("ETag")}})
	if fresh.StatusCode != 200 || fresh.task(t).Output.Images[0].URL == first {
		t.Fatalf("a read in another window: %d", fresh.StatusCode)
	}
	if got := w.do(request{path: fresh.task(t).Output.Images[0].URL}); got.StatusCode != 200 {
		t.Errorf("the fresh URL: %d", got.StatusCode)
	}
	ahead.Store(int64(7*24*time.Hour - 10*time.Minute))
	a := w.do(request{path: path, key: w.test}).task(t).Output.Images[0]
	query := fixture.Must(url.Parse(a.URL))(t).Query()
	if exp := fixture.Must(strconv.ParseInt(query.Get("exp"), 10, 64))(t); exp > a.ExpiresAt.Unix() {
		t.Errorf("the URL holds %d s longer than the artifact", exp-a.ExpiresAt.Unix())
	}
	ahead.Store(int64(8 * 24 * time.Hour))
	longer := w.base + api.PathArtifacts + a.ID + "?" + w.Signer.Sign(a.ID, now().Add(time.Hour))
	if got := w.do(request{path: longer}); got.StatusCode != 404 {
		t.Errorf("an artifact past its time under a good signature: %d", got.StatusCode)
	}
	late := w.do(request{path: path, key: w.test}).task(t).Output.Images[0].URL
	if got := w.do(request{path: late}); got.StatusCode != 404 {
		t.Errorf("an artifact past its time: %d", got.StatusCode)
	}
}
