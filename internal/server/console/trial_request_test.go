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
	"unitask/internal/fault"
)

// showTrial asks for the texts that the form shows for a request.
func (b *browser) showTrial(request string) answer {
	b.w.t.Helper()
	var body bytes.Buffer
	form := multipart.NewWriter(&body)
	fields(b.w.t, "mode", "test", "request", request)(form)
	if err := form.Close(); err != nil {
		b.w.t.Fatal(err)
	}
	return b.do(http.MethodPost, "/trial/show", &body, func(r *http.Request) {
		r.Header.Set("Content-Type", form.FormDataContentType())
		r.Header.Set("Sec-Fetch-Site", "same-origin")
	})
}

// shownTrial is the answer to showTrial.
type shownTrial struct {
	Capability string
	Texts      map[string][]string
	Rest       string
	Names      []string
}

// TestTrialShow: a request becomes the form's texts and a rest, and both together the request again, as it is run and
// as it is read. The same elsewhere has its metadata.
func TestTrialShow(t *testing.T) {
	w := newWorld(t)
	b := w.member("acme", "member")
	got := b.showTrial(`{"capability":"text.chat","input":{"prompt":"<b>"},"parameters":{"seed":12345678901234567890,"depth":1.50},"metadata":{"team":"a"}}`)
	shown := decode[shownTrial](t, got)
	want := shownTrial{
		Capability: "text.chat", Texts: map[string][]string{"input.prompt": {"<b>"}, "parameters.seed": {"12345678901234567890"}},
		Rest: `{"metadata":{"team":"a"},"parameters":{"depth":1.50}}`, Names: []string{"metadata.team", "parameters.depth"},
	}
	if diff := cmp.Diff(want, shown); diff != "" {
		t.Fatalf("(-want +got):\n%s", diff)
	}
	pairs := []string{"capability", "text.chat", "mode", "test", "input.prompt", "<b>", "parameters.seed", "7", "rest", shown.Rest}
	made := decode[struct {
		Request json.RawMessage
		JSON    string
	}](t, b.try(fields(t, pairs...)))
	const again = `{"capability":"text.chat","input":{"prompt":"\u003cb\u003e"},"metadata":{"team":"a"},"parameters":{"depth":1.50,"seed":7}}`
	if string(made.Request) != again || made.JSON != "" {
		t.Errorf("got  %s\nwant %s\n%s", made.Request, again, made.JSON)
	}
	preview := decode[struct {
		JSON     string
		Snippets []struct{ Name, Text string }
	}](t, b.try(fields(t, append(pairs, "preview", "yes")...)))
	for i, want := range []string{" --metadata team=a ", `"metadata":{"team":"a"}`, `"team": "a"`, `"team": "a"`, `"team": "a"`} {
		if one := preview.Snippets[i]; !strings.Contains(one.Text, want) {
			t.Errorf("%s has no metadata: %s", one.Name, one.Text)
		}
	}
	const read = `{
  "capability": "text.chat",
  "input": {
    "prompt": "<b>"
  },
  "metadata": {
    "team": "a"
  },
  "parameters": {
    "depth": 1.50,
    "seed": 7
  }
}`
	if diff := cmp.Diff(read, preview.JSON); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	whole := decode[shownTrial](t, b.showTrial(`{"capability":"image.generate","input":{"prompt":"fox"}}`))
	if whole.Rest != "" || whole.Names == nil || len(whole.Names) > 0 {
		t.Errorf("a request that is shown whole: %+v", whole)
	}
}

// TestTrialShowRefuses: JSON that can't be read is refused with its place, and no capability is shown that isn't open.
func TestTrialShowRefuses(t *testing.T) {
	w := newWorld(t)
	b := w.member("acme", "member")
	for request, want := range map[string]string{
		"{\n \"capability\":}":                    `request must be JSON: line 2, column 15, invalid character '}' at start of value`,
		`{"capability":"text.chat","input":{}`:    "request must be JSON: it ends too early",
		`{"input":{},"input":{}}`:                 `request must be JSON: line 1, column 13, "input" stands there twice`,
		`[]`:                                      "request must be an object with a capability",
		`null`:                                    "capability names none that is callable here",
		`{"capability":"text.sing","input":{}}`:   "capability names none that is callable here",
		`{"capability":7,"input":{"prompt":"x"}}`: "request must be an object with a capability",
	} {
		got := b.showTrial(request)
		refused := decode[api.ErrorResponse](t, got)
		if got.StatusCode != http.StatusBadRequest || refused.Error.Code != fault.InvalidRequest || refused.Error.Message != want {
			t.Errorf("%s: %d %s", request, got.StatusCode, refused.Error.Message)
		}
	}
	if got := w.browser().showTrial(`{}`); got.StatusCode != http.StatusUnauthorized {
		t.Errorf("a stranger: %d", got.StatusCode)
	}
	for _, rest := range []string{"[", "[]", "7"} {
		if got := b.try(fields(t, "capability", "text.chat", "mode", "test", "rest", rest)); got.StatusCode != http.StatusBadRequest {
			t.Errorf("rest %s: %d %s", rest, got.StatusCode, got.body)
		}
	}
	if got := b.try(fields(t, "capability", "text.chat", "mode", "test", "preview", "yes", "rest", `{"metadata":5,"parameters":[1]}`)); got.StatusCode != http.StatusOK {
		t.Errorf("a rest of any shape: %d %s", got.StatusCode, got.body)
	}
}
