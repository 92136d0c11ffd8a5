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
		{"another role", message("model", `"a"`), at("0.role", "must be one of user, assistant, system")},

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

// TestConversationInFastLane: messages of texts don't need the general road, system messages included.
func TestConversationInFastLane(t *testing.T) {
	c := mustGet(t, "text.chat")
	verdicts := mustVerdicts(t, c.InputSchema)
	for messages, want := range map[string]bool{
		message("user", `"a"`): true,
		message("system", `"a"`) + "," + message("user", `"b"`) + "," + message("assistant", `"c"`): true,
		message("user", "["+say+"]"): false, // it is valid
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
