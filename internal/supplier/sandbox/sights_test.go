package sandbox_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"unitask/internal/supplier"
	"unitask/internal/supplier/sandbox"
	"unitask/internal/supplier/sandbox/media"
	"unitask/internal/supplier/suppliertest"
)

// TestChatAboutMedia: the sandbox says what it got, of the bytes themselves, and then does what the text asks for.
func TestChatAboutMedia(t *testing.T) {
	t.Parallel()
	fox := suppliertest.Media("image/png", string(picture(t, 90, 60)))
	wav := suppliertest.Media("audio/wav", string(media.Speak(media.SpeechSpec{Text: "Good day.", Speed: 1}).WAV()))
	pdf := suppliertest.Media("application/pdf", "%PDF-1.7 and so on")
	const image, audio, document = `{"type":"image","image":{}}`, `{"type":"audio","audio":{}}`, `{"type":"document","document":{}}`
	user := func(parts string) string { return `{"messages":[{"role":"user","content":[` + parts + `]}]}` }
	answered := func(text string, u supplier.Usage) *supplier.Result {
		return &supplier.Result{Text: &text, FinishReason: "stop", Usage: u}
	}
	for name, tt := range map[string]struct {
		input string
		media map[string]supplier.Media
		want  *supplier.Result
	}{
		"an image and a question": {
			user(image + `,{"type":"text","text":"upper what"},{"type":"text","text":"is this?"}`),
			map[string]supplier.Media{"/messages/0/content/0/image": fox},
			answered("I see 1 image (png, 90×60). WHAT\nIS THIS?", supplier.Usage{InputTokens: 4 + 8, OutputTokens: 9, ImageInputTokens: 8}),
		},
		"media alone": {
			user(image + "," + image + "," + audio + "," + document),
			map[string]supplier.Media{
				"/messages/0/content/0/image": fox, "/messages/0/content/1/image": suppliertest.Media("image/webp", "???"),
				"/messages/0/content/2/audio": wav, "/messages/0/content/3/document": pdf,
			},
			answered("I see 2 images (png, 90×60; webp, 3 bytes). I hear 1 recording (wav, 0.8 seconds). I read 1 document (pdf, 18 bytes).",
				supplier.Usage{InputTokens: 40, OutputTokens: 25, ImageInputTokens: 9, AudioInputTokens: 26}),
		},
		"an earlier image": {
			`{"messages":[{"role":"system","content":"Be brief."},{"role":"user","content":[` + image + `]},{"role":"user","content":"say Yes"}]}`,
			map[string]supplier.Media{"/messages/1/content/0/image": fox},
			answered("I see 1 image (png, 90×60). Yes", supplier.Usage{InputTokens: 4 + 8, OutputTokens: 7, ImageInputTokens: 8}),
		},
	} {
		r := request("text.chat", tt.input, `{}`)
		r.Media = tt.media
		got, err := mustNew(t, sandbox.Cheap, nil).Submit(t.Context(), r)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if diff := cmp.Diff(supplier.Outcome{Result: tt.want}, got); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
}
