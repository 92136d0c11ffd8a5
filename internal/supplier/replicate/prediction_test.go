package replicate_test

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"unitask/internal/fault"
	"unitask/internal/supplier"
	"unitask/internal/supplier/replicate"
	"unitask/internal/supplier/suppliertest"
)

// asked is one request as an upstream saw it, with the headers that steer a prediction.
type asked struct{ Method, Path, Prefer, CancelAfter string }

func upstream(t *testing.T, answer http.Handler) (base string, log func() []asked) {
	t.Helper()
	var got []asked
	srv := httptest.NewServer(suppliertest.Held(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		got = append(got, asked{r.Method, r.URL.Path, r.Header.Get("Prefer"), r.Header.Get("Cancel-After")})
		answer.ServeHTTP(w, r)
	})))
	t.Cleanup(func() { srv.CloseClientConnections(); srv.Close() })
	return srv.URL, func() []asked { return got }
}

func mustNew(t *testing.T, c supplier.Config) supplier.Adapter {
	t.Helper()
	c.Models = []string{"testdata/models.yaml"}
	a, err := replicate.New(c)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// TestPrediction follows one prediction from its creation over its stages to its cancellation.
func TestPrediction(t *testing.T) {
	stages := []string{"starting", "processing", "succeeded"}
	base, log := upstream(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodPost {
			suppliertest.JSON(201, prediction("starting", "")).ServeHTTP(w, r)
			return
		}
		stage := stages[0]
		stages = stages[1:]
		suppliertest.JSON(200, prediction(stage, `,"output":"https://replicate.example/1.png"`)).ServeHTTP(w, r)
	}))
	a := mustNew(t, supplier.Config{BaseURL: base})
	out, err := a.Submit(t.Context(), request("image.generate", "test/painter", `{"prompt":"A fox"}`, `{}`))
	if err != nil {
		t.Fatal(err)
	}
	job := *out.Job
	for range 2 {
		if out, err = a.(supplier.Poller).Poll(t.Context(), job); err != nil || out.Job == nil {
			t.Fatalf("poll: %+v, %v", out, err)
		}
	}
	if out, err = a.(supplier.Poller).Poll(t.Context(), job); err != nil || out.Result == nil {
		t.Fatalf("poll: %+v, %v", out, err)
	}
	if err := a.(supplier.Canceler).Cancel(t.Context(), job); err != nil {
		t.Fatal(err)
	}
	get := asked{Method: "GET", Path: "/v1/predictions/p1"}
	want := []asked{{Method: "POST", Path: "/v1/models/test/painter/predictions"}, get, get, get, {Method: "POST", Path: "/v1/predictions/p1/cancel"}}
	if diff := cmp.Diff(want, log()); diff != "" {
		t.Errorf("requests (-want +got):\n%s", diff)
	}
}

// TestSteering shows which submissions wait for their result, and when predictions are told to end.
func TestSteering(t *testing.T) {
	text := request("text.chat", llama, `{"prompt":"Hi"}`, `{}`)
	image := request("image.generate", "test/painter", `{"prompt":"A fox"}`, `{}`)
	for name, tt := range map[string]struct {
		request  supplier.Request
		wait     string
		timeout  time.Duration
		deadline time.Duration // 0: no deadline
		want     asked
	}{
		"text":                 {request: text, want: asked{Prefer: "wait=60"}},
		"media":                {request: image, want: asked{}},
		"set":                  {request: text, wait: "5", want: asked{Prefer: "wait=5"}},
		"never":                {request: text, wait: "0", want: asked{}},
		"a short timeout":      {request: text, timeout: 15 * time.Second, want: asked{Prefer: "wait=10"}},
		"a shorter timeout":    {request: text, timeout: 3 * time.Second, want: asked{}},
		"a deadline":           {request: image, deadline: 15 * time.Minute, want: asked{CancelAfter: "900s"}},
		"a deadline too near":  {request: image, deadline: 4 * time.Second, want: asked{CancelAfter: "5s"}},
		"a deadline of a week": {request: text, wait: "0", deadline: 7 * 24 * time.Hour, want: asked{CancelAfter: "86400s"}},
	} {
		t.Run(name, func(t *testing.T) {
			base, log := upstream(t, suppliertest.JSON(201, prediction("starting", "")))
			c := supplier.Config{BaseURL: base, Timeout: tt.timeout}
			if tt.wait != "" {
				c.Options = map[string]string{"wait": tt.wait}
			}
			ctx := t.Context()
			if tt.deadline > 0 {
				var cancel context.CancelFunc
				ctx, cancel = context.WithTimeout(ctx, tt.deadline)
				defer cancel()
			}
			if _, err := mustNew(t, c).Submit(ctx, tt.request); err != nil {
				t.Fatal(err)
			}
			got := log()[0]
			if diff := cmp.Diff(tt.want, asked{Prefer: got.Prefer, CancelAfter: got.CancelAfter}); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// TestText shows the use of a text's metrics, and a result without them.
func TestText(t *testing.T) {
	for name, tt := range map[string]struct {
		rest string
		want supplier.Result
	}{
		"at the limit": {
			`,"output":["a"],"metrics":{"input_token_count":3,"output_token_count":4}`,
			supplier.Result{FinishReason: "length", Usage: supplier.Usage{InputTokens: 3, OutputTokens: 4}},
		},
		"below it": {
			`,"output":["a"],"metrics":{"input_token_count":3,"output_token_count":3}`,
			supplier.Result{FinishReason: "stop", Usage: supplier.Usage{InputTokens: 3, OutputTokens: 3}},
		},
		"no metrics": {`,"output":["a"],"metrics":null`, supplier.Result{FinishReason: "stop", Usage: supplier.Usage{InputTokens: 4, OutputTokens: 1}}},
		"odd metrics": {
			`,"output":["a"],"metrics":{"input_token_count":-3,"output_token_count":"x"}`,
			supplier.Result{FinishReason: "stop", Usage: supplier.Usage{InputTokens: 4, OutputTokens: 1}},
		},
	} {
		base, _ := upstream(t, suppliertest.JSON(201, prediction("succeeded", tt.rest)))
		got, err := suppliertest.Send(t, mustNew(t, supplier.Config{BaseURL: base}), request("text.chat", llama, `{"prompt":"Hi"}`, `{"max_output_tokens":4}`), false)
		if err != nil {
			t.Fatal(err)
		}
		tt.want.Text = new("a")
		if diff := cmp.Diff(&tt.want, got); diff != "" {
			t.Errorf("%s: (-want +got):\n%s", name, diff)
		}
	}
}

// TestRemoved shows that a result whose data the supplier has removed is an end.
func TestRemoved(t *testing.T) {
	gone := strings.Replace(prediction("succeeded", `,"output":"https://replicate.example/1.png"`), `"data_removed":false`, `"data_removed":true`, 1)
	base, _ := upstream(t, suppliertest.JSON(200, gone))
	job := supplier.Job{ID: "p1", Model: "test/painter", State: json.RawMessage(`{"capability":"image.generate"}`)}
	_, err := mustNew(t, supplier.Config{BaseURL: base}).(supplier.Poller).Poll(t.Context(), job)
	want := suppliertest.Verdict{Code: fault.ProviderUnavailable, Sent: supplier.Failed}
	if diff := cmp.Diff(want, suppliertest.VerdictOf(err)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestCancel(t *testing.T) {
	job := supplier.Job{ID: "p1", Model: llama, State: json.RawMessage(`{}`)}
	for status, want := range map[int]fault.Code{200: "", 404: "", 401: fault.ProviderUnavailable, 503: fault.CapacityExhausted} {
		base, _ := upstream(t, suppliertest.JSON(status, `{}`))
		err := mustNew(t, supplier.Config{BaseURL: base}).(supplier.Canceler).Cancel(t.Context(), job)
		if err == nil && want != "" || err != nil && fault.CodeOf(err) != want {
			t.Errorf("%d: got %v, want %q", status, err, want)
		}
	}
}

// TestStoredJob shows that a stored job that can't be read is an end, and gets into no path.
func TestStoredJob(t *testing.T) {
	a := mustNew(t, supplier.Config{BaseURL: "http://127.0.0.1:1"})
	for _, j := range []supplier.Job{{ID: "p1"}, {ID: "../account", State: json.RawMessage(`{}`)}, {State: json.RawMessage(`{}`)}} {
		_, err := a.(supplier.Poller).Poll(t.Context(), j)
		want := suppliertest.Verdict{Code: fault.Internal, Sent: supplier.Failed}
		if diff := cmp.Diff(want, suppliertest.VerdictOf(err)); diff != "" {
			t.Errorf("%+v: (-want +got):\n%s", j, diff)
		}
		if a.(supplier.Canceler).Cancel(t.Context(), j) == nil {
			t.Errorf("%+v: canceled", j)
		}
	}
}

func TestNewErrors(t *testing.T) {
	const base = "https://api.example"
	wait := func(s string) map[string]string { return map[string]string{"wait": s} }
	for want, c := range map[string]supplier.Config{
		"base_url is required":                                    {},
		`unknown option "prefer"`:                                 {BaseURL: base, Options: map[string]string{"prefer": "1"}},
		"option wait must be a number of seconds from 0 to 60":    {BaseURL: base, Options: wait("61")},
		"option wait must be 5s shorter than timeout":             {BaseURL: base, Options: wait("26"), Timeout: 30 * time.Second},
		"max_tokens_field is for the kind openai alone":           {BaseURL: base, MaxTokensField: "max_tokens"},
		"models testdata/none.yaml: open testdata/none.yaml: no ": {BaseURL: base, Models: []string{"testdata/none.yaml"}},
	} {
		if _, err := replicate.New(c); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("got %v, want %q", err, want)
		}
	}
}

// FuzzPrediction holds that an answer to a submission gives a job with an id that is fit for a path or a
// result, or a failure whose verdict is safe; and that asking after a job never loses it.
func FuzzPrediction(f *testing.F) {
	for _, s := range []string{
		prediction("starting", ""), prediction("succeeded", `,"output":["a","b"]`), prediction("succeeded", `,"output":"a","metrics":{"output_token_count":1e300}`),
		prediction("failed", `,"error":"nsfw"`), prediction("aborted", ""), `{"id":"p1","status":"succeeded","data_removed":"2026"}`, ``, `null`, `[]`,
		`{"error":{"code":429}}`, `<html>`,
	} {
		f.Add(s)
	}
	a, answer := suppliertest.Answering(f, replicate.Kind(), "application/json")
	r := request("text.chat", llama, `{"prompt":"Hi"}`, `{}`)
	known := supplier.Job{ID: "p1", Model: llama, State: json.RawMessage(`{"capability":"text.chat","asked":15}`)}
	f.Fuzz(func(t *testing.T, body string) {
		answer(body)
		out, err := a.Submit(t.Context(), r)
		switch {
		case err != nil:
			suppliertest.CheckFailure(t, err, body)
		case out.Job != nil:
			if out.Job.ID == "" || strings.ContainsAny(out.Job.ID, "/.?#%") {
				t.Errorf("job %+v", out.Job)
			}
		default:
			checkText(t, out)
		}
		out, err = a.(supplier.Poller).Poll(t.Context(), known)
		switch {
		case err != nil:
			if e, ok := errors.AsType[*supplier.Error](err); !ok || !e.Fault.Code.Valid() || e.Fault.Code == fault.Internal {
				t.Errorf("error %v", err)
			}
		case out.Job != nil:
			if diff := cmp.Diff(&known, out.Job); diff != "" {
				t.Errorf("job (-want +got):\n%s", diff)
			}
		default:
			checkText(t, out)
		}
	})
}

func checkText(t *testing.T, out supplier.Outcome) {
	t.Helper()
	res := out.Result
	if res == nil || res.Text == nil || res.FinishReason != "stop" || res.Usage.InputTokens < 1 || res.Usage.OutputTokens < 0 {
		t.Errorf("result %+v", res)
	}
}
