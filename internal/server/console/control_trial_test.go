package console_test

import (
	"html"
	"regexp"
	"strings"
	"testing"
)

// fieldOf returns the part of the trial's page that belongs to a value.
func fieldOf(t *testing.T, page, wire string) string {
	t.Helper()
	_, rest, ok := strings.Cut(page, ` data-wire="`+wire+`"`)
	if !ok {
		t.Fatalf("no field for %s", wire)
	}
	part, _, _ := strings.Cut(rest, ` data-wire="`)
	return html.UnescapeString(part)
}

// TestTrialControls: a number with two bounds has a slider, unless that had too many steps; few short choices stand
// beside each other; a place for files takes what its field takes.
func TestTrialControls(t *testing.T) {
	w := newWorld(t)
	b := w.member("acme", "member")
	for _, tt := range []struct{ capability, wire, want, not string }{
		{"text.chat", "parameters.temperature", `data-slider min="0" max="2" step="0.02" value="0" aria-label="Temperature, slider"`, ""},
		{"text.chat", "parameters.top_p", `data-slider min="0" max="1" step="0.01"`, ""},
		{"audio.speech", "parameters.speed", `data-slider min="0.25" max="4" step="0.05" value="1"`, ""},
		{"image.generate", "parameters.n", `data-slider min="1" max="4" step="1"`, ""},
		{"image.generate", "parameters.n", `>Number of images</label>`, `="N"`},
		{"text.chat", "parameters.seed", `inputmode="numeric"`, "data-slider"},
		{"text.chat", "parameters.max_output_tokens", `inputmode="numeric"`, "data-slider"},
		{"text.chat", "parameters.reasoning", `role="radiogroup"`, "<select"},
		{"text.chat", "parameters.web_search", `value="true">On</label>`, "<select"},
		{"image.upscale", "parameters.factor", `role="radiogroup"`, "<select"},
		{"image.generate", "parameters.aspect_ratio", "<select", `role="radiogroup"`},
		{"image.generate", "parameters.format", `value="" checked>Default (png)</label>`, "<select"},
		{"image.edit", "input.images", `data-noun="a picture" data-accept="image/png,image/jpeg,image/webp" data-many`, ""},
		{"image.edit", "input.mask", `accept="image/png,image/jpeg,image/webp"`, "multiple"},
		{"image.edit", "input.authorization.evidence", `data-noun="a file" data-accept="" data-many`, "accept=\"image"},
		{"text.chat", "input.messages", `data-drop="input.messages.files"`, "by address"},
	} {
		got := fieldOf(t, b.get("/trial?capability="+tt.capability).body, tt.wire)
		if !strings.Contains(got, tt.want) || tt.not != "" && strings.Contains(got, tt.not) {
			t.Errorf("%s: want %s, and not %q in\n%s", tt.wire, tt.want, tt.not, got)
		}
	}
	if test := b.get("/trial?capability=text.chat").body; regexp.MustCompile(`data-estimates|data-price`).MatchString(test) {
		t.Error("a test run has a price")
	}
}
