package console_test

import (
	"bytes"
	"encoding/json"
	"mime/multipart"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"unitask/internal/api"
	"unitask/internal/catalog"
	"unitask/internal/fault"
	entryform "unitask/internal/form"
	"unitask/test/fixture"
)

// try posts a trial as the page's script does.
func (b *browser) try(change func(*multipart.Writer), headers ...func(*http.Request)) answer {
	b.w.t.Helper()
	var body bytes.Buffer
	form := multipart.NewWriter(&body)
	change(form)
	if err := form.Close(); err != nil {
		b.w.t.Fatal(err)
	}
	return b.do(http.MethodPost, "/trial/request", &body, append([]func(*http.Request){func(r *http.Request) {
		r.Header.Set("Content-Type", form.FormDataContentType())
		r.Header.Set("Sec-Fetch-Site", "same-origin")
	}}, headers...)...)
}

// fields writes texts into a form, name after value.
func fields(t *testing.T, pairs ...string) func(*multipart.Writer) {
	return func(form *multipart.Writer) {
		for i := 0; i < len(pairs); i += 2 {
			if err := form.WriteField(pairs[i], pairs[i+1]); err != nil {
				t.Fatal(err)
			}
		}
	}
}

// TestTrialForms: the form of each capability has an entry for each member of its schema, with its description, and
// doesn't vouch for people by itself.
func TestTrialForms(t *testing.T) {
	w := newWorld(t)
	b := w.member("acme", "member")
	all := fixture.Must(catalog.Default())(t).All()
	if len(all) == 0 {
		t.Fatalf("%d capabilities", len(all))
	}
	for _, c := range all {
		page := b.get("/trial?capability=" + string(c.Name)).body
		for _, e := range entryform.Entries(c.Fields()) {
			names := []string{e.Wire()}
			if e.Rows() {
				names = nil
				for _, m := range e.Members() {
					names = append(names, m.Wire())
				}
			}
			for _, name := range names {
				if !strings.Contains(page, ` name="`+name+`"`) {
					t.Errorf("%s: no entry for %s", c.Name, name)
				}
			}
			if !strings.Contains(page, ` data-wire="`+e.Wire()+`"`) {
				t.Errorf("%s: no place for what is wrong with %s", c.Name, e.Wire())
			}
		}
		if strings.Contains(page, `value="none" selected`) {
			t.Errorf("%s: the form vouches for people", c.Name)
		}
		if strings.Contains(page, "svc_") {
			t.Errorf("%s: a key is on the page", c.Name)
		}
	}
	if got := b.get("/trial?mode=live"); got.StatusCode != http.StatusOK || !strings.Contains(got.body, "Nothing to call in live mode") {
		t.Errorf("live mode without a supplier: %d", got.StatusCode)
	}
	for _, path := range []string{"/trial?mode=dream", "/trial?capability=text.sing"} {
		if got := b.get(path); got.StatusCode != http.StatusBadRequest {
			t.Errorf("%s: %d", path, got.StatusCode)
		}
	}
}

// TestTrialRequest: a posted form comes back as the body of a creation, which the API's handler takes, and a
// preview as the same elsewhere.
func TestTrialRequest(t *testing.T) {
	w := newWorld(t)
	b := w.member("acme", "member")
	got := b.try(fields(t, "capability", "text.chat", "mode", "test", "input.prompt", "one\r\n</script>", "parameters.seed", "7"))
	var made struct {
		Request   json.RawMessage `json:"request"`
		RequestID string          `json:"request_id"`
	}
	if err := json.Unmarshal([]byte(got.body), &made); err != nil || got.StatusCode != http.StatusOK {
		t.Fatalf("%d, %v: %s", got.StatusCode, err, got.body)
	}
	want := `{"capability":"text.chat","input":{"prompt":"one\n\u003c/script\u003e"},"parameters":{"seed":7}}`
	if diff := cmp.Diff(want, string(made.Request)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if made.RequestID != got.Header.Get(api.HeaderRequestID) {
		t.Errorf("request %s, header %s", made.RequestID, got.Header.Get(api.HeaderRequestID))
	}
	if ran := b.run(string(made.Request)); ran.State != "succeeded" {
		t.Errorf("the request ends %s", ran.State)
	}
	preview := b.try(fields(t, "capability", "text.chat", "mode", "test", "preview", "yes"))
	if strings.Contains(preview.body, `"request":`) || preview.StatusCode != http.StatusOK {
		t.Errorf("a preview: %d %s", preview.StatusCode, preview.body)
	}
	elsewhere := decode[struct{ Snippets []struct{ Name, Text string } }](t, preview).Snippets
	for i, name := range []string{"CLI", "curl", "Go", "Python", "JavaScript"} {
		if elsewhere[i].Name != name || i > 0 && !strings.Contains(elsewhere[i].Text, "UNITASK_API_KEY") {
			t.Errorf("%s: %+v", name, elsewhere[i])
		}
	}
}

func TestTrialRequestRefuses(t *testing.T) {
	w := newWorld(t)
	b := w.member("acme", "member")
	for _, tt := range []struct {
		name    string
		form    func(*multipart.Writer)
		change  func(*http.Request)
		status  int
		message string
	}{
		{"an unknown capability", fields(t, "capability", "text.sing", "mode", "test"), nil, 400, "capability names none that is callable here"},
		{"no mode", fields(t, "capability", "text.chat"), nil, 400, "capability names none that is callable here"},
		{"another media type", fields(t), func(r *http.Request) { r.Header.Set("Content-Type", "application/json") }, 415, "Content-Type must be multipart/form-data"},
		{"no form", fields(t), func(r *http.Request) { r.Header.Set("Content-Type", "multipart/form-data; boundary=x") }, 400, "capability names none that is callable here"},
		{"too large", fields(t, "input.prompt", strings.Repeat("x", 17<<20)), nil, 413, "the form is larger than 16.8 MB"},
	} {
		var change []func(*http.Request)
		if tt.change != nil {
			change = append(change, tt.change)
		}
		got := b.try(tt.form, change...)
		var refused api.ErrorResponse
		if err := json.Unmarshal([]byte(got.body), &refused); err != nil {
			t.Errorf("%s: %v in %s", tt.name, err, got.body)
		}
		if got.StatusCode != tt.status || refused.Error.Code != fault.InvalidRequest || refused.Error.Message != tt.message || refused.RequestID == "" {
			t.Errorf("%s: %d %+v", tt.name, got.StatusCode, refused)
		}
	}
	stranger := w.browser()
	if got := stranger.try(fields(t, "capability", "text.chat", "mode", "test")); got.StatusCode != http.StatusUnauthorized {
		t.Errorf("a stranger: %d", got.StatusCode)
	}
	foreign := func(r *http.Request) { r.Header.Set("Sec-Fetch-Site", "cross-site") }
	if got := b.try(fields(t, "capability", "text.chat", "mode", "test"), foreign); got.StatusCode != http.StatusBadRequest {
		t.Errorf("from another site: %d", got.StatusCode)
	}
}
