package fal_test

import (
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"

	"unitask/internal/fault"
	"unitask/internal/supplier"
	"unitask/internal/supplier/fal"
	"unitask/internal/supplier/suppliertest"
)

// FuzzSubmission holds that a submission's answer gives a job with an id, or a failure whose verdict is
// safe; and that the job is asked after below the base alone.
func FuzzSubmission(f *testing.F) {
	for _, s := range []string{
		`{"request_id":"job-1","status_url":"http://127.0.0.1/x/requests/job-1/status"}`, `{"request_id":"../x"}`, ``, `null`, `[]`,
		`{"error":{"code":429}}`, `{"detail":[{"type":"content_policy_violation"}],"error":"x"}`, `{"request_id":7}`,
	} {
		f.Add(s)
	}
	a, answer := suppliertest.Answering(f, fal.Kind(), "application/json")
	r := request("image.generate", schnell, `{"prompt":"A fox"}`, `{}`)
	f.Fuzz(func(t *testing.T, body string) {
		answer(body)
		out, err := a.Submit(t.Context(), r)
		if err != nil {
			suppliertest.CheckFailure(t, err, body)
			return
		}
		if out.Job == nil || out.Job.ID == "" || strings.ContainsAny(out.Job.ID, "/.?#%") || strings.Contains(string(out.Job.State), "..") {
			t.Errorf("job %+v", out.Job)
		}
	})
}

// FuzzPoll checks that a poll returns the job, files that have bytes or a web address, or a *supplier.Error, which is
// final only if the answer is JSON.
func FuzzPoll(f *testing.F) {
	f.Add(`{"status":"COMPLETED"}`, 200, picture)
	f.Add(`{"status":"IN_QUEUE"}`, 202, ``)
	f.Add(`{"status":"COMPLETED"}`, 422, `{"detail":[{"type":"content_policy_violation"}]}`)
	f.Add(`{"status":"completed"}`, 503, `{"error_type":"runner_disconnected"}`)
	f.Add(`{"status":"COMPLETED"}`, 200, `{"images":{"url":"data:image/png;base64,AA=="},"has_nsfw_concepts":true}`)
	f.Add(`<html>`, 500, `<html>`)
	type answers struct {
		status, result string
		code           int
	}
	var now atomic.Pointer[answers]
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		told := now.Load()
		if strings.HasSuffix(r.URL.Path, "/status") {
			_, _ = io.WriteString(w, told.status)
			return
		}
		w.WriteHeader(told.code)
		_, _ = io.WriteString(w, told.result)
	}))
	f.Cleanup(srv.Close)
	a, err := fal.New(supplier.Config{BaseURL: srv.URL})
	if err != nil {
		f.Fatal(err)
	}
	job := supplier.Job{ID: "job-1", Model: schnell, State: []byte(`{"capability":"image.generate","path":"/fal-ai/flux/requests/job-1"}`)}
	f.Fuzz(func(t *testing.T, status string, code int, result string) {
		if code < 200 || code > 599 {
			t.Skip()
		}
		now.Store(&answers{status, result, code})
		out, err := a.(supplier.Poller).Poll(t.Context(), job)
		switch {
		case err != nil:
			e, ok := errors.AsType[*supplier.Error](err)
			if !ok || !e.Fault.Code.Valid() || e.Fault.Code == fault.Internal {
				t.Fatalf("error %v", err)
			}
		case out.Job != nil:
			if out.Job.ID != job.ID || string(out.Job.State) != string(job.State) {
				t.Errorf("job %+v", out.Job)
			}
		default:
			for _, file := range out.Result.Files {
				if (len(file.Data) == 0) == (file.URL == "") {
					t.Errorf("file %+v", file)
				}
			}
			if len(out.Result.Files) == 0 || out.Result.Usage.Images != int64(len(out.Result.Files)) {
				t.Errorf("result %+v", out.Result)
			}
		}
	})
}
