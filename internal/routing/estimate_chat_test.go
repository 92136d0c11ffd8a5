package routing_test

import (
	"strings"
	"testing"

	"unitask/internal/catalog"
	"unitask/internal/routing"
)

// TestEstimateOfChatMedia counts media by what they are, and not by the letters that stand for them.
func TestEstimateOfChatMedia(t *testing.T) {
	const sight, pdf = 49_152, 1 << 20
	long := strings.Repeat("AAAA", 100_000)
	for _, tt := range []struct {
		name, parts string
		media       int
		want        int // tokens beyond the bytes around the media's data
	}{
		{"no media", `{"text":"a","type":"text"}`, 0, 0},
		{"an image elsewhere", `{"image":{"url":"https://a.example"},"type":"image"}`, 1, sight},
		{"two images", `{"image":{"content_type":"image/png","data":"` + long + `"},"type":"image"},{"image":{"artifact":"art_12345678"},"type":"image"}`, 2, 2 * sight},
		{"a small recording", `{"audio":{"content_type":"audio/wav","data":"AAAA"},"type":"audio"}`, 1, 50},
		{"a recording", `{"audio":{"content_type":"audio/wav","data":"` + long + `"},"type":"audio"}`, 1, 15_050},
		{"a recording elsewhere", `{"audio":{"url":"https://a.example"},"type":"audio"}`, 1, 1 << 19},
		{"a PDF", `{"document":{"content_type":"application/pdf","data":"` + long + `"},"type":"document"}`, 1, pdf},
		{"a document elsewhere", `{"document":{"url":"https://a.example"},"type":"document"}`, 1, pdf},
		{"a text", `{"document":{"content_type":"text/plain","data":"AAAA"},"type":"document"}`, 1, 4},
	} {
		input := `{"messages":[{"content":"hello","role":"user"},{"content":[` + tt.parts + `],"role":"user"}]}`
		around := len(strings.NewReplacer(long, "", "AAAA", "").Replace(input))
		got := routing.Estimate(catalog.Capability{Name: catalog.TextChat}, tt.media, []byte(input), []byte(`{}`)).InputTokens
		if want := int64(around + tt.want); got != want {
			t.Errorf("%s: got %d tokens, want %d", tt.name, got, want)
		}
	}
}
