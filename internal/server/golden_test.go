package server_test

import (
	"encoding/json"
	"flag"
	"fmt"
	"maps"
	"net/http"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"unitask/internal/api"
	"unitask/internal/catalog"
	"unitask/internal/gate"
	"unitask/internal/server"
	"unitask/test/fixture"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// changingHeader matches the parts of a header that differ from run to run.
var changingHeader = []struct{ pattern, with string }{
	{`(req|task|art)_[0-9a-z]{26}`, "${1}_…"},
	{`(Date|Last-Modified): .*`, "$1: …"},
	{`Content-Length: \d\d+`, "Content-Length: n"},
	{`Etag: "[0-9a-f]{64}"`, `Etag: "sha256"`},
	{`Etag: W/"\d+"`, `Etag: W/"revision"`},
	{`Etag: W/"\d+-\d+"`, `Etag: W/"revision-window"`},
	{`;r=\d+;t=\d+`, ";r=n;t=n"},
}

// TestHeaders compares every header of the main answers with a golden file.
func TestHeaders(t *testing.T) {
	w := newWorld(t, options{
		defaults: gate.Defaults{CreatesPerMinute: 600, ReadsPerMinute: 2400}, limits: server.Limits{Body: 1000},
	})
	sync := w.post("golden-sync", chat("hello"), with("Prefer", "wait=10"))
	async := w.post("golden-async", image("a fox"))
	done := w.end(w.test, async.task(t).ID)
	path := api.PathTasks + "/" + done.ID
	read := w.do(request{path: path, key: w.test, header: map[string]string{"Prefer": "wait=1"}})
	answers := []struct {
		name string
		got  response
	}{
		{"capabilities", w.do(request{path: api.PathCapabilities, key: w.test})},
		{"a synchronous task", sync},
		{"its replay", w.post("golden-sync", chat("hello"))},
		{"an asynchronous task", async},
		{"a read of it", read},
		{"an unchanged one", w.do(request{path: path, key: w.test, header: map[string]string{"If-None-Match": read.Header.Get("ETag")}})},
		{"a list", w.do(request{path: api.PathTasks, key: w.test})},
		{"a timeline", w.do(request{path: path + "/timeline", key: w.test})},
		{"a cancellation", w.do(request{method: http.MethodPost, path: path + "/cancel", key: w.test})},
		{"an artifact", w.do(request{path: done.Output.Images[0].URL})},
		{"a part of it", w.do(request{path: done.Output.Images[0].URL, header: map[string]string{"Range": "bytes=0-9"}})},
		{"a wrong part", w.do(request{path: done.Output.Images[0].URL, header: map[string]string{"Range": "bytes=99999999-"}})},
		{"health", w.do(request{path: api.PathHealth})},
		{"readiness", w.do(request{path: api.PathReady})},
		{"the document in YAML", w.do(request{path: api.PathOpenAPIYAML})},
		{"the document in JSON", w.do(request{path: api.PathOpenAPIJSON})},
		{"no key", w.do(request{path: api.PathTasks})},
		{"a wrong request", w.post("golden-wrong", "{}")},
		{"a wrong method", w.do(request{method: http.MethodDelete, path: api.PathTasks, key: w.test})},
		{"a large body", w.post("golden-large", strings.Repeat("a", 2000))},
		{"an unknown path", w.do(request{path: "/nothing"})},
		{"a failed task", w.post("golden-failed", chat("@fail:PROVIDER_TIMEOUT"))},
	}
	var b strings.Builder
	for _, a := range answers {
		fmt.Fprintf(&b, "# %s\n%s\n", a.name, a.got.Status)
		for _, name := range slices.Sorted(maps.Keys(a.got.Header)) {
			fmt.Fprintf(&b, "%s: %s\n", name, strings.Join(a.got.Header[name], ", "))
		}
		b.WriteString("\n")
	}
	got := b.String()
	for _, c := range changingHeader {
		got = regexp.MustCompile(c.pattern).ReplaceAllString(got, c.with)
	}
	const golden = "testdata/headers.golden"
	if *update {
		if err := os.WriteFile(golden, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want := fixture.Must(os.ReadFile(golden))(t)
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("run go test ./internal/server -update\n%s", diff)
	}
}

// TestDocument: the server serves the document that the tests validate against, and its codes are the program's.
func TestDocument(t *testing.T) {
	w := newWorld(t, options{})
	y, j := w.do(request{path: api.PathOpenAPIYAML}), w.do(request{path: api.PathOpenAPIJSON})
	if !strings.HasPrefix(string(y.body), "openapi: 3.1.0") || !strings.HasPrefix(string(j.body), `{"openapi": "3.1.0"`) {
		t.Errorf("YAML begins %.30q, JSON %.30q", y.body, j.body)
	}
	doc := decodeAny(t, j.body)
	codes := doc["components"].(map[string]any)["schemas"].(map[string]any)["ErrorCode"].(map[string]any)["enum"].([]any)
	var got []string
	for _, c := range codes {
		got = append(got, c.(string))
	}
	if diff := cmp.Diff(codeNames(), got); diff != "" {
		t.Error(diff)
	}
	responses := string(fixture.Must(json.Marshal(doc["components"].(map[string]any)["responses"]))(t))
	for _, c := range codeNames() {
		if !strings.Contains(responses, `{"code":{"const":"`+c+`"}}`) {
			t.Errorf("no response of the document has the code %s", c)
		}
	}
	var said, known []string
	for _, row := range doc["components"].(map[string]any)["schemas"].(map[string]any)["OutputOfCapability"].(map[string]any)["oneOf"].([]any) {
		name := row.(map[string]any)["properties"].(map[string]any)["capability"].(map[string]any)
		if one, ok := name["const"].(string); ok {
			said = append(said, one)
			continue
		}
		others := name["not"].(map[string]any)["enum"].([]any)
		if len(others) != len(said) {
			t.Errorf("the other capabilities are not %v", others)
		}
	}
	for name := range fixture.Must(catalog.Default())(t).Names() {
		known = append(known, string(name))
	}
	slices.Sort(said)
	if diff := cmp.Diff(known, said); diff != "" {
		t.Errorf("outputs by capability (-want +got):\n%s", diff)
	}
}
