package httpmap_test

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"unitask/internal/fault"
	"unitask/internal/supplier"
	"unitask/internal/supplier/httpmap"
	"unitask/internal/supplier/suppliertest"
)

// written returns the name of a file with the text.
func written(t *testing.T, text string) string {
	t.Helper()
	name := filepath.Join(t.TempDir(), "models.yaml")
	if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return name
}

func newAdapter(t *testing.T, baseURL, text string, options map[string]string) supplier.Adapter {
	t.Helper()
	a, err := httpmap.New(supplier.Config{
		BaseURL: baseURL, Models: []string{written(t, text)}, Options: options, APIKey: func() (string, error) { return "the-key", nil },
	})
	if err != nil {
		t.Fatal(err)
	}
	return a
}

const head = "models:\n  - {model: m, capability: text.x, "

// TestFaultsOfMaps holds that a faulty map is refused when it is loaded, with the model and the member in the error.
func TestFaultsOfMaps(t *testing.T) {
	const sound = `submit: {path: /x, honours: [input.a], body: '.input.a'}`
	for text, want := range map[string]string{
		``:            "has none of its own",
		`models: []`:  "has none of its own",
		`models: [1]`: "is no list of maps",
		"models:\n  - {model: m, " + sound + `, output: .}`: "model and capability are required",
		head + sound + `, output: ., stream: true}`:         "stream",
		head + sound + `}`:                                                                            "output: is empty",
		head + sound + `, output: '.a |'}`:                                                            "m of text.x: output: is no jq program",
		head + sound + `, output: 'env.HOME'}`:                                                        "output: calls env with 0 arguments",
		head + sound + `, output: '$ENV'}`:                                                            "output: uses the variable $ENV",
		head + sound + `, output: 'error("no")'}`:                                                     `output: ends with error("no")`,
		head + sound + `, output: ., usage: {tokens: '1'}}`:                                           "usage.tokens: is no unit; known: audio_input_tokens,",
		head + sound + `, output: ., usage: {images: 'now'}}`:                                         "usage.images: calls now",
		head + sound + `, output: ., answer: 'audio'}`:                                                "answer: must be a media type",
		head + sound + `, output: ., answer: '*/*'}`:                                                  "answer: must be a media type",
		head + sound + `, output: ., state: .}`:                                                       "job: is required with state",
		head + sound + `, output: ., job: .id}`:                                                       "job: needs poll and state",
		head + sound + `, output: ., job: .id, state: ., poll: {path: /jobs}}`:                        "poll.path: needs the place {job}",
		head + sound + `, output: ., job: .id, state: ., poll: {path: '/jobs/{id}'}}`:                 "poll.path: has the place {id}",
		head + sound + `, output: ., job: .id, state: ., poll: {path: 'https://a.example/{job}'}}`:    "poll.path: must be a path",
		head + sound + `, output: ., job: .id, state: ., poll: {path: '/jobs/../{job}'}}`:             "poll.path: must be a path",
		head + sound + `, output: ., job: .id, state: ., poll: {path: '/jobs/{job}', method: TRACE}}`: "poll.method: must be",
		head + sound + `, output: ., job: .id, state: ., answer: a/b, poll: {path: '/jobs/{job}'}}`:   "answer: of a job needs result",
		head + sound + `, output: ., errors: [{code: CONTENT_POLICY_VIOLATION}]}`:                     "errors[0]: needs status or match",
		head + sound + `, output: ., errors: [{status: 400, code: NOT_FOUND}]}`:                       "errors[0].code: must be one of",
		head + sound + `, output: ., errors: [{match: '(', code: INVALID_REQUEST}]}`:                  "errors[0].match: error parsing regexp",
		head + `submit: {path: /x}, output: .}`:                                                       "submit: needs one of body, form, and input",
		head + `submit: {path: /x, body: ., form: .}, output: .}`:                                     "submit: needs one of body, form, and input",
		head + `submit: {path: x, body: .}, output: .}`:                                               "submit.path: must be a path",
		head + `submit: {path: /x, method: GET, body: .}, output: .}`:                                 "submit.method: must be",
		head + `submit: {path: /x, body: '.model', honours: [input.a]}, output: .}`:                   "submit.honours: input.a is honoured by no program",
		head + `submit: {path: /x, body: '.a', honours: [a]}, output: .}`:                             `submit.honours: "a" must be input.NAME`,
		head + `submit: {path: /x, input: {/input/a: /a}, honours: [input.a]}, output: .}`:            "submit.honours: is for body and form",
		head + `submit: {path: /x, input: {/a: /a}}, output: .}`:                                      "submit: input /a: must be",
		head + `submit: {path: /x, body: 'def f: f; f'}, output: .}`:                                  "submit.body: defines the function f",
		head + `submit: {path: /x, form: '[inputs]'}, output: .}`:                                     "submit.form: calls inputs",
		head + `submit: {path: /x, body: '.model', headers: {Authorization: x}}, output: .}`:          "submit.headers.Authorization: is no header",
		head + `submit: {path: /x, body: '.model', headers: {content-length: '1'}}, output: .}`:       "submit.headers.content-length: is no header",
		head + `submit: {path: /x, body: '.model', headers: {X: '{job}'}}, output: .}`:                "submit.headers.X: has the place {job}",
		head + `submit: {path: /x, body: '.model', headers: {X: "a\nb"}}, output: .}`:                 "submit.headers.X: has a character",
		head + `submit: {path: /x, body: '.model', headers: {Idempotency-Key: '{key}'}}, output: .}`:  "submit.headers.Idempotency-Key: needs honors_key",
		head + `submit: {path: /x, body: '.model', honors_key: true}, output: .}`:                     "submit.honors_key: needs the key",
	} {
		name := written(t, text)
		_, err := httpmap.New(supplier.Config{BaseURL: "http://127.0.0.1:1", Models: []string{name}})
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s:\ngot  %v\nwant %s", text, err, want)
		}
		if err != nil && strings.Contains(text, "model: m, capability") && !strings.HasPrefix(err.Error(), "models "+name+": ") {
			t.Errorf("%v doesn't name the file", err)
		}
	}
}

func TestMisconfigured(t *testing.T) {
	good := []string{"testdata/models.yaml"}
	const base = "http://127.0.0.1:1"
	suppliertest.RunMisconfigured(t, httpmap.Kind(), []suppliertest.Misconfigured{
		{Config: supplier.Config{BaseURL: base}, Want: "models must name a file with a map: the kind http has none of its own"},
		{Config: supplier.Config{Models: good}, Want: "base_url is required"},
		{Config: supplier.Config{BaseURL: base, Models: good, MaxTokensField: "max_tokens"}, Want: "max_tokens_field is for the kind openai alone"},
		{Config: supplier.Config{BaseURL: base, Models: good, Options: map[string]string{"wait": "1"}}, Want: `unknown option "wait"`},
		{Config: supplier.Config{BaseURL: base, Models: good, Options: map[string]string{"probe": "health"}}, Want: "option probe: must be a path such as /v1/jobs, without .. and #"},
		{Config: supplier.Config{BaseURL: base, Models: good, Options: map[string]string{"key_header": "Host"}}, Want: "option key_header is no header that may have a key"},
		{Config: supplier.Config{BaseURL: base, Models: good, Options: map[string]string{"key_scheme": "a b"}}, Want: "option key_scheme must be a word, or none"},
	})
}

// seen is the last request of an upstream that gives one answer.
func seen(t *testing.T, status int, body string) (url string, last *http.Request) {
	t.Helper()
	last = &http.Request{}
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		*last = *r.Clone(r.Context())
		_, _ = io.Copy(io.Discard, r.Body)
		suppliertest.JSON(status, body).ServeHTTP(w, r)
	}))
	t.Cleanup(srv.Close)
	return srv.URL, last
}

// TestKeys checks in which header the key goes, and that the submit key goes only with honors_key.
func TestKeys(t *testing.T) {
	const plain = head + `submit: {path: '/x/{model}', headers: {x-model: 'a {model}'}, body: '.model'}, output: .}`
	const honoring = head + `name: o/m v, submit: {path: '/x/{model}', headers: {Idempotency-Key: '{key}'}, honors_key: true, body: '.model'}, output: .}`
	for _, tt := range []struct {
		text    string
		options map[string]string
		header  map[string]string
		path    string
		honors  bool
	}{
		{plain, nil, map[string]string{"Authorization": "Bearer the-key", "X-Model": "a m", "Idempotency-Key": ""}, "/x/m", false},
		{plain, map[string]string{"key_scheme": "Key"}, map[string]string{"Authorization": "Key the-key"}, "/x/m", false},
		{plain, map[string]string{"key_scheme": "none"}, map[string]string{"Authorization": "the-key"}, "/x/m", false},
		{plain, map[string]string{"key_header": "X-Api-Key"}, map[string]string{"X-Api-Key": "the-key", "Authorization": ""}, "/x/m", false},
		{honoring, nil, map[string]string{"Idempotency-Key": "task_0/1"}, "/x/o/m%20v", true},
		{honoring + "\n" + strings.TrimPrefix(strings.Replace(plain, "model: m", "model: n", 1), "models:\n"), nil, map[string]string{"Idempotency-Key": "task_0/1"}, "/x/o/m%20v", false},
	} {
		url, last := seen(t, 200, `{"a":1}`)
		a := newAdapter(t, url, tt.text, tt.options)
		if got := a.(supplier.KeyHonorer).HonorsSubmitKey(); got != tt.honors {
			t.Errorf("honors the submit key: %t, want %t", got, tt.honors)
		}
		if _, err := a.Submit(t.Context(), request("text.x", "m", `{}`, `{}`)); err != nil {
			t.Error(err)
		}
		for name, want := range tt.header {
			if got := last.Header.Get(name); got != want {
				t.Errorf("%v: header %s: got %q, want %q", tt.options, name, got, want)
			}
		}
		if got := last.URL.EscapedPath(); got != tt.path {
			t.Errorf("path %s, want %s", got, tt.path)
		}
	}
}

// TestUnfit holds that a request that a map can't honour whole isn't sent.
func TestUnfit(t *testing.T) {
	url, last := seen(t, 200, `{"a":1}`)
	a := newAdapter(t, url, head+`submit: {path: /x, honours: [input.a], body: 'if .input.a == 1 then error("not one") else {a: (.input.a + "x")} end'}, output: .}`+
		"\n  - {model: f, capability: text.x, submit: {path: /x, honours: [input.a], form: '{a: .input.a}'}, output: .}"+
		"\n  - {model: g, capability: text.x, submit: {path: /x, honours: [input.m], body: '{m: .input.m.data_uri}'}, output: .}", nil)
	for name, tt := range map[string]struct {
		request supplier.Request
		code    fault.Code
	}{
		"an unlisted member":                 {request("text.x", "m", `{"a":"b","c":1}`, `{}`), fault.Internal},
		"the map's refusal":                  {request("text.x", "m", `{"a":1}`, `{}`), fault.InvalidRequest},
		"a program that fails":               {request("text.x", "m", `{"a":2}`, `{}`), fault.Internal},
		"no map":                             {request("text.y", "m", `{}`, `{}`), fault.Internal},
		"a field of an object":               {request("text.x", "f", `{"a":{"b":1}}`, `{}`), fault.Internal},
		"a field that only looks like media": {request("text.x", "f", `{"a":{"pointer":"/a"}}`, `{}`), fault.Internal},
		"unreadable media": {func() supplier.Request {
			r := request("text.x", "g", `{"m":{}}`, `{}`)
			r.Media = map[string]supplier.Media{"/m": {}}
			return r
		}(), fault.Internal},
		"large media": {func() supplier.Request {
			r := withMedia(request("text.x", "g", `{"m":{}}`, `{}`), "image/png", "/m")
			m := r.Media["/m"]
			m.Bytes = 1 << 30
			r.Media["/m"] = m
			return r
		}(), fault.Internal},
	} {
		_, err := a.Submit(t.Context(), tt.request)
		want := suppliertest.Verdict{Code: tt.code, Sent: supplier.NotSent}
		if diff := cmp.Diff(want, suppliertest.VerdictOf(err)); diff != "" {
			t.Errorf("%s: verdict (-want +got):\n%s", name, diff)
		}
		if last.URL != nil {
			t.Fatalf("%s: sent %s", name, last.URL)
		}
	}
}

// TestOutputs checks how files and references in an output are taken.
func TestOutputs(t *testing.T) {
	for output, want := range map[string]*supplier.Result{
		`{"a":[{"file":"https://a.example/1"},{"b":{"file":"data:text/plain;base64,b25l","duration_seconds":2}}]}`: {
			Data:  json.RawMessage(`{"a":[{"artifact":0},{"b":{"artifact":1}}]}`),
			Files: []supplier.File{{URL: "https://a.example/1"}, {ContentType: "text/plain", Data: []byte("one"), Duration: 2}},
		},
		`{"artifact":"x","b":1,"c":[null]}`: {Data: json.RawMessage(`{"artifact":"x","b":1,"c":[null]}`)},

		`{"a":{"artifact":0}}`:                            nil,
		`{"a":{"artifact":"art_0123456789"}}`:             nil,
		`{"a":{"file":"answer:"}}`:                        nil,
		`{"a":{"file":"ftp://a.example/1"}}`:              nil,
		`{"a":{"file":7}}`:                                nil,
		`{"a":{"file":"https://a.example/1","name":"n"}}`: nil,
		`{"a":null}`:                                      nil,
		`{}`:                                              nil,
		`[1]`:                                             nil,
		`"text"`:                                          nil,
		`{"a":[` + strings.Repeat(`{"file":"https://a.example/1"},`, 257) + `1]}`: nil,
	} {
		url, _ := seen(t, 200, output)
		a := newAdapter(t, url, head+`submit: {path: /x, body: '.model'}, output: .}`, nil)
		out, err := a.Submit(t.Context(), request("text.x", "m", `{}`, `{}`))
		if diff := cmp.Diff(want, out.Result); diff != "" {
			t.Errorf("%s: %v (-want +got):\n%s", output, err, diff)
		}
		if want == nil && supplier.AsError(err).Sent != supplier.Unknown {
			t.Errorf("%s: %v", output, err)
		}
	}
}

// TestDocumented loads the map that docs/configuration.md describes the form by, which uses every member.
func TestDocumented(t *testing.T) {
	page, err := os.ReadFile("../../../docs/configuration.md")
	if err != nil {
		t.Fatal(err)
	}
	_, section, found := strings.Cut(string(page), "\n## Any other supplier\n")
	_, example, begins := strings.Cut(section, "```yaml\nmodels:")
	example, _, ends := strings.Cut(example, "```")
	if !found || !begins || !ends {
		t.Fatal("the page has no such example")
	}
	url, last := seen(t, 202, `{"job": {"id": "j-1"}}`)
	a := newAdapter(t, url, "models:"+example, nil)
	for _, member := range []string{
		"model", "capability", "name", "submit", "method", "path", "headers", "honors_key", "honours", "body", "job", "poll", "state", "result", "cancel",
		"output", "usage", "errors", "status", "match", "code", "operator", "form", "answer", "input", "fixed",
	} {
		if !strings.Contains(section, member+":") {
			t.Errorf("the page doesn't show %s", member)
		}
	}
	out, err := a.Submit(t.Context(), withMedia(request("image.upscale", "sharp", `{"image":{}}`, `{"factor":2}`), "image/png", "/image"))
	if err != nil || out.Job == nil || out.Job.ID != "j-1" || last.URL.Path != "/v1/models/lab/sharp-2/jobs" {
		t.Errorf("got %+v, %v, at %v", out, err, last.URL)
	}
}
