package modelmap_test

import (
	"encoding/json"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"unitask/internal/catalog"
	"unitask/internal/supplier"
	"unitask/internal/supplier/modelmap"
)

const maps = `
refusals: ['(?i)nsfw']
models:
  - model: painter
    name: owner/painter-2
    capability: image.edit
    input:
      /input/prompt: /prompt
      /input/images: {to: /images, as: album, most: 2}
      /input/mask: {to: /mask, as: media}
      /parameters/n: {to: /count, least: 1, most: 2}
      /parameters/size: [{to: /w, as: width, least: 64, most: 512, step: 16}, {to: /h, as: height}]
      /parameters/aspect_ratio: {to: /shape, values: {'1:1': {w: 8, h: 8}, '3:2': wide}}
      /parameters/format: {only: [png]}
      /parameters/quality: {to: /detail/level, values: {low: 1, high: 9}}
      /parameters/seed: {to: /seed, most: 99}
    fixed: {/detail/safe: true, /mode: {fast: false}}
    output: {files: /images, flagged: /nsfw}
  - model: single
    capability: image.edit
    input: {/input/prompt: /prompt, /input/images: {to: /image, as: media}}
    output: {files: ''}
  - model: sizer
    capability: image.generate
    input: {/input/prompt: /prompt, /parameters/size: {to: /image_size, as: size, area: 20000}}
    output: {files: /data/0/pictures}
  - model: talker
    capability: text.chat
    input:
      /input/prompt: /prompt
      /input/messages: {to: /prompt, as: turn}
      /parameters/stop: {to: /stop, as: joined, separator: ','}
      /parameters/temperature: {to: /temperature, least: 0.5}
    output: {text: '', flagged: /flagged}
  - model: hearer
    capability: audio.transcribe
    input:
      /input/audio: {to: /audio_url, as: media}
      /input/hints: {to: /prompt, as: listed}
      /parameters/language: {to: /language, as: language, only: [de, en]}
      /parameters/translate_to: {to: /task, as: language, values: {en: translate}}
      /parameters/speakers: /diarize
      /parameters/timestamps: {to: /level, values: {none: segment, segment: segment}}
    output:
      text: /text
      segments: {at: /chunks, start: /times/0, end: /times/1}
      words: /words
      seconds: /inference/duration
`

func load(t testing.TB) *modelmap.Maps {
	t.Helper()
	m, err := modelmap.Load([]byte(maps))
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func request(capability, model, input, parameters string) supplier.Request {
	media := func(s string) supplier.Media {
		return supplier.Media{ContentType: "image/png", Open: func() (io.ReadCloser, error) { return io.NopCloser(strings.NewReader(s)), nil }}
	}
	return supplier.Request{
		Capability: capability, Model: model, Input: json.RawMessage(input), Parameters: json.RawMessage(parameters),
		Media: map[string]supplier.Media{"/images/0": media("one"), "/images/1": media("two"), "/mask": media("mask"), "/audio": media("sound")},
	}
}

func TestInput(t *testing.T) {
	m := load(t)
	tests := []struct {
		name    string
		request supplier.Request
		model   string // at the supplier
		want    string // "": refused, for the reason
		reason  string
	}{
		{
			name: "everything", model: "owner/painter-2",
			request: request("image.edit", "painter", `{"prompt":"Blue","images":[{},{}],"mask":{},"authorization":{"person":"none"}}`,
				`{"n":2,"size":"64x128","format":"png","quality":"high","seed":7}`),
			want: `{"prompt":"Blue","images":["data:image/png;base64,b25l","data:image/png;base64,dHdv"],"mask":"data:image/png;base64,bWFzaw==",
				"count":2,"w":64,"h":128,"detail":{"level":9,"safe":true},"mode":{"fast":false},"seed":7}`,
		},
		{
			name: "an object for a value", model: "owner/painter-2", request: request("image.edit", "painter", `{"prompt":"Blue"}`, `{"aspect_ratio":"1:1"}`),
			want: `{"prompt":"Blue","shape":{"w":8,"h":8},"detail":{"safe":true},"mode":{"fast":false}}`,
		},
		{
			name: "a seed that the model can't take has no effect", model: "owner/painter-2", request: request("image.edit", "painter", `{"prompt":"Blue"}`, `{"seed":100}`),
			want: `{"prompt":"Blue","detail":{"safe":true},"mode":{"fast":false}}`,
		},
		{
			name: "a seed without a rule has no effect", model: "sizer", request: request("image.generate", "sizer", `{"prompt":"A"}`, `{"seed":1}`),
			want: `{"prompt":"A"}`,
		},
		{
			name: "a size", model: "sizer", request: request("image.generate", "sizer", `{"prompt":"A"}`, `{"size":"100x200"}`),
			want: `{"prompt":"A","image_size":{"width":100,"height":200}}`,
		},
		{name: "one image", model: "single", request: request("image.edit", "single", `{"prompt":"A","images":[{}]}`, `{}`), want: `{"prompt":"A","image":"data:image/png;base64,b25l"}`},
		{name: "one turn", model: "talker", request: request("text.chat", "talker", `{"messages":[{"role":"user","content":"Hi"}]}`, `{"stop":["a","b"]}`), want: `{"prompt":"Hi","stop":"a,b"}`},
		{name: "a recording", model: "hearer", request: request("audio.transcribe", "hearer", `{"audio":{}}`, `{}`), want: `{"audio_url":"data:image/png;base64,c291bmQ="}`},

		{
			name: "what is asked of a recording", model: "hearer", want: `{"audio_url":"data:image/png;base64,c291bmQ=","prompt":"Gap, Mr. Ox",
				"language":"en","task":"translate","diarize":true,"level":"segment"}`,
			request: request("audio.transcribe", "hearer", `{"audio":{},"hints":["Gap","Mr. Ox"]}`,
				`{"language":"EN-gb","translate_to":"en-US","speakers":true,"timestamps":"none"}`),
		},
		{name: "another language", request: request("audio.transcribe", "hearer", `{"audio":{}}`, `{"language":"fr"}`), reason: "parameters.language has a value that the model doesn't know"},
		{name: "another translation", request: request("audio.transcribe", "hearer", `{"audio":{}}`, `{"translate_to":"de"}`), reason: "parameters.translate_to has a value that the model doesn't know"},
		{name: "other times", request: request("audio.transcribe", "hearer", `{"audio":{}}`, `{"timestamps":"both"}`), reason: "parameters.timestamps has a value that the model doesn't know"},
		{name: "no map", request: request("image.generate", "painter", `{"prompt":"A"}`, `{}`), reason: "the model has no map for the capability"},
		{name: "no rule", request: request("image.generate", "sizer", `{"prompt":"A"}`, `{"quality":"low"}`), reason: "parameters.quality has no counterpart in the model's map"},
		{name: "no rule of the input", request: request("image.generate", "sizer", `{"prompt":"A","negative_prompt":"B"}`, `{}`), reason: "input.negative_prompt has no counterpart in the model's map"},
		{name: "another value", request: request("image.edit", "painter", `{"prompt":"A"}`, `{"quality":"medium"}`), reason: "parameters.quality has a value that the model doesn't know"},
		{name: "a value that isn't the one", request: request("image.edit", "painter", `{"prompt":"A"}`, `{"format":"webp"}`), reason: "parameters.format has a value that the model doesn't know"},
		{name: "too many", request: request("image.edit", "painter", `{"prompt":"A"}`, `{"n":3}`), reason: "parameters.n is out of the model's range"},
		{name: "too little", request: request("text.chat", "talker", `{"prompt":"A"}`, `{"temperature":0.4}`), reason: "parameters.temperature is out of the model's range"},
		{name: "a side too long", request: request("image.edit", "painter", `{"prompt":"A"}`, `{"size":"64x1024"}`), reason: "parameters.size is out of the model's range"},
		{name: "a side of odd pixels", request: request("image.edit", "painter", `{"prompt":"A"}`, `{"size":"64x100"}`), reason: "parameters.size is out of the model's range"},
		{name: "too many pixels", request: request("image.generate", "sizer", `{"prompt":"A"}`, `{"size":"100x201"}`), reason: "parameters.size is out of the model's range"},
		{name: "too many images", request: request("image.edit", "painter", `{"prompt":"A","images":[{},{},{}]}`, `{}`), reason: "input.images is out of the model's range"},
		{name: "a second image", request: request("image.edit", "single", `{"prompt":"A","images":[{},{}]}`, `{}`), reason: "input.images is out of the model's range"},
		{name: "a stop with the separator", request: request("text.chat", "talker", `{"prompt":"A"}`, `{"stop":["a,b"]}`), reason: "parameters.stop has a value that the model doesn't know"},
		{name: "a conversation", request: request("text.chat", "talker", `{"messages":[{"role":"user","content":"Hi"},{"role":"assistant","content":"Ho"}]}`, `{}`), reason: "input.messages is more than one turn of the user"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := m.Refuses(tt.request); got != tt.reason {
				t.Errorf("refuses: got %q, want %q", got, tt.reason)
			}
			name, input, err := m.Input(tt.request)
			if tt.want == "" {
				if err == nil || err.Error() != tt.reason {
					t.Errorf("input: got %v, want %q", err, tt.reason)
				}
				return
			}
			if err != nil || name != tt.model {
				t.Fatalf("got model %q, %v, want %q", name, err, tt.model)
			}
			if diff := cmp.Diff(decoded(t, tt.want), decoded(t, string(input))); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func decoded(t *testing.T, s string) (v any) {
	t.Helper()
	if err := json.Unmarshal([]byte(s), &v); err != nil {
		t.Fatal(err)
	}
	return v
}

// TestUnreadableMedia shows that a medium that can't be read fails the input, not the choice of a route.
func TestUnreadableMedia(t *testing.T) {
	m := load(t)
	r := request("audio.transcribe", "hearer", `{"audio":{}}`, `{}`)
	r.Media["/audio"] = supplier.Media{Open: func() (io.ReadCloser, error) { return nil, errors.New("gone") }}
	if why := m.Refuses(r); why != "" {
		t.Errorf("refuses: %q", why)
	}
	if _, _, err := m.Input(r); err == nil || err.Error() != "input.audio can't be read" {
		t.Errorf("input: %v", err)
	}
}

func TestResult(t *testing.T) {
	m := load(t)
	text := func(s string, millis int64) *supplier.Result {
		return &supplier.Result{Text: &s, FinishReason: "stop", Usage: supplier.Usage{Milliseconds: millis}}
	}
	const wrong = "the output isn't where the model's map says"
	tests := []struct {
		name, capability, model, output string
		want                            *supplier.Result
		err                             string
	}{
		{
			"objects", "image.edit", "painter", `{"images":[{"url":"https://a.example/1","content_type":"image/png","width":64,"height":32},{"url":"data:image/webp;base64,b25l"}],"nsfw":[false,false]}`,
			&supplier.Result{Usage: supplier.Usage{Images: 2}, Files: []supplier.File{
				{URL: "https://a.example/1", ContentType: "image/png", Width: 64, Height: 32}, {ContentType: "image/webp", Data: []byte("one")},
			}}, "",
		},
		{"the whole output", "image.edit", "single", `"https://a.example/1"`, &supplier.Result{Usage: supplier.Usage{Images: 1}, Files: []supplier.File{{URL: "https://a.example/1"}}}, ""},
		{"a list as the whole output", "image.edit", "single", `["https://a.example/1"]`, &supplier.Result{Usage: supplier.Usage{Images: 1}, Files: []supplier.File{{URL: "https://a.example/1"}}}, ""},
		{
			"deep", "image.generate", "sizer", `{"data":[{"pictures":{"url":"http://a.example/1","duration":2.5,"width":-1}}]}`,
			&supplier.Result{Usage: supplier.Usage{Images: 1}, Files: []supplier.File{{URL: "http://a.example/1", Duration: 2.5}}}, "",
		},
		{"pieces of text", "text.chat", "talker", `["Hel","lo"]`, text("Hello", 0), ""},
		{"a text", "text.chat", "talker", `"Hello"`, text("Hello", 0), ""},
		{"a transcript", "audio.transcribe", "hearer", `{"text":"Hi","inference":{"duration":1.5}}`, text("Hi", 1500), ""},
		{
			"pieces", "audio.transcribe", "hearer", `{"text":"Hi you","chunks":[{"times":[0,0.5],"text":" Hi","speaker":"S1"},{"times":[0.5,1],"text":"you","speaker":null}],
				"words":[{"start":0,"end":0.5,"text":"Hi","score":1}]}`,
			&supplier.Result{
				Text: new("Hi you"), FinishReason: "stop",
				Segments: []supplier.Segment{{End: 0.5, Text: "Hi", Speaker: "S1"}, {Start: 0.5, End: 1, Text: "you"}},
				Words:    []supplier.Segment{{End: 0.5, Text: "Hi"}},
			}, "",
		},
		{"a piece without an end", "audio.transcribe", "hearer", `{"text":"Hi","chunks":[{"times":[0,null],"text":"Hi"}],"words":7}`, text("Hi", 0), ""},
		{"blanked", "image.edit", "painter", `{"images":[{"url":"https://a.example/1"}],"nsfw":[true]}`, nil, modelmap.ErrFlagged.Error()},
		{"flagged", "text.chat", "talker", `{"flagged":true}`, nil, modelmap.ErrFlagged.Error()},
		{"no images", "image.edit", "painter", `{"images":[]}`, nil, wrong},
		{"elsewhere", "image.edit", "painter", `{"pictures":[{"url":"https://a.example/1"}]}`, nil, wrong},
		{"one address is none", "image.edit", "painter", `{"images":[{"url":"https://a.example/1"},{"url":"ftp://a.example/1"}]}`, nil, wrong},
		{"pieces that aren't text", "text.chat", "talker", `["a",1]`, nil, wrong},
		{"another model", "text.chat", "painter", `"Hello"`, nil, wrong},
		{"no JSON", "text.chat", "talker", `Hello`, nil, wrong},
		{"null", "text.chat", "talker", `null`, nil, wrong},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, err := m.Result(catalog.Name(tt.capability), tt.model, []byte(tt.output))
			if tt.want == nil {
				if err == nil || err.Error() != tt.err {
					t.Errorf("got %v, want %q", err, tt.err)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(*tt.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestReviewed(t *testing.T) {
	m := load(t)
	if !m.Reviewed("Detected NSFW content") || m.Reviewed("out of memory") {
		t.Error("the pattern isn't applied")
	}
}

// TestFiles shows that a file's maps add to the built-in ones and replace them.
func TestFiles(t *testing.T) {
	dir := t.TempDir()
	own := filepath.Join(dir, "own.yaml")
	if err := os.WriteFile(own, []byte(`
refusals: [forbidden]
models:
  - {model: sizer, name: sizer-2, capability: image.generate, input: {/input/prompt: /text}, output: {files: ''}}
  - {model: singer, capability: audio.speech, input: {/input/text: /text}, output: {files: /audio}}
`), 0o600); err != nil {
		t.Fatal(err)
	}
	m, err := modelmap.Load([]byte(maps), own)
	if err != nil {
		t.Fatal(err)
	}
	name, input, err := m.Input(request("image.generate", "sizer", `{"prompt":"A"}`, `{}`))
	if diff := cmp.Diff([]any{"sizer-2", `{"text":"A"}`, nil}, []any{name, string(input), err}); diff != "" {
		t.Errorf("replaced (-want +got):\n%s", diff)
	}
	if !m.Knows("audio.speech", "singer") || !m.Knows("text.chat", "talker") || m.Knows("text.chat", "singer") {
		t.Error("the maps aren't those of both")
	}
	if !m.Reviewed("forbidden") || !m.Reviewed("nsfw") {
		t.Error("the patterns aren't those of both")
	}
}

func TestLoadErrors(t *testing.T) {
	one := func(rest string) string { return "models: [{model: m, capability: image.generate, " + rest + "}]" }
	for _, tt := range []struct{ in, want string }{
		{"models: [", "is no YAML"},
		{"model: m", "is no list of maps: "},
		{"refusals: ['(']", "refusals: error parsing regexp"},
		{"models: [{capability: text.chat}]", " of text.chat: model and capability are required"},
		{one("output: {files: '', folder: x}"), "is no list of maps: "},
		{one("output: {text: ''}"), "m of image.generate: output must say where the files are"},
		{one("output: {files: images}"), "m of image.generate: output images: must be a pointer such as /name"},
		{"models: [{model: m, capability: text.chat, output: {files: ''}}]", "m of text.chat: output must say where the text is"},
		{one("input: {/prompt: /prompt}, output: {files: ''}"), "m of image.generate: input /prompt: must be /input/NAME or /parameters/NAME"},
		{one("input: {/input/prompt: prompt}, output: {files: ''}"), "m of image.generate: input /input/prompt: to must be a pointer such as /name"},
		{one("input: {/input/prompt: {as: size}}, output: {files: ''}"), "m of image.generate: input /input/prompt: needs to, or only"},
		{one("input: {/input/prompt: {to: /p, as: magic}}, output: {files: ''}"), "m of image.generate: input /input/prompt: as must be one of size, width, height, joined, listed, language, turn, media, album"},
		{one("input: {/input/prompt: {to: /p, as: joined}}, output: {files: ''}"), "m of image.generate: input /input/prompt: joined needs a separator"},
		{one("output: {files: '', segments: /chunks}"), "m of image.generate: output has segments or words, which only transcripts have"},
		{"models: [{model: m, capability: audio.transcribe, output: {text: '', words: {at: /words, end: to}}}]", "m of audio.transcribe: output to: must be a pointer such as /name"},
		{"models: [{model: m, capability: audio.transcribe, output: {text: '', words: {in: /words}}}]", "is no list of maps: "},
		{one("fixed: {safe: true}, output: {files: ''}"), "m of image.generate: fixed safe: must be a pointer such as /name"},
	} {
		_, err := modelmap.Load([]byte(tt.in))
		if err == nil || !strings.HasPrefix(err.Error(), tt.want) {
			t.Errorf("%s:\n got %v\nwant %s…", tt.in, err, tt.want)
		}
	}
	if _, err := modelmap.Load([]byte(maps), filepath.Join(t.TempDir(), "none.yaml")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("a file that isn't there: %v", err)
	}
}

// FuzzResult holds that an output gives files that have bytes or a web address, or a text, or an error.
func FuzzResult(f *testing.F) {
	for _, s := range []string{
		`{"images":[{"url":"https://a.example/1","width":1e300}],"nsfw":[true]}`, `["a","b"]`, `"data:;base64,AA=="`, `null`,
		`{"text":"a","inference":{"duration":-1}}`, `{"text":"a","chunks":[{"times":[1,0.5],"text":"a"}],"words":[{"start":0,"end":1e300,"text":""}]}`,
		`{"text":"a","chunks":[{"times":[0,0.5],"text":"a","speaker":"b"}],"words":[[]]}`, `{"data":[{"pictures":[[]]}]}`, `[[[[`, `{"images":{"url":"https://"}}`,
	} {
		f.Add(s)
	}
	m := load(f)
	f.Fuzz(func(t *testing.T, output string) {
		for _, name := range [][2]string{{"image.edit", "painter"}, {"image.edit", "single"}, {"image.generate", "sizer"}, {"text.chat", "talker"}, {"audio.transcribe", "hearer"}} {
			got, err := m.Result(catalog.Name(name[0]), name[1], []byte(output))
			if err != nil {
				continue
			}
			if (got.Text != nil) == (len(got.Files) > 0) || got.Usage.Milliseconds < 0 {
				t.Errorf("%s: %+v", name[1], got)
			}
			for _, piece := range slices.Concat(got.Segments, got.Words) {
				if piece.Start < 0 || piece.End < piece.Start || got.Text == nil {
					t.Errorf("%s: piece %+v", name[1], piece)
				}
			}
			for _, file := range got.Files {
				if (len(file.Data) == 0) == (file.URL == "") || file.Width < 0 || file.Height < 0 || file.Duration < 0 {
					t.Errorf("%s: file %+v", name[1], file)
				}
			}
		}
	})
}
