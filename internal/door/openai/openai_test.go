package openai_test

import (
	"encoding/json"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"unitask/internal/catalog"
	"unitask/internal/door/openai"
	"unitask/internal/fault"
	"unitask/internal/supplier/openapicheck"
	"unitask/test/fixture"
)

// pixel is a PNG of one pixel, in base64.
const pixel = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="

// schema is one that an answer may be held to, and a tool's.
const schema = `{"type":"object","properties":{"place":{"type":"string"}},"required":["place"],"additionalProperties":false}`

// A schema of draft 7, as OpenAI's library for JavaScript makes them of zod's, and the same in the service's dialect.
const (
	former = `{"type":"object","properties":{"place":{"$ref":"#/definitions/name"}},"required":["place"],"additionalProperties":false,` +
		`"definitions":{"name":{"type":"string"}},"$schema":"http://json-schema.org/draft-07/schema#"}`
	renewed = `{"type":"object","properties":{"place":{"$ref":"#/$defs/name"}},"required":["place"],"additionalProperties":false,"$defs":{"name":{"type":"string"}}}`
)

var defaultDirectory = sync.OnceValues(func() (*catalog.Catalog, error) { return catalog.Default() })

func directory(t testing.TB) *catalog.Catalog {
	t.Helper()
	return fixture.Must(defaultDirectory())(t)
}

var loadedDocument = sync.OnceValues(func() (*openapicheck.Document, error) {
	return openapicheck.Load("../../supplier/openai/testdata/openapi.json")
})

func document(t testing.TB) *openapicheck.Document {
	t.Helper()
	return fixture.Must(loadedDocument())(t)
}

// user is a chat completion's request of one message's content and other members.
func user(content string, more ...string) string {
	return `{"model":"text.chat","messages":[{"role":"user","content":` + content + `}]` + strings.Join(append([]string{""}, more...), ",") + `}`
}

// talk is a conversation with directions and answers that say nothing, and a last message.
func talk(last string) string {
	return `{"model":"text.chat","messages":[{"role":"system","content":""},{"role":"user","content":"Hi"},{"role":"assistant","content":""},
		{"role":"assistant","content":[{"type":"text","text":"\n"}],"state":"abc"},` + last + `]}`
}

// created is a creation of text.chat.
func created(input, parameters string) string {
	return `{"capability":"text.chat","input":{"messages":` + input + `},"parameters":` + parameters + `}`
}

// TestTranslate has requests become creations, which the directory finds valid.
func TestTranslate(t *testing.T) {
	hi := `[{"role":"user","content":"Hi"}]`
	for _, tt := range []struct{ name, request, want string }{
		{"a text", user(`"Hi"`), created(hi, `{}`)},
		{"null is absent", user(`"Hi"`, `"n":null,"stop":null,"tools":null,"functions":null,"temperature":null,"metadata":null`), created(hi, `{}`)},
		{
			"parameters", user(`"Hi"`, `"temperature":0.5,"top_p":0.9,"seed":7,"max_tokens":30,"stop":"END","reasoning_effort":"low"`),
			created(hi, `{"max_output_tokens":30,"temperature":0.5,"top_p":0.9,"seed":7,"stop":["END"],"reasoning":"low"}`),
		},
		{"metadata", user(`"Hi"`, `"metadata":{"team":"search","a":""}`), strings.TrimSuffix(created(hi, `{}`), "}") + `,"metadata":{"team":"search","a":""}}`},
		{"the newer name", user(`"Hi"`, `"max_completion_tokens":30,"stop":["a","b"]`), created(hi, `{"max_output_tokens":30,"stop":["a","b"]}`)},
		{"of no effect", user(`"Hi"`, `"user":"u","safety_identifier":"s","prompt_cache_key":"k","n":1,"store":false,"logprobs":false,
			"frequency_penalty":0.0,"presence_penalty":0,"logit_bias":{},"modalities":["text"],"service_tier":"auto","verbosity":"medium",
			"prompt_cache_retention":"in_memory","stream":true,"stream_options":{"include_usage":true,"include_obfuscation":false},"response_format":{"type":"text"}`), created(hi, `{}`)},
		{
			"roles", `{"model":"text.chat","messages":[{"role":"developer","content":"Be brief."},{"role":"system","content":[{"type":"text","text":"Be kind."}]},
			{"role":"user","content":"Hi"},{"role":"assistant","content":"Ho","refusal":null,"reasoning_content":"hm","annotations":[],"state":"abc"},{"role":"user","content":"Go on"}]}`,
			created(`[{"role":"system","content":"Be brief."},{"role":"system","content":[{"type":"text","text":"Be kind."}]},{"role":"user","content":"Hi"},
				{"role":"assistant","content":"Ho","state":"abc"},{"role":"user","content":"Go on"}]`, `{}`),
		},
		{
			"parts", user(`[{"type":"text","text":"What?","prompt_cache_breakpoint":{}},{"type":"image_url","image_url":{"url":"data:image/png;base64,` + pixel + `","detail":"auto"}},
			{"type":"image_url","image_url":{"url":"https://example.org/a.png"}},{"type":"input_audio","input_audio":{"data":"AAAA","format":"mp3"}},
			{"type":"file","file":{"file_data":"data:application/pdf;base64,AAAA","filename":"a.pdf"}},{"type":"file","file":{"file_data":"AAAA","filename":"A.MD"}}]`),
			created(`[{"role":"user","content":[{"type":"text","text":"What?"},{"type":"image","image":{"data":"`+pixel+`","content_type":"image/png"}},
				{"type":"image","image":{"url":"https://example.org/a.png"}},{"type":"audio","audio":{"data":"AAAA","content_type":"audio/mpeg"}},
				{"type":"document","document":{"data":"AAAA","content_type":"application/pdf"}},{"type":"document","document":{"data":"AAAA","content_type":"text/markdown"}}]}]`, `{}`),
		},
		{
			"tools", `{"model":"text.chat","messages":[{"role":"user","content":"Weather?"},
				{"role":"assistant","content":null,"tool_calls":[{"id":"call_1","type":"function","index":0,"function":{"name":"weather","arguments":"{\"place\": \"Oslo\"}","parsed_arguments":{"place":"Oslo"}}},
				{"id":"call_2","type":"function","function":{"name":"weather","arguments":"Oslo?"}}]},
				{"role":"tool","tool_call_id":"call_1","name":"weather","content":"rain"},{"role":"tool","tool_call_id":"call_2","content":""}],
			"tools":[{"type":"function","function":{"name":"weather","description":"Tells it.","parameters":` + schema + `,"strict":false}}],
			"tool_choice":{"type":"function","function":{"name":"weather"}},"parallel_tool_calls":false}`,
			created(`[{"role":"user","content":"Weather?"},{"role":"assistant","tool_calls":[{"id":"call_1","name":"weather","arguments":{"place":"Oslo"}},
				{"id":"call_2","name":"weather","arguments":"Oslo?"}]},{"role":"tool","tool_call_id":"call_1","content":"rain"},{"role":"tool","tool_call_id":"call_2","content":""}]`,
				`{"tools":[{"name":"weather","description":"Tells it.","parameters":`+schema+`}],"tool_choice":"weather","parallel_tool_calls":false}`),
		},
		{"no tools", user(`"Hi"`, `"tool_choice":"none"`), created(hi, `{}`)},
		{"a choice", user(`"Hi"`, `"tool_choice":"required","tools":[{"type":"function","function":{"name":"f"}}]`), created(hi, `{"tools":[{"name":"f"}],"tool_choice":"required"}`)},
		{"a strict tool", user(`"Hi"`, `"tools":[{"type":"function","function":{"name":"f","parameters":`+schema+`,"strict":true}}]`), created(hi, `{"tools":[{"name":"f","parameters":`+schema+`,"strict":true}]}`)},
		{"a schema", user(`"Hi"`, `"response_format":{"type":"json_schema","json_schema":{"name":"place","strict":true,"schema":`+schema+`}}`), created(hi, `{"output_schema":`+schema+`}`)},
		{
			"answers that say nothing", talk(`{"role":"user","content":"Go on"}`), created(`[{"role":"user","content":"Hi"},{"role":"user","content":"Go on"}]`, `{}`),
		},
		{"a schema of zod's", user(`"Hi"`, `"response_format":{"type":"json_schema","json_schema":{"name":"place","strict":true,"schema":`+former+`}}`), created(hi, `{"output_schema":`+renewed+`}`)},
		{"a strict tool of zod's", user(`"Hi"`, `"tools":[{"type":"function","function":{"name":"f","parameters":`+former+`,"strict":true}}]`), created(hi, `{"tools":[{"name":"f","parameters":`+renewed+`,"strict":true}]}`)},
		{"any object", user(`"Hi"`, `"response_format":{"type":"json_object"}`), created(hi, `{"output_schema":{"type":"object"}}`)},
		{"escapes", user(`"a\u00e9\"\\"`), created(`[{"role":"user","content":"aé\"\\"}]`, `{}`)},
	} {
		t.Run(tt.name, func(t *testing.T) {
			c, err := openai.Chat([]byte(tt.request))
			if err != nil {
				t.Fatal(err)
			}
			check(t, c, tt.want)
			if want := strings.Contains(tt.request, `"stream":true`); c.Stream != want || c.IncludeUsage != want || c.Model != "text.chat" || c.Base != "text.chat" {
				t.Errorf("the call is %+v", c)
			}
		})
	}
}

// check compares a call's creation, which must be valid.
func check(t *testing.T, c openai.Call, want string) {
	t.Helper()
	var is, should any
	if err := json.Unmarshal(c.Body, &is); err != nil {
		t.Fatalf("%v: %s", err, c.Body)
	}
	if err := json.Unmarshal([]byte(want), &should); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(should, is); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	r, refused := catalog.Decode(c.Body, catalog.Limits{Depth: 64})
	if refused == nil {
		refused = directory(t).Validate(r)
	}
	if refused != nil {
		t.Errorf("the creation isn't valid: %v", refused)
	}
}

func TestTranslateEmbeddings(t *testing.T) {
	for _, tt := range []struct{ request, want string }{
		{`{"model":"text.embed","input":"a fox"}`, `{"capability":"text.embed","input":{"texts":["a fox"]},"parameters":{}}`},
		{
			`{"model":"text.embed","input":["a","b"],"dimensions":3,"encoding_format":"base64","user":"u"}`,
			`{"capability":"text.embed","input":{"texts":["a","b"]},"parameters":{"dimensions":3,"encoding":"base64"}}`,
		},
		{`{"model":"text.embed","input":["a"],"encoding_format":"float"}`, `{"capability":"text.embed","input":{"texts":["a"]},"parameters":{"encoding":"float"}}`},
	} {
		c, err := openai.Embeddings([]byte(tt.request))
		if err != nil {
			t.Fatal(err)
		}
		check(t, c, tt.want)
	}
}

// refusals are requests and what is wrong with them: the first member at fault, and the message.
var refusals = []struct{ request, param, message string }{
	{`{`, "", "body is not valid JSON: it ends too early"},
	{`[]`, "", "body must be a JSON object"},
	{`{"model":"a","model":"b"}`, "model", "model is given more than once"},
	{`{"model":"text.chat","messages":[{"role":"user","content":"a","content":"b"}]}`, "messages[0].content", "messages[0].content is given more than once"},
	{`{}`, "model", "model is required; messages is required"},
	{`{"model":5,"messages":"Hi"}`, "model", "model must be a string; messages must be a list"},
	{user(`"Hi"`, `"temprature":1`), "temprature", "temprature is not known here"},
	{user(`"Hi"`, `"functions":[],"function_call":"auto"`), "functions", "functions is not taken; tools takes its place; function_call is not taken; tools takes its place"},
	{user(`"Hi"`, `"n":2`), "n", "n can't be honoured here; only 1 is taken"},
	{user(`"Hi"`, `"logprobs":true`), "logprobs", "logprobs can't be honoured here; only false is taken"},
	{user(`"Hi"`, `"top_logprobs":2`), "top_logprobs", "top_logprobs can't be honoured here; leave it out"},
	{user(`"Hi"`, `"store":true`), "store", "store can't be honoured here; only false is taken"},
	{user(`"Hi"`, `"service_tier":"flex"`), "service_tier", `service_tier can't be honoured here; only "auto" or "default" is taken`},
	{user(`"Hi"`, `"frequency_penalty":0.5`), "frequency_penalty", "frequency_penalty can't be honoured here; only 0 is taken"},
	{user(`"Hi"`, `"modalities":["text","audio"]`), "modalities", `modalities can't be honoured here; only ["text"] is taken`},
	{user(`"Hi"`, `"web_search_options":{}`), "web_search_options", "web_search_options can't be honoured here; leave it out"},
	{user(`"Hi"`, `"max_tokens":1,"max_completion_tokens":1`), "max_tokens", "max_tokens must not be given together with max_completion_tokens"},
	{user(`"Hi"`, `"stream":1`), "stream", "stream must be true or false"},
	{user(`"Hi"`, `"stream_options":{"include_usage":true}`), "stream_options", "stream_options is only taken with stream"},
	{user(`"Hi"`, `"stream":true,"stream_options":{"include_obfuscation":true}`), "stream_options.include_obfuscation", "stream_options.include_obfuscation can't be honoured here; only false is taken"},
	{user(`"Hi"`, `"response_format":{"type":"json"}`), "response_format.type", "response_format.type must be text, json_schema or json_object"},
	{user(`"Hi"`, `"response_format":{"type":"json_object","json_schema":{}}`), "response_format.json_schema", "response_format.json_schema is only taken beside the type json_schema"},
	{user(`"Hi"`, `"response_format":{"type":"json_object","schema":{}}`), "response_format.schema", "response_format.schema is not known here"},
	{user(`"Hi"`, `"response_format":{"type":"json_schema","json_schema":{"name":"a"}}`), "response_format.json_schema.schema", "response_format.json_schema.schema is required"},
	{user(`"Hi"`, `"response_format":"text"`), "response_format", "response_format must be an object"},
	{user(`"Hi"`, `"tools":[{"type":"custom","custom":{}}]`), "tools[0].type", "tools[0].type must be function"},
	{user(`"Hi"`, `"tools":[{"type":"function","function":{"name":"f","strict":1}}]`), "tools[0].function.strict", "tools[0].function.strict must be true or false"},
	{user(`"Hi"`, `"tools":[{"type":"function"}]`), "tools[0].function", "tools[0].function is required"},
	{user(`"Hi"`, `"tool_choice":"weather"`), "tool_choice", "tool_choice must be auto, none, required or a function"},
	{user(`"Hi"`, `"tool_choice":{"type":"allowed_tools","allowed_tools":{}}`), "tool_choice.type", "tool_choice.type must be function"},
	{user(`"Hi"`, `"tool_choice":{"type":"function","function":{"name":"auto"}}`), "tool_choice.function.name", "tool_choice.function.name is no tool's name here"},
	{user(`[{"type":"image_url","image_url":{"url":"https://a.example/a.png","detail":"low"}}]`), "messages[0].content[0].image_url.detail", `messages[0].content[0].image_url.detail can't be honoured here; only "auto" is taken`},
	{user(`[{"type":"image_url","image_url":{"url":"data:image/png,AAAA"}}]`), "messages[0].content[0].image_url.url", "messages[0].content[0].image_url.url must be an http or https address, or data:TYPE;base64,DATA"},
	{user(`[{"type":"image_url","image_url":"https://a.example/a.png"}]`), "messages[0].content[0].image_url", "messages[0].content[0].image_url must be an object"},
	{user(`[{"type":"video_url","video_url":{}}]`), "messages[0].content[0].type", "messages[0].content[0].type must be one of text, image_url, input_audio and file"},
	{user(`[{"type":"input_audio","input_audio":{"data":"AAAA","format":"flac"}}]`), "messages[0].content[0].input_audio.format", "messages[0].content[0].input_audio.format must be wav or mp3"},
	{user(`[{"type":"file","file":{"file_id":"file-1"}}]`), "messages[0].content[0].file.file_id", "messages[0].content[0].file.file_id is not taken; send the file as file_data; messages[0].content[0].file.file_data is required"},
	{user(`[{"type":"file","file":{"file_data":"AAAA","filename":"a.docx"}}]`), "messages[0].content[0].file.file_data", "messages[0].content[0].file.file_data must be data:TYPE;base64,DATA, or base64 beside a filename that ends in .pdf, .txt or .md"},
	{`{"model":"text.chat","messages":[{"role":"function","content":"a","name":"f"}]}`, "messages[0].role", "messages[0].role must be one of developer, system, user, assistant and tool"},
	{`{"model":"text.chat","messages":[{"role":"user","content":"a","name":"Ada"}]}`, "messages[0].name", "messages[0].name can't be honoured here; leave it out"},
	{`{"model":"text.chat","messages":["Hi"]}`, "messages[0]", "messages[0] must be an object"},

	// What the directory refuses, in the caller's own terms.
	{user(`""`), "messages[0].content", "messages[0].content must not be blank"},
	{talk(`{"role":"user","content":[{"type":"text","text":""}]}`), "messages[4].content[0].text", "messages[4].content[0].text must not be blank"},
	{user(`"Hi"`, `"temperature":"hot","max_tokens":0`), "max_tokens", "max_tokens must be at least 1; temperature must be a number"},
	{user(`"Hi"`, `"max_completion_tokens":0`), "max_completion_tokens", "max_completion_tokens must be at least 1"},
	{user(`"Hi"`, `"reasoning_effort":"minimal"`), "reasoning_effort", "reasoning_effort must be one of none, low, medium, high"},
	{user(`"Hi"`, `"parallel_tool_calls":true`), "tools", "tools is required with parallel_tool_calls"},
	{user(`"Hi"`, `"tools":[{"type":"function","function":{"name":"a b"}}]`), "tools[0].function.name", "tools[0].function.name must be at most 64 letters, digits, _ and -, the first a letter or _"},
	{
		user(`"Hi"`, `"response_format":{"type":"json_schema","json_schema":{"schema":{"type":"object","properties":{"a":{"type":"string"}},"required":["a"]}}}`),
		"response_format.json_schema.schema.additionalProperties", "response_format.json_schema.schema.additionalProperties must be false",
	},
	{user(`[{"type":"image_url","image_url":{"url":"ftp://a.example"}}]`), "messages[0].content[0].image_url.url", "messages[0].content[0].image_url.url must be an http or https address"},
	{user(`[{"type":"file","file":{"file_data":"data:image/png;base64,AAAA"}}]`), "messages[0].content[0].file.file_data", "messages[0].content[0].file.file_data must be one of application/pdf, text/plain, text/markdown"},
	{
		`{"model":"text.chat","messages":[{"role":"user","content":"a"},{"role":"assistant","tool_calls":[{"id":"call 1","type":"function","function":{"name":"","arguments":"{}"}}]}]}`,
		"messages[1].tool_calls[0].id", "messages[1].tool_calls[0].id must be at most 64 letters, digits, _ and -; messages[1].tool_calls[0].function.name must not be empty",
	},
	{`{"model":"text.chat.none","messages":[{"role":"user","content":"a"}]}`, "model", `the model "text.chat.none" doesn't exist, or isn't callable here with this key`},
}

// TestRefuse holds that each refusal names the caller's own member, whether this package or the directory refuses.
func TestRefuse(t *testing.T) {
	all := directory(t)
	for _, tt := range refusals {
		c, err := openai.Chat([]byte(tt.request))
		if err == nil {
			r, refused := catalog.Decode(c.Body, catalog.Limits{})
			if refused == nil {
				refused = all.Validate(r)
			}
			if refused == nil {
				t.Errorf("%s is taken", tt.request)
				continue
			}
			err = c.Explain(refused)
		}
		got := openai.ErrorOf(fault.From(err), "req_1").Error
		param := ""
		if got.Param != nil {
			param = *got.Param
		}
		if got.Message != tt.message || param != tt.param {
			t.Errorf("%s:\ngot  %q, %q\nwant %q, %q", tt.request, param, got.Message, tt.param, tt.message)
		}
	}
	for request, want := range map[string]string{
		`{"model":"text.embed","input":[1,2]}`:                        "input must be a text or a list of texts; tokens are not taken",
		`{"model":"text.embed","input":[[1,2]]}`:                      "input must be a text or a list of texts; tokens are not taken",
		`{"model":"text.embed","input":5}`:                            "input must be a text or a list of texts; tokens are not taken",
		`{"model":"text.embed"}`:                                      "input is required",
		`{"model":"text.embed","input":"a","encoding_format":"int8"}`: "encoding_format must be float or base64",
		`{"model":"text.embed","input":"a","task":"query"}`:           "task is not known here",
	} {
		if _, err := openai.Embeddings([]byte(request)); err == nil || fault.From(err).Message != want {
			t.Errorf("%s: %v", request, err)
		}
	}
}

// TestExplainEmbeddings names the one text, or its place in the list.
func TestExplainEmbeddings(t *testing.T) {
	for request, want := range map[string]string{
		`{"model":"text.embed","input":""}`:                      "input must not be blank",
		`{"model":"text.embed","input":["a",""]}`:                "input[1] must not be blank",
		`{"model":"text.embed","input":[]}`:                      "input must not be empty",
		`{"model":"text.embed","input":"a","dimensions":"many"}`: "dimensions must be an integer",
	} {
		c, err := openai.Embeddings([]byte(request))
		if err != nil {
			t.Fatal(err)
		}
		r, _ := catalog.Decode(c.Body, catalog.Limits{})
		if got := c.Explain(directory(t).Validate(r)).Message; got != want {
			t.Errorf("%s: %q", request, got)
		}
	}
}
