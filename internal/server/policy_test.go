package server_test

import (
	"net/http"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"unitask/internal/api"
	"unitask/internal/fault"
	"unitask/internal/policy"
)

// ruled is a policy that takes no text about Vogons, and no picture of tea.
var ruled = &policy.Policy{Rules: []policy.Rule{
	{Name: "no-poetry", Pattern: regexp.MustCompile(`(?i)vogon`)},
	{Name: "no-tea", Pattern: regexp.MustCompile(`\btea\b`), Capabilities: []string{"image.*"}},
}}

// TestRulesRefuse holds the operator's rules to the order of checks: after the schema and a person's
// authorization, before anything is recorded. The answer names the field and never the rule.
func TestRulesRefuse(t *testing.T) {
	w := newWorld(t, options{policy: ruled})
	poem := strings.Replace(chat("hello"), `"prompt":"hello"`, `"messages":[{"role":"user","content":"hi"},{"role":"user","content":"a VOGON poem"}]`, 1)
	noPerson := `{"person":"none"}`
	for i, tt := range []struct {
		name, body string
		status     int
		fields     []string
	}{
		{"a prompt", chat("Read me a vogon poem"), 422, []string{"input.prompt"}},
		{"escaped", strings.Replace(chat("x"), `"x"`, `"v\u006fgon"`, 1), 422, []string{"input.prompt"}},
		{"a message among others", poem, 422, []string{"input.messages.1.content"}},
		{"several texts", `{"capability":"text.embed","input":{"texts":["vogon","x","vogons"]}}`, 422, []string{"input.texts.0", "input.texts.2"}},
		{"another capability's rule", chat("a cup of tea"), 200, nil},
		{"its own", image("a cup of tea"), 422, []string{"input.prompt"}},
		{"a member's name", strings.Replace(chat("x"), `"prompt"`, `"vogon"`, 1), 400, []string{"input.prompt", "input.vogon"}},
		{"the schema comes first", `{"capability":"text.chat","input":{"prompt":"vogon","more":1}}`, 400, []string{"input.more"}},
		{"the authorization comes first", portrait("vogon", ""), 403, []string{"input.authorization", "input.authorization"}},
		{"then the rules", portrait("vogon", noPerson), 422, []string{"input.prompt"}},
		{"an address", strings.Replace(portrait("x", noPerson), `{"data":"`+pixel+`","content_type":"image/png"}`, `{"url":"https://vogon.example/a.png"}`, 1), 422, []string{"input.images.0.url"}},
		{"a statement", portrait("x", `{"person":"authorized","statement":"a vogon agreed"}`), 422, []string{"input.authorization.statement"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			key := "refused by rule " + string(rune('a'+i))
			for range 2 { // a refusal is no replay of one
				got := w.post(key, tt.body)
				if got.StatusCode != tt.status {
					t.Fatalf("status %d, want %d: %s", got.StatusCode, tt.status, got.body)
				}
				if tt.status == http.StatusOK {
					return
				}
				e := got.error(t)
				var fields []string
				for _, d := range e.Error.Details {
					fields = append(fields, d.Field)
				}
				if diff := cmp.Diff(tt.fields, fields); diff != "" || e.TaskID != "" || e.Error.Retryable || got.Header.Get(api.HeaderIdempotentReplay) != "" {
					t.Errorf("%s\nfields (-want +got):\n%s", got.body, diff)
				}
				if body := string(got.body); tt.status == 422 && (e.Error.Code != fault.ContentPolicyViolation || strings.Contains(body, "gon") || strings.Contains(body, "no-")) {
					t.Errorf("the answer says too much, or another code: %s", body)
				}
			}
			if fresh := w.post(key, chat("corrected")); fresh.StatusCode != 200 || fresh.Header.Get(api.HeaderIdempotentReplay) != "" {
				t.Errorf("something was recorded: %d %s", fresh.StatusCode, fresh.body)
			}
		})
	}
	log := w.log.String()
	if !strings.Contains(log, `"rules":"no-poetry"`) || strings.Contains(log, "Read me") || strings.Contains(log, "(?i)") {
		t.Error("the log names no rule, or holds a text or a pattern")
	}
}
