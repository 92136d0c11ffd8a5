package openai_test

import (
	"encoding/base64"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"unitask/internal/catalog"
	"unitask/internal/door/openai"
	"unitask/internal/fault"
	"unitask/internal/task"
	"unitask/test/fixture"
)

var (
	pixelBytes = string(fixture.Must(base64.StdEncoding.DecodeString(pixel))(nil))
	// sound is the head of a recording.
	sound = "RIFF\x24\x00\x00\x00WAVEfmt "
)

// edit is an edit's form with other parts.
func edit(more ...string) string {
	return form(append([]string{part("prompt", "Make it blue"), file("image", "application/octet-stream", pixelBytes)}, more...)...)
}

// listen is a transcription's form with other parts.
func listen(more ...string) string {
	return form(append([]string{file("file", "audio/mpeg", sound), part("model", "audio.transcribe")}, more...)...)
}

// byForm is a reader of forms with the tests' boundary.
func byForm(read openai.FormReader) openai.Reader {
	return func(body []byte) (openai.Call, error) { return read(body, boundary) }
}

var (
	editForm      = byForm(openai.ImageEditForm)
	transcription = byForm(openai.Transcription)
	translation   = byForm(openai.Translation)
)

// TestTranslateMedia has requests become creations, which the directory finds valid.
func TestTranslateMedia(t *testing.T) {
	inPNG := `{"data":"` + pixel + `","content_type":"image/png"}`
	heard := `{"data":"` + base64.StdEncoding.EncodeToString([]byte(sound)) + `","content_type":"audio/wav"}`
	none := part("authorization", `{"person":"none"}`)
	for _, tt := range []struct {
		name          string
		read          openai.Reader
		request, want string
	}{
		{"images", openai.Images, `{"prompt":"a fox"}`, `{"capability":"image.generate","input":{"prompt":"a fox"},"parameters":{}}`},
		{
			"images in full", openai.Images, `{"model":"image.generate","prompt":"a fox","n":2,"size":"1024x1024","quality":"high","background":"transparent","output_format":"webp",
				"response_format":"url","user":"u","stream":false,"partial_images":0,"output_compression":100,"moderation":"auto","style":null}`,
			`{"capability":"image.generate","input":{"prompt":"a fox"},"parameters":{"n":2,"size":"1024x1024","quality":"high","format":"webp","background":"transparent"}}`,
		},
		{"images as ever", openai.Images, `{"prompt":"a","size":"auto","quality":"standard","background":"auto"}`, `{"capability":"image.generate","input":{"prompt":"a"},"parameters":{}}`},
		{
			"an edit", editForm, edit(none),
			`{"capability":"image.edit","input":{"prompt":"Make it blue","images":[` + inPNG + `],"authorization":{"person":"none"}},"parameters":{}}`,
		},
		{
			"an edit in full", editForm, form(file("image[]", "image/png", pixelBytes), file("image[]", "image/jpeg", pixelBytes), file("mask", "", pixelBytes), part("model", "image.edit"),
				part("prompt", "a \"b\""), part("n", "2"), part("size", "512x512"), part("quality", "low"), part("output_format", "jpeg"), part("input_fidelity", "high"),
				part("response_format", "b64_json"), part("user", "u"), part("stream", "false"), part("partial_images", "0"), part("background", "auto"),
				part("authorization[person]", "authorized"), part("authorization[statement]", "Ada agreed.")),
			`{"capability":"image.edit","input":{"prompt":"a \"b\"","images":[` + inPNG + `,` + inPNG + `],"mask":` + inPNG + `,
				"authorization":{"person":"authorized","statement":"Ada agreed."}},
				"parameters":{"n":2,"size":"512x512","quality":"low","format":"jpeg","input_fidelity":"high"}}`,
		},
		{
			"an edit in JSON", openai.ImageEdits, `{"prompt":"a","images":[{"image_url":"data:image/png;base64,` + pixel + `"},{"image_url":"https://a.example/a.png"}],
				"mask":{"image_url":"https://a.example/m.png"},"moderation":"auto","authorization":{"person":"none"}}`,
			`{"capability":"image.edit","input":{"prompt":"a","images":[` + inPNG + `,{"url":"https://a.example/a.png"}],"mask":{"url":"https://a.example/m.png"},
				"authorization":{"person":"none"}},"parameters":{}}`,
		},
		{
			"speech", openai.Speech, `{"model":"audio.speech","input":"Hi","voice":"alloy"}`,
			`{"capability":"audio.speech","input":{"text":"Hi"},"parameters":{"voice":"alloy","format":"mp3"}}`,
		},
		{
			"speech in full", openai.Speech, `{"model":"audio.speech","input":"Hi","voice":"alloy","instructions":"Slowly.","response_format":"flac","speed":1.5,"stream_format":"audio"}`,
			`{"capability":"audio.speech","input":{"text":"Hi","instructions":"Slowly."},"parameters":{"voice":"alloy","speed":1.5,"format":"flac"}}`,
		},
		{"a transcription", transcription, listen(), `{"capability":"audio.transcribe","input":{"audio":` + heard + `},"parameters":{}}`},
		{
			"a transcription in full", transcription, listen(part("language", "sv"), part("prompt", "About trains."), part("keywords[]", "Lund"), part("keywords[]", "Malmö"),
				part("response_format", "verbose_json"), part("timestamp_granularities[]", "word"), part("timestamp_granularities[]", "segment"),
				part("temperature", "0"), part("stream", "false"), part("chunking_strategy", "auto")),
			`{"capability":"audio.transcribe","input":{"audio":` + heard + `,"hints":["Lund","Malmö","About trains."]},"parameters":{"language":"sv","timestamps":"both"}}`,
		},
		{
			"words", transcription, listen(part("response_format", "verbose_json"), part("timestamp_granularities", "word")),
			`{"capability":"audio.transcribe","input":{"audio":` + heard + `},"parameters":{"timestamps":"word"}}`,
		},
		{"subtitles", transcription, listen(part("response_format", "vtt")), `{"capability":"audio.transcribe","input":{"audio":` + heard + `},"parameters":{"format":"vtt"}}`},
		{"speakers", transcription, listen(part("response_format", "diarized_json")), `{"capability":"audio.transcribe","input":{"audio":` + heard + `},"parameters":{"speakers":true}}`},
		{
			"a translation", translation, listen(part("response_format", "verbose_json"), part("prompt", "Lund")),
			`{"capability":"audio.transcribe","input":{"audio":` + heard + `,"hints":["Lund"]},"parameters":{"translate_to":"en","timestamps":"segment"}}`,
		},
		{"a text", openai.Moderations, `{"input":"a"}`, `{"capability":"text.moderate","input":{"texts":["a"]},"parameters":{}}`},
		{"texts", openai.Moderations, `{"model":"text.moderate","input":["a","b"]}`, `{"capability":"text.moderate","input":{"texts":["a","b"]},"parameters":{}}`},
		{"a part", openai.Moderations, `{"input":[{"type":"text","text":"a"}]}`, `{"capability":"text.moderate","input":{"texts":["a"]},"parameters":{}}`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			c, err := tt.read([]byte(tt.request))
			if err != nil {
				t.Fatal(err)
			}
			check(t, c, tt.want)
			if c.Base != catalog.Name(c.Model) || c.Stream || !c.HasAnswer() {
				t.Errorf("the call is %+v", c)
			}
		})
	}
}

// TestRefuseMedia holds that each refusal names the caller's own member, whether this package or the directory refuses.
func TestRefuseMedia(t *testing.T) {
	image := `"images":[{"image_url":"https://a.example/a.png"}]`
	for _, tt := range []struct {
		read                    openai.Reader
		request, param, message string
	}{
		{openai.Images, `{}`, "prompt", "prompt is required"},
		{openai.Images, `{"prompt":"a","stream":true}`, "stream", "stream can't be honoured here; only false is taken"},
		{openai.Images, `{"prompt":"a","partial_images":2}`, "partial_images", "partial_images can't be honoured here; only 0 is taken"},
		{openai.Images, `{"prompt":"a","style":"vivid"}`, "style", "style can't be honoured here; write it into the prompt"},
		{openai.Images, `{"prompt":"a","n":10}`, "n", "n must be at most 4"},
		{openai.Images, `{"prompt":"a","quality":"hd"}`, "quality", "quality must be one of low, medium, high"},
		{openai.Images, `{"prompt":"a","output_format":"gif"}`, "output_format", "output_format must be one of png, jpeg, webp"},
		{openai.Images, `{"prompt":"a","response_format":"png"}`, "response_format", "response_format must be url or b64_json"},
		{openai.Images, `{"prompt":"a","seed":1}`, "seed", "seed is not known here"},
		{openai.Images, `{"model":5,"prompt":"a"}`, "model", "model must be a string"},
		{
			editForm, edit(), "authorization",
			`authorization is required: images may show a person; supply {"person":"none"} if no identifiable person is shown; ` +
				`or {"person":"authorized","statement":"…"} saying how each person shown agreed; "evidence" may hold media that prove it`,
		},
		{editForm, edit(part("authorization", "none")), "authorization", "authorization must be an object in JSON"},
		{editForm, edit(part("authorization", "{")), "authorization", "authorization must be an object in JSON"},
		{editForm, edit(part("authorization[person]", "some")), "authorization.person", "authorization.person must be one of none, authorized"},
		{editForm, edit(part("authorization[person]", "none"), part("authorization[person]", "none")), "authorization.person", "authorization.person is given more than once"},
		{editForm, edit(part("authorization[evidence][]", "a")), "authorization[evidence][]", "authorization[evidence][] is not known here"},
		{editForm, form(part("prompt", "a")), "image", "image is required"},
		{editForm, form(part("prompt", "a"), file("image", "text/plain", "hello")), "image[0]", "image[0] is of no known type"},
		{editForm, form(part("prompt", "a"), file("image", "image/png", "")), "image[0]", "image[0] must not be empty"},
		{editForm, form(part("prompt", "a"), file("image", "", "ID3\x04"), part("authorization[person]", "none")), "image[0]", "image[0] must be one of image/png, image/jpeg, image/webp"},
		{editForm, edit(part("prompt", "b")), "prompt", "prompt is given more than once"},
		{editForm, edit(part("prompts", "b")), "prompts", "prompts is not known here"},
		{editForm, edit(part("size[]", "b")), "size[]", "size[] is not known here"},
		{editForm, edit(file("size", "image/png", "b")), "size", "size must be a text, not a file"},
		{editForm, edit(part("size", "\xff")), "size", "size must be valid UTF-8"},
		{editForm, edit(part("n", "many"), part("authorization[person]", "none")), "n", "n must be an integer"},
		{editForm, edit(part("stream", "true")), "stream", "stream can't be honoured here; only false is taken"},
		{editForm, edit(part("moderation", "auto")), "moderation", "moderation is not known here"},
		{editForm, "", "", "body is no form: it doesn't begin with its boundary"},
		{openai.ImageEdits, `{"prompt":"a"}`, "images", "images is required"},
		{openai.ImageEdits, `{"prompt":"a","images":[{"file_id":"f"}]}`, "images[0].file_id", "images[0].file_id is not taken; send the image as image_url; images[0].image_url is required"},
		{openai.ImageEdits, `{"prompt":"a",` + strings.Replace(image, "https", "ftp", 1) + `,"authorization":{"person":"none"}}`, "images[0].image_url", "images[0].image_url must be an http or https address"},
		{openai.ImageEdits, `{"prompt":"a",` + image + `,"background":"opaque"}`, "background", `background can't be honoured here; only "auto" is taken`},
		{openai.Speech, `{"model":"audio.speech"}`, "input", "input is required"},
		{openai.Speech, `{"model":"audio.speech","input":"a","response_format":"pcm"}`, "response_format", "response_format can't be pcm here; wav has the same samples behind a header"},
		{openai.Speech, `{"model":"audio.speech","input":"a","response_format":"ogg"}`, "response_format", "response_format must be one of wav, mp3, opus, aac, flac"},
		{openai.Speech, `{"model":"audio.speech","input":"a","voice":{"id":"v"}}`, "voice", "voice must be a voice's name"},
		{openai.Speech, `{"model":"audio.speech","input":"a","stream_format":"sse"}`, "stream_format", `stream_format can't be honoured here; only "audio" is taken`},
		{openai.Speech, `{"input":"a"}`, "model", "model is required"},
		{transcription, form(part("model", "audio.transcribe")), "file", "file is required"},
		{transcription, form(part("model", "audio.transcribe"), file("file", "audio/wav", sound), file("file", "audio/wav", sound)), "file", "file is given more than once"},
		{transcription, form(part("model", "audio.transcribe"), file("file", "image/png", pixelBytes)), "file", "file must be an audio type, such as audio/wav or audio/mpeg"},
		{transcription, listen(part("stream", "true")), "stream", "stream can't be honoured here; only false is taken"},
		{transcription, listen(part("temperature", "0.5")), "temperature", "temperature can't be honoured here; only 0 is taken"},
		{transcription, listen(part("include[]", "logprobs")), "include", "include can't be honoured here; leave it out"},
		{transcription, listen(part("language", "Swedish language")), "language", "language must be a language tag, such as en or pt-BR"},
		{transcription, listen(part("response_format", "xml")), "response_format", "response_format must be json, text, srt, vtt, verbose_json or diarized_json"},
		{transcription, listen(part("timestamp_granularities[]", "word")), "timestamp_granularities", "timestamp_granularities is only taken with the response_format verbose_json"},
		{transcription, listen(part("response_format", "verbose_json"), part("timestamp_granularities[]", "phrase")), "timestamp_granularities", "timestamp_granularities must be of word and segment"},
		{transcription, listen(part("keywords[]", "a"), part("keywords[]", " ")), "keywords[1]", "keywords[1] must not be blank"},
		{transcription, listen(part("keywords[]", "a"), part("prompt", " ")), "prompt", "prompt must not be blank"},
		{translation, listen(part("response_format", "diarized_json")), "response_format", "response_format must be json, text, srt, vtt or verbose_json"},
		{translation, listen(part("language", "en")), "language", "language is not known here"},
		{openai.Moderations, `{}`, "input", "input is required"},
		{openai.Moderations, `{"input":[{"type":"text"}]}`, "input[0].text", "input[0].text is required"},
		{openai.Moderations, `{"input":[5]}`, "input", "input must be a text or a list of texts; tokens are not taken"},
		{openai.Moderations, `{"input":""}`, "input", "input must not be blank"},
		{openai.Moderations, `{"input":[{"type":"text","text":"a"},{"type":"text","text":"b"}]}`, "input", "input must be a text, a list of texts or one part of a text"},
		{
			openai.Moderations, `{"input":[{"type":"image_url","image_url":{"url":"https://a.example"}}]}`, "input[0].type",
			"input[0].type must be text; images are not taken",
		},
	} {
		c, err := tt.read([]byte(tt.request))
		if err == nil {
			r, refused := catalog.Decode(c.Body, catalog.Limits{})
			if refused == nil {
				refused = directory(t).Validate(r)
			}
			if entry, known := directory(t).Get(r.Capability); known && refused == nil {
				refused = entry.CheckAuthorization(r.Input)
			}
			if refused == nil {
				t.Errorf("%q is taken", tt.request)
				continue
			}
			err = c.Explain(refused)
		}
		got := openai.ErrorOf(fault.From(err), "req_1").Error
		param := ""
		if got.Param != nil {
			param = *got.Param
		}
		if diff := cmp.Diff([]string{tt.param, tt.message}, []string{param, got.Message}); diff != "" {
			t.Errorf("%q (-want +got):\n%s", tt.request, diff)
		}
	}
}

// resultFile is a file that a task made.
func resultFile(id, kind string, bytes int64) task.Artifact {
	return task.Artifact{ID: id, ContentType: kind, Bytes: bytes, ExpiresAt: time.Unix(1_900_000_000, 0)}
}

// answered returns an answer with NAME in place of a file's bytes, and its size.
func answered(t *testing.T, c *openai.Call, done *task.Task) (kind, text string, size int64) {
	t.Helper()
	a := fixture.Must(c.Answer(done, func(a task.Artifact) string { return "https://here.example/" + a.ID }))(t)
	for _, p := range a.Pieces {
		size += p.Size()
		switch {
		case p.File == nil:
			text += string(p.Text)
		case p.Base64:
			text += "base64 of " + p.File.ID
		default:
			text += p.File.ID
		}
	}
	return a.ContentType, text, size
}

// TestMediaAnswers compares answers, which are as OpenAI's document has them but for what the service doesn't know.
func TestMediaAnswers(t *testing.T) {
	images := withOutput(t, task.Parts{Images: []task.Artifact{resultFile("art_1", "image/png", 4), resultFile("art_2", "image/png", 9)}})
	images.Usage = &task.Usage{InputTokens: 9, OutputTokens: 5, ImageInputTokens: 4}
	uncounted := *images
	uncounted.Usage = &task.Usage{Images: 2}
	spoken := withOutput(t, task.Parts{Audio: new(resultFile("art_1", "audio/mpeg", 7))})
	heard := withOutput(t, task.Parts{
		Text: new("Mind the gap."), FinishReason: "stop", Segments: []task.Segment{{Start: 0, End: 1.5, Text: "Mind the gap.", Speaker: "A"}},
		Words: []task.Segment{{Start: 0, End: 0.5, Text: "Mind"}},
	})
	heard.Usage = &task.Usage{Milliseconds: 2500}
	const wordy = `"text":"Mind the gap.","duration":2.5,`
	const used = `"usage":{"type":"duration","seconds":2.5}`
	for _, tt := range []struct {
		name    string
		read    openai.Reader
		request string
		done    *task.Task
		kind    string
		want    string
		other   bool // than OpenAI's document has it
	}{
		{
			"images", openai.Images, `{"prompt":"a"}`, images, "json",
			`{"created":1800000000,"data":[{"b64_json":"base64 of art_1"},{"b64_json":"base64 of art_2"}],"output_format":"png",
				"usage":{"input_tokens":9,"output_tokens":5,"total_tokens":14,"input_tokens_details":{"image_tokens":4,"text_tokens":5}}}`, false,
		},
		{
			"addresses", openai.Images, `{"prompt":"a","response_format":"url"}`, &uncounted, "json",
			`{"created":1800000000,"data":[{"url":"https://here.example/art_1"},{"url":"https://here.example/art_2"}],"output_format":"png"}`, false,
		},
		{
			"an edit", editForm, edit(part("authorization[person]", "none")), &uncounted, "json",
			`{"created":1800000000,"data":[{"b64_json":"base64 of art_1"},{"b64_json":"base64 of art_2"}],"output_format":"png"}`, false,
		},
		{"speech", openai.Speech, `{"model":"audio.speech","input":"a"}`, spoken, "audio/mpeg", `art_1`, false},
		{"a transcript", transcription, listen(), heard, "json", `{"text":"Mind the gap.",` + used + `}`, false},
		{"a text", transcription, listen(part("response_format", "text")), heard, "text/plain; charset=utf-8", `Mind the gap.`, false},
		{"segments", transcription, listen(part("response_format", "verbose_json"), part("language", "EN")), heard, "json", `{` + wordy + `"language":"en",
			"segments":[{"id":0,"start":0,"end":1.5,"text":"Mind the gap."}],"words":[{"word":"Mind","start":0,"end":0.5}],` + used + `}`, true},
		{
			"words alone", transcription, listen(part("response_format", "verbose_json"), part("timestamp_granularities[]", "word"), part("language", "en")), heard, "json",
			`{` + wordy + `"language":"en","words":[{"word":"Mind the gap.","start":0,"end":1.5}],` + used + `}`, false,
		},
		{
			"speakers", transcription, listen(part("response_format", "diarized_json")), heard, "json",
			`{` + wordy + `"task":"transcribe","segments":[{"type":"transcript.text.segment","id":"seg_0","start":0,"end":1.5,"text":"Mind the gap.","speaker":"A"}],` + used + `}`, false,
		},
		{"a translation", translation, listen(part("response_format", "verbose_json")), heard, "json", `{` + wordy + `"language":"en",
			"segments":[{"id":0,"start":0,"end":1.5,"text":"Mind the gap."}],"words":[{"word":"Mind","start":0,"end":0.5}]}`, true},
	} {
		c := fixture.Must(tt.read([]byte(tt.request)))(t)
		kind, got, size := answered(t, &c, tt.done)
		if tt.kind != "json" {
			if kind != tt.kind || got != tt.want {
				t.Errorf("%s: %s, %q", tt.name, kind, got)
			}
			continue
		}
		if diff := cmp.Diff(fromJSON(t, []byte(tt.want)), fromJSON(t, []byte(got))); diff != "" || kind != "application/json; charset=utf-8" {
			t.Errorf("%s: %s (-want +got):\n%s", tt.name, kind, diff)
		}
		if want := int64(len(got) + strings.Count(got, "base64 of art_1")*(8-15) + strings.Count(got, "base64 of art_2")*(12-15)); size != want {
			t.Errorf("%s: %d bytes, want %d", tt.name, size, want)
		}
		operation := map[catalog.Name]string{"image.generate": "/images/generations", "image.edit": "/images/edits", "audio.transcribe": "/audio/transcriptions"}[c.Base]
		if err := document(t).Answer("POST "+operation, 200, "application/json", []byte(got)); (err != nil) != tt.other {
			t.Errorf("%s: %v", tt.name, err)
		}
	}
	for _, read := range []openai.Call{
		fixture.Must(openai.Images([]byte(`{"prompt":"a"}`)))(t), fixture.Must(openai.Speech([]byte(`{"model":"a","input":"a"}`)))(t),
		fixture.Must(transcription([]byte(listen())))(t), fixture.Must(openai.Moderations([]byte(`{"input":"a"}`)))(t),
	} {
		for _, output := range []string{`{}`, `[]`} {
			if _, err := read.Answer(&task.Task{Output: &task.Output{JSON: []byte(output)}}, nil); fault.CodeOf(err) != fault.Internal {
				t.Errorf("%s with an output of another form: %v", read.Base, err)
			}
		}
	}
}

// TestModerationAnswers: what the service doesn't tell apart is null, and its own categories are beside OpenAI's.
func TestModerationAnswers(t *testing.T) {
	c := fixture.Must(openai.Moderations([]byte(`{"input":"a"}`)))(t)
	_, got, _ := answered(t, &c, &task.Task{ID: "task_1", Output: &task.Output{
		JSON: []byte(`{"results":[{"flagged":true,"categories":["self_harm","personal_data"],"scores":{"self_harm":0.9,"hate":0.01}}]}`),
	}})
	var a struct {
		ID, Model string
		Results   []struct {
			Flagged    bool
			Categories map[string]*bool
			Scores     map[string]*float64 `json:"category_scores"`
			Types      map[string][]string `json:"category_applied_input_types"`
		}
	}
	if err := json.Unmarshal([]byte(got), &a); err != nil || len(a.Results) != 1 {
		t.Fatalf("%v: %s", err, got)
	}
	r := a.Results[0]
	if a.ID != "task_1" || a.Model != "text.moderate" || !r.Flagged || len(r.Categories) != 15 || len(r.Scores) != 15 || len(r.Types) != 15 {
		t.Errorf("the answer is %s", got)
	}
	want := map[string]*bool{"self-harm": new(true), "self-harm/intent": nil, "hate": new(false), "hate/threatening": nil, "personal_data": new(true), "other": new(false)}
	for name, flag := range want {
		if diff := cmp.Diff(flag, r.Categories[name]); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
	if *r.Scores["self-harm"] != 0.9 || r.Scores["violence"] != nil || len(r.Types["hate"]) != 1 || len(r.Types["hate/threatening"]) != 0 {
		t.Errorf("the answer is %s", got)
	}
	published := document(t).Raw()["components"].(map[string]any)["schemas"].(map[string]any)["CreateModerationResponse"].(map[string]any)
	for _, name := range []string{"categories", "category_scores", "category_applied_input_types"} {
		of := published["properties"].(map[string]any)["results"].(map[string]any)["items"].(map[string]any)["properties"].(map[string]any)[name].(map[string]any)
		for _, category := range of["required"].([]any) {
			if _, ok := r.Categories[category.(string)]; !ok {
				t.Errorf("%s lacks %s", name, category)
			}
		}
	}
}
