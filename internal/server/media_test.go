package server_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"unitask/internal/fault"
	"unitask/internal/gateway"
	"unitask/internal/task"
)

// edited is a request to edit the picture of a media value.
func edited(media string) string {
	return `{"capability":"image.edit","input":{"prompt":"bluer","images":[` + media + `],"authorization":{"person":"none"}}}`
}

// TestMediaAreGuarded gives media of every wrong sort. A fault that shows without a fetch is refused before a task is
// recorded; a fault that a fetch finds fails the task; the error never reveals the content at an address.
func TestMediaAreGuarded(t *testing.T) {
	const small = 256 << 10
	files := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/large.png":
			_, _ = fmt.Fprint(w, "\x89PNG\r\n\x1a\n", strings.Repeat("x", small))
		case "/sound.png":
			_, _ = fmt.Fprint(w, "ID3\x04 secret of the host")
		case "/page.png":
			_, _ = fmt.Fprint(w, "<html>secret of the host")
		case "/away.png":
			http.Redirect(w, r, "http://127.0.0.1:1/metadata", http.StatusFound)
		default:
			http.NotFound(w, r)
		}
	}))
	t.Cleanup(files.Close)
	w := newWorld(t, options{gateway: gateway.Limits{InlineMedia: small}, fetchable: []string{strings.TrimPrefix(files.URL, "http://")}})
	picture := w.end(w.test, w.post("a picture", image("a red fox")).task(t).ID).Output.Images[0].ID
	speech := w.post("a voice first", `{"capability":"audio.speech","input":{"text":"x"}}`).task(t).Output.Audio
	stranger := w.otherAccountsKey()
	ref := func(id string) string { return `{"artifact":"` + id + `"}` }
	at := func(path string) string { return `{"url":"` + files.URL + path + `"}` }
	for i, tt := range []struct {
		name, body, key string
		status          int // 202: the task fails
		field           string
	}{
		{"an own picture", edited(ref(picture)), w.test, http.StatusAccepted, ""},
		{"a sound among pictures", edited(inline("image/png", "ID3\x04 sound")), w.test, 400, "input.images.0.data"},
		{"markup among pictures", edited(inline("image/png", "<svg>")), w.test, 400, "input.images.0.data"},
		{"an own sound among pictures", edited(ref(speech.ID)), w.test, 400, "input.images.0.artifact"},
		{"a picture to listen to", `{"capability":"audio.transcribe","input":{"audio":` + ref(picture) + `}}`, w.test, 400, "input.audio.artifact"},
		{"another account's picture", edited(ref(picture)), stranger, 400, "input.images.0.artifact"},
		{"nobody's picture", edited(ref("art_00000000000000000000000000")), w.test, 400, "input.images.0.artifact"},
		{"too many bytes", edited(inline("image/png", "\x89PNG\r\n\x1a\n"+strings.Repeat("x", small))), w.test, 413, "input.images.0.data"},
		{"another scheme", edited(`{"url":"file:///etc/passwd"}`), w.test, 400, "input.images.0.url"},
		{"too many bytes at an address", edited(at("/large.png")), w.test, 202, "input.images.0.url"},
		{"a sound at an address", edited(at("/sound.png")), w.test, 202, "input.images.0"},
		{"markup at an address", edited(at("/page.png")), w.test, 202, "input.images.0"},
		{"a redirect to this machine", edited(at("/away.png")), w.test, 202, "input.images.0.url"},
		{"nothing at an address", edited(at("/gone.png")), w.test, 202, "input.images.0.url"},
		{"another type than the bytes'", edited(inline("image/jpeg", "\x89PNG\r\n\x1a\n")), w.test, 400, "input.images.0.content_type"},
		{"a picture as a PDF", portrait("a", agreed(inline("application/pdf", "\x89PNG\r\n\x1a\n"))), w.test, 400, "input.authorization.evidence.0.content_type"},
		{"a sound of another type", `{"capability":"audio.transcribe","input":{"audio":` + inline("audio/wav", "ID3\x04 sound") + `}}`, w.test, 400, "input.audio.content_type"},
		{"this machine", edited(`{"url":"http://127.0.0.1:1/a.png"}`), w.test, 400, "input.images.0.url"},
		{"this machine by name", edited(`{"url":"http://localhost/a.png"}`), w.test, 400, "input.images.0.url"},
		{"this machine as a number", edited(`{"url":"http://2130706433/a.png"}`), w.test, 400, "input.images.0.url"},
		{"this machine, mapped", edited(`{"url":"http://[::ffff:127.0.0.1]/a.png"}`), w.test, 400, "input.images.0.url"},
		{"a private address", edited(`{"url":"https://10.0.0.1/a.png"}`), w.test, 400, "input.images.0.url"},
		{"a link-local address", edited(`{"url":"http://[fe80::1]/a.png"}`), w.test, 400, "input.images.0.url"},
		{"the clouds' metadata", edited(`{"url":"http://169.254.169.254/latest"}`), w.test, 400, "input.images.0.url"},
		{"a user in an address", edited(`{"url":"https://me:secret@example.com/a.png"}`), w.test, 400, "input.images.0.url"},
		{"a port of no web server", edited(`{"url":"http://8.8.8.8:22/a.png"}`), w.test, 400, "input.images.0.url"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got := w.post(fmt.Sprintf("guarded media %d", i), tt.body, by(tt.key))
			if got.StatusCode != tt.status {
				t.Fatalf("status %d, want %d: %s", got.StatusCode, tt.status, got.body)
			}
			var details []fault.Detail
			code := fault.InvalidRequest
			if tt.status == http.StatusAccepted {
				ended := w.end(tt.key, got.task(t).ID)
				if tt.field == "" {
					if ended.State != task.Succeeded {
						t.Errorf("ended %s: %+v", ended.State, ended.Error)
					}
					return
				}
				code, details = ended.Error.Code, ended.Error.Details
			} else {
				e := got.error(t).Error
				code, details = e.Code, e.Details
			}
			var fields []string
			for _, d := range details {
				fields = append(fields, d.Field)
				if strings.Contains(d.Message, "secret") || strings.Contains(d.Message, "127.0.0.1") {
					t.Errorf("the answer says too much: %s", d.Message)
				}
			}
			if diff := cmp.Diff([]string{tt.field}, fields); diff != "" || code != fault.InvalidRequest {
				t.Errorf("%s, fields (-want +got):\n%s", code, diff)
			}
		})
	}
}
