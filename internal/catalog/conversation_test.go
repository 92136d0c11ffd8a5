package catalog_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"unitask/internal/catalog"
	"unitask/internal/fault"
)

const (
	say   = `{"type":"text","text":"a"}`
	photo = `{"type":"image","image":{"url":"https://a.example/a.png"}}`
)

const (
	unanswered = "must be followed by the result of each call, in a message of role tool"
	noCall     = "must be the id of a tool call in the assistant's message before it that has no result yet"
)

// calling is a message with tool calls of these ids; its content may be "".
func calling(content string, ids ...string) string {
	if content != "" {
		content = `"content":` + content + `,`
	}
	var calls []string
	for _, id := range ids {
		calls = append(calls, `{"id":"`+id+`","name":"f","arguments":{}}`)
	}
	return `{"role":"assistant",` + content + `"tool_calls":[` + strings.Join(calls, ",") + `]}`
}

func result(id, content string) string {
	return `{"role":"tool","tool_call_id":"` + id + `","content":` + content + `}`
}

func message(role, content string) string { return `{"role":"` + role + `","content":` + content + `}` }

// TestConversation reports what is wrong with messages at its own path.
func TestConversation(t *testing.T) {
	many := func(part string, n int) string { return "[" + strings.Repeat(part+",", n-1) + part + "]" }
	user := func(parts string) string { return message("user", "["+parts+"]") }
	at := func(field, problem string) []fault.Detail {
		return []fault.Detail{{Field: strings.TrimSuffix("input.messages."+field, "."), Message: problem}}
	}
	for _, tt := range []struct {
		name, messages string
		want           []fault.Detail
	}{
		{"a text", message("user", `"a"`), nil},
		{"parts", user(say + "," + photo + `,{"type":"audio","audio":{"artifact":"art_12345678"}},{"type":"document","document":{"data":"AA==","content_type":"application/pdf"}}`), nil},
		{"markdown", user(`{"type":"document","document":{"data":"AA==","content_type":"text/markdown"}}`), nil},
		{"a photo alone", user(photo), nil},
		{"the assistant's texts", user(say) + "," + message("assistant", "["+say+","+say+"]") + "," + user(say), nil},
		{"systems", message("system", `"a"`) + "," + message("system", "["+say+"]") + "," + message("user", `"b"`), nil},
		{"as many media as may be", message("user", many(photo, 50)) + "," + message("user", many(photo, 50)), nil},

		{"tools", user(say) + "," + calling(`""`, "a", "b") + "," + result("b", `""`) + "," + result("a", "["+say+"]") + "," + message("assistant", `"c"`), nil},
		{"a call alone", user(say) + "," + calling("", "a") + "," + result("a", `" \n"`) + "," + calling(`"b"`, "b") + "," + result("b", `"c"`), nil},
		{"a broken call", user(say) + `,{"role":"assistant","tool_calls":[{"id":"a","name":"f g","arguments":"{","invalid":true}]},` + result("a", `"b"`), nil},
		{"a state", user(say) + `,{"role":"assistant","content":"a","state":"AA-_"},` + user(say), nil},

		{"a call without its result", user(say) + "," + calling("", "a"), at("1.tool_calls", unanswered)},
		{"a result too few", user(say) + "," + calling("", "a", "b") + "," + result("a", `"c"`) + "," + user(say), at("1.tool_calls", unanswered)},
		{"a result too late", user(say) + "," + calling("", "a") + "," + user(say) + "," + result("a", `"c"`), []fault.Detail{
			at("1.tool_calls", unanswered)[0], at("3.tool_call_id", noCall)[0],
		}},
		{"a result twice", user(say) + "," + calling("", "a") + "," + result("a", `"c"`) + "," + result("a", `"c"`), at("3.tool_call_id", noCall)},
		{"the result of no call", user(say) + "," + result("a", `"c"`), at("1.tool_call_id", noCall)},
		{"a result without an id", user(say) + "," + calling("", "a") + "," + message("tool", `"b"`) + "," + result("a", `"c"`), at("2.tool_call_id", "is required")},
		{"a result without content", user(say) + "," + calling("", "a") + `,{"role":"tool","tool_call_id":"a"}`, at("2.content", "is required, unless tool_calls is given")},
		{"an id twice", user(say) + "," + calling("", "a") + "," + result("a", `"c"`) + "," + calling("", "a") + "," + result("a", `"c"`), at("3.tool_calls.0.id", "must be another one than that of any call before")},
		{"a user's call", strings.Replace(calling(`"a"`, "a"), "assistant", "user", 1), at("0.tool_calls", "can't be part of a message of user")},
		{"a user's result", user(say) + "," + calling("", "a") + `,{"role":"user","content":"b","tool_call_id":"a"}`, []fault.Detail{
			at("2.tool_call_id", "can't be part of a message of user")[0], at("1.tool_calls", unanswered)[0],
		}},
		{"a user's state", `{"role":"user","content":"a","state":"AA"}`, at("0.state", "can't be part of a message of user")},
		{"a state that is none", user(say) + `,{"role":"assistant","content":"a","state":"?"},` + user(say), at("1.state", "must be a state as an earlier task's output has it")},
		{"the assistant's blank", user(say) + "," + message("assistant", `"\u3000"`), at("1.content", "must not be blank")},
		{"the assistant's silence", user(say) + `,{"role":"assistant"}`, at("1.content", "is required, unless tool_calls is given")},
		{"arguments that are a list", user(say) + `,{"role":"assistant","tool_calls":[{"id":"a","name":"f","arguments":[]}]},` + result("a", `"b"`), at("1.tool_calls.0.arguments", "must be a string or an object")},
		{"an id of another form", user(say) + `,{"role":"assistant","tool_calls":[{"id":"a b","name":"f","arguments":{}}]}`, at("1.tool_calls.0.id", "must be at most 64 letters, digits, _ and -")},
		{"the tool's photo", user(say) + "," + calling("", "a") + "," + result("a", "["+photo+"]"), at("2.content.0.image", "can't be part of a message of tool")},

		{"no parts", message("user", "[]"), at("0.content", "must not be empty")},
		{"too many parts", message("user", many(say, 65)), at("0.content", "must have at most 64 items")},
		{"a number", message("user", "1"), at("0.content", "must be a string or an array")},
		{"a blank text", message("user", `" "`), at("0.content", "must not be blank")},
		{"a blank part", user(`{"type":"text","text":" "}`), at("0.content.0.text", "must not be blank")},
		{"a part that is a text", user(`"a"`), at("0.content.0", "must be an object")},
		{"no type", user(say + `,{"text":"a"}`), at("0.content.1.type", "is required")},
		{"another type", user(`{"type":"film","film":"a"}`), []fault.Detail{
			{Field: "input.messages.0.content.0.film", Message: "is not a known member"},
			{Field: "input.messages.0.content.0.type", Message: "must be one of text, image, audio, document"},
		}},
		{"no image", user(say + `,{"type":"image"}`), at("0.content.1.image", "is required")},
		{"an image that is a text", user(`{"type":"image","image":"https://a.example"}`), at("0.content.0.image", "must be an object")},
		{"another member", user(`{"type":"image","image":{"url":"https://a.example"},"text":"a"}`), at("0.content.0.text", "is not allowed here")},
		{"a film as an image", user(`{"type":"image","image":{"data":"AA==","content_type":"video/mp4"}}`), at("0.content.0.image.content_type", "must be one of image/png, image/jpeg, image/webp")},
		{"a spreadsheet", user(`{"type":"document","document":{"data":"AA==","content_type":"text/csv"}}`), at("0.content.0.document.content_type", "must be one of application/pdf, text/plain, text/markdown")},
		{"an address of another kind", user(`{"type":"image","image":{"url":"ftp://a.example"}}`), at("0.content.0.image.url", "must be an http or https address")},
		{"another role", message("model", `"a"`), at("0.role", "must be one of user, assistant, system, tool")},

		{"the assistant's photo", user(say) + "," + message("assistant", "["+say+","+photo+"]"), at("1.content.1.image", "can't be part of a message of assistant")},
		{"the system's photo", message("system", "["+photo+"]") + "," + user(say), at("0.content.0.image", "can't be part of a message of system")},
		{"a late system", message("user", `"a"`) + "," + message("system", `"b"`), at("1.role", "can't be system after a message of another role")},
		{"the system alone", message("system", `"a"`), at("", "must have a message of another role than system")},
		{"too many media", message("user", many(photo, 60)) + "," + message("user", many(photo, 41)), at("", "must have at most 100 parts that aren't texts")},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r := mustDecode(t, `{"capability":"text.chat","input":{"messages":[`+tt.messages+`]}}`)
			var got []fault.Detail
			if f := mustDefault(t).Validate(r); f != nil {
				got = f.Details
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("%s (-want +got):\n%s", tt.messages, diff)
			}
		})
	}
}

// TestConversationInFastLane: messages don't need the general road, those of the system and parts included.
func TestConversationInFastLane(t *testing.T) {
	c := mustGet(t, "text.chat")
	verdicts := mustVerdicts(t, c.InputSchema)
	for messages, want := range map[string]bool{
		message("user", `"a"`): true,
		message("system", `"a"`) + "," + message("user", `"b"`) + "," + message("assistant", `"c"`):             true,
		message("user", "["+say+`,{"type":"document","document":{"content_type":"text/plain","data":"YQ=="}}]`): true,
		message("user", "["+say+","+photo+"]"):                                                   false, // it is valid: addresses have a format
		message("user", `[{"type":"image","image":{"content_type":"image/png","data":"YQ=="}}]`): true,
	} {
		r := mustDecode(t, `{"capability":"text.chat","input":{"messages":[`+messages+`]}}`)
		if accepted, valid := verdicts(r.Input); accepted != want || !valid {
			t.Errorf("%s: accepted %v, valid %v", messages, accepted, valid)
		}
	}
}

// TestConversationMedia finds the media of messages, and none in a text that looks like them.
func TestConversationMedia(t *testing.T) {
	c := mustGet(t, "text.chat")
	for messages, want := range map[string][]string{
		message("user", `"\"image\":{}"`): nil,
		message("user", "["+say+"]"):      nil,
		message("user", `"a"`) + "," + message("user", "["+say+`,{"type":"document","document":{"url":"https://a.example"}},`+photo+"]"): {
			"/messages/1/content/2/image", "/messages/1/content/1/document",
		},
	} {
		r := mustDecode(t, `{"capability":"text.chat","input":{"messages":[`+messages+`]}}`)
		got := catalog.MediaPointers(c, r.Input)
		if !slices.Equal(got, want) {
			t.Errorf("%s: got %q, want %q", messages, got, want)
		}
		for _, pointer := range got {
			if kind := c.MediaKind(pointer); !strings.HasSuffix(pointer, "/"+kind) {
				t.Errorf("%s is of kind %q", pointer, kind)
			}
		}
	}
	plain := mustDecode(t, `{"capability":"text.chat","input":{"messages":[`+message("user", `"a"`)+`]}}`).Input
	if n := testing.AllocsPerRun(100, func() { catalog.MediaPointers(c, plain) }); n > 0 {
		t.Errorf("%v allocations to see that a plain chat has no media", n)
	}
	if got := catalog.MediaPointers(c, json.RawMessage(`{"prompt":"\"image\":{}"}`)); got != nil {
		t.Errorf("a prompt has media %q", got)
	}
}
