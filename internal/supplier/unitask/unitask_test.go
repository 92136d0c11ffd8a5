package unitask_test

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"unitask/internal/fault"
	"unitask/internal/supplier"
	"unitask/internal/supplier/suppliertest"
	"unitask/internal/supplier/unitask"
)

func request(capability, input, parameters string) supplier.Request {
	return supplier.Request{
		Capability: capability, Model: capability, Input: json.RawMessage(input), Parameters: json.RawMessage(parameters),
		SubmitKey: "task_0/1",
	}
}

// taskOf is a task as the other gateway shows it; rest begins with a comma.
func taskOf(state, rest string) string {
	return `{"id":"task_1","capability":"theirs","mode":"live","state":"` + state + `","request_id":"req_1"` + rest + `}`
}

const (
	chatDone = `,"output":{"text":"Hello.","finish_reason":"length"},"error":null,
		"usage":{"input_tokens":9,"output_tokens":2,"cost":{"currency":"USD","amount":"0.000013"}}`
	toolsDone = `,"output":{"text":"Hm.","finish_reason":"tool_calls"},"error":null,"usage":{"input_tokens":9,"output_tokens":2}`
	fileDone  = `"id":"art_1","url":"https://gateway.example/artifacts/art_1?s=1","content_type":"image/png","bytes":3,"width":8,"height":4,
		"duration_seconds":null}`
)

// job answers a creation with a task that is queued, runs at the first question and then ends.
func job(done string) http.Handler {
	asked := 0
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch {
		case r.Method == http.MethodPost:
			suppliertest.JSON(202, taskOf("queued", "")).ServeHTTP(w, r)
			return
		case asked == 0:
			asked++
			suppliertest.JSON(200, taskOf("running", `,"progress":0.5`)).ServeHTTP(w, r)
		default:
			suppliertest.JSON(200, taskOf("succeeded", done)).ServeHTTP(w, r)
		}
	})
}

// events is a stream of tasks and deltas, each an event's name and data.
func events(pairs ...string) http.Handler {
	var b strings.Builder
	for i := 0; i < len(pairs); i += 2 {
		b.WriteString("event: " + pairs[i] + "\ndata: " + strings.ReplaceAll(pairs[i+1], "\n", " ") + "\n\n")
	}
	return suppliertest.Respond(200, "text/event-stream", b.String())
}

func media(kind, data string) supplier.Media {
	return supplier.Media{ContentType: kind, Bytes: int64(len(data)), Open: func() (io.ReadCloser, error) {
		return io.NopCloser(strings.NewReader(data)), nil
	}}
}

func TestConformance(t *testing.T) {
	suppliertest.Run(t, suppliertest.Harness{
		Kind:      unitask.Kind(),
		Abilities: suppliertest.Abilities{Poll: true, Cancel: true, Stream: true, Probe: true, HonorKey: true},
		Upstream:  &suppliertest.Upstream{Probe: suppliertest.JSON(200, `{"data":[]}`)},
		Cases:     cases(),
		Faults:    faults(),
		ToolCalls: []suppliertest.ToolCall{{
			Answer: suppliertest.JSON(200, taskOf("succeeded", toolsDone)), Text: "Hm.",
			Stream: events("delta", `{"text":"Hm."}`, "task", taskOf("succeeded", toolsDone)),
		}},
	})
}

func verdict(code fault.Code, sent supplier.Sent) suppliertest.Verdict {
	return suppliertest.Verdict{Code: code, Sent: sent}
}

// faults are the codes of the contract, as answers to a creation, as ends of a job and in a stream.
func faults() []suppliertest.Fault {
	operator := suppliertest.Verdict{Code: fault.ProviderUnavailable, Sent: supplier.Refused, Operator: true}
	var all []suppliertest.Fault
	for _, row := range []struct {
		status   int
		code     fault.Code
		created  suppliertest.Verdict
		finished fault.Code // of a job that ended so
	}{
		{400, fault.InvalidRequest, verdict(fault.InvalidRequest, supplier.Refused), fault.InvalidRequest},
		{401, fault.Unauthenticated, operator, ""},
		{403, fault.AuthorizationRequired, verdict(fault.InvalidRequest, supplier.Refused), fault.InvalidRequest},
		{404, fault.NotFound, operator, ""},
		{409, fault.IdempotencyConflict, verdict(fault.ProviderUnavailable, supplier.Unknown), ""},
		{422, fault.ContentPolicyViolation, verdict(fault.ContentPolicyViolation, supplier.Refused), fault.ContentPolicyViolation},
		{429, fault.RateLimitExceeded, verdict(fault.CapacityExhausted, supplier.Refused), ""},
		{500, fault.Internal, verdict(fault.ProviderUnavailable, supplier.Refused), fault.ProviderUnavailable},
		{502, fault.ProviderUnavailable, verdict(fault.ProviderUnavailable, supplier.Refused), fault.ProviderUnavailable},
		{503, fault.CapacityExhausted, verdict(fault.CapacityExhausted, supplier.Refused), fault.CapacityExhausted},
		{504, fault.ProviderTimeout, verdict(fault.ProviderTimeout, supplier.Unknown), fault.ProviderTimeout},
	} {
		body := `{"error":{"code":"` + string(row.code) + `","message":"m","retryable":false},"task_id":"task_1","request_id":"req_1"}`
		all = append(all, suppliertest.Fault{Name: string(row.code), Answer: suppliertest.JSON(row.status, body), Want: row.created})
		if row.finished == "" {
			continue
		}
		report := `,"error":{"code":"` + string(row.code) + `","message":"m","retry_after_seconds":7}`
		ended, streamed := verdict(row.finished, supplier.Failed), row.created
		ended.RetryAfter, streamed.RetryAfter = 7*time.Second, 7*time.Second
		all = append(all,
			suppliertest.Fault{Name: "job " + string(row.code), Answer: suppliertest.JSON(200, taskOf("failed", report)), Want: ended},
			suppliertest.Fault{
				Name: "stream " + string(row.code), Stream: true, Want: streamed,
				Answer: events("task", taskOf("running", ""), "task", taskOf("failed", report)),
			})
	}
	closed := `{"error":{"code":"INVALID_REQUEST","message":"m","details":[{"field":"capability","message":"unknown"}]}}`
	lost := verdict(fault.ProviderUnavailable, supplier.Unknown)
	row := func(name string, answer http.Handler, want suppliertest.Verdict) suppliertest.Fault {
		return suppliertest.Fault{Name: name, Answer: answer, Want: want, Stream: strings.HasPrefix(name, "stream ")}
	}
	return append(all,
		row("a capability that isn't there", suppliertest.JSON(400, closed), operator),
		row("canceled there", suppliertest.JSON(200, taskOf("canceled", "")), verdict(fault.ProviderUnavailable, supplier.Failed)),
		row("failed without a code", suppliertest.JSON(200, taskOf("failed", "")), verdict(fault.ProviderUnavailable, supplier.Failed)),
		row("an unknown state", suppliertest.JSON(200, taskOf("resting", "")), lost),
		row("an id that fits no path", suppliertest.JSON(200, `{"id":"../1","state":"queued"}`), lost),
		row("an error inside", suppliertest.JSON(200, `{"error":{"code":"CAPACITY_EXHAUSTED","message":"m"}}`), verdict(fault.CapacityExhausted, supplier.Refused)),
		row("an error beside an id", suppliertest.JSON(200, `{"id":"task_1","error":{"code":"CAPACITY_EXHAUSTED","message":"m"}}`), lost),
		row("no output", suppliertest.JSON(200, taskOf("succeeded", "")), lost),
		row("an empty output", suppliertest.JSON(200, taskOf("succeeded", `,"output":{}`)), lost),
		row("a file without an address", suppliertest.JSON(200, taskOf("succeeded", `,"output":{"images":[{"id":"art_1","url":"file:///etc","content_type":"image/png"}]}`)), lost),
		row("stream without an end", events("task", taskOf("running", ""), "delta", `{"text":"Hel"}`), lost),
		row("stream of another text", events("delta", `{"text":"Bye"}`, "task", taskOf("succeeded", chatDone)), lost),
		row("stream of no text", events("task", taskOf("succeeded", `,"output":{"other":{}}`)), lost),
		row("stream that is canceled", events("task", taskOf("canceled", "")), lost),
		row("stream of no JSON", events("delta", `{`), lost),
	)
}

// TestKeyIsTheSubmitKey shows under which key a task is created, streamed or not, and how a job is asked
// after and canceled.
func TestKeyIsTheSubmitKey(t *testing.T) {
	var seen []string
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		seen = append(seen, strings.Join([]string{
			r.Method, r.URL.Path, r.Header.Get("Idempotency-Key"), r.Header.Get("Prefer"), r.Header.Get("Accept"),
		}, " "))
		suppliertest.JSON(202, taskOf("queued", "")).ServeHTTP(w, r)
	}))
	t.Cleanup(srv.Close)
	a, err := unitask.New(supplier.Config{BaseURL: srv.URL + "/gw", Timeout: 3500 * time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	r := request("text.chat", `{"prompt":"Hi"}`, `{}`)
	out, err := a.Submit(t.Context(), r)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := a.(supplier.Streamer).Stream(t.Context(), r, func(supplier.Delta) { t.Error("a piece of a job") }); err != nil {
		t.Fatal(err)
	}
	polled, err := a.(supplier.Poller).Poll(t.Context(), *out.Job)
	if err != nil {
		t.Fatal(err)
	}
	if p := polled.Job.PollAfter; p < time.Second || p > 3*time.Second {
		t.Errorf("asked after again in %s", p)
	}
	if err := a.(supplier.Canceler).Cancel(t.Context(), *out.Job); err != nil {
		t.Fatal(err)
	}
	const tasks = "/gw/api/ai/v1/tasks"
	want := []string{
		"POST " + tasks + " task_0/1  ", "POST " + tasks + " task_0/1  text/event-stream",
		"GET " + tasks + "/task_1  wait=2 ", "POST " + tasks + "/task_1/cancel   ",
	}
	if diff := cmp.Diff(want, seen); diff != "" {
		t.Errorf("requests (-want +got):\n%s", diff)
	}
}

// TestKnownCodes: the adapter judges each code of the contract, which its errors tell then.
func TestKnownCodes(t *testing.T) {
	for _, code := range fault.Codes() {
		a := suppliertest.Answered(t, unitask.Kind(), suppliertest.JSON(500, `{"error":{"code":"`+string(code)+`"}}`))
		_, err := a.Submit(t.Context(), request("text.chat", `{"prompt":"Hi"}`, `{}`))
		if err == nil || !strings.Contains(err.Error(), "code "+strings.ToLower(string(code))) {
			t.Errorf("%s is no code of the adapter's: %v", code, err)
		}
	}
}

func TestCancel(t *testing.T) {
	j := supplier.Job{ID: "task_1", State: json.RawMessage(`{}`)}
	for status, want := range map[int]fault.Code{200: "", 404: "", 401: fault.ProviderUnavailable, 503: fault.CapacityExhausted} {
		a := suppliertest.Answered(t, unitask.Kind(), suppliertest.JSON(status, `{}`))
		err := a.(supplier.Canceler).Cancel(t.Context(), j)
		if err == nil && want != "" || err != nil && fault.CodeOf(err) != want {
			t.Errorf("%d: got %v, want %q", status, err, want)
		}
	}
}

// TestStoppedTaskSaysWhatItCost asks after tasks that were canceled, and after one that had failed by then.
func TestStoppedTaskSaysWhatItCost(t *testing.T) {
	j := supplier.Job{ID: "task_1", State: json.RawMessage(`{}`)}
	for usage, want := range map[string]struct {
		usage   *supplier.Usage
		charged *int64
	}{
		`null`: {new(supplier.Usage), new(int64)},
		`null,"error":{"code":"PROVIDER_UNAVAILABLE","message":"m","retryable":true}`:        {new(supplier.Usage), new(int64)},
		`{"cost":{"currency":"USD","amount":"0.25"}}`:                                        {nil, new(int64(250_000_000))},
		`{"input_tokens":3,"output_tokens":4,"cost":{"currency":"USD","amount":"0.000001"}}`: {&supplier.Usage{InputTokens: 3, OutputTokens: 4}, new(int64(1000))},
	} {
		state := "canceled"
		if strings.HasPrefix(usage, `null,"error"`) {
			state = "failed"
		}
		a := suppliertest.Answered(t, unitask.Kind(), suppliertest.JSON(200, taskOf(state, `,"usage":`+usage)))
		_, err := a.(supplier.Poller).Poll(t.Context(), j)
		e := supplier.AsError(err)
		if e == nil || e.Sent != supplier.Failed {
			t.Errorf("%s: %v", usage, err)
		} else if diff := cmp.Diff([]any{want.usage, want.charged}, []any{e.Usage, e.Charged}); diff != "" {
			t.Errorf("%s (-want +got):\n%s", usage, diff)
		}
	}
}

// TestUnfit shows that a request that can't be put into a creation isn't sent.
func TestUnfit(t *testing.T) {
	at := func(pointer, input string) supplier.Request {
		r := request("image.edit", input, `{}`)
		r.Media = map[string]supplier.Media{pointer: media("image/png", "abc")}
		return r
	}
	unreadable := at("/image", `{"image":{}}`)
	unreadable.Media["/image"] = supplier.Media{}
	a := suppliertest.Answered(t, unitask.Kind(), http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { t.Errorf("sent %s", r.URL) }))
	for name, r := range map[string]supplier.Request{
		"no object": request("text.chat", `[]`, `{}`), "media that aren't there": at("/image", `{}`), "no list": at("/images/0", `{"images":1}`),
		"past the list": at("/images/1", `{"images":[1]}`), "no index": at("/images/x", `{"images":[1]}`),
		"deeper": at("/images/0/x", `{"images":[1]}`), "unreadable": unreadable,
	} {
		for _, stream := range []bool{false, true} {
			_, err := suppliertest.Send(t, a, r, stream)
			if diff := cmp.Diff(verdict(fault.Internal, supplier.NotSent), suppliertest.VerdictOf(err)); diff != "" {
				t.Errorf("%s (-want +got):\n%s", name, diff)
			}
		}
	}
}

func TestStoredJob(t *testing.T) {
	a := suppliertest.Answered(t, unitask.Kind(), http.NotFoundHandler())
	for _, j := range []supplier.Job{{ID: "task_1"}, {ID: "../x", State: json.RawMessage(`{}`)}} {
		_, err := a.(supplier.Poller).Poll(t.Context(), j)
		if diff := cmp.Diff(verdict(fault.Internal, supplier.Failed), suppliertest.VerdictOf(err)); diff != "" {
			t.Errorf("%+v (-want +got):\n%s", j, diff)
		}
		if a.(supplier.Canceler).Cancel(t.Context(), j) == nil {
			t.Errorf("%+v: canceled", j)
		}
	}
}

func TestNewErrors(t *testing.T) {
	const base = "https://gateway.example"
	suppliertest.RunMisconfigured(t, unitask.Kind(), []suppliertest.Misconfigured{
		{Config: supplier.Config{}, Want: "base_url is required"},
		{Config: supplier.Config{BaseURL: base, Options: map[string]string{"wait": "1"}}, Want: `unknown option "wait"`},
		{Config: supplier.Config{BaseURL: base, MaxTokensField: "max_tokens"}, Want: "max_tokens_field is for the kind openai alone"},
		{Config: supplier.Config{BaseURL: base, Models: []string{"a.yaml"}}, Want: "models: the kind unitask has no maps of models"},
	})
}

// FuzzAnswer gives any bytes in answer to a creation and a question: they return a plausible result, a job whose id
// fits a path, or a plausible error.
func FuzzAnswer(f *testing.F) {
	for _, s := range []string{
		taskOf("succeeded", chatDone), taskOf("queued", ""), taskOf("running", `,"progress":7`), taskOf("failed", `,"error":{"code":"INTERNAL"}`),
		taskOf("succeeded", `,"output":{"images":[{`+fileDone+`]},"usage":{"seconds":-1,"images":1e300,"cost":{"amount":"-1"}}`),
		`{"error":{"code":"NOT_FOUND"}}`, ``, `null`, `<html>`,
	} {
		f.Add(s)
	}
	a, answer := suppliertest.Answering(f, unitask.Kind(), "application/json")
	f.Fuzz(func(t *testing.T, body string) {
		answer(body)
		out, err := a.Submit(t.Context(), request("text.chat", `{"prompt":"Hi"}`, `{}`))
		check(t, out, err, body)
		if err != nil {
			suppliertest.CheckFailure(t, err, body)
		}
		out, err = a.(supplier.Poller).Poll(t.Context(), supplier.Job{ID: "task_1", State: json.RawMessage(`{"asked":9}`)})
		check(t, out, err, body)
	})
}

func check(t *testing.T, out supplier.Outcome, err error, body string) {
	t.Helper()
	switch {
	case err != nil:
		if len(body) > 40 && strings.Contains(err.Error(), body) {
			t.Error("the error holds the answer")
		}
	case out.Job != nil:
		if out.Job.ID == "" || strings.ContainsAny(out.Job.ID, "/.?#%") {
			t.Errorf("job %+v", out.Job)
		}
		if p := out.Job.Progress; p != nil && (*p < 0 || *p > 1) {
			t.Errorf("progress %v", *p)
		}
	default:
		suppliertest.CheckUsage(t, out.Result.Usage)
		if c := out.Result.Charged; c != nil && *c < 0 {
			t.Errorf("charged %d", *c)
		}
	}
}

// FuzzStream gives any bytes as a stream.
func FuzzStream(f *testing.F) {
	good := httptest.NewRecorder()
	events("task", taskOf("running", ""), "delta", `{"text":"Hel"}`, "task", taskOf("succeeded", chatDone)).ServeHTTP(good, nil)
	suppliertest.FuzzTextStream(f, unitask.Kind(), request("text.chat", `{"prompt":"Hi"}`, `{}`),
		good.Body.String(), "event: delta\ndata: {\"text\":1}\n\n", string(bytes.Repeat([]byte("data: x\n\n"), 3)))
}
