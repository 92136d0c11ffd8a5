package openapicheck_test

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/santhosh-tekuri/jsonschema/v6"

	"unitask/internal/supplier/openapicheck"
)

// shop is a document with one of everything that documents are written with.
const shop = `{"openapi":"3.1.0","info":{"description":"A shop."},"servers":[{"url":"https://shop.example/v2","description":"d"}],
"paths":{
	"/things/{id}:buy":{"post":{"summary":"Buys.","parameters":[{"name":"id","in":"path","required":true,"schema":{"type":"string"}},
			{"name":"Wait","in":"header","schema":{"type":"integer","maximum":9}},{"$ref":"#/components/parameters/page"}],
		"requestBody":{"content":{"application/json":{"schema":{"$ref":"#/components/schemas/Order"}}}},
		"responses":{"200":{"description":"d","content":{"application/json":{"schema":{"$ref":"#/components/schemas/Thing"}},
			"text/event-stream":{"schema":{"$ref":"#/components/schemas/Thing"}}}},"4XX":{"description":"d"}}}},
	"/things":{"post":{"requestBody":{"$ref":"#/components/requestBodies/Form"},"responses":{"201":{"description":"d"}}},
		"get":{"responses":{"200":{"content":{"image/png":{}}}}}}},
"components":{
	"parameters":{"page":{"name":"page","in":"query","required":true,"schema":{"type":"integer"}}},
	"requestBodies":{"Form":{"content":{"multipart/form-data":{"schema":{"type":"object","required":["file"],"properties":{
		"file":{"type":"string","format":"binary"},"n":{"type":"integer"},"name":{"type":"string"},
		"tags":{"type":"array","items":{"type":"string"},"maxItems":2}}}}}}},
	"schemas":{
		"Thing":{"type":"object","title":"Thing","required":["id"],"properties":{"id":{"type":"string","example":"x"},
			"size":{"type":"integer","format":"int32","nullable":true},"description":{"type":"string","description":"d"},"parts":{"type":"array","items":{"$ref":"#/components/schemas/Thing"}}}},
		"Order":{"allOf":[{"$ref":"#/components/schemas/Thing"},{"type":"object","x-note":1,"properties":{
			"how":{"oneOf":[{"type":"object","required":["card"],"properties":{"card":{"type":"string"}}},{"type":"object","required":["cash"],"properties":{"cash":{"type":"boolean"}}}]},
			"free":{"type":"object"},"typed":{"type":"object","properties":{"a":{}},"additionalProperties":{"type":"integer"}}},"required":["how"]}]},
		"Unused":{"type":"string"}}}}`

func mustDocument(t testing.TB) *openapicheck.Document {
	t.Helper()
	raw, err := jsonschema.UnmarshalJSON(strings.NewReader(shop))
	if err != nil {
		t.Fatal(err)
	}
	trimmed, err := openapicheck.Trim(raw.(map[string]any), openapicheck.Cut{
		Operations: []string{"POST /things/{id}:buy", "POST /things", "GET /things"}, Info: map[string]any{"title": "Excerpt", "x-common": []any{"query alt"}},
	})
	if err != nil {
		t.Fatal(err)
	}
	d, err := openapicheck.New(trimmed)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// TestTrim shows that the rest is whole structure, and that trimming is idempotent.
func TestTrim(t *testing.T) {
	d := mustDocument(t)
	again, err := d.Trimmed()
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(d.Raw(), again); diff != "" {
		t.Errorf("trimmed again (-want +got):\n%s", diff)
	}
	schemas := d.Raw()["components"].(map[string]any)["schemas"].(map[string]any)
	want := map[string]any{
		"type": "object", "required": []any{"id"}, "properties": map[string]any{
			"id": map[string]any{"type": "string"}, "description": map[string]any{"type": "string"},
			"size":  map[string]any{"type": "integer", "format": "int32", "nullable": true},
			"parts": map[string]any{"type": "array", "items": map[string]any{"$ref": "#/components/schemas/Thing"}},
		},
	}
	if diff := cmp.Diff(want, schemas["Thing"]); diff != "" {
		t.Errorf("Thing (-want +got):\n%s", diff)
	}
	if len(schemas) != 2 {
		t.Errorf("%d schemas, want Thing and Order", len(schemas))
	}
	if _, err := openapicheck.Trim(d.Raw(), openapicheck.Cut{Operations: []string{"PUT /things"}}); err == nil {
		t.Error("an operation that isn't there was trimmed")
	}
}

// TestRequest holds requests against the shop. want is a part of the error, "" without one.
func TestRequest(t *testing.T) {
	d := mustDocument(t)
	const sold, form, plain = "/v2/things/7:buy?page=1", "multipart/form-data; boundary=b", "application/json"
	part := func(head, text string) string {
		return "--b\r\nContent-Disposition: form-data; " + head + "\r\n\r\n" + text + "\r\n"
	}
	file := part(`name="file"; filename="x"`, "bytes")
	for name, tt := range map[string]struct {
		method, path, kind, body string
		header                   http.Header
		want                     string
	}{
		"an order":               {"POST", sold, plain, `{"id":"a","how":{"card":"1"},"free":{"x":1},"typed":{"a":"x","b":1},"size":null,"parts":[{"id":"b"}]}`, http.Header{"Wait": {"3"}}, ""},
		"another path":           {"POST", "/things/7:buy?page=1", plain, `{}`, nil, "no such operation"},
		"another method":         {"PUT", "/v2/things", plain, `{}`, nil, "no such operation"},
		"a path with more":       {"POST", "/v2/things/7/8:buy?page=1", plain, `{}`, nil, "no such operation"},
		"a misspelt member":      {"POST", sold, plain, `{"id":"a","how":{"cash":true},"sise":1}`, nil, "'/sise': the document has no such member"},
		"a misspelt element":     {"POST", sold, plain, `{"id":"a","how":{"cash":true},"parts":[{"id":"b","szie":1}]}`, nil, "'/parts/0/szie': the document has no such member"},
		"a misspelt choice":      {"POST", sold, plain, `{"id":"a","how":{"cash":true,"cart":"1"}}`, nil, "'/how/cart': the document has no such member"},
		"another type":           {"POST", sold, plain, `{"id":1,"how":{"cash":true}}`, nil, "'/id'"},
		"another type in a map":  {"POST", sold, plain, `{"id":"a","how":{"cash":true},"typed":{"b":"x"}}`, nil, "'/typed/b'"},
		"a number of many bits":  {"POST", sold, plain, `{"id":"a","how":{"cash":true},"size":2147483648}`, nil, "'/size'"},
		"a missing member":       {"POST", sold, plain, `{"id":"a"}`, nil, "missing property 'how'"},
		"a missing query":        {"POST", "/v2/things/7:buy", plain, `{"id":"a","how":{"cash":true}}`, nil, "query page is required"},
		"a misspelt query":       {"POST", sold + "&pge=1", plain, `{"id":"a","how":{"cash":true}}`, nil, "query pge: the operation has no such parameter"},
		"a header of elsewhere":  {"GET", "/v2/things", "", ``, http.Header{"Wait": {"3"}}, "header wait: the operation has no such parameter"},
		"a header out of range":  {"POST", sold, plain, `{"id":"a","how":{"cash":true}}`, http.Header{"Wait": {"30"}}, "header wait"},
		"no JSON":                {"POST", sold, plain, `{`, nil, "unreadable"},
		"another media type":     {"POST", sold, form, `{}`, nil, "no body of type"},
		"a body where none is":   {"GET", "/v2/things", plain, `{}`, nil, "takes no body"},
		"a form":                 {"POST", "/v2/things", form, part(`name="n"`, "3") + part(`name="tags[]"`, "a") + part(`name="tags[]"`, "b") + file + "--b--", nil, ""},
		"a name that is a digit": {"POST", "/v2/things", form, part(`name="name"`, "3") + file + "--b--", nil, ""},
		"a form without a file":  {"POST", "/v2/things", form, part(`name="n"`, "3") + "--b--", nil, "missing property 'file'"},
		"a misspelt part":        {"POST", "/v2/things", form, part(`name="m"`, "3") + file + "--b--", nil, "'/m': the document has no such member"},
		"a part of another type": {"POST", "/v2/things", form, part(`name="n"`, "x") + file + "--b--", nil, "'/n'"},
		"too many parts":         {"POST", "/v2/things", form, strings.Repeat(part(`name="tags[]"`, "a"), 3) + file + "--b--", nil, "'/tags'"},
		"a part twice":           {"POST", "/v2/things", form, file + file + "--b--", nil, "file is there twice"},
		"half a form":            {"POST", "/v2/things", form, file, nil, "unreadable"},
	} {
		r := httptest.NewRequestWithContext(t.Context(), tt.method, tt.path, nil)
		r.Header = http.Header{"Content-Type": {tt.kind}}
		for k, v := range tt.header {
			r.Header[k] = v
		}
		_, err := d.Request(r, []byte(tt.body))
		if (err == nil) != (tt.want == "") || err != nil && !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: got %v, want %q", name, err, tt.want)
		}
	}
}

// TestSent shows how a request's members are named.
func TestSent(t *testing.T) {
	r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/v2/things/7:buy?page=1&alt=x", nil)
	r.Header = http.Header{"Content-Type": {"application/json"}, "Wait": {"3"}, "Authorization": {"x"}}
	got, err := mustDocument(t).Request(r, []byte(`{"id":"a","how":{"cash":true},"parts":[{"id":"b"},{"id":"c"}],"free":{}}`))
	if err != nil {
		t.Fatal(err)
	}
	want := openapicheck.Sent{Operation: "POST /things/{id}:buy", Members: []string{
		"free", "header wait", "how.cash", "id", "parts[].id", "query alt", "query page",
	}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// TestAnswer holds answers against the shop.
func TestAnswer(t *testing.T) {
	d := mustDocument(t)
	const buy = "POST /things/{id}:buy"
	for name, tt := range map[string]struct {
		operation  string
		status     int
		kind, body string
		want       string
	}{
		"a thing":             {buy, 200, "application/json; charset=utf-8", `{"id":"a"}`, ""},
		"another member":      {buy, 200, "application/json", `{"id":"a","ID":"a"}`, "'/ID': the document has no such member"},
		"another status":      {buy, 201, "application/json", `{"id":"a"}`, "no answer of status 201"},
		"another operation":   {"GET /", 200, "application/json", `{"id":"a"}`, "no operation GET /"},
		"events":              {buy, 200, "text/event-stream", "event: x\ndata: {\"id\":\"a\"}\n\ndata: [DONE]\n\n", ""},
		"an event of nothing": {buy, 200, "text/event-stream", "data: {\"id\":\"a\"}\n\ndata: {}\n\n", "event 2: at '': missing property 'id'"},
		"no events":           {buy, 200, "text/event-stream", "data: [DONE]\n\n", "the stream has no events"},
		"a picture":           {"GET /things", 200, "image/png", "x", ""},
		"no picture":          {"GET /things", 200, "application/json", "{}", "no answer of type application/json"},
	} {
		err := d.Answer(tt.operation, tt.status, tt.kind, []byte(tt.body))
		if (err == nil) != (tt.want == "") || err != nil && !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: got %v, want %q", name, err, tt.want)
		}
	}
}
