package upstream_test

import (
	"slices"
	"testing"

	jsonv2 "github.com/go-json-experiment/json"
	"github.com/google/go-cmp/cmp"

	"unitask/internal/supplier"
	"unitask/internal/supplier/upstream"
)

// TestTalk takes the system's texts out of a conversation, and keeps the places of media.
func TestTalk(t *testing.T) {
	type messages = []upstream.ChatMessage
	plain := func(role, text string) upstream.ChatMessage {
		return upstream.ChatMessage{Role: role, Content: upstream.Content{Text: text}}
	}
	for _, tt := range []struct {
		input, system string
		want          messages
		types         []string
	}{
		{`{"prompt":"a"}`, "", messages{plain("user", "a")}, nil},
		{`{"prompt":"\"content\":[","system":"b"}`, "b", messages{plain("user", `"content":[`)}, nil},
		{
			`{"messages":[{"content":"b","role":"system"},{"content":[{"text":"c","type":"text"},{"text":"d","type":"text"}],"role":"system"},{"content":"e","role":"user"}],"system":"a"}`,
			"a\n\nb\n\nc\n\nd",
			messages{{Role: "user", Content: upstream.Content{Text: "e"}, Number: 2}},
			[]string{"text"},
		},
		{
			`{"messages":[{"content":"a","role":"system"},{"content":"b","role":"user"},` +
				`{"content":[{"image":{"url":"x"},"type":"image"},{"text":"c","type":"text"},{"image":{"url":"y"},"type":"image"},{"audio":{},"type":"audio"}],"role":"user"}]}`,
			"a",
			messages{{Role: "user", Content: upstream.Content{Text: "b"}, Number: 1}, {Role: "user", Number: 2, Content: upstream.Content{Parts: []upstream.Part{
				{Type: "image", Media: "/messages/2/content/0/image"},
				{Type: "text", Text: "c"},
				{Type: "image", Media: "/messages/2/content/2/image"},
				{Type: "audio", Media: "/messages/2/content/3/audio"},
			}}}},
			[]string{"image", "text", "audio"},
		},
	} {
		var in upstream.ChatInput
		if err := jsonv2.Unmarshal([]byte(tt.input), &in, jsonv2.RejectUnknownMembers(true)); err != nil {
			t.Fatal(err)
		}
		got, system := in.Talk()
		if diff := cmp.Diff(tt.want, got); diff != "" || system != tt.system {
			t.Errorf("%s: system %q (-want +got):\n%s", tt.input, system, diff)
		}
		if types := upstream.PartTypes(supplier.Request{Input: []byte(tt.input)}); !slices.Equal(types, tt.types) {
			t.Errorf("%s: types %q, want %q", tt.input, types, tt.types)
		}
	}
	for _, input := range []string{`{"messages":[{"content":1}]}`, `{"messages":[{"content":[{"film":{}}]}]}`, `{"messages":[{"content":["a"]}]}`} {
		var in upstream.ChatInput
		if jsonv2.Unmarshal([]byte(input), &in, jsonv2.RejectUnknownMembers(true)) == nil {
			t.Errorf("%s is taken", input)
		}
	}
}
