package httpmap_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"unitask/internal/fault"
	"unitask/internal/supplier"
	"unitask/internal/supplier/httpmap"
	"unitask/internal/supplier/suppliertest"
)

func film() supplier.Job {
	return supplier.Job{ID: "film-1", Model: "director", State: []byte(`{"capability":"video.generate","parameters":{"duration_seconds":4}}`)}
}

// TestRunning checks a job that goes on: its progress, and when it is asked after again.
func TestRunning(t *testing.T) {
	url, last := seen(t, 200, `{"status":"rendering","progress":0.25}`)
	a, err := httpmap.New(supplier.Config{BaseURL: url + "/base", Models: []string{"testdata/models.yaml"}})
	if err != nil {
		t.Fatal(err)
	}
	out, err := a.(supplier.Poller).Poll(t.Context(), film())
	want := film()
	want.Progress = new(0.25)
	if diff := cmp.Diff(supplier.Outcome{Job: &want}, out); diff != "" || err != nil {
		t.Errorf("%v (-want +got):\n%s", err, diff)
	}
	if got := last.Method + " " + last.URL.Path; got != "GET /base/v1/films/film-1" {
		t.Errorf("asked %s", got)
	}
	srv := httptest.NewServer(films(`{"status":"queued","progress":7}`, nil))
	defer srv.Close()
	if a, err = httpmap.New(supplier.Config{BaseURL: srv.URL, Models: []string{"testdata/models.yaml"}}); err != nil {
		t.Fatal(err)
	}
	out, err = a.(supplier.Poller).Poll(t.Context(), film())
	if err != nil || out.Job == nil || out.Job.PollAfter != 3*time.Second || out.Job.Progress != nil {
		t.Errorf("got %+v, %v", out.Job, err)
	}
}

// TestCancel checks that a job is stopped, and that one that has ended, or that no map can stop, is left.
func TestCancel(t *testing.T) {
	for status, stopped := range map[int]bool{204: true, 200: true, 404: true, 409: true, 410: true, 500: false, 401: false} {
		url, last := seen(t, status, ``)
		a, err := httpmap.New(supplier.Config{BaseURL: url, Models: []string{"testdata/models.yaml"}})
		if err != nil {
			t.Fatal(err)
		}
		if err := a.(supplier.Canceler).Cancel(t.Context(), film()); (err == nil) != stopped {
			t.Errorf("%d: %v", status, err)
		}
		if got := last.Method + " " + last.URL.Path; got != "DELETE /v1/films/film-1" {
			t.Errorf("asked %s", got)
		}
	}
	url, last := seen(t, 200, ``)
	a := newAdapter(t, url, head+`submit: {path: /x, body: '.model'}, job: .id, state: .state, poll: {path: '/j/{job}'}, output: .}`, nil)
	job := supplier.Job{ID: "j", Model: "m", State: []byte(`{"capability":"text.x"}`)}
	if err := a.(supplier.Canceler).Cancel(t.Context(), job); err == nil || last.URL != nil {
		t.Errorf("a job that no map can stop: %v, asked %v", err, last.URL)
	}
}

// TestStoredJobs holds that a job that no map describes any more, or whose record is damaged, fails without a request.
func TestStoredJobs(t *testing.T) {
	url, last := seen(t, 200, `{}`)
	a, err := httpmap.New(supplier.Config{BaseURL: url, Models: []string{"testdata/models.yaml"}})
	if err != nil {
		t.Fatal(err)
	}
	for name, change := range map[string]func(*supplier.Job){
		"another id":    func(j *supplier.Job) { j.ID = "../account" },
		"no state":      func(j *supplier.Job) { j.State = nil },
		"another model": func(j *supplier.Job) { j.Model = "gone" },
		"no jobs":       func(j *supplier.Job) { j.Model, j.State = "talker", []byte(`{"capability":"text.chat"}`) },
		"parameters": func(j *supplier.Job) {
			j.State = []byte(`{"capability":"video.generate","parameters":` + strings.Repeat("[", 300) + strings.Repeat("]", 300) + `}`)
		},
	} {
		j := film()
		change(&j)
		_, err := a.(supplier.Poller).Poll(t.Context(), j)
		want := suppliertest.Verdict{Code: fault.ProviderUnavailable, Sent: supplier.Failed}
		if diff := cmp.Diff(want, suppliertest.VerdictOf(err)); diff != "" || last.URL != nil {
			t.Errorf("%s: asked %v, verdict (-want +got):\n%s", name, last.URL, diff)
		}
	}
}

// TestNoJob checks a submission that has its result at once, and one whose result of bytes is elsewhere.
func TestNoJob(t *testing.T) {
	const text = head + `submit: {path: /x, body: '.model'}, job: .id, state: .state, poll: {path: '/j/{job}'}, output: '{text: .text}'}` +
		"\n  - {model: b, capability: text.x, submit: {path: /x, body: '.model'}, job: .id, state: .state, poll: {path: '/j/{job}'}, " +
		"result: {path: '/j/{job}/file'}, answer: application/pdf, output: '{file: 1} | del(.file) + {page: .}'}"
	url, _ := seen(t, 200, `{"text":"Hi"}`)
	out, err := newAdapter(t, url, text, nil).Submit(t.Context(), request("text.x", "m", `{}`, `{}`))
	if err != nil || out.Result == nil || string(out.Result.Data) != `{"text":"Hi"}` {
		t.Errorf("got %+v, %v", out.Result, err)
	}
	_, err = newAdapter(t, url, text, nil).Submit(t.Context(), request("text.x", "b", `{}`, `{}`))
	if e := supplier.AsError(err); e == nil || e.Sent != supplier.Unknown {
		t.Errorf("no job where the result is elsewhere: %v", err)
	}
}

// FuzzSubmission holds that any answer to a submission is a job of a plain name, a result of JSON whose files have bytes or
// a web address, or a failure whose verdict is safe.
func FuzzSubmission(f *testing.F) {
	for _, s := range []string{
		`{"film":"film-1"}`, `{"film":"../x"}`, ``, `null`, `[]`, `{"error":{"code":429}}`, `{"film":7}`, talked, `{"blocked":true}`,
		`{"url":"https://a.example"}`, `{"pictures":["b25l"]}`, `{"image":{"url":"data:image/png;base64,b25l","type":"x"}}`, `{"image":{"url":{"artifact":0}}}`,
	} {
		f.Add(s)
	}
	answering := func(body *atomic.Pointer[string]) supplier.Adapter {
		srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, *body.Load()) }))
		f.Cleanup(srv.Close)
		a, err := httpmap.New(supplier.Config{BaseURL: srv.URL, Models: []string{"testdata/models.yaml"}})
		if err != nil {
			f.Fatal(err)
		}
		return a
	}
	var body atomic.Pointer[string]
	a := answering(&body)
	requests := []supplier.Request{
		request("video.generate", "director", `{"prompt":"Waves"}`, `{}`), request("text.chat", "talker", `{"prompt":"Hi"}`, `{}`),
		request("image.generate", "painter", `{"prompt":"Hi"}`, `{}`), withMedia(request("image.edit", "editor", `{"prompt":"Hi","images":[{}]}`, `{}`), "image/png", "/images/0"),
		request("text.embed", "embedder", `{"texts":["a"]}`, `{}`),
	}
	f.Fuzz(func(t *testing.T, text string) {
		body.Store(&text)
		for _, r := range requests {
			out, err := a.Submit(t.Context(), r)
			switch {
			case err != nil:
				suppliertest.CheckFailure(t, err, text)
			case out.Job != nil:
				if out.Job.ID == "" || strings.ContainsAny(out.Job.ID, "/.?#%") {
					t.Errorf("job %+v", out.Job)
				}
			default:
				checkResult(t, out.Result)
			}
		}
	})
}

// FuzzPoll is the same for the answers about a job and its result.
func FuzzPoll(f *testing.F) {
	f.Add(`{"status":"complete"}`, 200, `{"url":"https://a.example/1"}`)
	f.Add(`{"status":"queued","progress":0.5}`, 200, ``)
	f.Add(`{"status":"moderated"}`, 500, `{}`)
	f.Add(`{"status":"complete"}`, 200, `{"error":"nudity"}`)
	f.Add(`<html>`, 404, `<html>`)
	type answers struct {
		state, result string
		code          int
	}
	var now atomic.Pointer[answers]
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		told := now.Load()
		if !strings.HasSuffix(r.URL.Path, "/result") {
			_, _ = io.WriteString(w, told.state)
			return
		}
		w.WriteHeader(told.code)
		_, _ = io.WriteString(w, told.result)
	}))
	f.Cleanup(srv.Close)
	a, err := httpmap.New(supplier.Config{BaseURL: srv.URL, Models: []string{"testdata/models.yaml"}})
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, state string, code int, result string) {
		if code < 200 || code > 599 {
			t.Skip()
		}
		now.Store(&answers{state, result, code})
		out, err := a.(supplier.Poller).Poll(t.Context(), film())
		switch {
		case err != nil:
			e, ok := errors.AsType[*supplier.Error](err)
			if !ok || !e.Fault.Code.Valid() || e.Fault.Code == fault.Internal {
				t.Fatalf("error %v", err)
			}
		case out.Job != nil:
			if p := out.Job.Progress; out.Job.ID != "film-1" || p != nil && (*p < 0 || *p > 1) {
				t.Errorf("job %+v", out.Job)
			}
		default:
			checkResult(t, out.Result)
		}
	})
}

// checkResult checks the properties of every result.
func checkResult(t *testing.T, r *supplier.Result) {
	t.Helper()
	for i, file := range r.Files {
		if (len(file.Data) == 0) == (file.URL == "") || file.Width < 0 || file.Duration < 0 {
			t.Errorf("file %+v", file)
		}
		if strings.Count(string(r.Data), fmt.Sprintf(`{"artifact":%d}`, i)) != 1 {
			t.Errorf("file %d has no place of its own in %s", i, r.Data)
		}
	}
	if !json.Valid(r.Data) || strings.Count(string(r.Data), `{"artifact":`) != len(r.Files) {
		t.Errorf("output %s of %d files", r.Data, len(r.Files))
	}
	suppliertest.CheckUsage(t, r.Usage)
}
