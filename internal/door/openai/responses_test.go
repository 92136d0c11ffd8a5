package openai_test

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"testing"

	"unitask/internal/catalog"
	"unitask/internal/door/openai"
	"unitask/internal/fault"
	"unitask/internal/task"
)

// asked is a response's request of an input and other members.
func asked(input string, more ...string) string {
	return `{"model":"text.chat","input":` + input + strings.Join(append([]string{""}, more...), ",") + `}`
}

// kept is the task that references of the tests lead to.
const kept = "01h00000000000000000000000"

// find knows one task, and one that can't be read.
func find(t testing.TB) openai.Find {
	done := withOutput(t, task.Parts{Text: new("Ho"), FinishReason: "tool_calls", State: "abc", Reasoning: "Hm", ToolCalls: calls})
	return func(id string) (*task.Task, error) {
		switch id {
		case task.PrefixTask + kept:
			return done, nil
		case task.PrefixTask + strings.Repeat("1", 26):
			return nil, errors.New("no store")
		}
		return nil, fault.New(fault.NotFound, "there is no such task")
	}
}

const question = `{"role":"user","content":"Weather?"}`

// silent are directions and answers that say nothing.
const silent = `{"role":"developer","content":""},{"role":"assistant","content":" "},{"type":"message","role":"assistant","content":[{"type":"output_text","text":""}]}`

// TestTranslateResponses has requests become creations, which the directory finds valid.
func TestTranslateResponses(t *testing.T) {
	hi := `[{"role":"user","content":"Hi"}]`
	answered := `[{"role":"user","content":"Weather?"},{"role":"assistant","content":"Ho","tool_calls":[{"id":"call_1","name":"weather","arguments":{"place":"Oslo"}},
		{"id":"call_2","name":"weather","arguments":"Os\"lo?"}],"state":"abc"},{"role":"tool","tool_call_id":"call_1","content":"rain"},{"role":"tool","tool_call_id":"call_2","content":""}]`
	words := `{"type":"message","id":"msg_` + kept + `","role":"assistant","status":"completed","phase":null,"content":[{"type":"output_text","text":"Ho","annotations":[],"logprobs":[]}]}`
	thoughts := `{"type":"reasoning","id":"rs_` + kept + `","summary":[{"type":"summary_text","text":"Hm"}],"encrypted_content":"abc"}`
	called := `{"type":"function_call","id":"fc_` + kept + `","call_id":"call_1","name":"weather","arguments":"{\"place\": \"Oslo\"}","status":"completed"},
		{"type":"function_call","id":"fc_` + kept + `_1","call_id":"call_2","name":"weather","arguments":"Os\"lo?"}`
	results := `{"type":"function_call_output","call_id":"call_1","output":"rain"},{"type":"function_call_output","call_id":"call_2","output":""}`
	searched := `{"type":"web_search_call","id":"ws_` + kept + `","status":"completed","action":{"type":"search"}}`
	inParts := strings.Replace(answered, `"content":"Ho"`, `"content":[{"type":"text","text":"Ho"}]`, 1)
	withoutIDs := strings.NewReplacer(`"id":"msg_`+kept+`",`, ``, `"id":"rs_`+kept+`",`, ``, `"id":"fc_`+kept+`",`, ``, `"id":"fc_`+kept+`_1",`, ``)
	for _, tt := range []struct{ name, request, want string }{
		{"a text", asked(`"Hi"`), created(hi, `{}`)},
		{"null is absent", asked(`"Hi"`, `"instructions":null,"tools":null,"previous_response_id":null,"conversation":null,"text":null,"reasoning":null,"metadata":null`), created(hi, `{}`)},
		{"instructions", asked(`"Hi"`, `"instructions":"Be brief."`), `{"capability":"text.chat","input":{"system":"Be brief.","messages":` + hi + `},"parameters":{}}`},
		{
			"parameters", asked(`"Hi"`, `"temperature":0.5,"top_p":0.9,"max_output_tokens":30,"reasoning":{"effort":"low","summary":"auto"}`),
			created(hi, `{"max_output_tokens":30,"temperature":0.5,"top_p":0.9,"reasoning":"low"}`),
		},
		{"metadata", asked(`"Hi"`, `"metadata":{"team":"search"}`), strings.TrimSuffix(created(hi, `{}`), "}") + `,"metadata":{"team":"search"}}`},
		{"of no effect", asked(`"Hi"`, `"user":"u","safety_identifier":"s","prompt_cache_key":"k","store":false,"truncation":"disabled","service_tier":"default","top_logprobs":0,
			"prompt_cache_retention":"in_memory","stream_options":{"include_obfuscation":false},"text":{"format":{"type":"text"},"verbosity":"medium"},"parallel_tool_calls":true,
			"include":["reasoning.encrypted_content","web_search_call.action.sources"],"tool_choice":"auto","reasoning":{"context":"auto"}`), created(hi, `{}`)},
		{"roles", asked(`[{"role":"developer","content":"Be brief."},{"type":"message","role":"system","content":[{"type":"input_text","text":"Be kind."}]},{"role":"user","content":"Hi"},
			{"role":"assistant","content":"Ho"},{"role":"assistant","content":"Ho ho"},{"role":"user","content":"Go on"}]`), created(`[{"role":"system","content":"Be brief."},
			{"role":"system","content":[{"type":"text","text":"Be kind."}]},{"role":"user","content":"Hi"},{"role":"assistant","content":"Ho"},{"role":"assistant","content":"Ho ho"},{"role":"user","content":"Go on"}]`, `{}`)},
		{
			"parts", asked(`[{"role":"user","content":[{"type":"input_text","text":"What?"},{"type":"input_image","image_url":"data:image/png;base64,` + pixel + `","detail":"auto"},
			{"type":"input_image","image_url":"https://example.org/a.png"},{"type":"input_audio","input_audio":{"data":"AAAA","format":"mp3"}},
			{"type":"input_file","file_data":"data:application/pdf;base64,AAAA","filename":"a.pdf"},{"type":"input_file","file_url":"https://example.org/a.pdf"}]}]`),
			created(`[{"role":"user","content":[{"type":"text","text":"What?"},{"type":"image","image":{"data":"`+pixel+`","content_type":"image/png"}},
				{"type":"image","image":{"url":"https://example.org/a.png"}},{"type":"audio","audio":{"data":"AAAA","content_type":"audio/mpeg"}},
				{"type":"document","document":{"data":"AAAA","content_type":"application/pdf"}},{"type":"document","document":{"url":"https://example.org/a.pdf"}}]}]`, `{}`),
		},
		{"an answer's items", asked(`[` + strings.Join([]string{question, thoughts, words, called, searched, results}, ",") + `]`), created(inParts, `{}`)},
		{"the state at the end", asked(`[` + strings.Join([]string{question, called, words, searched, thoughts, results}, ",") + `]`), created(inParts, `{}`)},
		{"without ids", asked(withoutIDs.Replace(`[` + strings.Join([]string{question, thoughts, words, called, results}, ",") + `]`)), created(inParts, `{}`)},
		{"references", asked(`[` + question + `,{"type":"item_reference","id":"rs_` + kept + `"},{"type":"item_reference","id":"msg_` + kept + `"},{"type":"item_reference","id":"fc_` + kept + `"},
			{"type":"item_reference","id":"fc_` + kept + `_1"},{"type":"item_reference","id":"ws_` + kept + `"},` + results + `]`), created(answered, `{}`)},
		{"thoughts alone", asked(`[` + question + `,` + thoughts + `,{"role":"user","content":"Well?"}]`), created(`[{"role":"user","content":"Weather?"},{"role":"user","content":"Well?"}]`, `{}`)},
		{
			"another's thoughts", asked(`[` + strings.Join([]string{question, words, strings.ReplaceAll(thoughts, kept, strings.Repeat("2", 26)), `{"role":"assistant","content":"Oh"}`, `{"role":"user","content":"Well?"}`}, ",") + `]`),
			created(`[{"role":"user","content":"Weather?"},{"role":"assistant","content":[{"type":"text","text":"Ho"}]},{"role":"assistant","content":"Oh","state":"abc"},{"role":"user","content":"Well?"}]`, `{}`),
		},
		{
			"tools", asked(`"Weather?"`, `"tools":[{"type":"web_search","search_context_size":"medium"},{"type":"function","name":"weather","description":"Tells it.","parameters":`+schema+`,"strict":false}],
				"parallel_tool_calls":false,"tool_choice":"auto"`),
			created(`[`+question+`]`, `{"tools":[{"name":"weather","description":"Tells it.","parameters":`+schema+`}],"tool_choice":"auto","parallel_tool_calls":false,"web_search":true}`),
		},
		{"a choice", asked(`"Hi"`, `"tools":[{"type":"function","name":"f","parameters":null,"strict":null}],"tool_choice":{"type":"function","name":"f"}`), created(hi, `{"tools":[{"name":"f"}],"tool_choice":"f"}`)},
		{"no search", asked(`"Hi"`, `"tools":[{"type":"web_search_preview"}],"tool_choice":"none"`), created(hi, `{}`)},
		{"a strict tool", asked(`"Hi"`, `"tools":[{"type":"function","name":"f","parameters":`+schema+`,"strict":true}]`), created(hi, `{"tools":[{"name":"f","parameters":`+schema+`,"strict":true}]}`)},
		{"any object", asked(`"Hi"`, `"text":{"format":{"type":"json_object"}}`), created(hi, `{"output_schema":{"type":"object"}}`)},
		{"answers that say nothing", asked(`[`+question+`,`+silent+`,`+question+`]`, `"instructions":""`), created(`[`+question+`,`+question+`]`, `{}`)},
		{"a schema of zod's", asked(`"Hi"`, `"text":{"format":{"type":"json_schema","name":"place","strict":true,"schema":`+former+`}}`), created(hi, `{"output_schema":`+renewed+`}`)},
		{"a strict tool of zod's", asked(`"Hi"`, `"tools":[{"type":"function","name":"f","strict":true,"parameters":`+former+`}]`), created(hi, `{"tools":[{"name":"f","parameters":`+renewed+`,"strict":true}]}`)},
		{"a schema", asked(`"Hi"`, `"text":{"format":{"type":"json_schema","name":"place","strict":true,"schema":`+schema+`}}`), created(hi, `{"output_schema":`+schema+`}`)},
	} {
		t.Run(tt.name, func(t *testing.T) {
			c, err := openai.Responses(find(t))([]byte(tt.request))
			if err != nil {
				t.Fatal(err)
			}
			check(t, c, tt.want)
			if c.Stream || c.Background || c.Model != "text.chat" || c.Base != "text.chat" {
				t.Errorf("the call is %+v", c)
			}
		})
	}
	c, err := openai.Responses(nil)([]byte(asked(`"Hi"`, `"background":true,"stream":true,"store":true`)))
	if err != nil || !c.Background || !c.Stream {
		t.Errorf("in the background: %+v, %v", c, err)
	}
	if _, err := openai.Responses(find(t))([]byte(asked(`[{"type":"item_reference","id":"msg_` + strings.Repeat("1", 26) + `"}]`))); fault.CodeOf(err) != fault.Internal {
		t.Errorf("a store that can't be read: %v", err)
	}
}

// responseRefusals are requests and what is wrong with them: the first member at fault, and the message.
var responseRefusals = []struct{ request, param, message string }{
	{`{}`, "model", "model is required; input is required"},
	{asked(`5`), "input", "input must be a text or a list"},
	{asked(`"Hi"`, `"messages":[]`), "messages", "messages is not known here"},
	{asked(`"Hi"`, `"previous_response_id":"resp_1"`), "previous_response_id", "previous_response_id is not taken: the service keeps no input; send the whole conversation as input"},
	{asked(`"Hi"`, `"truncation":"auto"`), "truncation", `truncation can't be honoured here; only "disabled" is taken`},
	{asked(`"Hi"`, `"max_tool_calls":2`), "max_tool_calls", "max_tool_calls can't be honoured here; leave it out"},
	{asked(`"Hi"`, `"background":true,"store":false`), "store", "store can't be false beside background"},
	{asked(`"Hi"`, `"store":1`), "store", "store must be true or false"},
	{asked(`"Hi"`, `"stream_options":{"include_obfuscation":true}`), "stream_options.include_obfuscation", "stream_options.include_obfuscation can't be honoured here; only false is taken"},
	{asked(`"Hi"`, `"include":["reasoning.encrypted_content","message.output_text.logprobs"]`), "include[1]", "include[1] can't be honoured here; only reasoning.encrypted_content and web_search_call.action.sources are taken"},
	{asked(`"Hi"`, `"reasoning":{"summary":"detailed"}`), "reasoning.summary", `reasoning.summary can't be honoured here; only "auto" is taken`},
	{asked(`"Hi"`, `"text":{"format":{"type":"json"}}`), "text.format.type", "text.format.type must be text, json_schema or json_object"},
	{asked(`"Hi"`, `"text":{"format":{"type":"json_object","schema":{}}}`), "text.format.schema", "text.format.schema is not known here"},
	{asked(`"Hi"`, `"text":{"verbosity":"low"}`), "text.verbosity", `text.verbosity can't be honoured here; only "medium" is taken`},
	{asked(`"Hi"`, `"text":{"format":{"type":"json_schema","name":"a"}}`), "text.format.schema", "text.format.schema is required"},
	{asked(`"Hi"`, `"tools":[{"type":"custom","name":"a"}]`), "tools[0].type", "tools[0].type must be function, web_search or web_search_preview"},
	{asked(`"Hi"`, `"tools":[{"type":"function","name":"f","strict":1}]`), "tools[0].strict", "tools[0].strict must be true or false"},
	{asked(`"Hi"`, `"tools":[{"type":"web_search","user_location":{"type":"approximate"}}]`), "tools[0].user_location", "tools[0].user_location can't be honoured here; leave it out"},
	{asked(`"Hi"`, `"tools":[{"type":"web_search"}],"tool_choice":"required"`), "tool_choice", "tool_choice must be auto or none beside web_search"},
	{asked(`"Hi"`, `"tool_choice":"required"`), "tool_choice", "tool_choice names a tool that isn't offered"},
	{asked(`"Hi"`, `"tool_choice":{"type":"web_search_preview"}`), "tool_choice.type", "tool_choice.type must be function"},
	{asked(`"Hi"`, `"tool_choice":{"type":"function","name":"none"}`), "tool_choice.name", "tool_choice.name is no tool's name here"},
	{asked(`["Hi"]`), "input[0]", "input[0] must be an object"},
	{asked(`[{"content":"Hi"}]`), "input[0].type", "input[0].type is required"},
	{asked(`[{"role":"tool","content":"Hi"}]`), "input[0].role", "input[0].role must be one of user, assistant, system and developer"},
	{asked(`[{"role":"user","name":"Ada","content":"Hi"}]`), "input[0].name", "input[0].name is not known here"},
	{asked(`[{"type":"computer_call","id":"c"}]`), "input[0].type", "input[0].type must be one of message, function_call, function_call_output, reasoning, web_search_call and item_reference"},
	{asked(`[{"role":"user","content":[{"type":"text","text":"Hi"}]}]`), "input[0].content[0].type", "input[0].content[0].type must be one of input_text, output_text, input_image, input_audio and input_file"},
	{asked(`[{"role":"user","content":[{"type":"input_image","file_id":"f"}]}]`), "input[0].content[0].file_id", "input[0].content[0].file_id is not taken; send the image as image_url; input[0].content[0].image_url is required"},
	{asked(`[{"type":"item_reference","id":"msg_` + kept + `"},{"role":"user","content":"a"},{"type":"item_reference","id":"msg_` + kept + `"}]`), "input[2].id", "input[2].id names an item that another one names already"},
	{asked(`[{"type":"item_reference","id":"msg_1"}]`), "input[0].id", "input[0].id names no item of a response that is kept; send the item itself"},
	{asked(`[{"type":"item_reference","id":"msg_` + strings.Repeat("2", 26) + `"}]`), "input[0].id", "input[0].id names no item of a response that is kept; send the item itself"},
	{asked(`[{"type":"item_reference","id":"fc_` + kept + `_7"}]`), "input[0].id", "input[0].id names no item of its response"},

	// What the directory refuses, in the caller's own terms.
	{asked(`""`), "input", "input must not be blank"},
	{asked(`"Hi"`, `"instructions":5`), "instructions", "instructions must be a string"},
	{asked(`"Hi"`, `"max_output_tokens":0,"reasoning":{"effort":"minimal"}`), "max_output_tokens", "max_output_tokens must be at least 1; reasoning.effort must be one of none, low, medium, high"},
	{asked(`"Hi"`, `"tools":[{"type":"web_search"},{"type":"function","name":"a b"}]`), "tools[1].name", "tools[1].name must be at most 64 letters, digits, _ and -, the first a letter or _"},
	{asked(`"Hi"`, `"text":{"format":{"type":"json_schema","schema":{"type":"object","properties":{},"required":[]}}}`), "text.format.schema.additionalProperties", "text.format.schema.additionalProperties must be false"},
	{
		asked(`[` + question + `,{"type":"reasoning","id":"rs_1","summary":[],"encrypted_content":"a="},{"role":"assistant","content":[{"type":"output_text","text":"a"},{"type":"output_text","text":""}]}]`), "input[2].content[1].text",
		"input[2].content[1].text must not be blank; input[1].encrypted_content must be a state as an earlier task's output has it",
	},
	{asked(`[` + question + `,` + silent + `,{"role":"user","content":""}]`), "input[4].content", "input[4].content must not be blank"},
	{asked(`[` + question + `,{"type":"function_call","call_id":"call 1","name":"","arguments":"{}"}]`), "input[1].call_id", "input[1].call_id must be at most 64 letters, digits, _ and -; input[1].name must not be empty"},
	{asked(`[` + question + `,{"type":"function_call_output","call_id":"call_1","output":"rain"}]`), "input[1].call_id", "input[1].call_id must be the id of a tool call in the assistant's message before it that has no result yet"},
	{
		asked(`[{"role":"user","content":[{"type":"input_file","file_data":"data:image/png;base64,AAAA"},{"type":"input_image","image_url":"ftp://a.example"}]}]`), "input[0].content[0].file_data",
		"input[0].content[0].file_data must be one of application/pdf, text/plain, text/markdown; input[0].content[1].image_url must be an http or https address",
	},
}

// TestRefuseResponses holds that each refusal names the caller's own member, whether this package or the directory
// refuses.
func TestRefuseResponses(t *testing.T) {
	for _, tt := range responseRefusals {
		c, err := openai.Responses(find(t))([]byte(tt.request))
		if err == nil {
			r, refused := catalog.Decode(c.Body, catalog.Limits{})
			if refused == nil {
				refused = directory(t).Validate(r)
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
}

// TestUnhonoured: the gateway's refusal of a request's form of an answer names the member that asks for it.
func TestUnhonoured(t *testing.T) {
	refused := fault.New(fault.InvalidRequest, "no route can honour parameters.output_schema").
		WithDetails(fault.Detail{Field: "parameters.output_schema", Message: "can't be honoured with this value"})
	of := `{"type":"json_schema","name":"a","schema":` + schema + `}`
	for _, tt := range []struct {
		read          openai.Reader
		request, want string
	}{
		{openai.Chat, user(`"Hi"`, `"response_format":{"type":"json_object"}`), "response_format"},
		{openai.Chat, user(`"Hi"`, `"response_format":{"type":"json_schema","json_schema":{"name":"a","schema":`+schema+`}}`), "response_format.json_schema.schema"},
		{openai.Responses(nil), asked(`"Hi"`, `"text":{"format":{"type":"json_object"}}`), "text.format"},
		{openai.Responses(nil), asked(`"Hi"`, `"text":{"format":`+of+`}`), "text.format.schema"},
	} {
		c, err := tt.read([]byte(tt.request))
		if err != nil {
			t.Fatal(err)
		}
		if e := c.Explain(refused); e.Message != "no route can honour "+tt.want || e.Details[0].Field != tt.want {
			t.Errorf("%s: %q, %+v; want %s", tt.request, e.Message, e.Details, tt.want)
		}
	}
}

// TestRetrieval reads the query strings of retrievals.
func TestRetrieval(t *testing.T) {
	for query, want := range map[string]string{
		"":                                       "",
		"stream=true":                            "stream",
		"stream=false&include_obfuscation=false": "",
		"include[]=reasoning.encrypted_content&include[]=message.output_text.logprobs": "include[1] can't be honoured here; only reasoning.encrypted_content and web_search_call.action.sources are taken",
		"include=reasoning.encrypted_content":                                          "",
		"starting_after=3":                                                             "starting_after is not taken: a stream is told from its start",
		"include_obfuscation=true":                                                     "include_obfuscation can't be honoured here; only false is taken",
		"stream=maybe":                                                                 "stream must be true or false",
		"after=1":                                                                      "after is not known here",
		"%zz":                                                                          "the query string is malformed",
	} {
		stream, err := openai.Retrieval(query)
		got := ""
		if stream {
			got = "stream"
		}
		if err != nil {
			got = fault.From(err).Message
		}
		if got != want {
			t.Errorf("%q: %q", query, got)
		}
	}
}

// FuzzTranslateResponses holds that any body is refused in words, or becomes a creation that can be decoded and whose
// errors name members of the body.
func FuzzTranslateResponses(f *testing.F) {
	for _, tt := range responseRefusals {
		f.Add([]byte(tt.request))
	}
	f.Add([]byte(asked(`[` + question + `,{"type":"reasoning","id":"rs_` + kept + `","summary":[],"encrypted_content":"a"},{"type":"item_reference","id":"fc_` + kept + `"}]`)))
	f.Add([]byte(asked(`"\ud83d\ude00"`, `"tools":[{"type":"web_search"}],"text":{"format":{"type":"json_schema","schema":{}}}`)))
	found := find(f)
	f.Fuzz(func(t *testing.T, body []byte) {
		given := bytes.Clone(body)
		c, err := openai.Responses(found)(body)
		if err != nil {
			if e := fault.From(err); e.Code != fault.InvalidRequest && !bytes.Contains(body, []byte("1111")) || e.Code == fault.InvalidRequest && len(e.Details) == 0 {
				t.Fatalf("%q: %v", body, err)
			}
			return
		}
		if !bytes.Equal(given, body) {
			t.Fatal("the body was changed")
		}
		r, refused := catalog.Decode(c.Body, catalog.Limits{})
		if refused != nil {
			t.Fatalf("%q: %v", c.Body, refused)
		}
		if string(r.Capability) != c.Model {
			t.Fatalf("the capability is %q, the model %q", r.Capability, c.Model)
		}
		if refused := directory(t).Validate(r); refused != nil {
			e := c.Explain(refused)
			if len(e.Details) == 0 {
				t.Fatalf("%q: %v", c.Body, e)
			}
			for _, d := range e.Details {
				if name, _, _ := strings.Cut(strings.NewReplacer("[", ".").Replace(d.Field), "."); !bytes.Contains(body, []byte(name)) && name != "tools" {
					t.Fatalf("%q: %v", body, d)
				}
			}
		}
	})
}

// TestReferencesAreBounded: the items that a request refers to are looked for, and taken, up to a bound.
func TestReferencesAreBounded(t *testing.T) {
	large := withOutput(t, task.Parts{Text: new(strings.Repeat("a", 1<<20)), FinishReason: "stop"})
	for _, tt := range []struct {
		references, finds int
		problem           string
	}{
		{9, 9, "is one item too many: those referred to are larger than 8 MiB together"},
		{300, 256, "names no item of a response that is kept; send the item itself"},
	} {
		finds := 0
		find := func(string) (*task.Task, error) {
			if finds++; tt.references > 9 {
				return nil, fault.New(fault.NotFound, "there is no such task")
			}
			return large, nil
		}
		items := []string{question}
		for i := range tt.references {
			items = append(items, fmt.Sprintf(`{"type":"item_reference","id":"msg_%026d"}`, i), `{"role":"user","content":"a"}`)
		}
		_, err := openai.Responses(find)([]byte(asked(`[` + strings.Join(items, ",") + `]`)))
		if err == nil || !strings.Contains(err.Error(), tt.problem) || finds != tt.finds {
			t.Errorf("%d references: %d were looked for, %v", tt.references, finds, err)
		}
	}
}
