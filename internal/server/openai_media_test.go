package server_test

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"unitask/internal/api"
	"unitask/internal/artifact"
	"unitask/internal/door/openai"
	"unitask/internal/fault"
	"unitask/internal/server"
	"unitask/internal/task"
)

// pixelPNG is a picture of one pixel.
var pixelPNG, _ = base64.StdEncoding.DecodeString("iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAIAAACQd1PeAAAADElEQVR42mP4z8AAAAMBAQD3A0FDAAAAAElFTkSuQmCC")

const edge = "an-edge"

// formOf is a form of fields, each "name=text", and a file.
func formOf(edge, name string, file []byte, fields ...string) string {
	var b strings.Builder
	for _, field := range fields {
		name, text, _ := strings.Cut(field, "=")
		fmt.Fprintf(&b, "--%s\r\nContent-Disposition: form-data; name=%q\r\n\r\n%s\r\n", edge, name, text)
	}
	fmt.Fprintf(&b, "--%s\r\nContent-Disposition: form-data; name=%q; filename=\"a\"\r\n\r\n%s\r\n--%s--\r\n", edge, name, file, edge)
	return b.String()
}

// ask sends a body of JSON or, if it begins as one, a form with its edge.
func (w *world) ask(path, body string, header ...string) response {
	w.t.Helper()
	r := request{method: http.MethodPost, path: path, key: w.test, body: body, header: map[string]string{"Content-Type": "application/json"}}
	if line, _, _ := strings.Cut(body, "\r\n"); strings.HasPrefix(line, "--") {
		r.header["Content-Type"] = "multipart/form-data; boundary=" + line[2:]
	}
	for i := 0; i < len(header); i += 2 {
		r.header[header[i]] = header[i+1]
	}
	return w.do(r)
}

// pictures returns the bytes and the addresses of an answer's images.
func pictures(t *testing.T, r response) (inline [][]byte, links []string) {
	t.Helper()
	var a struct {
		Data []struct {
			B64 []byte `json:"b64_json"`
			URL string
		}
	}
	if err := json.Unmarshal(r.body, &a); err != nil || r.StatusCode != http.StatusOK {
		t.Fatalf("%s: %v\n%.300s", r.Status, err, r.body)
	}
	for _, one := range a.Data {
		if inline = append(inline, one.B64); one.URL != "" {
			links = append(links, one.URL)
		}
	}
	return inline, links
}

// TestOpenAIImages makes and edits images: in the answer they are the bytes that the task's artifacts are.
func TestOpenAIImages(t *testing.T) {
	w := openAIWorld(t)
	const prompt = `{"model":"image.generate","prompt":"a red fox","n":2,"size":"64x64"`
	r := w.ask(openai.PathImages, prompt+`}`, api.HeaderIdempotencyKey, "two foxes")
	inline, _ := pictures(t, r)
	made := w.do(request{path: api.PathTasks + "/" + r.Header.Get(openai.HeaderTaskID), key: w.test}).task(t)
	if made.State != task.Succeeded || len(made.Output.Images) != 2 || len(inline) != 2 || r.ContentLength != int64(len(r.body)) {
		t.Fatalf("%d images of %+v, %d of %d bytes", len(inline), made, len(r.body), r.ContentLength)
	}
	_, links := pictures(t, w.ask(openai.PathImages, prompt+`,"response_format":"url"}`, api.HeaderIdempotencyKey, "two foxes"))
	for i, image := range inline {
		same := w.do(request{path: made.Output.Images[i].URL})
		linked := w.do(request{path: links[i]})
		if !bytes.Equal(image, same.body) || !bytes.Equal(image, linked.body) || len(image) == 0 {
			t.Errorf("image %d has %d bytes, its artifact %d, its address %d", i, len(image), len(same.body), len(linked.body))
		}
	}
	edit := formOf(edge, "image[]", pixelPNG, "model=image.edit", "prompt=Make it blue", "authorization[person]=none", "size=64x64")
	if edited, _ := pictures(t, w.ask(openai.PathImageEdits, edit)); len(edited) != 1 || !bytes.HasPrefix(edited[0], pixelPNG[:8]) {
		t.Errorf("edited: %d images", len(edited))
	}
	inJSON := `{"prompt":"Make it blue","images":[{"image_url":"data:image/png;base64,` + base64.StdEncoding.EncodeToString(pixelPNG) + `"}],"authorization":{"person":"none"}}`
	if edited, _ := pictures(t, w.ask(openai.PathImageEdits, inJSON)); len(edited) != 1 {
		t.Errorf("edited by JSON: %d images", len(edited))
	}
}

// TestOpenAIAudio has a text spoken and the recording written down, in each form.
func TestOpenAIAudio(t *testing.T) {
	w := openAIWorld(t)
	spoken := w.ask(openai.PathSpeech, `{"model":"audio.speech","input":"The train leaves at nine.","voice":"alloy","response_format":"wav"}`)
	if kind := spoken.Header.Get("Content-Type"); spoken.StatusCode != http.StatusOK || kind != "audio/wav" || string(spoken.body[8:12]) != "WAVE" || spoken.Header.Get(openai.HeaderTaskID) == "" {
		t.Fatalf("spoken: %s of %s", spoken.Status, kind)
	}
	for _, tt := range []struct {
		path, kind, want string
		fields           []string
	}{
		{openai.PathTranscriptions, "application/json", `"text":"The train leaves at nine."`, nil},
		{openai.PathTranscriptions, "text/plain", "The train leaves at nine.", []string{"response_format=text"}},
		{openai.PathTranscriptions, "text/plain", "--> ", []string{"response_format=srt"}},
		{openai.PathTranscriptions, "text/plain", "WEBVTT", []string{"response_format=vtt"}},
		{openai.PathTranscriptions, "application/json", `"segments":[{"id":0,"text":"The`, []string{"response_format=verbose_json"}},
		{openai.PathTranscriptions, "application/json", `"words":[{"word":"The"`, []string{"response_format=verbose_json", "timestamp_granularities[]=word"}},
		{openai.PathTranscriptions, "application/json", `"speaker":"A"`, []string{"response_format=diarized_json"}},
		{openai.PathTranslations, "application/json", `"text":"[en] The train`, nil},
	} {
		r := w.ask(tt.path, formOf(edge, "file", spoken.body, append(tt.fields, "model=audio.transcribe")...))
		if r.StatusCode != http.StatusOK || !strings.HasPrefix(r.Header.Get("Content-Type"), tt.kind) || !strings.Contains(string(r.body), tt.want) {
			t.Errorf("%s with %q: %s, %s\n%s", tt.path, tt.fields, r.Status, r.Header.Get("Content-Type"), r.body)
		}
	}
}

func TestOpenAIModerations(t *testing.T) {
	r := openAIWorld(t).ask(openai.PathModerations, `{"input":["What a lovely morning.","I will kill you."]}`)
	var a struct {
		ID      string
		Results []struct {
			Flagged    bool
			Categories map[string]*bool
		}
	}
	if err := json.Unmarshal(r.body, &a); err != nil || len(a.Results) != 2 || a.ID != r.Header.Get(openai.HeaderTaskID) {
		t.Fatalf("%s: %v\n%s", r.Status, err, r.body)
	}
	if a.Results[0].Flagged || !a.Results[1].Flagged || !*a.Results[1].Categories["violence"] {
		t.Errorf("judged: %s", r.body)
	}
}

// TestOpenAIMediaRefuses has errors in OpenAI's shape, with the statuses of the API.
func TestOpenAIMediaRefuses(t *testing.T) {
	w := newWorld(t, options{openAI: true, limits: server.Limits{Body: 64 << 10}})
	edit := formOf(edge, "image", pixelPNG, "prompt=a")
	large := formOf(edge, "image", bytes.Repeat(pixelPNG, 1000), "prompt=a")
	for _, tt := range []struct {
		name   string
		r      response
		status int
		code   fault.Code
		param  string
	}{
		{"no authorization", w.ask(openai.PathImageEdits, edit), 403, fault.AuthorizationRequired, "authorization"},
		{"a stream", w.ask(openai.PathImages, `{"prompt":"a","stream":true}`), 400, fault.InvalidRequest, "stream"},
		{"an unknown model", w.ask(openai.PathImages, `{"prompt":"a","model":"dall-e-3"}`), 404, fault.NotFound, "model"},
		{"a model of another kind", w.ask(openai.PathImageEdits, formOf(edge, "image", pixelPNG, "prompt=a", "model=image.generate")), 404, fault.NotFound, "model"},
		{"a form for JSON", w.ask(openai.PathImages, edit), 415, fault.InvalidRequest, "Content-Type"},
		{"JSON for a form", w.ask(openai.PathTranscriptions, `{"model":"audio.transcribe"}`), 415, fault.InvalidRequest, "Content-Type"},
		{"a form without its edge", w.ask(openai.PathImageEdits, edit, "Content-Type", "multipart/form-data"), 415, fault.InvalidRequest, "Content-Type"},
		{"an encoded form", w.ask(openai.PathImageEdits, edit, "Content-Encoding", "gzip"), 415, fault.InvalidRequest, "Content-Encoding"},
		{"a broken form", w.ask(openai.PathImageEdits, edit[:len(edit)-9]), 400, fault.InvalidRequest, ""},
		{"a large form", w.ask(openai.PathImageEdits, large), 413, fault.InvalidRequest, ""},
		{"a format that no route makes", w.ask(openai.PathSpeech, `{"model":"audio.speech","input":"a"}`), 400, fault.InvalidRequest, "response_format"},
		{"content", w.ask(openai.PathImages, `{"prompt":"@fail:CONTENT_POLICY_VIOLATION"}`), 422, fault.ContentPolicyViolation, ""},
		{"an outage", w.ask(openai.PathImages, `{"prompt":"@fail:PROVIDER_UNAVAILABLE"}`), 502, fault.ProviderUnavailable, ""},
	} {
		e := tt.r.openAIError(t)
		param := ""
		if e.Param != nil {
			param = *e.Param
		}
		if tt.r.StatusCode != tt.status || e.ServiceCode != tt.code || param != tt.param || (tt.r.Header.Get(openai.HeaderShouldRetry) == "true") != tt.code.Retryable() {
			t.Errorf("%s: %s\n%s", tt.name, tt.r.Status, tt.r.body)
		}
	}
}

// cutFiles breaks files off in the middle while it is on, or takes their time for over.
type cutFiles struct {
	artifact.Store
	on, over atomic.Bool
}

func (c *cutFiles) Open(ctx context.Context, id string) (artifact.Meta, io.ReadSeekCloser, error) {
	meta, file, err := c.Store.Open(ctx, id)
	if c.over.Load() {
		meta.ExpiresAt = time.Unix(1, 0)
	}
	if err == nil && c.on.Load() {
		return meta, cutFile{file}, nil
	}
	return meta, file, err
}

type cutFile struct{ io.ReadSeekCloser }

func (cutFile) Read([]byte) (int, error) { return 0, errors.New("the disk is gone") }

// TestOpenAIMediaCutOff has the answer break off while its file is read: the client sees that it isn't whole, and its
// library's retry, a form with another edge, has the answer of the same task. Once the file is deleted there is none.
func TestOpenAIMediaCutOff(t *testing.T) {
	files := &cutFiles{}
	w := newWorld(t, options{openAI: true, files: func(s artifact.Store) artifact.Store {
		files.Store = s
		return files
	}})
	body := func(edge string) string {
		return formOf(edge, "image", pixelPNG, "prompt=Make it blue", "authorization={\"person\":\"none\"}")
	}
	files.on.Store(true)
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, w.base+openai.PathImageEdits, strings.NewReader(body(edge)))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer "+w.test)
	req.Header.Set("Content-Type", "multipart/form-data; boundary="+edge)
	resp, err := (&http.Client{Transport: &http.Transport{DisableKeepAlives: true}}).Do(req)
	if err == nil {
		_, err = io.ReadAll(resp.Body)
		_ = resp.Body.Close()
	}
	if err == nil {
		t.Error("an answer that breaks off looks whole")
	}
	files.on.Store(false)
	again := w.ask(openai.PathImageEdits, body("another"), openai.HeaderRetryCount, "1")
	if edited, _ := pictures(t, again); len(edited) != 1 || again.Header.Get(api.HeaderIdempotentReplay) != "true" {
		t.Errorf("the retry has %d images, replayed %q", len(edited), again.Header.Get(api.HeaderIdempotentReplay))
	}
	if diff := cmp.Diff([]string{again.Header.Get(openai.HeaderTaskID)}, w.ids(w.test)); diff != "" {
		t.Errorf("after a retry (-want +got):\n%s", diff)
	}
	for name, end := range map[string]func(id string) error{
		"deleted": func(id string) error { return files.Delete(t.Context(), id) },
		"expired": func(string) error { files.over.Store(true); return nil },
	} {
		files.over.Store(false)
		first := w.ask(openai.PathImages, `{"prompt":"a fox"}`, api.HeaderIdempotencyKey, "a fox, "+name)
		made := w.do(request{path: api.PathTasks + "/" + first.Header.Get(openai.HeaderTaskID), key: w.test}).task(t)
		if err := end(made.Output.Images[0].ID); err != nil {
			t.Fatal(err)
		}
		gone := w.ask(openai.PathImages, `{"prompt":"a fox"}`, api.HeaderIdempotencyKey, "a fox, "+name)
		e := gone.openAIError(t)
		if gone.StatusCode != http.StatusNotFound || e.Code != nil || e.Message != "the task's result is no longer kept" || gone.Header.Get(openai.HeaderShouldRetry) != "false" {
			t.Errorf("a result that is %s: %s\n%s", name, gone.Status, gone.body)
		}
	}
}
