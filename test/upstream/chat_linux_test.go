package upstream_test

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"io"
	"maps"
	"net/http"
	"slices"
	"strings"
	"sync"

	"unitask/internal/supplier/anthropic"
	"unitask/internal/supplier/gemini"
	"unitask/internal/supplier/openai"
	"unitask/internal/supplier/openapicheck"
	"unitask/internal/supplier/unitask"
	"unitask/internal/task"
)

// markWord is in each tool, schema, argument, result, thought and JSON of the chats with tools: no operator may see it.
const markWord = "vogon"

const (
	thoughts = "A vogon thought."
	toolName = "find_towel"
	plainID  = "zaphod-beeblebrox-9b" // of a model, as documents have it: in one part of a path
)

// The tool's arguments and the JSON that such a chat is answered with, in the two pieces of a stream.
var (
	arguments = [2]string{`{"towel":"a vogon`, ` argument"}`}
	facts     = [2]string{`{"answer":"a vogon`, ` fact"}`}
)

// richInput has a picture, and a past call with its result.
func richInput() string {
	return `{"messages":[
		{"role":"user","content":[{"type":"text","text":"` + prompt + `"},{"type":"image","image":{"data":"` + pictureText() + `","content_type":"image/png"}}]},
		{"role":"assistant","content":"","tool_calls":[{"id":"call_past","name":"` + toolName + `","arguments":{"towel":"an earlier vogon argument"}}]},
		{"role":"tool","tool_call_id":"call_past","content":"An earlier vogon result."}]}`
}

const richParameters = `{"reasoning":"low","max_output_tokens":4000,
	"tools":[{"name":"` + toolName + `","description":"Looks for a vogon towel.","parameters":{"type":"object","required":["towel"],
		"properties":{"towel":{"type":"string","description":"Which vogon one."}}}}],
	"output_schema":{"type":"object","required":["answer"],"additionalProperties":false,
		"properties":{"answer":{"type":"string","description":"The vogon answer."}}}}`

// richHolds are the parts of the request that each submission holds, in whichever format.
func richHolds() []string {
	return []string{
		prompt, pictureText(), "an earlier vogon argument", "An earlier vogon result.", "Looks for a vogon towel.",
		"Which vogon one.", "The vogon answer.",
	}
}

var pictureText = sync.OnceValue(func() string { return base64.StdEncoding.EncodeToString(picture()) })

// richRows are the failures that these chats are tried with: those at which their adapters have something of the
// request or of the answer in hand.
func richRows() []string {
	return []string{
		"reset after the body", "header hang", "429, Retry-After: 0", "500", "malformed JSON", well, "reset",
		"the connection ends in the middle of an event", "it ends without the format's end", "an event of garbage, and on",
		"an event with an error", "stall",
	}
}

// richChats are chats with tools, a picture, a schema and thoughts, in each format: answered with a tool call, and with
// JSON.
func richChats() []dialect {
	var all []dialect
	for _, calls := range []bool{true, false} {
		d := dialect{
			capability: "text.chat", input: richInput(), parameters: richParameters, model: plainID, unit: task.PerMillionTokens,
			phases: []phase{submit, streamed, opening, middle}, phaseOf: onlySubmit, trouble: events(denied), rows: richRows(),
			holds: richHolds(), private: markWord, answers: ": JSON", says: [2]string{thoughts + facts[0], facts[1]},
		}
		whole := strings.Join(facts[:], "")
		d.brings = &task.Parts{Text: &whole, Data: []byte(whole), Reasoning: thoughts, FinishReason: "stop"}
		if calls {
			d.answers, d.says = ": a tool call", [2]string{thoughts + arguments[0], arguments[1]}
			call := task.ToolCall{Name: toolName, Arguments: []byte(strings.Join(arguments[:], ""))}
			d.brings = &task.Parts{Text: new(string), ToolCalls: []task.ToolCall{call}, Reasoning: thoughts, FinishReason: "tool_calls"}
		}
		all = append(all, completionsRich(d), responsesRich(d), anthropicRich(d), geminiRich(d), unitaskRich(d))
	}
	return all
}

// calls reports whether the answer is a tool call.
func (d dialect) calls() bool { return d.brings != nil && len(d.brings.ToolCalls) > 0 }

// pick returns the form of an answer that is a tool call, or JSON.
func (d dialect) pick(call, json string) string {
	if d.calls() {
		return call
	}
	return json
}

// also returns options with more of them.
func also(options map[string]string, name, value string) map[string]string {
	all := maps.Clone(options)
	all[name] = value
	return all
}

func openaiRich(d dialect) dialect {
	d.kind, d.base = openai.Kind(), "/v1"
	d.options = map[string]string{openai.OptionFeatures: "tools json_schema images reasoning"}
	return d
}

func completionsRich(d dialect) dialect {
	d = openaiRich(d)
	d.about, d.holds = " by chat completions", append(slices.Clip(d.holds), `"reasoning_effort":"low"`)
	call := func(head, name, arguments string) string {
		return fmt.Sprintf(`"tool_calls":[{%s"function":{%s"arguments":%q}}]`, head, name, arguments)
	}
	const id, name = `"index":0,"id":"call_zarquon","type":"function",`, `"name":"` + toolName + `",`
	content := func(s string) string { return fmt.Sprintf(`"content":%q`, s) }
	d.answer = func(w http.ResponseWriter, _ *http.Request, _ *fakeSupplier) {
		say(w, `{"model":%q,"choices":[{"message":{"role":"assistant","reasoning_content":%q,%s},"finish_reason":%q}],
			"usage":{"prompt_tokens":10,"completion_tokens":10}}`, plainID, thoughts,
			d.pick(call(id, name, strings.Join(arguments[:], "")), content(strings.Join(facts[:], ""))), d.brings.FinishReason)
	}
	delta := func(s string) string { return `{"choices":[{"delta":{` + s + `}}]}` }
	d.stream = parts{
		events(fmt.Sprintf(`{"model":%q,"choices":[{"delta":{"role":"assistant","content":""}}]}`, plainID)),
		events(delta(fmt.Sprintf(`"reasoning_content":%q`, thoughts)), delta(d.pick(call(id, name, arguments[0]), content(facts[0])))),
		events(delta(d.pick(call(`"index":0,`, "", arguments[1]), content(facts[1]))), fmt.Sprintf(`{"choices":[{"delta":{},"finish_reason":%q}]}`, d.brings.FinishReason)),
		events(`{"choices":[],"usage":{"prompt_tokens":10,"completion_tokens":10}}`, "[DONE]"),
	}
	return d
}

func responsesRich(d dialect) dialect {
	d = openaiRich(d)
	d.about, d.holds = " by the Responses API", append(slices.Clip(d.holds), `"effort":"low"`)
	d.options = also(d.options, openai.OptionChatAPI, "responses")
	thought := fmt.Sprintf(`{"type":"reasoning","id":"rs_zarquon","summary":[{"type":"summary_text","text":%q}],"encrypted_content":"emFycXVvbg=="}`, thoughts)
	item := func(call, text string) string {
		return d.pick(fmt.Sprintf(`{"type":"function_call","id":"fc_zarquon","call_id":"call_zarquon","name":%q,"arguments":%q}`, toolName, call),
			fmt.Sprintf(`{"type":"message","id":"msg_zarquon","role":"assistant","content":[{"type":"output_text","text":%q}]}`, text))
	}
	whole := item(strings.Join(arguments[:], ""), strings.Join(facts[:], ""))
	response := fmt.Sprintf(`{"id":"resp_zarquon","object":"response","model":%q,"status":"completed","error":null,"output":[%s,%s],
		"usage":{"input_tokens":10,"output_tokens":10}}`, plainID, thought, whole)
	d.answer = func(w http.ResponseWriter, _ *http.Request, _ *fakeSupplier) { say(w, "%s", response) }
	event := func(kind, more string) string { return `{"type":"response.` + kind + `",` + more + `}` }
	piece := func(i int) string {
		return d.pick(event("function_call_arguments.delta", fmt.Sprintf(`"output_index":1,"delta":%q`, arguments[i])),
			event("output_text.delta", fmt.Sprintf(`"output_index":1,"content_index":0,"delta":%q`, facts[i])))
	}
	line := strings.Join(strings.Fields(response), " ")
	d.stream = parts{
		events(event("created", `"response":{"id":"resp_zarquon","status":"in_progress","error":null}`)),
		events(event("reasoning_summary_text.delta", fmt.Sprintf(`"output_index":0,"summary_index":0,"delta":%q`, thoughts)),
			event("output_item.done", `"output_index":0,"item":`+thought), event("output_item.added", `"output_index":1,"item":`+item("", "")), piece(0)),
		events(piece(1), event("output_item.done", `"output_index":1,"item":`+whole)),
		events(event("completed", `"response":`+line)),
	}
	return d
}

// anthropicRich asks a model that thinks between calls whose thoughts aren't known, as the past one's.
func anthropicRich(d dialect) dialect {
	d.kind, d.model, d.holds = anthropic.Kind(), "claude-sonnet-4-6", append(slices.Clip(d.holds), `"effort":"low"`)
	reason := d.pick("tool_use", "end_turn")
	d.answer = func(w http.ResponseWriter, _ *http.Request, _ *fakeSupplier) {
		say(w, `{"id":%q,"type":"message","role":"assistant","model":%q,"content":[{"type":"thinking","thinking":%q,"signature":"zarquon"},%s],
			"stop_reason":%q,"usage":{"input_tokens":10,"output_tokens":10}}`, jobID, plainID, thoughts,
			d.pick(fmt.Sprintf(`{"type":"tool_use","id":"toolu_zarquon","name":%q,"input":%s}`, toolName, strings.Join(arguments[:], "")),
				fmt.Sprintf(`{"type":"text","text":%q}`, strings.Join(facts[:], ""))), reason)
	}
	piece := func(i int) string {
		return `{"type":"content_block_delta","index":1,"delta":` + d.pick(fmt.Sprintf(`{"type":"input_json_delta","partial_json":%q}`, arguments[i]),
			fmt.Sprintf(`{"type":"text_delta","text":%q}`, facts[i])) + `}`
	}
	d.stream = parts{
		events(fmt.Sprintf(`{"type":"message_start","message":{"id":%q,"model":%q,"usage":{"input_tokens":10,"output_tokens":1}}}`, jobID, plainID),
			`{"type":"content_block_start","index":0,"content_block":{"type":"thinking","thinking":"","signature":""}}`),
		events(fmt.Sprintf(`{"type":"content_block_delta","index":0,"delta":{"type":"thinking_delta","thinking":%q}}`, thoughts),
			`{"type":"content_block_delta","index":0,"delta":{"type":"signature_delta","signature":"zarquon"}}`, `{"type":"content_block_stop","index":0}`,
			`{"type":"content_block_start","index":1,"content_block":`+d.pick(`{"type":"tool_use","id":"toolu_zarquon","name":"`+toolName+`","input":{}}`, `{"type":"text","text":""}`)+`}`,
			piece(0)),
		events(piece(1), `{"type":"content_block_stop","index":1}`, fmt.Sprintf(`{"type":"message_delta","delta":{"stop_reason":%q},"usage":{"output_tokens":10}}`, reason)),
		events(`{"type":"message_stop"}`),
	}
	return d
}

// geminiRich has its calls whole: the first piece of one is thoughts alone.
func geminiRich(d dialect) dialect {
	d.kind, d.holds = gemini.Kind(), append(slices.Clip(d.holds), `"thinkingLevel":"LOW"`)
	thought := fmt.Sprintf(`{"text":%q,"thought":true}`, thoughts)
	text := func(s string) string { return fmt.Sprintf(`{"text":%q}`, s) }
	call := fmt.Sprintf(`{"functionCall":{"id":"zarquon","name":%q,"args":%s},"thoughtSignature":"emFycXVvbg=="}`, toolName, strings.Join(arguments[:], ""))
	event := func(parts, more string) string {
		return fmt.Sprintf(`{"candidates":[{"content":{"parts":[%s],"role":"model"}%s}],"modelVersion":%q,"usageMetadata":{"promptTokenCount":10,"candidatesTokenCount":6,"thoughtsTokenCount":4}}`,
			parts, more, plainID)
	}
	const stop = `,"finishReason":"STOP"`
	whole := event(thought+","+d.pick(call, text(strings.Join(facts[:], ""))), stop)
	d.answer = func(w http.ResponseWriter, _ *http.Request, _ *fakeSupplier) { say(w, "%s", whole) }
	d.stream = parts{events(fmt.Sprintf(`{"modelVersion":%q}`, plainID)), "", "", ": the end\n\n"}
	if d.calls() {
		d.says = [2]string{thoughts, strings.Join(arguments[:], "")}
		d.stream[1], d.stream[2] = events(event(thought, "")), events(event(call, stop))
	} else {
		d.stream[1], d.stream[2] = events(event(thought, ""), event(text(facts[0]), "")), events(event(text(facts[1]), stop))
	}
	return d
}

func unitaskRich(d dialect) dialect {
	d.kind, d.honours, d.holds = unitask.Kind(), true, append(slices.Clip(d.holds), `"reasoning":"low"`)
	d.trouble = named("task", fmt.Sprintf(`{"id":%q,"state":"failed","error":{"code":"INTERNAL","message":%q}}`, jobID, leak))
	whole := strings.Join(facts[:], "")
	output := fmt.Sprintf(`"output":{"reasoning":%q,"finish_reason":%q,%s},"usage":{"input_tokens":10,"output_tokens":10}`, thoughts, d.brings.FinishReason,
		d.pick(fmt.Sprintf(`"text":"","tool_calls":[{"id":"call_zarquon","name":%q,"arguments":%s}]`, toolName, strings.Join(arguments[:], "")),
			fmt.Sprintf(`"text":%q,"data":%s`, whole, whole)))
	d.answer = func(w http.ResponseWriter, _ *http.Request, _ *fakeSupplier) {
		say(w, `{"id":%q,"state":"succeeded",%s}`, jobID, output)
	}
	piece := func(i int) string {
		return named("delta", d.pick(fmt.Sprintf(`{"tool_call":{"index":0,"id":"call_zarquon","name":%q,"arguments":%q}}`, toolName, arguments[i]),
			fmt.Sprintf(`{"text":%q}`, facts[i])))
	}
	d.stream = parts{
		named("task", fmt.Sprintf(`{"id":%q,"state":"running"}`, jobID)),
		named("delta", fmt.Sprintf(`{"reasoning":%q}`, thoughts)) + piece(0),
		piece(1) + named("task", fmt.Sprintf(`{"id":%q,"state":"succeeded",%s}`, jobID, output)),
		": the end\n\n",
	}
	return d
}

// published are the suppliers' documents, by the kind.
var published = map[string]func() (*openapicheck.Document, error){
	"openai": document("openai"), "anthropic": document("anthropic"), "gemini": document("gemini"),
}

func document(kind string) func() (*openapicheck.Document, error) {
	return sync.OnceValues(func() (*openapicheck.Document, error) {
		return openapicheck.Load("../../internal/supplier/" + kind + "/testdata/openapi.json")
	})
}

// hold checks that a submission of a chat with tools says all of the request, as its supplier's document has it. Its
// body can be read again.
func (s *fakeSupplier) hold(r *http.Request) {
	if len(s.dialect.holds) == 0 {
		return
	}
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return // its caller has given up
	}
	r.Body = io.NopCloser(bytes.NewReader(body))
	for _, part := range s.dialect.holds {
		if !bytes.Contains(body, []byte(part)) {
			s.t.Errorf("a submission without %q: %.3000s", part, body)
		}
	}
	load, ok := published[s.dialect.kind.Name]
	if !ok {
		return
	}
	d, err := load()
	if err == nil {
		_, err = d.Request(r, body)
	}
	if err != nil {
		s.t.Errorf("not as published: %v", err)
	}
}
