package fal_test

import (
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"unitask/internal/fault"
	"unitask/internal/supplier"
	"unitask/internal/supplier/fal"
	"unitask/internal/supplier/suppliertest"
)

// asked is one request as an upstream saw it.
type asked struct{ Method, Path string }

// upstream records its requests and answers as the test says.
func upstream(t *testing.T, answer http.HandlerFunc) (base string, log func() []asked) {
	t.Helper()
	var got []asked
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		got = append(got, asked{r.Method, r.URL.Path})
		answer(w, r)
	}))
	t.Cleanup(func() { srv.CloseClientConnections(); srv.Close() })
	return srv.URL, func() []asked { return got }
}

func adapter(t *testing.T, base string) supplier.Adapter {
	t.Helper()
	a, err := fal.New(supplier.Config{BaseURL: base, Models: []string{"testdata/models.yaml"}})
	if err != nil {
		t.Fatal(err)
	}
	return a
}

func submit(t *testing.T, a supplier.Adapter, r supplier.Request) supplier.Job {
	t.Helper()
	out, err := a.Submit(t.Context(), r)
	if err != nil || out.Job == nil {
		t.Fatalf("submit: %+v, %v", out, err)
	}
	return *out.Job
}

// TestQueue follows one job through the queue, by the address that the supplier gave.
func TestQueue(t *testing.T) {
	stages := []string{`{"status":"IN_QUEUE","queue_position":1}`, `{"status":"IN_PROGRESS"}`, `{"status":"COMPLETED"}`}
	base, log := upstream(t, func(w http.ResponseWriter, r *http.Request) {
		switch {
		case r.Method == http.MethodPost:
			suppliertest.JSON(200, `{"request_id":"job-1","status_url":"http://`+r.Host+`/under/fal-ai/flux/requests/job-1/status"}`).ServeHTTP(w, r)
		case strings.HasSuffix(r.URL.Path, "/status"):
			stage := stages[0]
			stages = stages[1:]
			suppliertest.JSON(200, stage).ServeHTTP(w, r)
		default:
			suppliertest.JSON(200, picture).ServeHTTP(w, r)
		}
	})
	a := adapter(t, base+"/under/")
	job := submit(t, a, request("image.generate", schnell, `{"prompt":"A fox"}`, `{}`))
	for range 2 {
		if out, err := a.(supplier.Poller).Poll(t.Context(), job); err != nil || out.Job == nil {
			t.Fatalf("poll: %+v, %v", out, err)
		}
	}
	out, err := a.(supplier.Poller).Poll(t.Context(), job)
	if err != nil || out.Result == nil || out.Result.Files[0].URL != "https://files.example/1.png" {
		t.Fatalf("poll: %+v, %v", out, err)
	}
	const at = "/under/fal-ai/flux/requests/job-1"
	want := []asked{{"POST", "/under/fal-ai/flux/schnell"}, {"GET", at + "/status"}, {"GET", at + "/status"}, {"GET", at + "/status"}, {"GET", at}}
	if diff := cmp.Diff(want, log()); diff != "" {
		t.Errorf("requests (-want +got):\n%s", diff)
	}
}

// TestJobAddress shows when the supplier's own address of a job is followed: below the base alone.
func TestJobAddress(t *testing.T) {
	const rebuilt = "/base/fal-ai/flux/requests/job-1"
	for name, tt := range map[string]struct{ status, want string }{
		"none":                {``, rebuilt},
		"its own":             {`HOST/base/other/app/requests/job-1/status`, "/base/other/app/requests/job-1"},
		"another host":        {`http://127.0.0.2:1/base/other/app/requests/job-1/status`, rebuilt},
		"another scheme":      {`https://127.0.0.1/base/other/app/requests/job-1/status`, rebuilt},
		"outside of the base": {`HOST/other/app/requests/job-1/status`, rebuilt},
		"beside the base":     {`HOST/based/app/requests/job-1/status`, rebuilt},
		"another job":         {`HOST/base/other/app/requests/job-2/status`, rebuilt},
		"no status":           {`HOST/base/other/app/requests/job-1`, rebuilt},
		"climbing":            {`HOST/base/../other/requests/job-1/status`, rebuilt},
		"no address":          {`%%`, rebuilt},
	} {
		t.Run(name, func(t *testing.T) {
			base, log := upstream(t, func(w http.ResponseWriter, r *http.Request) {
				if r.Method == http.MethodPost {
					body, err := json.Marshal(map[string]string{
						"request_id": "job-1", "status_url": strings.ReplaceAll(tt.status, "HOST", "http://"+r.Host),
					})
					if err != nil {
						t.Error(err)
					}
					suppliertest.JSON(200, string(body)).ServeHTTP(w, r)
					return
				}
				suppliertest.JSON(200, `{"status":"IN_QUEUE"}`).ServeHTTP(w, r)
			})
			a := adapter(t, base+"/base")
			job := submit(t, a, request("image.generate", schnell, `{"prompt":"A fox"}`, `{}`))
			if _, err := a.(supplier.Poller).Poll(t.Context(), job); err != nil {
				t.Fatal(err)
			}
			want := []asked{{"POST", "/base/fal-ai/flux/schnell"}, {"GET", tt.want + "/status"}}
			if diff := cmp.Diff(want, log()); diff != "" {
				t.Errorf("requests (-want +got):\n%s", diff)
			}
		})
	}
}

// TestCancel shows the answers that leave a job stopped, and those that don't.
func TestCancel(t *testing.T) {
	for _, tt := range []struct {
		status int
		body   string
		want   fault.Code // "": stopped, or ended before
	}{
		{202, `{"status":"CANCELLATION_REQUESTED"}`, ""},
		{400, `{"status":"ALREADY_COMPLETED"}`, ""},
		{404, `{"status":"NOT_FOUND"}`, ""},
		{401, `{"detail":"m"}`, fault.ProviderUnavailable},
		{503, ``, fault.CapacityExhausted},
	} {
		base, log := upstream(t, func(w http.ResponseWriter, r *http.Request) {
			if r.Method == http.MethodPost {
				queue(nil).ServeHTTP(w, r)
				return
			}
			suppliertest.JSON(tt.status, tt.body).ServeHTTP(w, r)
		})
		a := adapter(t, base)
		job := submit(t, a, request("image.generate", schnell, `{"prompt":"A fox"}`, `{}`))
		err := a.(supplier.Canceler).Cancel(t.Context(), job)
		if got := fault.CodeOf(err); err != nil && got != tt.want || err == nil && tt.want != "" {
			t.Errorf("%d: got %v, want %q", tt.status, err, tt.want)
		}
		if diff := cmp.Diff(asked{"PUT", "/fal-ai/flux/requests/job-1/cancel"}, log()[1]); diff != "" {
			t.Errorf("request (-want +got):\n%s", diff)
		}
	}
}

// TestHeaders shows a submission's headers for the queue.
func TestHeaders(t *testing.T) {
	var got http.Header
	base, _ := upstream(t, func(w http.ResponseWriter, r *http.Request) {
		got = r.Header.Clone()
		queue(nil).ServeHTTP(w, r)
	})
	a, r := adapter(t, base), request("image.generate", schnell, `{"prompt":"A fox"}`, `{}`)
	submit(t, a, r)
	if got.Get("X-Fal-No-Retry") != "1" || got.Get("X-Fal-Request-Timeout") != "" {
		t.Errorf("without a deadline: %v", got)
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
	defer cancel()
	if _, err := a.Submit(ctx, r); err != nil {
		t.Fatal(err)
	}
	if got.Get("X-Fal-Request-Timeout") != "3600" {
		t.Errorf("with an hour: %v", got)
	}
}

// TestStoredJob shows that a stored job that can't be read is an end, not a question without one.
func TestStoredJob(t *testing.T) {
	a := adapter(t, "http://127.0.0.1:1")
	for _, s := range []string{``, `{`, `{"path":"x"}`, `{"path":"/../account"}`} {
		_, err := a.(supplier.Poller).Poll(t.Context(), supplier.Job{ID: "job-1", State: json.RawMessage(s)})
		want := suppliertest.Verdict{Code: fault.Internal, Sent: supplier.Failed}
		if diff := cmp.Diff(want, suppliertest.VerdictOf(err)); diff != "" {
			t.Errorf("%s: (-want +got):\n%s", s, diff)
		}
		if a.(supplier.Canceler).Cancel(t.Context(), supplier.Job{ID: "job-1", State: json.RawMessage(s)}) == nil {
			t.Errorf("%s: canceled", s)
		}
	}
}

func TestNewErrors(t *testing.T) {
	const base = "https://queue.example"
	for want, c := range map[string]supplier.Config{
		"base_url is required":                              {},
		`unknown option "wait"`:                             {BaseURL: base, Options: map[string]string{"wait": "1"}},
		"max_tokens_field is for the kind openai alone":     {BaseURL: base, MaxTokensField: "max_tokens"},
		"models testdata/aimock.json: is no list of maps: ": {BaseURL: base, Models: []string{"testdata/aimock.json"}},
	} {
		if _, err := fal.New(c); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("got %v, want %q", err, want)
		}
	}
}

// TestAimock holds the adapter against a server written by others. That server tells fal's hosts by a
// header, which something in between adds.
func TestAimock(t *testing.T) {
	m := suppliertest.StartAimock(t, "testdata/aimock.json")
	target, err := url.Parse(m.URL)
	if err != nil {
		t.Fatal(err)
	}
	between := httptest.NewServer(&httputil.ReverseProxy{Rewrite: func(p *httputil.ProxyRequest) {
		p.SetURL(target)
		p.Out.Header.Set("X-Fal-Target-Host", "queue.fal.run")
	}})
	t.Cleanup(between.Close)
	a, err := fal.New(supplier.Config{
		BaseURL: between.URL + "/fal", APIKey: func() (string, error) { return suppliertest.AimockKey, nil }, Timeout: suppliertest.AimockTime,
	})
	if err != nil {
		t.Fatal(err)
	}
	poll := func(j supplier.Job) (supplier.Outcome, error) {
		for range 10 {
			if out, err := a.(supplier.Poller).Poll(t.Context(), j); err != nil || out.Result != nil {
				return out, err
			}
		}
		t.Fatal("the job goes on and on")
		return supplier.Outcome{}, nil
	}

	m.Prepare(t, "")
	job := submit(t, a, request("image.generate", schnell, `{"prompt":"a red fox"}`, `{"n":1}`))
	out, err := poll(job)
	if err != nil {
		t.Fatal(err)
	}
	want := &supplier.Result{
		Files: []supplier.File{{URL: "https://files.example/1.png", ContentType: "image/png", Width: 1024, Height: 768}},
		Usage: supplier.Usage{Images: 1},
	}
	if diff := cmp.Diff(want, out.Result); diff != "" {
		t.Errorf("result (-want +got):\n%s", diff)
	}
	if err := a.(supplier.Canceler).Cancel(t.Context(), job); err != nil {
		t.Errorf("cancel of what has ended: %v", err)
	}
	posts := 0
	for _, j := range m.Journal(t) {
		if j.Method == http.MethodPost {
			posts++
		}
	}
	if posts != 1 {
		t.Errorf("%d submissions in the journal, want 1", posts)
	}

	_, err = poll(submit(t, a, request("image.generate", schnell, `{"prompt":"something forbidden"}`, `{}`)))
	if diff := cmp.Diff(suppliertest.Verdict{Code: fault.ContentPolicyViolation, Sent: supplier.Failed}, suppliertest.VerdictOf(err)); diff != "" {
		t.Errorf("flagged (-want +got):\n%s", diff)
	}
}
