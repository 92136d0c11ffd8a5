package server_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"unitask/internal/account"
	"unitask/internal/api"
	"unitask/internal/fault"
	"unitask/internal/server"
	"unitask/internal/task"
	"unitask/test/fixture"
)

// TestBadInput: each wrong creation gets its status, code and field, and leaves its key unused: the corrected request
// that uses the key next is a fresh one.
func TestBadInput(t *testing.T) {
	w := newWorld(t, options{limits: server.Limits{Body: 4096}})
	deep := strings.Repeat(`{"a":`, 70) + "1" + strings.Repeat("}", 70)
	tests := []struct {
		name, body string
		change     func(*request)
		status     int
		field      string // of the first detail, "" without one
	}{
		{"no JSON", `{"capability":`, nil, 400, ""},
		{"no object", `[]`, nil, 400, ""},
		{"nothing", ``, nil, 400, ""},
		{"two values", chat("a") + chat("b"), nil, 400, ""},
		{"no UTF-8", strings.Replace(chat("?"), "?", "\xff", 1), nil, 400, ""},
		{"a doubled member", `{"capability":"text.chat","capability":"text.chat","input":{"prompt":"a"}}`, nil, 400, "capability"},
		{"a doubled member within", `{"capability":"text.chat","input":{"prompt":"a","prompt":"b"}}`, nil, 400, "input.prompt"},
		{"a member in another case", `{"capability":"text.chat","Input":{},"input":{"prompt":"a"}}`, nil, 400, "Input"},
		{"an unknown member", `{"capability":"text.chat","input":{"prompt":"a"},"model":"x"}`, nil, 400, "model"},
		{"an unknown member of the input", `{"capability":"text.chat","input":{"prompt":"a","x":1}}`, nil, 400, "input.x"},
		{"an unknown parameter", `{"capability":"text.chat","input":{"prompt":"a"},"parameters":{"x":1}}`, nil, 400, "parameters.x"},
		{"a wrong type", `{"capability":"text.chat","input":{"prompt":5}}`, nil, 400, "input.prompt"},
		{"a wrong type at the top", `{"capability":5,"input":{"prompt":"a"}}`, nil, 400, "capability"},
		{"an input that is no object", `{"capability":"text.chat","input":"a"}`, nil, 400, "input"},
		{"parameters of null", `{"capability":"text.chat","input":{"prompt":"a"},"parameters":null}`, nil, 400, "parameters"},
		{"no capability", `{"input":{"prompt":"a"}}`, nil, 400, "capability"},
		{"no input", `{"capability":"text.chat"}`, nil, 400, "input"},
		{"an unknown capability", `{"capability":"text.chad","input":{}}`, nil, 400, "capability"},
		{"a closed capability", `{"capability":"video.generate","input":{"prompt":"a"}}`, by(w.live), 400, "capability"},
		{"a huge integer", `{"capability":"text.chat","input":{"prompt":"a"},"parameters":{"seed":9007199254740993}}`, nil, 400, "parameters.seed"},
		{"an overflowing number", `{"capability":"text.chat","input":{"prompt":"a"},"parameters":{"seed":1e999}}`, nil, 400, "parameters.seed"},
		{"a lone surrogate", `{"capability":"text.chat","input":{"prompt":"\ud800"}}`, nil, 400, ""},
		{"too deep", `{"capability":"text.chat","input":` + deep + `}`, nil, 400, ""},
		{"out of range", `{"capability":"text.chat","input":{"prompt":"a"},"parameters":{"temperature":99}}`, nil, 400, "parameters.temperature"},
		{"too large", chat(strings.Repeat("a", 4096)), nil, 413, ""},
		{"no media type", chat("a"), with("Content-Type", ""), 415, "Content-Type"},
		{"another media type", chat("a"), with("Content-Type", "text/plain"), 415, "Content-Type"},
		{"a form", chat("a"), with("Content-Type", "application/x-www-form-urlencoded"), 415, "Content-Type"},
		{"a likeness of the media type", chat("a"), with("Content-Type", "application/json-patch+json"), 415, "Content-Type"},
		{"another charset", chat("a"), with("Content-Type", "application/json; charset=latin1"), 415, "Content-Type"},
		{"an encoded body", chat("a"), with("Content-Encoding", "gzip"), 415, "Content-Encoding"},
		{"no authorization of a person", `{"capability":"image.edit","input":{"prompt":"a","images":[{"data":"` + pixel + `","content_type":"image/png"}]}}`, nil, 403, "input.authorization"},
	}
	for i, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			idempotencyKey := fmt.Sprintf("bad-input-%d", i)
			change := tt.change
			if change == nil {
				change = func(*request) {}
			}
			got := w.post(idempotencyKey, tt.body, change)
			e := got.error(t)
			want := fault.InvalidRequest
			if tt.status == http.StatusForbidden {
				want = fault.AuthorizationRequired
			}
			if got.StatusCode != tt.status || e.Error.Code != want || e.Error.Retryable || e.TaskID != "" || e.Error.Message == "" {
				t.Fatalf("status %d, want %d: %s", got.StatusCode, tt.status, got.body)
			}
			var field string
			if len(e.Error.Details) > 0 {
				field = e.Error.Details[0].Field
			}
			if tt.field != "" && field != tt.field {
				t.Errorf("field %q, want %q: %s", field, tt.field, got.body)
			}
			key := w.test
			if tt.name == "a closed capability" {
				key = w.live
			}
			if fresh := w.post(idempotencyKey, chat("corrected"), by(key)); fresh.StatusCode != 200 || fresh.Header.Get(api.HeaderIdempotentReplay) != "" {
				t.Errorf("something was recorded: %d %s", fresh.StatusCode, fresh.body)
			}
		})
	}
}

// pixel is a PNG of one pixel.
const pixel = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg=="

func TestIdempotencyKeys(t *testing.T) {
	w := newWorld(t, options{})
	for value, want := range map[string]int{
		strings.Repeat("a", 8):            200,
		strings.Repeat("ä", 128):          200,
		"語" + strings.Repeat("𝄞", 7):      200,
		" " + strings.Repeat("b", 8):      200,
		"\u3000" + strings.Repeat("c", 8): 200,
		"":                                400,
		strings.Repeat("a", 7):            400,
		strings.Repeat("ä", 7):            400,
		strings.Repeat("a", 129):          400,
		strings.Repeat("ä", 129):          400,
		"\u00a0\u00a0" + "1234567":        400,
		"12345678\xff":                    400,
		"12345678\u0085x":                 400,
	} {
		got := w.post(value, chat("a"))
		if got.StatusCode != want {
			t.Errorf("%q: status %d, want %d: %s", value, got.StatusCode, want, got.body)
		}
		if want == 400 && got.error(t).Error.Details[0].Field != api.HeaderIdempotencyKey {
			t.Errorf("%q: %s", value, got.body)
		}
	}
	for _, values := range [][]string{nil, {"twice-the-same", "twice-the-same"}} {
		req := fixture.Must(http.NewRequestWithContext(t.Context(), http.MethodPost, w.base+api.PathTasks, strings.NewReader(chat("a"))))(t)
		req.Header = http.Header{"Authorization": {"Bearer " + w.test}, "Content-Type": {"application/json"}, api.HeaderIdempotencyKey: values}
		if got := w.send(req); got.StatusCode != 400 || got.error(t).Error.Details[0].Field != api.HeaderIdempotencyKey {
			t.Errorf("%d keys: %d %s", len(values), got.StatusCode, got.body)
		}
	}
}

// TestOneAnswerForBadKeys: a missing key can't be told from a malformed, unknown, revoked or expired one, wherever it
// is used.
func TestOneAnswerForBadKeys(t *testing.T) {
	w := newWorld(t, options{limits: server.Limits{RefusedKeys: -1}})
	revoked := fixture.Must(w.Operator.CreateKey(t.Context(), api.KeyCreate{Name: "r", Mode: task.Test}))(t)
	fixture.Must(w.Operator.RevokeKey(t.Context(), revoked.ID))(t)
	expired := w.key(api.KeyCreate{Mode: task.Test, ExpiresInSeconds: 1})
	time.Sleep(1100 * time.Millisecond) // a key's life is counted in seconds
	values := map[string][]string{
		"missing": nil, "empty": {""}, "no scheme": {w.test}, "another scheme": {"Basic " + w.test}, "malformed": {"Bearer nonsense"},
		"unknown": {"Bearer " + account.NewKeySecret("svc", task.Test)}, "revoked": {"Bearer " + revoked.Secret},
		"expired": {"Bearer " + expired}, "twice": {"Bearer " + w.test, "Bearer " + w.test}, "another prefix": {"Bearer " + account.NewKeySecret("abc", task.Test)},
		"a typing error": {"Bearer " + w.test[:len(w.test)-1] + "_"}, "more behind": {"Bearer " + w.test + " x"},
	}
	var first api.ErrorResponse
	for name, header := range values {
		for _, at := range []struct{ method, path string }{
			{http.MethodGet, api.PathCapabilities},
			{http.MethodPost, api.PathTasks},
			{http.MethodDelete, api.PathTasks},
			{http.MethodGet, api.PathTasks + "/" + task.NewID(task.PrefixTask, time.Now())},
			{http.MethodGet, "/api/ai/v1/nothing"},
		} {
			req := fixture.Must(http.NewRequestWithContext(t.Context(), at.method, w.base+at.path, nil))(t)
			req.Header["Authorization"] = header
			got := w.send(req)
			e := got.error(t)
			if got.StatusCode != 401 || got.Header.Get("WWW-Authenticate") != "Bearer" || got.Header.Get(api.HeaderRateLimit) != "" {
				t.Errorf("%s at %s %s: %d %v", name, at.method, at.path, got.StatusCode, got.Header)
			}
			e.RequestID = ""
			if first.Error.Code == "" {
				first = e
			}
			if diff := cmp.Diff(first, e); diff != "" || e.Error.Code != fault.Unauthenticated {
				t.Errorf("%s is told apart:\n%s", name, diff)
			}
		}
	}
}

// TestNotFound: a task outside the key's account, mode or scope is answered like one that isn't there.
func TestNotFound(t *testing.T) {
	w := newWorld(t, options{})
	id := w.post("someone's own", chat("mine")).task(t).ID
	keys := map[string]string{
		"another account": w.otherAccountsKey(), "another mode": w.live,
		"another scope": w.key(api.KeyCreate{Mode: task.Test, Scopes: []string{"image.*"}}),
	}
	for _, suffix := range []string{"", "/input", "/timeline", "/cancel"} {
		r := request{path: api.PathTasks + "/" + task.NewID(task.PrefixTask, time.Now()) + suffix, key: w.test}
		if suffix == "/cancel" {
			r.method = http.MethodPost
		}
		unknown := w.do(r)
		want := unknown.error(t)
		want.RequestID = ""
		if unknown.StatusCode != 404 || want.Error.Code != fault.NotFound {
			t.Errorf("unknown task: %d %s", unknown.StatusCode, unknown.body)
		}
		for name, key := range keys {
			r.path, r.key = api.PathTasks+"/"+id+suffix, key
			got := w.do(r)
			e := got.error(t)
			e.RequestID = ""
			if diff := cmp.Diff(want, e); got.StatusCode != 404 || diff != "" {
				t.Errorf("%s%s is told apart: %d\n%s", name, suffix, got.StatusCode, diff)
			}
		}
	}
	for _, path := range []string{
		"/", "/api", "/api/", "/api/ai/v1", "/api/ai/v1/", "/api/ai/v1/tasks/", "/api/ai/v2/tasks", "/api/ai/v1/tasks/x/y/z",
		"//api/ai/v1/tasks", "/api/ai/v1/../v1/tasks", "/api/./ai/v1/tasks", "/healthz/", "/artifacts/", "/artifacts/x", "/openapi",
		"/api/ai/v1/tasks/" + id + "%2Ftimeline", "/api/ai/v1/tasks/..%2fcapabilities", "/metrics",
	} {
		if got := w.do(request{path: path, key: w.test}); got.StatusCode != 404 || got.error(t).Error.Code != fault.NotFound {
			t.Errorf("%s: %d %s", path, got.StatusCode, got.body)
		}
	}
}

func TestMethods(t *testing.T) {
	w := newWorld(t, options{})
	id := task.NewID(task.PrefixTask, time.Now())
	for path, allow := range map[string]string{
		api.PathCapabilities: "GET, HEAD", api.PathTasks: "GET, HEAD, POST", api.PathTasks + "/" + id: "GET, HEAD",
		api.PathTasks + "/" + id + "/cancel": "POST", api.PathTasks + "/" + id + "/timeline": "GET, HEAD", api.PathTasks + "/" + id + "/input": "GET, HEAD", api.PathHealth: "GET, HEAD",
		api.PathReady: "GET, HEAD", api.PathOpenAPIJSON: "GET, HEAD", api.PathArtifacts + "art_x": "GET, HEAD",
	} {
		for _, method := range []string{http.MethodPut, http.MethodDelete, http.MethodPatch, http.MethodOptions, "BREW"} {
			got := w.do(request{method: method, path: path, key: w.test})
			if got.StatusCode != 405 || got.Header.Get("Allow") != allow || got.error(t).Error.Code != fault.InvalidRequest {
				t.Errorf("%s %s: %d, Allow %q, want %q", method, path, got.StatusCode, got.Header.Get("Allow"), allow)
			}
		}
	}
	for _, path := range []string{api.PathCapabilities, api.PathTasks, api.PathHealth} {
		if got := w.do(request{method: http.MethodHead, path: path, key: w.test}); got.StatusCode != 200 || len(got.body) != 0 {
			t.Errorf("HEAD %s: %d", path, got.StatusCode)
		}
	}
}

// TestOrderOfChecks mends one fault of a request after the other; each time the next one shows.
func TestOrderOfChecks(t *testing.T) {
	w := newWorld(t, options{limits: server.Limits{Body: 600}})
	limited := w.key(api.KeyCreate{Mode: task.Test, Limits: api.Limits{CreatesPerMinute: 1}})
	w.do(request{path: api.PathTasks, key: limited})
	w.post("taken-key", chat("taken"))
	steps := []struct {
		name   string
		mend   func(*request)
		status int
	}{
		{"key", func(*request) {}, 401},
		{"rate", by(limited), 429},
		{"method", by(w.test), 405},
		{"media type", func(r *request) { r.method = http.MethodPost }, 415},
		{"size", with("Content-Type", "application/json"), 413},
		{"Idempotency-Key", func(r *request) { r.body = `{"capability":"text.chad","input":` }, 400},
		{"JSON", with(api.HeaderIdempotencyKey, "taken-key"), 400},
		{"record", func(r *request) { r.body = `{"capability":"image.chad","input":{"image":5}}` }, 409},
		{"capability", with(api.HeaderIdempotencyKey, "fresh-key"), 400},
		{"schema", func(r *request) {
			r.body = `{"capability":"image.edit","input":{"prompt":5,"images":[{"data":"` + pixel + `","content_type":"image/png"}]}}`
		}, 400},
		{"authorization", func(r *request) { r.body = strings.Replace(r.body, ":5", `:"a"`, 1) }, 403},
		{"nothing", func(r *request) {
			r.body = strings.Replace(r.body, `"prompt"`, `"authorization":{"person":"none"},"prompt"`, 1)
		}, 202},
	}
	r := request{
		method: http.MethodPut, path: api.PathTasks, body: strings.Repeat("[", 700),
		header: map[string]string{"Content-Type": "text/plain", api.HeaderIdempotencyKey: "short"},
	}
	fields := map[string]string{"Idempotency-Key": api.HeaderIdempotencyKey, "capability": "capability", "schema": "input.prompt"}
	for _, step := range steps {
		step.mend(&r)
		got := w.do(r)
		if got.StatusCode != step.status {
			t.Fatalf("%s: status %d, want %d: %s", step.name, got.StatusCode, step.status, got.body)
		}
		if field := fields[step.name]; field != "" && got.error(t).Error.Details[0].Field != field {
			t.Errorf("%s: %s", step.name, got.body)
		}
	}
}

// TestErrorsOfTheWork has each code that only a supplier's work brings about.
func TestErrorsOfTheWork(t *testing.T) {
	w := newWorld(t, options{})
	for code, want := range map[fault.Code]int{
		fault.ContentPolicyViolation: 422, fault.ProviderUnavailable: 502, fault.CapacityExhausted: 503, fault.ProviderTimeout: 504,
		fault.Internal: 500, fault.InvalidRequest: 400,
	} {
		got := w.post("work-"+string(code), chat("@fail:"+string(code)))
		e := got.error(t)
		if got.StatusCode != want || e.Error.Code != code || e.Error.Retryable != code.Retryable() || e.TaskID == "" {
			t.Errorf("%s: %d %s", code, got.StatusCode, got.body)
		}
		advised := want >= 502
		if (got.Header.Get("Retry-After") != "") != advised || (e.Error.RetryAfterSeconds > 0) != advised {
			t.Errorf("%s: Retry-After %q, %d in the body", code, got.Header.Get("Retry-After"), e.Error.RetryAfterSeconds)
		}
	}
	for _, prompt := range []string{"refuse", "foreign"} {
		if got := w.post("live-"+prompt, chat(prompt), by(w.live)); got.StatusCode < 500 {
			t.Errorf("%s: %d %s", prompt, got.StatusCode, got.body)
		}
	}
	failed := w.post("live-image", image("a fox"), by(w.live)).task(t)
	if got := w.end(w.live, failed.ID); got.State != task.Failed {
		t.Errorf("the live picture: %+v", got)
	}
}

func TestLimitsOfAKey(t *testing.T) {
	w := newWorld(t, options{})
	limited := w.key(api.KeyCreate{Mode: task.Test, Limits: api.Limits{CreatesPerMinute: 2, OpenTasks: 1}})
	first := w.post("limited-1", image("@stuck:running"), by(limited))
	if first.StatusCode != 202 || first.Header.Get(api.HeaderRateLimitPolicy) != `"creates";q=2;w=60` ||
		!strings.HasPrefix(first.Header.Get(api.HeaderRateLimit), `"creates";r=1;t=`) {
		t.Errorf("first: %d %v", first.StatusCode, first.Header)
	}
	for _, what := range []string{"open tasks", "requests a minute"} {
		got := w.post("limited-next", chat("a"), by(limited))
		e := got.error(t)
		if got.StatusCode != 429 || e.Error.Code != fault.RateLimitExceeded || !strings.Contains(e.Error.Message, what) || got.Header.Get("Retry-After") == "" {
			t.Errorf("past the limit of %s: %d %s", what, got.StatusCode, got.body)
		}
	}
	budget := w.key(api.KeyCreate{Mode: task.Live, Limits: api.Limits{Budget: "0.000000001", BudgetPeriod: "day"}})
	if got := w.post("past-the-budget", chat("a"), by(budget)); got.StatusCode != 429 || got.error(t).TaskID != "" {
		t.Errorf("past the budget: %d %s", got.StatusCode, got.body)
	}
}
