package gateway_test

import (
	"context"
	"encoding/base64"
	"io"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/google/go-cmp/cmp"

	"unitask/internal/artifact"
	"unitask/internal/fault"
	"unitask/internal/gateway"
	"unitask/internal/routing"
	"unitask/internal/supplier"
	"unitask/internal/task"
)

// chatOf is a chat whose second message has these parts after a text.
func chatOf(parts ...string) string {
	return `{"capability":"text.chat","input":{"messages":[{"role":"system","content":"Be brief."},{"role":"user","content":[` +
		strings.Join(append([]string{`{"type":"text","text":"What is this?"}`}, parts...), ",") + `]}]}}`
}

func partOf(kind, contentType, data string) string {
	return `{"type":"` + kind + `","` + kind + `":{"content_type":"` + contentType + `","data":"` + base64.StdEncoding.EncodeToString([]byte(data)) + `"}}`
}

func partAt(kind, url string) string {
	return `{"type":"` + kind + `","` + kind + `":{"url":"` + url + `"}}`
}

// webs is a fetcher of some bytes by address.
type webs map[string]string

func (w webs) Fetch(_ context.Context, r artifact.FetchRequest) (*artifact.Fetched, error) {
	return &artifact.Fetched{ReadCloser: io.NopCloser(strings.NewReader(w[r.URL]))}, nil
}

func (webs) RefusesURL(string) string { return "" }

// inWeb runs a test in a bubble of virtual time, with a started gateway that fetches from f.
func inWeb(t *testing.T, f webs, s *script, run func(w *world)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, []routing.Route{route("text.chat", "a", 1, s)})
		w.fetcher = f
		w.start()
		defer w.stop()
		run(w)
	})
}

// TestPartsReachTheSupplier: media of messages come fetched, with the types of their bytes, at their places.
func TestPartsReachTheSupplier(t *testing.T) {
	got := map[string]string{}
	look := &script{submitFn: func(_ int, r supplier.Request) (supplier.Outcome, error) {
		for pointer, m := range r.Media {
			body, err := m.Open()
			if err != nil {
				return supplier.Outcome{}, err
			}
			raw, err := io.ReadAll(body)
			got[pointer] = m.ContentType + " " + string(raw[:min(len(raw), 5)])
			if err := body.Close(); err != nil {
				return supplier.Outcome{}, err
			}
			if err != nil {
				return supplier.Outcome{}, err
			}
		}
		return text("A fox."), nil
	}}
	inWeb(t, webs{"https://a.example/doc": "%PDF-1.7\ntrailer<<>>", "https://a.example/text": "plain words"}, look, func(w *world) {
		body := chatOf(partOf("image", "image/png", string(mustPNG(t))), partOf("document", "text/markdown", "# Title"),
			partAt("document", "https://a.example/doc"), partAt("document", "https://a.example/text"))
		if end := w.end(w.create("parts-0001", body, 0).Task.ID); end.State != task.Succeeded {
			t.Fatalf("it ended as %s: %v", end.State, end.Failure)
		}
		want := map[string]string{
			"/messages/1/content/1/image": "image/png \x89PNG\r", "/messages/1/content/2/document": "text/markdown # Tit",
			"/messages/1/content/3/document": "application/pdf %PDF-", "/messages/1/content/4/document": "text/plain plain",
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("media (-want +got):\n%s", diff)
		}
		synctest.Wait()
		if left := w.inputs(); len(left) > 0 {
			t.Errorf("%d inputs are left", len(left))
		}
	})
}

// TestPartsRefused: media that aren't what they are given as are refused before a record is made, if their bytes are
// there, else as the task's end. The refusal names the member.
func TestPartsRefused(t *testing.T) {
	const locked = "%PDF-1.7\n\xe2\xe3 trailer<</Encrypt 5 0 R>>"
	const at = "input.messages.1.content.1."
	for name, tt := range map[string]struct{ part, field, problem string }{
		"an encrypted PDF":   {partOf("document", "application/pdf", locked), at + "document.data", "is an encrypted PDF"},
		"a text as a PDF":    {partOf("document", "application/pdf", "words"), at + "document.content_type", "contradicts the bytes, which are text/plain"},
		"a PDF as a text":    {partOf("document", "text/plain", "%PDF-1.7"), at + "document.content_type", "contradicts the bytes, which are application/pdf"},
		"a picture as text":  {partOf("document", "text/plain", "\x89PNG\r\n\x1a\n"), at + "document.data", "is neither a PDF nor text in UTF-8"},
		"a text as an image": {partOf("image", "image/png", "words"), at + "image.data", "is no image of a supported type"},
		"a PDF as an image":  {partOf("image", "image/png", "%PDF-1.7"), at + "image.data", "is no image of a supported type"},
		"an image as sound":  {partOf("audio", "audio/wav", "\x89PNG\r\n\x1a\n"), at + "audio.data", "is no audio of a supported type"},
	} {
		t.Run(name, func(t *testing.T) {
			inWeb(t, nil, &script{submitFn: answer("no")}, func(w *world) {
				_, err := w.g.Create(t.Context(), w.caller, gateway.Submission{IdempotencyKey: "refused-01", Body: []byte(chatOf(tt.part))})
				want := []fault.Detail{{Field: tt.field, Message: tt.problem}}
				if diff := cmp.Diff(want, fault.From(err).Details); diff != "" || fault.CodeOf(err) != fault.InvalidRequest {
					t.Errorf("%v (-want +got):\n%s", err, diff)
				}
			})
		})
	}
	for address, problem := range map[string]string{
		"https://a.example/locked": "input.messages.1.content.1.document is an encrypted PDF",
		"https://a.example/binary": "input.messages.1.content.1.document is not text in UTF-8",
		"https://a.example/late":   "input.messages.1.content.1.document is neither a PDF nor text in UTF-8",
	} {
		t.Run(address, func(t *testing.T) {
			s := &script{submitFn: answer("no")}
			inWeb(t, webs{
				"https://a.example/locked": locked, "https://a.example/binary": "\x00\x01", "https://a.example/late": strings.Repeat("x", 600) + "\xff",
			}, s, func(w *world) {
				end := w.end(w.create("refused-02", chatOf(partAt("document", address)), 0).Task.ID)
				if end.State != task.Failed || end.Failure.Code != fault.InvalidRequest || end.Failure.Message != problem || len(s.submits) > 0 {
					t.Errorf("it ended as %s: %v, after %d submissions", end.State, end.Failure, len(s.submits))
				}
			})
		})
	}
}

// TestVideoRefused: a video is an MP4 or a WebM by its bytes.
func TestVideoRefused(t *testing.T) {
	for name, data := range map[string]string{"an image": "\x89PNG\r\n\x1a\n", "sound": "fLaC\x00", "words": "words"} {
		t.Run(name, func(t *testing.T) {
			inWorld(t, []routing.Route{route("video.extend", "a", 1, &script{submitFn: answer("no")})}, func(w *world) {
				body := `{"capability":"video.extend","input":{"prompt":"On","authorization":{"person":"none"},"video":{"content_type":"video/mp4","data":"` +
					base64.StdEncoding.EncodeToString([]byte(data)) + `"}}}`
				_, err := w.g.Create(t.Context(), w.caller, gateway.Submission{IdempotencyKey: "refused-01", Body: []byte(body)})
				want := []fault.Detail{{Field: "input.video.data", Message: "is no video of a supported type"}}
				if diff := cmp.Diff(want, fault.From(err).Details); diff != "" || fault.CodeOf(err) != fault.InvalidRequest {
					t.Errorf("%v (-want +got):\n%s", err, diff)
				}
			})
		})
	}
}
