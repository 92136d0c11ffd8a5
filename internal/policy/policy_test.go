package policy_test

import (
	"encoding/json"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"unitask/internal/catalog"
	"unitask/internal/fault"
	"unitask/internal/policy"
	"unitask/internal/task"
)

func capability(t *testing.T, name catalog.Name) catalog.Capability {
	t.Helper()
	c, err := catalog.Default()
	if err != nil {
		t.Fatal(err)
	}
	entry, ok := c.Get(name)
	if !ok {
		t.Fatalf("no capability %s", name)
	}
	return entry
}

// TestRefuse: a text is refused exactly if one of the rules for its capability matches it, wherever in the
// input it stands.
func TestRefuse(t *testing.T) {
	words := []string{"tea", "Tea", "towel", "te", "a towel and tea", ""}
	rules := []policy.Rule{
		{Name: "tea", Pattern: regexp.MustCompile(`tea`)},
		{Name: "towel", Pattern: regexp.MustCompile(`(?i)TOWEL`), Capabilities: []string{"text.embed"}},
		{Name: "image", Pattern: regexp.MustCompile(`.`), Capabilities: []string{"image.*"}},
	}
	p := &policy.Policy{Rules: rules}
	entry := capability(t, "text.embed")
	rapid.Check(t, func(r *rapid.T) {
		texts := rapid.SliceOfN(rapid.SampledFrom(words), 0, 40).Draw(r, "texts")
		input, err := json.Marshal(map[string]any{"texts": texts})
		if err != nil {
			r.Fatal(err)
		}
		var fields, names []string
		for i, text := range texts {
			switch {
			case len(fields) == 20:
			case strings.Contains(text, "tea"):
				fields, names = append(fields, field(i)), append(names, "tea")
			case strings.Contains(text, "towel"):
				fields, names = append(fields, field(i)), append(names, "towel")
			}
		}
		got := p.Refuse(entry, input)
		if (got == nil) != (len(fields) == 0) {
			r.Fatalf("%q: %+v, want the fields %v", texts, got, fields)
		}
		if got == nil {
			return
		}
		var named []string
		for _, d := range got.Fault.Details {
			named = append(named, d.Field)
		}
		if !slices.Equal(named, fields) || !slices.Equal(got.Rules, names) || got.Fault.Code != fault.ContentPolicyViolation {
			r.Errorf("%q: %+v by %v, want %v by %v", texts, got.Fault, got.Rules, fields, names)
		}
	})
}

func field(i int) string {
	raw, _ := json.Marshal(i)
	return "input.texts." + string(raw)
}

// TestNothingRefuses: without rules all content is accepted, and no supplier is asked.
func TestNothingRefuses(t *testing.T) {
	entry := capability(t, "text.chat")
	for _, p := range []*policy.Policy{nil, {}} {
		if p.Refuse(entry, json.RawMessage(`{"prompt":"tea"}`)) != nil || p.ModerationFor(task.Live, entry) != nil {
			t.Errorf("%+v takes not everything", p)
		}
	}
	p := &policy.Policy{Moderation: &policy.Moderation{Capabilities: []string{"text.*"}}}
	for _, tt := range []struct {
		mode task.Mode
		name catalog.Name
		want bool
	}{{task.Live, "text.chat", true}, {task.Test, "text.chat", false}, {task.Live, "image.edit", false}} {
		if got := p.ModerationFor(tt.mode, capability(t, tt.name)) != nil; got != tt.want {
			t.Errorf("%s %s: asked %t, want %t", tt.mode, tt.name, got, tt.want)
		}
	}
}

// TestTiers: a rule, or a moderation, of a capability holds for its tiers too; one of a tier holds for it alone.
func TestTiers(t *testing.T) {
	c, err := catalog.Load([]byte("capabilities: [{name: text.chat.large, extends: text.chat, title: a, description: b}]"))
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		pattern string
		want    map[catalog.Name]bool
	}{
		{"text.chat", map[catalog.Name]bool{"text.chat": true, "text.chat.large": true, "text.embed": false}},
		{"text.chat.large", map[catalog.Name]bool{"text.chat": false, "text.chat.large": true, "text.embed": false}},
		{"text.chat.*", map[catalog.Name]bool{"text.chat": false, "text.chat.large": true, "text.embed": false}},
		{"text.*", map[catalog.Name]bool{"text.chat": true, "text.chat.large": true, "text.embed": true}},
	} {
		p := &policy.Policy{
			Rules:      []policy.Rule{{Name: "tea", Pattern: regexp.MustCompile(`tea`), Capabilities: []string{tt.pattern}}},
			Moderation: &policy.Moderation{Capabilities: []string{tt.pattern}},
		}
		refused, asked := map[catalog.Name]bool{}, map[catalog.Name]bool{}
		for name := range tt.want {
			entry, _ := c.Get(name)
			refused[name] = p.Refuse(entry, json.RawMessage(`{"prompt":"tea"}`)) != nil
			asked[name] = p.ModerationFor(task.Live, entry) != nil
		}
		if diff := cmp.Diff([]any{tt.want, tt.want}, []any{refused, asked}); diff != "" {
			t.Errorf("%s: refused and asked (-want +got):\n%s", tt.pattern, diff)
		}
	}
}

func TestProse(t *testing.T) {
	texts := capability(t, "image.edit").Texts(json.RawMessage(`{"images":[{"url":"https://e.example/"}],"prompt":"p","other":" \n"}`))
	if diff := cmp.Diff([]catalog.Text{{Field: "input.prompt", Text: "p"}}, policy.Prose(texts)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// TestModerationOfTextsToJudge: they may be harmful, unless the operator names that capability.
func TestModerationOfTextsToJudge(t *testing.T) {
	for _, tt := range []struct {
		patterns []string
		want     bool
	}{{nil, false}, {[]string{"image.*"}, false}, {[]string{"text.*"}, true}, {[]string{"text.moderate"}, true}} {
		p := &policy.Policy{Moderation: &policy.Moderation{Capabilities: tt.patterns}}
		if got := p.ModerationFor(task.Live, capability(t, "text.moderate")) != nil; got != tt.want {
			t.Errorf("%q: asked %t", tt.patterns, got)
		}
	}
}
