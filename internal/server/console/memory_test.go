package console_test

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"image"
	pngs "image/png"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"testing"

	"unitask/internal/api"
	"unitask/test/fixture"
)

var keeps = url.Values{"keep_inputs_days": {"7"}}

// keeping is a member's browser of an account that keeps its requests.
func (w *world) keeping(account string) *browser {
	w.t.Helper()
	b := w.member(account, "member")
	if got := b.post("/memory", keeps); got.StatusCode != http.StatusSeeOther {
		w.t.Fatalf("%d %s", got.StatusCode, got.body)
	}
	return b
}

// tags are the marks of a page's HTML.
var tags = regexp.MustCompile(`<[^>]*>`)

// TestRequestOnItsPage: the page shows a request as its account keeps it, as texts and as JSON, and the list its first
// words.
func TestRequestOnItsPage(t *testing.T) {
	w := newWorld(t)
	b := w.keeping("acme")
	var dot bytes.Buffer
	if err := pngs.Encode(&dot, image.NewGray(image.Rect(0, 0, 2, 2))); err != nil {
		t.Fatal(err)
	}
	png := base64.StdEncoding.EncodeToString(dot.Bytes())
	prompt := "Describe the plum-coloured fox of Tuesday, in the order of its colours and with as many adjectives as there are"
	chat := b.run(`{"capability":"text.chat","input":{"messages":[{"role":"system","content":"Be \u003cbrief\u003e"},
		{"role":"user","content":[{"type":"text","text":"` + prompt + `"},{"type":"image","image":{"content_type":"image/png","data":"` + png + `"}}]}]},"parameters":{"temperature":0}}`)
	page := b.get("/tasks/" + chat.ID)
	for _, want := range []string{"<dt>System</dt>", "Be &lt;brief&gt;", "<dt>User</dt>", prompt, "<dt>User image</dt>", "In the request itself", "image/png", "temperature", "Kept until", "somebody"} {
		if !strings.Contains(page.body, want) {
			t.Errorf("no %q on the page:\n%s", want, page.body)
		}
	}
	if as := b.get("/tasks/" + chat.ID + "?request=json"); !strings.Contains(as.body, "&#34;content&#34;: &#34;Be &lt;brief&gt;&#34;") || !strings.Contains(as.body, "&#34;finish_reason&#34;: &#34;stop&#34;") {
		t.Errorf("no JSON:\n%s", as.body)
	}
	list := tags.ReplaceAllString(b.get("/tasks").body, "")
	if !strings.Contains(list, "Describe the plum-coloured fox of Tuesday, in the order of its colours and with as many …") {
		t.Errorf("the list:\n%s", list)
	}
	picture := b.run(`{"capability":"image.generate","input":{"prompt":"a fox"},"parameters":{"size":"64x64"}}`)
	if list := b.get("/tasks"); !strings.Contains(list.body, `<img class="thumb" src="/artifacts/`+picture.Output.Images[0].ID) {
		t.Errorf("no picture in the list:\n%s", list.body)
	}
	b.post("/memory", url.Values{"keep_inputs_days": {"0"}, "sure": {"yes"}})
	if page := b.get("/tasks/" + chat.ID); strings.Contains(page.body, "plum-coloured") && strings.Contains(page.body, `id="request"`) && strings.Contains(page.body, "Kept until") {
		t.Errorf("the request stays on the page:\n%s", page.body)
	}
}

// TestFilesOfARequest: files stand on the page by name and type, and one that is gone as gone.
func TestFilesOfARequest(t *testing.T) {
	w := newWorld(t)
	b := w.keeping("acme")
	made := b.run(`{"capability":"image.generate","input":{"prompt":"a fox"},"parameters":{"size":"64x64"}}`).Output.Images[0]
	edited := b.run(fmt.Sprintf(`{"capability":"image.edit","input":{"prompt":"red","images":[{"artifact":%q}],"authorization":{"person":"none"}}}`, made.ID))
	if page := b.get("/tasks/" + edited.ID); !strings.Contains(page.body, `href="/artifacts/`+made.ID) || !strings.Contains(page.body, `alt="Picture of the request"`) || strings.Contains(page.body, "is gone") {
		t.Errorf("no picture:\n%s", page.body)
	}
	b.post("/memory", url.Values{"keep_inputs_days": {"30"}})
	late := b.run(fmt.Sprintf(`{"capability":"image.edit","input":{"prompt":"red","images":[{"artifact":%q}],"authorization":{"person":"none"}}}`, made.ID))
	w.skip(8 * 24 * 60 * 60 * 1e9)
	again := w.member("acme", "member") // that session is over too
	page := again.get("/tasks/" + late.ID)
	if !strings.Contains(page.body, "The file is gone.") || strings.Contains(page.body, `href="/artifacts/`) {
		t.Errorf("a file that is gone:\n%s", page.body)
	}
	if page := again.get("/tasks/" + edited.ID); strings.Contains(page.body, "Kept until") {
		t.Errorf("a request whose time is over:\n%s", page.body)
	}
}

// TestOperatorSeesNoRequest: no part of a kept request is on a page that an operator sees of another
// account; nor does a member of another account see it.
func TestOperatorSeesNoRequest(t *testing.T) {
	w := newWorld(t)
	owner, operator, stranger := w.keeping("acme"), w.member("ops", "operator"), w.member("other", "member")
	operator.post("/memory", keeps)
	done := owner.run(`{"capability":"image.generate","input":{"prompt":"zarquon"},"parameters":{"size":"64x64"}}`)
	if page := owner.get("/tasks/" + done.ID); !strings.Contains(page.body, "zarquon") {
		t.Fatalf("the owner doesn't see it:\n%s", page.body)
	}
	acme := fixture.Must(w.operator.GetAccount(t.Context(), "acme"))(t)
	for _, path := range []string{
		"/", "/tasks?account=acme", "/tasks?account=*", "/tasks/export?account=acme&format=jsonl", "/tasks/export?account=*&format=csv", "/tasks/" + done.ID, "/tasks/" + done.ID + "?request=json", "/accounts/" + acme.ID, "/usage?account=acme", "/lookup?id=" + done.ID,
		"/api/test/tasks/" + done.ID + "/input", "/api/live/tasks/" + done.ID + "/input", "/memory",
	} {
		for name, b := range map[string]*browser{"operator": operator, "stranger": stranger} {
			if got := b.get(path); strings.Contains(got.body, "zarquon") || strings.Contains(got.body, done.Output.Images[0].ID) || strings.Contains(got.body, `id="request"`) {
				t.Errorf("%s: %s shows it:\n%s", name, path, got.body)
			}
		}
	}
	for _, format := range []string{"csv", "jsonl"} { // a file that leaves the console has no request, whoever's it is
		if got := owner.get("/tasks/export?format=" + format); !strings.Contains(got.body, done.ID) || strings.Contains(got.body, "zarquon") {
			t.Errorf("the export as %s:\n%s", format, got.body)
		}
	}
	if got := decode[api.TaskInput](t, owner.get("/api/test/tasks/"+done.ID+"/input")); string(got.Input) != `{"prompt":"zarquon"}` {
		t.Errorf("the owner reads %s", got.Input)
	}
	if strings.Contains(w.log.String(), "zarquon") {
		t.Error("the log has it")
	}
}

// TestWhoAsked: the page of a task names the key with its page, or the member.
func TestWhoAsked(t *testing.T) {
	w := newWorld(t)
	b := w.member("acme", "member")
	key := fixture.Must(w.operator.CreateKey(t.Context(), api.KeyCreate{Name: "the <shop>", Account: "acme", Mode: "test"}))(t)
	byKey := decode[api.Task](t, b.do(http.MethodPost, w.base+api.PathTasks, strings.NewReader(`{"capability":"text.chat","input":{"prompt":"hello"}}`), func(r *http.Request) {
		r.Header.Set("Content-Type", "application/json")
		r.Header.Set("Authorization", "Bearer "+key.Secret)
		r.Header.Set(api.HeaderIdempotencyKey, "asked-by-a-key")
	}))
	byMember := b.run(`{"capability":"text.chat","input":{"prompt":"hello"}}`)
	operator := w.member("ops", "operator")
	for id, want := range map[string]string{
		byKey.ID: `<a href="/console/keys/` + key.ID + `">the &lt;shop&gt;</a>`, byMember.ID: `somebody <span class="muted">in the console</span>`,
	} {
		for name, b := range map[string]*browser{"member": b, "operator": operator} {
			if got := b.get("/tasks/" + id); !strings.Contains(got.body, want) {
				t.Errorf("the %s's page lacks %s:\n%s", name, want, got.body)
			}
		}
	}
}

// TestMemoryForm: a member says for how long requests are kept; less asks once more, and anything else is refused.
func TestMemoryForm(t *testing.T) {
	w := newWorld(t)
	b := w.keeping("acme")
	days := func() int { return fixture.Must(w.operator.GetAccount(t.Context(), "acme"))(t).KeepInputsDays }
	if got := b.get("/memory"); days() != 7 || !strings.Contains(got.body, `<option value="7" selected>`) {
		t.Errorf("%d days; %s", days(), got.body)
	}
	if got := b.post("/memory", url.Values{"keep_inputs_days": {"1"}}); days() != 7 || !strings.Contains(got.body, "Erase them") {
		t.Errorf("%d days; %s", days(), got.body)
	}
	if b.post("/memory", url.Values{"keep_inputs_days": {"1"}, "sure": {"yes"}}); days() != 1 {
		t.Errorf("%d days", days())
	}
	if log := w.log.String(); !strings.Contains(log, `"days":1,"by":"`) {
		t.Error("the log doesn't say who changed it")
	}
	for _, wrong := range []string{"", "-1", "31", "x", "1e1"} {
		if got := b.post("/memory", url.Values{"keep_inputs_days": {wrong}, "sure": {"yes"}}); got.StatusCode != http.StatusBadRequest || days() != 1 {
			t.Errorf("%q: %d, %d days", wrong, got.StatusCode, days())
		}
	}
	if three := 3; fixture.Must(w.operator.UpdateAccount(t.Context(), "acme", api.AccountUpdate{KeepInputsDays: &three}))(t).KeepInputsDays != 3 ||
		!strings.Contains(b.get("/memory").body, `<option value="3" selected>For 3 days`) {
		t.Error("an operator's choice isn't on the page")
	}
}

// TestEditInTrial: a kept request leads to the trial's form, without the media that weren't kept.
func TestEditInTrial(t *testing.T) {
	w := newWorld(t)
	b := w.keeping("acme")
	var large bytes.Buffer
	if err := pngs.Encode(&large, image.NewGray(image.Rect(0, 0, 8, 8))); err != nil {
		t.Fatal(err)
	}
	data := base64.StdEncoding.EncodeToString(append(large.Bytes(), make([]byte, 60_000)...))
	for body, want := range map[string]string{
		`{"capability":"text.chat","input":{"prompt":"a \u003cfox\u003e"},"parameters":{"temperature":0.1}}`:                                                   `{"capability":"text.chat","input":{"prompt":"a \u003cfox\u003e"},"parameters":{"temperature":0.1}}`,
		`{"capability":"image.edit","input":{"prompt":"red","images":[{"content_type":"image/png","data":"` + data + `"}],"authorization":{"person":"none"}}}`: `{"capability":"image.edit","input":{"images":[],"prompt":"red"},"parameters":{}}`,
	} {
		done := b.run(body)
		page := b.get("/tasks/" + done.ID).body
		_, link, ok := strings.Cut(page, `href="/console/trial?capability=`+done.Capability+`&amp;mode=test#request=`)
		link, _, _ = strings.Cut(link, `"`)
		if got, err := base64.RawURLEncoding.DecodeString(link); !ok || err != nil || string(got) != want {
			t.Errorf("%s leads to %s %v", done.Capability, got, err)
		}
	}
}

// TestOperatorSetsKeptDays: an operator sets for how many days an account's requests are kept, and is asked before fewer
// days erase any; a form that doesn't say leaves them as they are.
func TestOperatorSetsKeptDays(t *testing.T) {
	w := newWorld(t)
	b := w.member("ops", "operator")
	acme := fixture.Must(w.operator.CreateAccount(t.Context(), api.AccountCreate{Name: "acme"}))(t)
	path := "/accounts/" + acme.ID
	days := func() int {
		return fixture.Must(w.operator.GetAccount(t.Context(), acme.ID))(t).KeepInputsDays
	}
	if got := b.post(path, url.Values{"keep_inputs_days": {"7"}, "kept_days": {"0"}}); got.StatusCode != http.StatusSeeOther || days() != 7 {
		t.Fatalf("%d, and %d days", got.StatusCode, days())
	}
	if got := b.get(path).body; !strings.Contains(got, `name="keep_inputs_days" type="number" min="0" max="30" value="7"`) {
		t.Error("the page doesn't show the days")
	}
	if b.post(path, url.Values{"capabilities": {"text.*"}}); days() != 7 {
		t.Errorf("a form without the days made them %d", days())
	}
	asked := b.post(path, url.Values{"keep_inputs_days": {"1"}, "kept_days": {"7"}, "capabilities": {"text.*"}})
	if days() != 7 || !strings.Contains(asked.body, "Erase them") || !strings.Contains(asked.body, `value="text.*"`) {
		t.Errorf("%d days before a yes, after\n%s", days(), asked.body)
	}
	if b.post(path, url.Values{"keep_inputs_days": {"1"}, "kept_days": {"7"}, "sure": {"yes"}}); days() != 1 {
		t.Errorf("%d days after a yes", days())
	}
	// A page that was read before: the days are left alone, and aren't changed without a look at those of now.
	if got := b.post(path, url.Values{"keep_inputs_days": {"7"}, "kept_days": {"7"}}); got.StatusCode != http.StatusSeeOther || days() != 1 {
		t.Errorf("%d, and %d days, which another has chosen", got.StatusCode, days())
	}
	if got := b.post(path, url.Values{"keep_inputs_days": {"30"}, "kept_days": {"7"}}); got.StatusCode != http.StatusBadRequest || days() != 1 {
		t.Errorf("%d, and %d days, by a page that showed others", got.StatusCode, days())
	}
}
