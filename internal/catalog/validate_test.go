package catalog_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"unitask/internal/catalog"
	"unitask/internal/fault"
)

const (
	imageURL = `{"url":"https://example.com/a.png"}`
	noPerson = `"authorization":{"person":"none"}`
)

func TestValidateAccepts(t *testing.T) {
	c := mustDefault(t)
	for _, tt := range []struct{ capability, input, parameters string }{
		{"text.chat", `{"prompt":"a"}`, `{}`},
		{"text.chat", `{"messages":[{"role":"user","content":"a"},{"role":"assistant","content":"b"}],"system":"c"}`, `{}`},
		{"text.chat", `{"prompt":"a"}`, `{"max_output_tokens":262144,"temperature":2,"top_p":1,"stop":["a","b","c","d"],"seed":2147483647}`},
		{"text.chat", `{"prompt":"a"}`, `{"max_output_tokens":1.0,"temperature":0,"top_p":0,"seed":0}`},
		{"text.embed", `{"texts":["a","b"]}`, `{"dimensions":1,"input_type":"document","encoding":"base64"}`},
		{"text.moderate", `{"texts":["a","b"]}`, `{}`},
		{"text.rerank", `{"query":"a","documents":["b","c"]}`, `{"top_n":1000}`},
		{"image.generate", `{"prompt":"a","negative_prompt":"b"}`, `{"n":4,"aspect_ratio":"21:9","format":"webp","quality":"low","seed":1}`},
		{"image.generate", `{"prompt":"a"}`, `{"size":"64x4096"}`},
		{"image.generate", `{"prompt":"a"}`, `{"size":"1920x1080"}`},
		{"image.edit", `{"prompt":"a","images":[` + imageURL + `,{"data":"AAAA","content_type":"image/webp"},{"artifact":"art_0123456789"}],"mask":` + imageURL + `,` + noPerson + `}`, `{}`},
		{"image.edit", `{"prompt":"a","images":[` + imageURL + `]}`, `{}`},
		{"image.upscale", `{"image":` + imageURL + `,` + noPerson + `}`, `{"factor":4,"format":"jpeg"}`},
		{"image.background_remove", `{"image":` + imageURL + `,` + noPerson + `}`, `{}`},
		{"video.extend", `{"video":{"data":"AAAA","content_type":"video/webm"},"prompt":"a",` + noPerson + `}`, `{"duration_seconds":30,"seed":1}`},
		{"video.generate", `{"image":` + imageURL + `,"last_image":` + imageURL + `,` + noPerson + `}`, `{"duration_seconds":60,"resolution":"4k","audio":false}`},
		{"video.generate", `{"prompt":"a","reference_images":[` + imageURL + `],"authorization":{"person":"authorized","statement":"s","evidence":[{"data":"AA==","content_type":"application/pdf"}]}}`, `{}`},
		{"audio.speech", `{"text":"a","instructions":"b"}`, `{"voice":"Alto 2","format":"flac","speed":0.25}`},
		{"audio.transcribe", `{"audio":{"data":"AAA=","content_type":"audio/x-m4a"}}`, `{"language":"zh-Hant-TW","timestamps":"word","format":"vtt"}`},
		{"audio.transcribe", `{"audio":{"data":"AAA=","content_type":"audio/wav"},"hints":["Anna","the Zürichsee"]}`, `{"speakers":true,"timestamps":"both","translate_to":"en"}`},
		{"audio.transcribe", `{"audio":{"data":"AAA=","content_type":"video/mp4"}}`, `{}`},
	} {
		r := mustDecode(t, fmt.Sprintf(`{"capability":%q,"input":%s,"parameters":%s}`, tt.capability, tt.input, tt.parameters))
		if f := c.Validate(r); f != nil {
			t.Errorf("%s %s %s: %v %v", tt.capability, tt.input, tt.parameters, f, f.Details)
		}
	}
}

func TestValidateRefuses(t *testing.T) {
	c := mustDefault(t)
	const size = "must be WIDTHxHEIGHT in pixels, each from 64 to 4096, such as 1024x1024"
	for _, tt := range []struct {
		capability, input, parameters string
		want                          string // "field problem" a line
	}{
		{"text.chat", `{}`, `{}`, "input.prompt is required, unless messages is given"},
		{"text.chat", `{"prompt":"a","messages":[{"role":"user","content":"a"}]}`, `{}`, "input.messages must not be given together with prompt"},
		{"text.chat", `{"prompt":""}`, `{}`, "input.prompt must not be blank"},
		{"text.chat", `{"prompt":" \t\r\n\u00a0\u3000\ufeff"}`, `{}`, "input.prompt must not be blank"},
		{"text.chat", `{"prompt":5}`, `{}`, "input.prompt must be a string"},
		{"text.chat", `{"prompt":null}`, `{}`, "input.prompt must be a string"},
		{"text.chat", `{"Prompt":"a"}`, `{}`, "input.Prompt is not a known member\ninput.prompt is required, unless messages is given"},
		{"text.chat", `{"prompt":"` + strings.Repeat("a", 4000001) + `"}`, `{}`, "input.prompt must have at most 4000000 characters"},
		{"text.chat", `{"messages":[]}`, `{}`, "input.messages must not be empty"},
		{"text.chat", `{"messages":{}}`, `{}`, "input.messages must be an array"},
		{
			"text.chat", `{"messages":[{"role":"developer","content":"a"},{"content":" "},{"role":"user","content":"a","name":"b"}]}`, `{}`,
			"input.messages.0.role must be one of user, assistant, system, tool; put what the model is to be into input.system\ninput.messages.1.role is required\ninput.messages.2.name is not a known member",
		},
		{"text.chat", `{"prompt":"a","system":""}`, `{}`, "input.system must not be blank"},
		{
			"text.chat", `{"prompt":"a"}`, `{"max_output_tokens":0,"temperature":-0.1,"top_p":1.01,"stop":[],"seed":1.5}`,
			"parameters.max_output_tokens must be at least 1\nparameters.seed must be an integer\nparameters.stop must not be empty\nparameters.temperature must be at least 0\nparameters.top_p must be at most 1",
		},
		{
			"text.chat", `{"prompt":"a"}`, `{"max_output_tokens":"many","temperature":2.1,"stop":["a","b","c","d",""],"seed":-1}`,
			"parameters.max_output_tokens must be an integer\nparameters.seed must be at least 0\nparameters.stop must have at most 4 items\nparameters.stop.4 must not be empty\nparameters.temperature must be at most 2",
		},
		{"text.chat", `{"prompt":"a"}`, `{"model":"m"}`, "parameters.model is not a known member; the service chooses the model by the capability"},
		{
			"text.chat", `{"prompt":"a","temperature":1,"max_tokens":5,"stream":true,"system_prompt":"b"}`, `{"max_tokens":5,"system":"b","stop_sequences":["a"],"unheard_of":1}`,
			"input.max_tokens is not a known member; use parameters.max_output_tokens\n" +
				"input.stream is not a known member; send the header Accept: text/event-stream instead\n" +
				"input.system_prompt is not a known member; use input.system\n" +
				"input.temperature is not a known member; use parameters.temperature\n" +
				"parameters.max_tokens is not a known member; use parameters.max_output_tokens\n" +
				"parameters.stop_sequences is not a known member; use parameters.stop\n" +
				"parameters.system is not a known member; use input.system\n" +
				"parameters.unheard_of is not a known member",
		},
		{"image.generate", `{"prompt":"a"}`, `{"num_images":2,"max_tokens":5}`, "parameters.max_tokens is not a known member\nparameters.num_images is not a known member; use parameters.n"},
		{"text.chat", `{"messages":[{"role":"robot","content":"a"}]}`, `{}`, "input.messages.0.role must be one of user, assistant, system, tool"},

		{"text.embed", `{}`, `{}`, "input.texts is required"},
		{"text.moderate", `{"texts":["a",""]}`, `{"seed":1}`, "input.texts.1 must not be blank\nparameters.seed is not a known member"},
		{"text.rerank", `{"query":" ","documents":[]}`, `{"top_n":0}`, "input.documents must not be empty\ninput.query must not be blank\nparameters.top_n must be at least 1"},
		{"text.embed", `{"texts":"a"}`, `{}`, "input.texts must be an array"},
		{"text.embed", `{"texts":["a"," "]}`, `{"dimensions":0}`, "input.texts.1 must not be blank\nparameters.dimensions must be at least 1"},

		{"image.generate", `{}`, `{}`, "input.prompt is required"},
		{"image.generate", `{"prompt":"a"}`, `{"n":5}`, "parameters.n must be at most 4"},
		{"image.generate", `{"prompt":"a"}`, `{"n":0}`, "parameters.n must be at least 1"},
		{"image.generate", `{"prompt":"a"}`, `{"size":"63x64"}`, "parameters.size " + size},
		{"image.generate", `{"prompt":"a"}`, `{"size":"64x4097"}`, "parameters.size " + size},
		{"image.generate", `{"prompt":"a"}`, `{"size":"0512x512"}`, "parameters.size " + size},
		{"image.generate", `{"prompt":"a"}`, `{"size":"512x512","aspect_ratio":"1:1"}`, "parameters.size must not be given together with aspect_ratio"},
		{"image.generate", `{"prompt":"a"}`, `{"format":"gif","quality":"best"}`, "parameters.format must be one of png, jpeg, webp\nparameters.quality must be one of low, medium, high"},

		{"image.edit", `{"prompt":"a"}`, `{}`, "input.images is required"},
		{"image.edit", `{"prompt":"a","images":[]}`, `{}`, "input.images must not be empty"},
		{"image.edit", `{"prompt":"a","images":[{}]}`, `{}`, "input.images.0.url is required, unless data or artifact is given"},
		{"image.edit", `{"prompt":"a","images":["https://example.com"]}`, `{}`, "input.images.0 must be an object"},
		{"image.edit", `{"prompt":"a","images":[{"url":"https://example.com","artifact":"art_0123456789"}]}`, `{}`, "input.images.0.artifact must not be given together with url"},
		{"image.edit", `{"prompt":"a","images":[{"data":"AAAA"}]}`, `{}`, "input.images.0.content_type is required with data"},
		{"image.edit", `{"prompt":"a","images":[{"data":"AAA","content_type":"image/gif"}]}`, `{}`, "input.images.0.content_type must be one of image/png, image/jpeg, image/webp\ninput.images.0.data must be base64 data"},
		{"image.edit", `{"prompt":"a","images":[{"data":"","content_type":"image/png"}]}`, `{}`, "input.images.0.data must not be empty"},
		{
			"image.edit", `{"prompt":"a","images":[{"data":"A===","content_type":"image/png"},{"data":"AA\nA","content_type":"image/png"},{"data":"AA_-","content_type":"image/png"}]}`, `{}`,
			"input.images.0.data must be base64 data\ninput.images.1.data must be base64 data\ninput.images.2.data must be base64 data",
		},
		{
			"image.edit", `{"prompt":"a","images":[{"url":"file:///etc/passwd"},{"url":"https://"},{"artifact":"../x"}]}`, `{}`,
			"input.images.0.url must be an http or https address\ninput.images.1.url must be an http or https address\ninput.images.2.artifact must be an artifact's id, such as that of an image in an earlier task's output or of an upload",
		},
		{"image.edit", `{"prompt":"a","images":[{"url":"https://exa mple.com/"}]}`, `{}`, "input.images.0.url must be an http or https address"},
		{"image.edit", `{"prompt":"a","images":[` + imageURL + `],"authorization":{}}`, `{}`, "input.authorization.person is required"},
		{"image.edit", `{"prompt":"a","images":[` + imageURL + `],"authorization":true}`, `{}`, "input.authorization must be an object"},
		{"image.edit", `{"prompt":"a","images":[` + imageURL + `],"authorization":{"person":"me"}}`, `{}`, "input.authorization.person must be one of none, authorized"},
		{"image.edit", `{"prompt":"a","images":[` + imageURL + `],"authorization":{"person":"authorized"}}`, `{}`, "input.authorization.statement is required"},
		{"image.edit", `{"prompt":"a","images":[` + imageURL + `],"authorization":{"person":"none","statement":"s"}}`, `{}`, "input.authorization.statement is not allowed here"},
		{
			"image.edit", `{"prompt":"a","images":[` + imageURL + `],"authorization":{"person":"authorized","statement":" ","evidence":[{}]}}`, `{}`,
			"input.authorization.evidence.0.url is required, unless data or artifact is given\ninput.authorization.statement must not be blank",
		},

		{"video.generate", `{}`, `{}`, "input.prompt is required, unless image is given"},
		{"video.generate", `{"prompt":"a","last_image":` + imageURL + `}`, `{}`, "input.image is required with last_image"},
		{"video.generate", `{"prompt":"a","image":{"url":1}}`, `{}`, "input.image.url must be a string"},
		{
			"video.generate", `{"prompt":"a"}`, `{"duration_seconds":61,"resolution":"480p","audio":"yes","aspect_ratio":"2:1"}`,
			"parameters.aspect_ratio must be one of 16:9, 9:16, 1:1, 4:3, 3:4, 21:9\nparameters.audio must be true or false\nparameters.duration_seconds must be at most 60\nparameters.resolution must be one of 720p, 1080p, 4k",
		},

		{"video.extend", `{"video":{"data":"AAAA","content_type":"image/png"}}`, `{"duration_seconds":31}`, "input.prompt is required\ninput.video.content_type must be one of video/mp4, video/webm\nparameters.duration_seconds must be at most 30"},
		{"image.upscale", `{}`, `{"factor":3}`, "input.image is required\nparameters.factor must be one of 2, 4"},
		{"audio.speech", `{"text":"\n"}`, `{}`, "input.text must not be blank"},
		{
			"audio.speech", `{"text":"a"}`, `{"speed":0.24,"format":"ogg","voice":"a/b"}`,
			"parameters.format must be one of wav, mp3, opus, aac, flac\nparameters.speed must be at least 0.25\nparameters.voice must be a voice's name of at most 64 letters, digits, spaces, dots, underscores and hyphens",
		},

		{"audio.transcribe", `{}`, `{}`, "input.audio is required"},
		{
			"audio.transcribe", `{"audio":{"data":"AAAA","content_type":"image/png"}}`, `{"language":"english","timestamps":true}`,
			"input.audio.content_type must be an audio type, such as audio/wav or audio/mpeg\nparameters.language must be a language tag, such as en or pt-BR\nparameters.timestamps must be a string",
		},

		{"text.draw", `{}`, `{}`, "capability is not a known capability"},
		{"", `{}`, `{}`, "capability is not a known capability"},
	} {
		r := mustDecode(t, fmt.Sprintf(`{"capability":%q,"input":%s,"parameters":%s}`, tt.capability, tt.input, tt.parameters))
		f := c.Validate(r)
		if f == nil {
			t.Errorf("%s %.200s %s: accepted", tt.capability, tt.input, tt.parameters)
			continue
		}
		var rows []string
		for _, d := range f.Details {
			rows = append(rows, d.Field+" "+d.Message)
		}
		if diff := cmp.Diff(tt.want, strings.Join(rows, "\n")); diff != "" {
			t.Errorf("%s %.200s %s (-want +got):\n%s", tt.capability, tt.input, tt.parameters, diff)
		}
		if f.Code != fault.InvalidRequest || f.Message != rows[0] {
			t.Errorf("%s %.200s: code %s, message %q, want INVALID_REQUEST and %q", tt.capability, tt.input, f.Code, f.Message, rows[0])
		}
	}
}

// TestValidateAgain validates equal and different parameters in turn: no verdict is remembered for others.
func TestValidateAgain(t *testing.T) {
	c := mustDefault(t)
	for i, tt := range []struct {
		parameters string
		ok         bool
	}{
		{`{"seed":-1}`, false},
		{`{"seed":-1}`, false},
		{`{"seed":1}`, true},
		{`{"seed":1}`, true},
		{`{"seed":-1}`, false},
		{`{"seed":1}`, true},
		{`{}`, true},
	} {
		r := catalog.Request{Capability: "text.chat", Input: json.RawMessage(`{"prompt":"a"}`), Parameters: json.RawMessage(tt.parameters)}
		if f := c.Validate(r); (f == nil) != tt.ok {
			t.Errorf("%d: %s: got %v, want accepted %v", i, tt.parameters, f, tt.ok)
		}
		r.Input = json.RawMessage(`{"prompt":1}`)
		if c.Validate(r) == nil {
			t.Errorf("%d: %s: a bad input is accepted beside it", i, tt.parameters)
		}
	}
}

// TestValidateBoundsRows has indexes beyond 9, which must not sort as text, and more rows than fit.
func TestValidateBoundsRows(t *testing.T) {
	r := mustDecode(t, `{"capability":"text.embed","input":{"texts":["a"`+strings.Repeat(",1", 30)+`]}}`)
	var want []fault.Detail
	for i := range 20 {
		want = append(want, fault.Detail{Field: fmt.Sprintf("input.texts.%d", i+1), Message: "must be a string"})
	}
	if diff := cmp.Diff(want, details(mustDefault(t).Validate(r))); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// TestValidateBoundsRowsOfBothGroups has few enough rows in each group, but too many in both.
func TestValidateBoundsRowsOfBothGroups(t *testing.T) {
	var unknown []string
	for i := range 15 {
		unknown = append(unknown, fmt.Sprintf(`"x%d":0`, i))
	}
	members := strings.Join(unknown, ",")
	r := mustDecode(t, `{"capability":"audio.speech","input":{"text":"a",`+members+`},"parameters":{`+members+`}}`)
	if got, want := len(details(mustDefault(t).Validate(r))), 20; got != want {
		t.Errorf("%d rows, want %d", got, want)
	}
}

func TestValidateOutput(t *testing.T) {
	const artifact = `{"id":"art_0123456789","url":"https://example.com/a","content_type":"image/png","bytes":1,"sha256":"` +
		`e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855","expires_at":"2026-11-28T09:00:00.000Z"`
	c := mustDefault(t)
	for _, tt := range []struct {
		capability catalog.Name
		output     string
		want       string
	}{
		{"text.chat", `{"text":"","finish_reason":"stop"}`, ""},
		{"text.chat", `{"text":"a"}`, "INVALID_REQUEST: output.finish_reason is required"},
		{"text.embed", `{"embeddings":[[0.5,-1e-9]]}`, ""},
		{"text.embed", `{"embeddings":["AACAPw=="]}`, ""},
		{"text.embed", `{"embeddings":[""]}`, "INVALID_REQUEST: output.embeddings.0 must not be empty"},
		{"text.embed", `{"embeddings":[[]]}`, "INVALID_REQUEST: output.embeddings.0 must not be empty"},
		{"text.rerank", `{"results":[{"index":1,"score":0.5},{"index":0,"score":-3}]}`, ""},
		{"text.moderate", `{"results":[{"flagged":true,"categories":["hate"],"scores":{"hate":1}}]}`, ""},
		{"text.moderate", `{"results":[{"flagged":true,"categories":["spam"],"scores":{}}]}`, "INVALID_REQUEST: output.results.0.categories.0 must be one of harassment, hate, illicit, other, personal_data, self_harm, sexual, sexual_minors, violence"},
		{"text.moderate", `{"results":[{"flagged":true,"categories":[],"scores":{"hate":1.5,"spam":0}}]}`, "INVALID_REQUEST: output.results.0.scores.hate must be at most 1"},
		{"text.rerank", `{"results":[{"index":-1,"score":0.5}]}`, "INVALID_REQUEST: output.results.0.index must be at least 0"},
		{"image.generate", `{"images":[` + artifact + `,"width":1,"height":1}]}`, ""},
		{"image.edit", `{"images":[]}`, "INVALID_REQUEST: output.images must not be empty"},
		{"video.generate", `{"videos":[` + artifact + `,"duration_seconds":4.5}]}`, ""},
		{"video.generate", `{"videos":[` + artifact + `,"provider":"p"}]}`, "INVALID_REQUEST: output.videos.0.provider is not a known member"},
		{"audio.speech", `{"audio":` + artifact + `}}`, ""},
		{"audio.transcribe", `{"text":"a","segments":[{"start":0,"end":1.5,"text":"a"}]}`, ""},
		{"audio.transcribe", `{"text":"a","segments":[{"start":0,"end":1.5,"text":"a","speaker":"A"}],"words":[{"start":0,"end":1.5,"text":"a"}]}`, ""},
		{"audio.transcribe", `{"text":"a","segments":[{"start":-1,"end":1.5,"text":"a"}]}`, "INVALID_REQUEST: output.segments.0.start must be at least 0"},
		{"audio.transcribe", `{"text":`, "output: not decoded JSON"},
		{"text.draw", `{}`, "INVALID_REQUEST: capability is not a known capability"},
	} {
		got := ""
		if err := c.ValidateOutput(tt.capability, json.RawMessage(tt.output)); err != nil {
			got = err.Error()
		}
		if got != tt.want {
			t.Errorf("%s %s: got %q, want %q", tt.capability, tt.output, got, tt.want)
		}
	}
}

func BenchmarkSmallChat(b *testing.B) {
	benchmarkChat(b, `{"capability":"text.chat","input":{"prompt":"Say hello in three languages."},"parameters":{"max_output_tokens":200}}`)
}

// BenchmarkLongChat decodes an indented conversation of some 12 KB, with line feeds, quotes and letters beyond ASCII.
func BenchmarkLongChat(b *testing.B) {
	said := `{ "role" : "user" , "content" : "` + strings.Repeat(`Sie sagte: \"Übung macht den Meister\", und alle stimmten ihr zu.\n`, 9) + `" }`
	benchmarkChat(b, `{"capability":"text.chat","input":{"messages":[`+strings.Repeat(said+",\n", 17)+said+`]},"parameters":{"temperature":0.25}}`)
}

func benchmarkChat(b *testing.B, text string) {
	c, body := mustDefault(b), []byte(text)
	b.ReportAllocs()
	for b.Loop() {
		r, f := catalog.Decode(body, catalog.Limits{Depth: 64})
		if f != nil {
			b.Fatal(f)
		}
		if f := c.Validate(r); f != nil {
			b.Fatal(f)
		}
		r.Fingerprint()
	}
}

// BenchmarkHostile validates the most expensive body of 16 MiB: as many wrong items as Decode takes.
func BenchmarkHostile(b *testing.B) {
	c := mustDefault(b)
	body := []byte(`{"capability":"text.embed","input":{"texts":[1` + strings.Repeat(",1", 1<<15-20) + `]}}`)
	b.ReportAllocs()
	for b.Loop() {
		r, f := catalog.Decode(body, catalog.Limits{Depth: 64})
		if f != nil {
			b.Fatal(f)
		}
		if f := c.Validate(r); f == nil {
			b.Fatal("accepted")
		}
	}
}
