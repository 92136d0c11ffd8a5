package server_test

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"

	"unitask/internal/api"
	"unitask/internal/catalog"
	"unitask/internal/fault"
	"unitask/internal/gateway"
	"unitask/internal/task"
	"unitask/test/fixture"
)

// proof is unmistakable evidence.
const proof = "%PDF-1.7\nthe signed release of zaphod"

func sha(content string) string {
	sum := sha256.Sum256([]byte(content))
	return hex.EncodeToString(sum[:])
}

// inline is a media value with its bytes.
func inline(kind, content string) string {
	return `{"content_type":"` + kind + `","data":"` + base64.StdEncoding.EncodeToString([]byte(content)) + `"}`
}

// portrait edits a picture; authorization is the member's JSON, "" without one.
func portrait(prompt, authorization string) string {
	if authorization != "" {
		authorization = `,"authorization":` + authorization
	}
	return `{"capability":"image.edit","input":{"prompt":"` + prompt + `","images":[{"data":"` + pixel + `","content_type":"image/png"}]` + authorization + `}}`
}

// agreed is an authorization with this evidence.
func agreed(evidence ...string) string {
	if len(evidence) == 0 {
		return `{"person":"authorized","statement":"Zaphod signed it"}`
	}
	return `{"person":"authorized","statement":"Zaphod signed it","evidence":[` + strings.Join(evidence, ",") + `]}`
}

// stored returns a task of the first account's test keys as the engine has it.
func (w *world) stored(id string) task.Task {
	w.t.Helper()
	accounts := fixture.Must(w.db.ListAccounts(w.t.Context()))(w.t)
	return fixture.Must(w.db.GetTask(w.t.Context(), task.Scope{Account: accounts[0].ID, Mode: task.Test}, id))(w.t)
}

// TestPersonIsVouchedFor: a caller's declaration about a person is kept with the task, for the operator to read, with
// the evidence's hash alone, and never goes to a supplier.
func TestPersonIsVouchedFor(t *testing.T) {
	w := newWorld(t, options{})
	made := w.end(w.test, w.post("a-picture-first", image("a red fox")).task(t).ID).Output.Images[0]
	for name, tt := range map[string]struct {
		body string
		want *task.Authorization
	}{
		"nobody is shown":      {portrait("@stuck:running", `{"person":"none"}`), &task.Authorization{Person: "none"}},
		"somebody agreed":      {portrait("@stuck:running", agreed()), &task.Authorization{Person: "authorized", Statement: "Zaphod signed it"}},
		"and it is proved":     {portrait("@stuck:running", agreed(inline("application/pdf", proof))), &task.Authorization{Person: "authorized", Statement: "Zaphod signed it", Evidence: []string{sha(proof)}}},
		"by an earlier result": {portrait("@stuck:running", agreed(`{"artifact":"`+made.ID+`"}`)), &task.Authorization{Person: "authorized", Statement: "Zaphod signed it", Evidence: []string{made.SHA256}}},
		"no media, no word":    {`{"capability":"video.generate","input":{"prompt":"@stuck:running"}}`, nil},
	} {
		t.Run(name, func(t *testing.T) {
			got := w.post("vouched for: "+name, tt.body)
			if got.StatusCode != http.StatusAccepted {
				t.Fatalf("status %d: %s", got.StatusCode, got.body)
			}
			id := got.task(t).ID
			if diff := cmp.Diff(tt.want, fixture.Must(w.Operator.Task(t.Context(), id))(t).Authorization); diff != "" {
				t.Errorf("the operator reads (-want +got):\n%s", diff)
			}
			kept := w.stored(id)
			if input := string(kept.Input); !strings.Contains(input, "@stuck") || strings.Contains(input, "authorization") || strings.Contains(input, "Zaphod") {
				t.Errorf("the input is kept as %s", input)
			}
			if log := w.log.String(); strings.Contains(log, "Zaphod") {
				t.Error("the statement is in the log")
			}
		})
	}
}

// TestPersonIsNotVouchedFor: each insufficient authorization is refused with the members to supply, and leaves the
// key unused.
func TestPersonIsNotVouchedFor(t *testing.T) {
	large := strings.Repeat("x", 4<<10)
	files := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { _, _ = fmt.Fprint(w, proof+large) }))
	t.Cleanup(files.Close)
	w := newWorld(t, options{gateway: gateway.Limits{InlineMedia: int64(len(large))}, fetchable: []string{strings.TrimPrefix(files.URL, "http://")}})
	made := w.end(w.test, w.post("the first account's", image("a red fox")).task(t).ID).Output.Images[0].ID
	stranger := w.otherAccountsKey()
	broken := strings.Replace(portrait("a", ""), pixel, "!", 1)
	const first = "input.authorization.evidence.0"
	for i, tt := range []struct {
		name, body, key string
		status          int
		code            fault.Code
		fields          []string
	}{
		{"a picture", portrait("a", ""), w.test, 403, fault.AuthorizationRequired, []string{"input.authorization", "input.authorization"}},
		{
			"a picture for a video", `{"capability":"video.generate","input":{"image":{"url":"https://example.com/a.png"}}}`, w.test,
			403, fault.AuthorizationRequired,
			[]string{"input.authorization", "input.authorization"},
		},
		{"no statement", portrait("a", `{"person":"authorized"}`), w.test, 400, fault.InvalidRequest, []string{"input.authorization.statement"}},
		{"an empty statement", portrait("a", `{"person":"authorized","statement":" "}`), w.test, 400, fault.InvalidRequest, []string{"input.authorization.statement"}},
		{"another person", portrait("a", `{"person":"me"}`), w.test, 400, fault.InvalidRequest, []string{"input.authorization.person"}},
		{"the media come first", broken, w.test, 400, fault.InvalidRequest, []string{"input.images.0.data"}},
		{"evidence that proves nothing", portrait("a", agreed(inline("application/pdf", "<html>"))), w.test, 400, fault.InvalidRequest, []string{first}},
		{"evidence that is no base64", portrait("a", agreed(`{"content_type":"application/pdf","data":"!"}`)), w.test, 400, fault.InvalidRequest, []string{first + ".data"}},
		{"evidence too large", portrait("a", agreed(inline("application/pdf", proof+large))), w.test, 413, fault.InvalidRequest, []string{first + ".data"}},
		{"fetched evidence too large", portrait("a", agreed(`{"url":"`+files.URL+`"}`)), w.test, 413, fault.InvalidRequest, []string{first + ".url"}},
		{"evidence on this machine", portrait("a", agreed(`{"url":"http://127.0.0.1:1/a.pdf"}`)), w.test, 400, fault.InvalidRequest, []string{first + ".url"}},
		{"evidence of the clouds' metadata", portrait("a", agreed(`{"url":"http://169.254.169.254/"}`)), w.test, 400, fault.InvalidRequest, []string{first + ".url"}},
		{"another account's evidence", portrait("a", agreed(`{"artifact":"`+made+`"}`)), stranger, 400, fault.InvalidRequest, []string{first + ".artifact"}},
		{"the other mode's evidence", portrait("a", agreed(`{"artifact":"`+made+`"}`)), w.live, 400, fault.InvalidRequest, []string{"capability"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			key := fmt.Sprintf("not vouched for %d", i)
			got := w.post(key, tt.body, by(tt.key))
			e := got.error(t)
			var fields []string
			for _, d := range e.Error.Details {
				fields = append(fields, d.Field)
			}
			if diff := cmp.Diff(tt.fields, fields); got.StatusCode != tt.status || e.Error.Code != tt.code || e.Error.Retryable || e.TaskID != "" || diff != "" {
				t.Errorf("status %d: %s\nfields (-want +got):\n%s", got.StatusCode, got.body, diff)
			}
			if fresh := w.post(key, chat("corrected"), by(tt.key)); fresh.StatusCode != 200 || fresh.Header.Get(api.HeaderIdempotentReplay) != "" {
				t.Errorf("something was recorded: %d %s", fresh.StatusCode, fresh.body)
			}
		})
	}
}

// TestReplayIsVouchedForOnce counts how often evidence is fetched: a replay passes no check, a reopening passes all
// of them, and a change meanwhile is kept.
func TestReplayIsVouchedForOnce(t *testing.T) {
	var fetches atomic.Int32
	files := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = fmt.Fprint(w, proof, fetches.Add(1))
	}))
	t.Cleanup(files.Close)
	w := newWorld(t, options{fetchable: []string{strings.TrimPrefix(files.URL, "http://")}})
	post := func(key, prompt string, want int32) string {
		t.Helper()
		got := w.post(key, portrait(prompt, agreed(`{"url":"`+files.URL+`/release.pdf"}`)))
		if n := fetches.Load(); n != want {
			t.Errorf("%d fetches after status %d, want %d", n, got.StatusCode, want)
		}
		return got.task(t).ID
	}
	id := post("vouched-once", "@stuck:running", 1)
	if again := post("vouched-once", "@stuck:running", 1); again != id {
		t.Errorf("a replay is task %s, not %s", again, id)
	}
	failed := post("vouched-twice", "@fail:PROVIDER_TIMEOUT", 2)
	w.end(w.test, failed)
	if again := post("vouched-twice", "@fail:PROVIDER_TIMEOUT", 3); again != failed {
		t.Errorf("a reopening is task %s, not %s", again, failed)
	}
	want := &task.Authorization{Person: "authorized", Statement: "Zaphod signed it", Evidence: []string{sha(proof + "3")}}
	if diff := cmp.Diff(want, w.stored(failed).Authorization); diff != "" {
		t.Errorf("kept (-want +got):\n%s", diff)
	}
}

// TestDirectoryAsksForAuthorization: the directory describes the member and its purpose.
func TestDirectoryAsksForAuthorization(t *testing.T) {
	w := newWorld(t, options{})
	for _, c := range decode[api.CapabilityList](t, w.do(request{path: api.PathCapabilities, key: w.test})).Data {
		var schema struct {
			Properties map[string]json.RawMessage `json:"properties"`
		}
		if err := json.Unmarshal(c.InputSchema, &schema); err != nil {
			t.Fatal(err)
		}
		_, asks := schema.Properties["authorization"]
		want := slices.Contains([]catalog.Name{
			catalog.ImageBackgroundRemove, catalog.ImageEdit, catalog.ImageUpscale, catalog.VideoExtend, catalog.VideoGenerate,
		}, catalog.Name(c.Name))
		if asks != want {
			t.Errorf("%s: asks for an authorization: %t", c.Name, asks)
		}
	}
}
