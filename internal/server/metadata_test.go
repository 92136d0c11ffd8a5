package server_test

import (
	"encoding/json"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"unitask/internal/api"
	"unitask/internal/server"
	"unitask/internal/store/boltstore"
	"unitask/internal/task"
	"unitask/test/fixture"
)

// tagged is a chat with metadata.
func tagged(prompt, metadata string) string {
	return strings.TrimSuffix(chat(prompt), "}") + `,"metadata":` + metadata + `}`
}

// TestMetadata: what a creation says stays with its task, whatever later ones under the key say.
func TestMetadata(t *testing.T) {
	w := newWorld(t, options{})
	want := task.Metadata{"team": "search", "note": "\"a\" & <b> ü"}
	first := w.post("metadata-1", tagged("one", `{"team":"search","note":"\"a\" & <b> ü"}`))
	made := first.task(t)
	if diff := cmp.Diff(want, made.Metadata); diff != "" || first.StatusCode != http.StatusOK {
		t.Fatalf("created: %d %s\n%s", first.StatusCode, first.body, diff)
	}
	for name, body := range map[string]string{
		"other metadata": tagged("one", `{"team":"ads"}`), "no metadata": chat("one"), "empty metadata": tagged("one", `{}`),
	} {
		again := w.post("metadata-1", body)
		if diff := cmp.Diff(want, again.task(t).Metadata); diff != "" || again.task(t).ID != made.ID || again.Header.Get(api.HeaderIdempotentReplay) != "true" {
			t.Errorf("again with %s: %d %s\n%s", name, again.StatusCode, again.body, diff)
		}
	}
	if got := w.do(request{path: api.PathTasks + "/" + made.ID, key: w.test}).task(t); cmp.Diff(want, got.Metadata) != "" {
		t.Errorf("read: %v", got.Metadata)
	}
	if got := w.post("metadata-2", chat("two")); strings.Contains(string(got.body), "metadata") {
		t.Errorf("without metadata: %s", got.body)
	}
	if got := w.post("metadata-3", tagged("three", `{}`)); strings.Contains(string(got.body), "metadata") {
		t.Errorf("with empty metadata: %s", got.body)
	}
	if text := w.log.String(); strings.Contains(text, "search") || strings.Contains(text, "metadata") {
		t.Errorf("the log has metadata: %s", text)
	}
}

// TestMetadataOfAReopening: a task that is opened again keeps its metadata too.
func TestMetadataOfAReopening(t *testing.T) {
	w := newWorld(t, options{})
	failed := w.post("metadata-again", tagged("@fail:PROVIDER_UNAVAILABLE", `{"team":"search"}`)).error(t)
	again := w.post("metadata-again", tagged("@fail:PROVIDER_UNAVAILABLE", `{"team":"ads"}`))
	if again.error(t).TaskID != failed.TaskID || again.Header.Get(api.HeaderIdempotentReplay) != "" {
		t.Fatalf("not reopened: %d %s", again.StatusCode, again.body)
	}
	got := w.do(request{path: api.PathTasks + "/" + failed.TaskID, key: w.test}).task(t)
	if diff := cmp.Diff(task.Metadata{"team": "search"}, got.Metadata); diff != "" {
		t.Error(diff)
	}
}

func TestMetadataRefused(t *testing.T) {
	w := newWorld(t, options{})
	for metadata, field := range map[string]string{
		`[]`: "metadata", `{"team":7}`: "metadata.team", `{"a b":"c"}`: `metadata."a b"`, `{"team":"a\nb"}`: "metadata.team",
		`{"team":"` + strings.Repeat("é", 513) + `"}`: "metadata.team",
	} {
		got := w.post("metadata-refused", tagged("one", metadata))
		if e := got.error(t); got.StatusCode != http.StatusBadRequest || len(e.Error.Details) != 1 || e.Error.Details[0].Field != field {
			t.Errorf("%s: %d %s", metadata, got.StatusCode, got.body)
		}
	}
	if got := w.post("metadata-refused", chat("one")); got.StatusCode != http.StatusOK || got.Header.Get(api.HeaderIdempotentReplay) != "" {
		t.Errorf("corrected: %d %s", got.StatusCode, got.body)
	}
}

// TestListByMetadata lists on the real engine.
func TestListByMetadata(t *testing.T) {
	db := fixture.Must(boltstore.Open(boltstore.Config{Path: t.TempDir() + "/db"}))(t)
	t.Cleanup(func() { _ = db.Close() })
	w := newWorld(t, options{engine: db})
	names := map[string]string{}
	for name, metadata := range map[string]string{
		"a": `{"team":"search","user":"1"}`, "b": `{"team":"search","user":"2"}`, "c": `{"team":"a & b","user":"1"}`, "d": `{"team":""}`,
	} {
		names[w.post("listed-by-"+name, tagged(name, metadata)).task(t).ID] = name
	}
	w.post("listed-by-nothing", chat(`{"team":"search"}`))
	w.post("listed-by-failed", tagged("@fail:INVALID_REQUEST", `{"team":"search","user":"9"}`))
	for query, want := range map[string]string{
		"metadata.team=search&state=succeeded": "ab", "metadata.team=search&metadata.user=2": "b", "metadata.user=1": "ac",
		"metadata.team=a+%26+b": "c", "metadata.team=": "d", "metadata.team=Search": "", "metadata.teams=search": "",
		"metadata.user=1&capability=image.generate": "", "metadata.team=search&metadata.user=9&state=succeeded": "",
	} {
		var got []string
		for _, one := range decode[api.TaskList](t, w.do(request{path: api.PathTasks + "?" + query, key: w.test})).Data {
			got = append(got, names[one.ID])
		}
		slices.Sort(got)
		if strings.Join(got, "") != want {
			t.Errorf("%s lists %q, want %q", query, got, want)
		}
	}
	many := url.Values{}
	for i := range 17 {
		many.Set("metadata.n"+string(rune('a'+i)), "x")
	}
	for query, field := range map[string]string{
		"metadata=search": "metadata", "metadata.=search": `metadata.""`, "metadata.a.b=c": `metadata."a.b"`, "metadata.a%0Ab=c": `metadata."a\nb"`,
		"metadata.team=a&metadata.team=b": "metadata.team", "metadata.team=" + strings.Repeat("x", 513): "metadata.team",
		"metadata.team=a%00": "metadata.team", many.Encode(): "metadata", "metadata.team=%ff": "metadata.team",
	} {
		got := w.do(request{path: api.PathTasks + "?" + query, key: w.test})
		if e := got.error(t); got.StatusCode != http.StatusBadRequest || len(e.Error.Details) != 1 || e.Error.Details[0].Field != field {
			t.Errorf("%s: %d %s", query, got.StatusCode, got.body)
		}
	}
	if other := w.otherAccountsKey(); len(decode[api.TaskList](t, w.do(request{path: api.PathTasks + "?metadata.team=search", key: other})).Data) > 0 {
		t.Error("another account's tasks are listed")
	}
}

const aTrace = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"

func TestTraceparent(t *testing.T) {
	trace, span := "0af7651916cd43dd8448eb211c80319c", "b7ad6b7169203331"
	for given, want := range map[string]string{
		aTrace:                                  aTrace,
		"00-" + trace + "-" + span + "-00":      "00-" + trace + "-" + span + "-00",
		"cc-" + trace + "-" + span + "-01":      "cc-" + trace + "-" + span + "-01",
		"cc-" + trace + "-" + span + "-01-more": "cc-" + trace + "-" + span + "-01",
		"cc-" + trace + "-" + span + "-01.more": "",
		aTrace + "-more":                        "",
		aTrace + "0":                            "",
		aTrace[:54]:                             "",
		"":                                      "",
		"ff-" + trace + "-" + span + "-01":      "",
		"00-" + strings.Repeat("0", 32) + aTrace[35:]: "",
		aTrace[:36] + strings.Repeat("0", 16) + "-01": "",
		strings.ToUpper(aTrace):                       "",
		strings.Replace(aTrace, "a", "g", 1):          "",
		"00-" + trace + "-" + span + "--1":            "",
		"00_" + trace + "-" + span + "-01":            "",
		"00-" + trace[:31] + "-" + span + "0-01":      "",
		"00-" + trace + "-" + span[:15] + "-011":      "",
		strings.Repeat("-", 55):                       "",
		"00-" + trace + "-" + span + "-01" + "\x00":   "",
	} {
		if got := server.Traceparent(http.Header{"Traceparent": {given}}); got != want {
			t.Errorf("%q: %q, want %q", given, got, want)
		}
	}
	if got := server.Traceparent(http.Header{"Traceparent": {aTrace, aTrace}}); got != "" {
		t.Errorf("two: %q", got)
	}
	if got := server.Traceparent(http.Header{}); got != "" {
		t.Errorf("none: %q", got)
	}
	if n := testing.AllocsPerRun(100, func() { server.Traceparent(http.Header(nil)) }); n > 0 {
		t.Errorf("%v allocations without one", n)
	}
}

// TestTraceparentOfATask: it is the operator's to see, and not in the answers to callers.
func TestTraceparentOfATask(t *testing.T) {
	w := newWorld(t, options{})
	made := w.post("traced-1", chat("one"), with("Traceparent", aTrace))
	wrong := w.post("traced-2", chat("two"), with("Traceparent", strings.ToUpper(aTrace)))
	plain := w.post("traced-3", chat("three"))
	for id, want := range map[string]string{made.task(t).ID: aTrace, wrong.task(t).ID: "", plain.task(t).ID: ""} {
		got, err := w.Operator.Task(t.Context(), id)
		if err != nil || got.Traceparent != want {
			t.Errorf("operators read %q, want %q; %v", got.Traceparent, want, err)
		}
	}
	var members map[string]any
	if err := json.Unmarshal(made.body, &members); err != nil || slices.Contains(slices.Collect(maps.Keys(members)), "traceparent") {
		t.Errorf("its caller reads %s; %v", made.body, err)
	}
}
