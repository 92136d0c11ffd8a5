package e2e_test

import (
	"bytes"
	"encoding/json"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"unitask/internal/api"
	"unitask/internal/artifact/s3store/s3test"
	"unitask/internal/task"
	"unitask/test/harness"
)

// notWaitedFor is the preference of a caller who is answered as soon as the task is accepted.
const notWaitedFor = "wait=0"

// newS3Host prepares a host whose artifacts are in a bucket behind a proxy.
func newS3Host(t *testing.T) (*host, *s3test.Server, *s3test.Proxy) {
	t.Helper()
	server := s3test.Start(t)
	proxy := s3test.NewProxy(t, server)
	h := newHost(t)
	h.Config = "artifacts: s3://" + s3test.Bucket + "/unitask?region=us-east-1&path_style=true&endpoint=" + proxy.URL + "\n"
	h.Env = s3test.Environ()
	return h, server, proxy
}

// TestArtifactsInS3: a result is kept in the bucket and served from the gateway's own signed address, whole, in parts
// and after a kill; a large input takes the same way unless it is waited for; the data folder keeps no bytes of either.
func TestArtifactsInS3(t *testing.T) {
	h, server, proxy := newS3Host(t)
	h.start()
	done := h.ended(h.accept(`{"capability":"image.generate","input":{"prompt":"a fox"}}`))
	if done.State != task.Succeeded {
		t.Fatalf("the task: %+v", done)
	}
	image := done.Output.Images[0]
	whole := h.download(image.URL, "", http.StatusOK)
	if int64(len(whole)) != image.Bytes || !bytes.HasPrefix(whole, []byte("\x89PNG")) {
		t.Errorf("%d bytes of %d come back", len(whole), image.Bytes)
	}
	if part := h.download(image.URL, "bytes=10-19", http.StatusPartialContent); !bytes.Equal(part, whole[10:20]) {
		t.Errorf("a range is %x, want %x", part, whole[10:20])
	}
	proxy.Set(nil)
	prompt, err := json.Marshal(strings.Repeat("Tell me about foxes. ", 5000))
	if err != nil {
		t.Fatal(err)
	}
	chat := `{"capability":"text.chat","input":{"messages":[{"role":"user","content":` + string(prompt) + `}]}}`
	if got := h.ended(h.accept(chat)); got.State != task.Succeeded || strings.Contains(strings.Join(proxy.Requests(), "\n"), "/in_") {
		t.Errorf("the task with a large input that is waited for: %+v, its requests to the bucket:\n%s", got, strings.Join(proxy.Requests(), "\n"))
	}
	large := h.accept(chat, notWaitedFor)
	if got := h.ended(large); got.State != task.Succeeded {
		t.Errorf("the task with a large input: %+v", got)
	}
	if all := strings.Join(proxy.Requests(), "\n"); !strings.Contains(all, "PUT /artifacts/unitask/in_") || !strings.Contains(all, "GET /artifacts/unitask/in_") {
		t.Errorf("the large input didn't pass through the bucket:\n%s", all)
	}
	h.Kill()
	h.start()
	if again := h.download(image.URL, "", http.StatusOK); !bytes.Equal(again, whole) {
		t.Error("other bytes come back after the restart")
	}
	if keys, _ := server.Objects(); !strings.Contains(strings.Join(keys, "\n"), "unitask/"+image.ID) {
		t.Errorf("the bucket holds %q", keys)
	}
	if _, err := os.Stat(filepath.Join(h.Data(), "artifacts")); err == nil {
		t.Error("there is a folder for artifacts in the data folder")
	}
	if left, err := os.ReadDir(filepath.Join(h.Data(), "spool")); err != nil || len(left) > 0 {
		t.Errorf("the spool holds %v, %v", left, err)
	}
}

// TestS3Gone: while the object store is gone a finished result waits, a download and a large input that isn't waited for
// are refused for the moment, and other tasks go on; once it is back the result is there.
func TestS3Gone(t *testing.T) {
	h, server, _ := newS3Host(t)
	h.start()
	first := h.ended(h.accept(`{"capability":"image.generate","input":{"prompt":"a fox"}}`))
	server.Kill()
	waiting := h.accept(`{"capability":"image.generate","input":{"prompt":"a boat"}}`)
	h.Until(time.Minute, "there is a result to keep", func() bool {
		var now api.Task
		h.call(http.MethodGet, api.PathTasks+"/"+waiting, "", nil, &now)
		return now.State == task.Transferring
	})
	if got := h.ended(h.accept(`{"capability":"text.chat","input":{"messages":[{"role":"user","content":"Hello"}]}}`)); got.State != task.Succeeded {
		t.Errorf("a small task: %+v", got)
	}
	body := h.download(first.Output.Images[0].URL, "", http.StatusServiceUnavailable)
	if !bytes.Contains(body, []byte("CAPACITY_EXHAUSTED")) {
		t.Errorf("the download is answered with %s", body)
	}
	large := `{"capability":"text.chat","input":{"messages":[{"role":"user","content":"` + strings.Repeat("x", 100<<10) + `"}]}}`
	key := map[string]string{api.HeaderIdempotencyKey: "large-while-gone-1", api.HeaderPrefer: notWaitedFor}
	if got := h.call(http.MethodPost, api.PathTasks, large, key, nil); got.status != http.StatusServiceUnavailable {
		t.Errorf("a large input that isn't waited for: %d", got.status)
	}
	if got := h.ended(h.accept(large)); got.State != task.Succeeded {
		t.Errorf("a large input that is: %+v", got)
	}
	server.Run()
	if got := h.ended(waiting); got.State != task.Succeeded {
		t.Errorf("the task that waited: %+v", got)
	}
	if got := h.ended(h.accept(large, notWaitedFor)); got.State != task.Succeeded {
		t.Errorf("the large input after all: %+v", got)
	}
	for _, want := range []string{"a result waits for the place of artifacts", "the object store doesn't answer as it should"} {
		if log := h.Output(); !strings.Contains(log, want) {
			t.Errorf("the log doesn't say that %s:\n%s", want, log)
		}
	}
}

// TestBackupWithoutItsFiles: a backup says in words, and to programs, that the results are elsewhere, and so do a
// restore of it and a check.
func TestBackupWithoutItsFiles(t *testing.T) {
	harness.NeedsBolt(t)
	h, _, _ := newS3Host(t)
	h.start()
	h.ended(h.accept(`{"capability":"image.generate","input":{"prompt":"a fox"}}`))
	const place = "s3://" + s3test.Bucket + "/unitask"
	archive, restored := filepath.Join(h.Dir, "b.tar"), filepath.Join(h.Dir, "restored")
	key := filepath.Join(h.Data(), "backup.key")
	for i, args := range [][]string{
		{"store", "backup", archive, "--data-dir", h.Data()},
		{"store", "backup", archive, "--force", "--data-dir", h.Data()}, // without the server
		{"store", "check", "--data-dir", h.Data()},
		{"store", "restore", archive, "--key-file", key, "--data-dir", restored},
		{"store", "check", "--data-dir", restored},
	} {
		if i == 1 {
			h.Stop()
		}
		if o := h.client(args...); o.code != 0 || !strings.Contains(o.stderr, place) {
			t.Errorf("unitask %s: %d\n%s%s", strings.Join(args, " "), o.code, o.stdout, o.stderr)
		}
	}
	var manifest struct {
		Elsewhere string `json:"artifacts_elsewhere"`
	}
	out := h.must("store", "backup", archive, "--force", "--json", "--data-dir", h.Data())
	if err := json.Unmarshal([]byte(out), &manifest); err != nil || manifest.Elsewhere != place {
		t.Errorf("the manifest: %s, %v", out, err)
	}
}

// accept makes a task and returns its id.
func (h *host) accept(body string, prefer ...string) string {
	h.T.Helper()
	var made api.Task
	headers := map[string]string{api.HeaderIdempotencyKey: "s3-" + task.NewID("", time.Now())}
	if len(prefer) > 0 {
		headers[api.HeaderPrefer] = prefer[0]
	}
	got := h.call(http.MethodPost, api.PathTasks, body, headers, &made)
	if got.status != http.StatusAccepted && got.status != http.StatusOK && got.status != http.StatusCreated {
		h.T.Fatalf("created with %d: %+v", got.status, made)
	}
	return made.ID
}

// ended waits for the end of a task.
func (h *host) ended(id string) (done api.Task) {
	h.T.Helper()
	h.Until(time.Minute, "the task has ended", func() bool {
		h.call(http.MethodGet, api.PathTasks+"/"+id, "", nil, &done)
		return done.State.Terminal()
	})
	return done
}

// download reads an address that needs no key.
func (h *host) download(url, byteRange string, want int) []byte {
	h.T.Helper()
	header := map[string]string{}
	if byteRange != "" {
		header["Range"] = byteRange
	}
	got, err := h.Send(h.T.Context(), harness.Request{Method: http.MethodGet, Path: strings.TrimPrefix(url, h.Base), Header: header})
	if err != nil || got.Status != want {
		h.T.Fatalf("%s: %d, %v, want %d", url, got.Status, err, want)
	}
	return got.Body
}
