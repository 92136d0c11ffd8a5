package openai_test

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"strings"
	"testing"

	jsonv2 "github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"unitask/internal/catalog"
	"unitask/internal/supplier"
	"unitask/internal/supplier/openai"
	"unitask/internal/supplier/suppliertest"
	"unitask/internal/supplier/upstream"
)

type chatMessage struct {
	Role    string `json:"role"`
	Content any    `json:"content"`
}

// neutralPart is a part of a message as the catalog passes it on.
type neutralPart struct {
	Type  string          `json:"type"`
	Text  string          `json:"text"`
	Image json.RawMessage `json:"image"`
	Audio json.RawMessage `json:"audio"`
	File  json.RawMessage `json:"document"`
}

// encodedContent is what a message says as an encoder writes it, and how much text that is.
func encodedContent(content json.RawMessage) (any, int, error) {
	var text string
	if err := jsonv2.Unmarshal(content, &text); err == nil {
		return text, len(text), nil
	}
	var parts []neutralPart
	if err := jsonv2.Unmarshal(content, &parts, jsonv2.RejectUnknownMembers(true)); err != nil {
		return nil, 0, err
	}
	said := 0
	all := []any{}
	for _, p := range parts {
		said += len(p.Text)
		all = append(all, encodedPart(p))
	}
	return all, said, nil
}

func encodedPart(p neutralPart) any {
	type url struct {
		URL string `json:"url"`
	}
	type sound struct {
		Data   []byte `json:"data"`
		Format string `json:"format"`
	}
	type file struct {
		Name string `json:"filename"`
		Data string `json:"file_data"`
	}
	switch p.Type {
	case "image":
		return struct {
			Type  string `json:"type"`
			Image url    `json:"image_url"`
		}{"image_url", url{"data:image/png;base64,iVBORw=="}}
	case "audio":
		return struct {
			Type  string `json:"type"`
			Sound sound  `json:"input_audio"`
		}{"input_audio", sound{[]byte("ID3"), "mp3"}}
	case "document":
		return struct {
			Type string `json:"type"`
			File file   `json:"file"`
		}{"file", file{"document.pdf", "data:application/pdf;base64,JVBERi0="}}
	default:
		return struct {
			Type string `json:"type"`
			Text string `json:"text"`
		}{"text", p.Text}
	}
}

// withMedia gives a request the media of its input: an image, a recording and a document, by their places' names.
func withMedia(directory *catalog.Catalog, r supplier.Request) supplier.Request {
	entry, _ := directory.Get(catalog.TextChat)
	r.Media = map[string]supplier.Media{}
	for _, pointer := range catalog.MediaPointers(entry, r.Input) {
		switch entry.MediaKind(pointer) {
		case "image":
			r.Media[pointer] = suppliertest.Media("image/png", "\x89PNG")
		case "audio":
			r.Media[pointer] = suppliertest.Media("audio/mpeg", "ID3")
		default:
			r.Media[pointer] = suppliertest.Media("application/pdf", "%PDF-")
		}
	}
	return r
}

// neutralChat is a chat's input as the catalog passes it on.
type neutralChat struct {
	Prompt   *string `json:"prompt"`
	Messages []struct {
		Role    string          `json:"role"`
		Content json.RawMessage `json:"content"`
	} `json:"messages"`
	System *string `json:"system"`
}

// speaksOfJSON reports whether the system or a user does, in a text.
func (in *neutralChat) speaksOfJSON() bool {
	var words []string
	for _, text := range []*string{in.System, in.Prompt} {
		if text != nil {
			words = append(words, *text)
		}
	}
	for _, m := range in.Messages {
		var text string
		var parts []neutralPart
		if m.Role == "assistant" || jsonv2.Unmarshal(m.Content, &text) != nil && jsonv2.Unmarshal(m.Content, &parts) != nil {
			continue
		}
		words = append(words, text)
		for _, p := range parts {
			words = append(words, p.Text)
		}
	}
	return strings.Contains(strings.ToLower(strings.Join(words, "\n")), "json")
}

// encoded is a chat request as an encoder writes it, and how much text it carries.
func encoded(r supplier.Request, maxTokens string, streamUsage, live bool) (body []byte, said int, err error) {
	var in neutralChat
	var p struct {
		MaxOutputTokens json.RawMessage `json:"max_output_tokens"`
		Temperature     json.RawMessage `json:"temperature"`
		TopP            json.RawMessage `json:"top_p"`
		Stop            []string        `json:"stop"`
		Seed            json.RawMessage `json:"seed"`
		OutputSchema    json.RawMessage `json:"output_schema"`
		Reasoning       json.RawMessage `json:"reasoning"`
		WebSearch       json.RawMessage `json:"web_search"`
	}
	if err := upstream.DecodeRequest(r, &in, &p); err != nil {
		return nil, 0, err
	}
	ask := struct {
		Model               string          `json:"model"`
		Messages            []chatMessage   `json:"messages"`
		MaxTokens           json.RawMessage `json:"max_tokens,omitempty"`
		MaxCompletionTokens json.RawMessage `json:"max_completion_tokens,omitempty"`
		Temperature         json.RawMessage `json:"temperature,omitempty"`
		TopP                json.RawMessage `json:"top_p,omitempty"`
		Stop                []string        `json:"stop,omitempty"`
		Seed                json.RawMessage `json:"seed,omitempty"`
		ReasoningEffort     json.RawMessage `json:"reasoning_effort,omitempty"`
		WebSearchOptions    *struct{}       `json:"web_search_options,omitzero"`
		ResponseFormat      any             `json:"response_format,omitempty"`
		Stream              bool            `json:"stream,omitzero"`
		StreamOptions       map[string]bool `json:"stream_options,omitempty"`
	}{Model: r.Model, Stop: p.Stop, Seed: p.Seed, ReasoningEffort: p.Reasoning, Stream: live}
	if r.Model != "o1" {
		ask.Temperature, ask.TopP = p.Temperature, p.TopP
	}
	if string(p.WebSearch) == "true" {
		ask.WebSearchOptions = &struct{}{}
	}
	anyObject := catalog.IsAnyObject(p.OutputSchema)
	if anyObject {
		ask.ResponseFormat = map[string]string{"type": "json_object"}
	} else if s := p.OutputSchema; len(s) > 0 && string(s) != "null" {
		outline, err := upstream.Outline(s)
		if err != nil {
			return nil, 0, err
		}
		ask.ResponseFormat = struct {
			Type       string `json:"type"`
			JSONSchema any    `json:"json_schema"`
		}{"json_schema", struct {
			Name   string          `json:"name"`
			Strict bool            `json:"strict"`
			Schema json.RawMessage `json:"schema"`
		}{"answer", true, outline}}
	}
	if maxTokens == "max_tokens" {
		ask.MaxTokens = p.MaxOutputTokens
	} else {
		ask.MaxCompletionTokens = p.MaxOutputTokens
	}
	if live && streamUsage {
		ask.StreamOptions = map[string]bool{"include_usage": true}
	}
	if in.System != nil {
		said += len(*in.System)
	}
	if anyObject && !in.speaksOfJSON() {
		said += len(upstream.AskObject)
		text := upstream.AskObject
		if in.System != nil && *in.System != "" {
			text = *in.System + "\n\n" + text
		}
		in.System = &text
	}
	if in.System != nil {
		ask.Messages = append(ask.Messages, chatMessage{"system", *in.System})
	}
	if in.Prompt != nil {
		ask.Messages, said = append(ask.Messages, chatMessage{"user", *in.Prompt}), said+len(*in.Prompt)
	}
	for _, m := range in.Messages {
		content, n, err := encodedContent(m.Content)
		if err != nil {
			return nil, 0, err
		}
		ask.Messages, said = append(ask.Messages, chatMessage{m.Role, content}), said+n
	}
	body, err = jsonv2.Marshal(ask)
	return body, said, err
}

// FuzzAsk: a request that the catalog takes is written as an encoder writes it, to the byte. Canonical requests that
// it wouldn't take aren't written otherwise, and its output is JSON.
func FuzzAsk(f *testing.F) {
	for _, seed := range [][2]string{
		{`{"prompt":"hello"}`, `{}`},
		{`{"prompt":"hello"}`, `{"output_schema":{"additionalProperties":false,"properties":{"a":{"type":"string"}},"required":["a"],"type":"object"},"seed":1}`},
		{`{"prompt":"hello","system":"Be brief."}`, `{"output_schema":{"type":"object"}}`},
		{`{"prompt":"hello","system":""}`, `{"output_schema":{"type":"object"}}`},
		{`{"prompt":"Hello, jSoN"}`, `{"output_schema":{"type":"object"},"seed":1}`},
		{`{"messages":[{"role":"user","content":[{"type":"text","text":"As JSON"}]}]}`, `{"output_schema":{"type":"object"}}`},
		{`{"messages":[{"role":"user","content":"a"},{"role":"assistant","content":"JSON?"}]}`, `{"output_schema":{"type":"object"}}`},
		{`{"prompt":"a"}`, `{"reasoning":"low"}`},
		{`{"prompt":"a"}`, `{"reasoning":"none","web_search":true}`},
		{`{"prompt":"a"}`, `{"web_search":false}`},
		{`{"prompt":"a"}`, `{"tool_choice":"auto","tools":[{"name":"f","parameters":{"type":"object"}}]}`},
		{`{"prompt":"é\n\"\\\u0001\u007f\u2028\/😀\ud83d\ude00","system":""}`, `{"max_output_tokens":1,"temperature":0.5,"top_p":1e-7,"stop":["\n","a"],"seed":-1}`},
		{`{"messages":[{"role":"user","content":"Hi"},{"content":"\tYes?","role":"assistant"}],"system":"Be brief."}`, `{"max_output_tokens":262144,"temperature":2}`},
		{`{"messages":[]}`, `{"stop":[],"seed":"","top_p":null}`},
		{`{"messages":[{"role":"system","content":"a"},{"role":"user","content":[{"type":"text","text":"é\n"},{"type":"image","image":{"url":"https://a.example"}}]}]}`, `{}`},
		{`{"messages":[{"role":"user","content":[{"type":"audio","audio":{"artifact":"art_12345678"}},{"type":"document","document":{"data":"JVBERi0=","content_type":"application/pdf"}}]},{"role":"assistant","content":[{"type":"text","text":"a"}]}]}`, `{}`},
		{`{"messages":[{"role":"user","content":[{"type":"image"}]}]}`, `{}`},
		{`{"messages":[{"role":"user","content":[{"type":"text"}]},{"role":"user","content":[{"type":"film","text":"a"}]}]}`, `{}`},
		{`{"messages":[{"role":"user"}]}`, `{}`},
		{`{"messages":[{"role":"user","content":"a","name":"b"}]}`, `{}`},
		{`{"prompt":"a","prompt":"b"}`, `{}`},
		{`{"prompt":1}`, `{"stop":[1]}`},
		{`{"prompt":"a"}`, `{"stop":"b"}`},
		{`{"prompt":"a"}`, `{"top_k":1}`},
		{`{"Prompt":"a"}`, `{}`},
		{`{`, `{}`},
		{`[]`, `{}x`},
		{`null`, `null`},
	} {
		f.Add(seed[0], seed[1], "model-1", true, true, true)
		f.Add(seed[0], seed[1], "o1", false, false, true)
	}
	directory, err := catalog.Default()
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, input, parameters, model string, older, streamUsage, live bool) {
		r, valid := canonical(directory, input, parameters)
		r.Model = "model-1"
		if model == "o1" {
			r.Model = model
		}
		maxTokens := "max_completion_tokens"
		if older {
			maxTokens = "max_tokens"
		}
		r = withMedia(directory, r)
		got, said, err := openai.Ask(r, maxTokens, streamUsage, live)
		if err != nil && !valid {
			return
		}
		if err == nil && !json.Valid(got) {
			t.Errorf("no JSON: %s", got)
		}
		if !jsontext.Value(r.Input).IsValid() || !jsontext.Value(r.Parameters).IsValid() {
			return // a member twice, which the catalog keeps away
		}
		if all := string(r.Input) + string(r.Parameters); strings.Contains(all, `"tool`) || strings.Contains(all, `"parallel_tool_calls"`) {
			return // tools have tests of their own
		}
		want, wantSaid, wantErr := encoded(r, maxTokens, streamUsage, live)
		if err != nil || wantErr != nil || string(got) != string(want) || said != wantSaid {
			t.Errorf("%s %s (valid: %v)\ngot  %s (%d, %v)\nwant %s (%d, %v)", r.Input, r.Parameters, valid, got, said, err, want, wantSaid, wantErr)
		}
	})
}

// TestAskLongMedia: a picture goes on in the characters in which it came, and the request is the same as of one that is
// read from elsewhere.
func TestAskLongMedia(t *testing.T) {
	picture := strings.Repeat("picture", 3_000)
	data := base64.StdEncoding.EncodeToString([]byte(picture))
	input := `{"messages":[{"role":"user","content":[{"type":"text","text":"a"},{"type":"image","image":{"data":"` + data +
		`","content_type":"image/png"}},{"type":"text","text":"b"}]},{"role":"assistant","content":"c"}]}`
	asked, problem := catalog.Decode([]byte(`{"capability":"text.chat","input":`+input+`}`), catalog.Limits{})
	if problem != nil || len(asked.Base64) != 1 {
		t.Fatalf("%v, %d long strings", problem, len(asked.Base64))
	}
	place := upstream.MediaPlace(0, 1, upstream.PartImage)
	elsewhere := request("text.chat", string(asked.Input), `{}`)
	elsewhere.Media = map[string]supplier.Media{place: suppliertest.Media("image/png", picture)}
	here := elsewhere
	here.Input, here.Base64 = asked.Input, asked.Base64
	here.Media = map[string]supplier.Media{place: {ContentType: "image/png", Bytes: int64(len(picture)), Base64: asked.Base64[0]}}
	want, wantSaid, err := openai.Ask(elsewhere, "max_tokens", true, false)
	if err != nil {
		t.Fatal(err)
	}
	got, said, err := openai.Ask(here, "max_tokens", true, false)
	if err != nil || !bytes.Equal(got, want) || said != wantSaid || !bytes.Contains(got, []byte(data)) {
		t.Errorf("%v, %d bytes (%d of text), want %d (%d)", err, len(got), said, len(want), wantSaid)
	}
}

// canonical returns a chat as the catalog passes it on, and whether it does at all.
func canonical(directory *catalog.Catalog, input, parameters string) (r supplier.Request, valid bool) {
	asked, problem := catalog.Decode([]byte(`{"capability":"text.chat","input":`+input+`,"parameters":`+parameters+`}`), catalog.Limits{})
	if problem == nil {
		return request("text.chat", string(asked.Input), string(asked.Parameters)), directory.Validate(asked) == nil
	}
	in, p := jsontext.Value(input), jsontext.Value(parameters)
	_, _ = in.Canonicalize(), p.Canonicalize() // other text stays as it is
	return request("text.chat", string(in), string(p)), false
}

// TestAskWithNull: if an operator's schema allows null, it counts as absent.
func TestAskWithNull(t *testing.T) {
	for _, tt := range []struct{ input, parameters, same, sameParameters string }{
		{`{"messages":null,"prompt":"a","system":null}`, `{"stop":null}`, `{"prompt":"a"}`, `{}`},
		{
			`{"messages":[{"role":"user","content":"a"}],"prompt":null}`, `{"max_output_tokens":null,"seed":null,"stop":null,"temperature":null,"top_p":null}`,
			`{"messages":[{"role":"user","content":"a"}]}`, `{}`,
		},
	} {
		got, said, err := openai.Ask(request("text.chat", tt.input, tt.parameters), "max_tokens", true, true)
		want, wantSaid, wantErr := openai.Ask(request("text.chat", tt.same, tt.sameParameters), "max_tokens", true, true)
		if err != nil || wantErr != nil || string(got) != string(want) || said != wantSaid {
			t.Errorf("%s %s: got %s (%d, %v), want %s (%d, %v)", tt.input, tt.parameters, got, said, err, want, wantSaid, wantErr)
		}
	}
}
