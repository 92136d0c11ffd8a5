package sandbox_test

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"unitask/internal/supplier"
	"unitask/internal/supplier/sandbox"
)

// hello is the answer to a greeting.
const hello = "Hello! This is the sandbox: it answers without a model, the same way each time."

func TestChat(t *testing.T) {
	t.Parallel()
	text := func(text, reason string, in, out int64) *supplier.Result {
		return &supplier.Result{Text: &text, FinishReason: reason, Usage: supplier.Usage{InputTokens: in, OutputTokens: out}}
	}
	for name, tt := range map[string]struct {
		input, params string
		want          *supplier.Result
	}{
		"greeting":  {`{"prompt":"Say hello"}`, `{}`, text(hello, "stop", 2, 15)},
		"limit":     {`{"prompt":"Say hello"}`, `{"max_output_tokens":4}`, text("Hello! This is the", "length", 2, 4)},
		"limit met": {`{"prompt":"say one two"}`, `{"max_output_tokens":2}`, text("one two", "stop", 3, 2)},
		"stop":      {`{"prompt":"Say hello"}`, `{"stop":["none","sandbox",""," the"]}`, text("Hello! This is", "stop", 2, 3)},
		"sum":       {`{"prompt":"What is 12*7 + 1?"}`, `{}`, text("12*7+1 = 85", "stop", 5, 3)},
		"count":     {`{"prompt":"How many words: one two three"}`, `{}`, text("3 words, 13 characters.", "stop", 6, 5)},
		"object":    {`{"prompt":"upper a"}`, `{"output_schema":{"type":"object"}}`, text(`{"answer":"A"}`, "stop", 2, 2)},
		"sort":      {`{"prompt":"sort: pear apple fig"}`, `{}`, text("apple fig pear", "stop", 4, 3)},
		"lines":     {`{"prompt":"sort\n\npear\napple\nfig\n"}`, `{}`, text("apple fig pear", "stop", 5, 3)},
		"last message of the user": {
			`{"system":"Be brief.","messages":[{"role":"user","content":"upper a"},{"role":"assistant","content":"A"},{"role":"user","content":"reverse abc"},{"role":"assistant","content":"c"}]}`,
			`{}`, text("cba", "stop", 8, 1),
		},
		"anything": {
			`{"prompt":"Describe the harbour of a small town"}`, `{}`,
			text(`This is the sandbox, which answers without a model. You asked: "Describe the harbour of a small town". That is 7 words and 36 characters. It seems to be about describe, harbour, small.`, "stop", 7, 36),
		},
	} {
		got, err := mustNew(t, "sandbox-a", nil).Submit(t.Context(), request("text.chat", tt.input, tt.params))
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if diff := cmp.Diff(supplier.Outcome{Result: tt.want}, got); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
}

func TestStreamDeliversTheText(t *testing.T) {
	t.Parallel()
	a := mustNew(t, "sandbox-a", instant)
	r := request("text.chat", `{"prompt":"Say hello"}`, `{"max_output_tokens":6}`)
	var pieces []string
	got, err := a.(supplier.Streamer).Stream(t.Context(), r, func(d supplier.Delta) { pieces = append(pieces, d.Text) })
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"Hello!", " This", " is", " the", " sandbox:", " it"}, pieces); diff != "" {
		t.Error(diff)
	}
	want, err := a.Submit(t.Context(), r)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestCalculate(t *testing.T) {
	t.Parallel()
	for ask, want := range map[string]string{
		"2+2":                           "2+2 = 4",
		"what is (1 + 2) * -3 ?":        "(1+2)*-3 = -9",
		"1/3":                           "1/3 = 0.333333",
		"0.1+0.2 please":                "0.1+0.2 = 0.3",
		"6×7":                           "6×7 = 42",
		"1/0":                           "",
		"call 555":                      "",
		"((1+2)":                        "",
		"no sum":                        "",
		strings.Repeat("1+", 200) + "1": "",
	} {
		if got := sandbox.Calculate(ask); got != want {
			t.Errorf("%q: %q, want %q", ask, got, want)
		}
	}
}

// FuzzCalculate: whatever is asked, the answer is at most one equation.
func FuzzCalculate(f *testing.F) {
	f.Add("What is 12*7+1?")
	f.Add("-(3.5/2)-((1))")
	f.Fuzz(func(t *testing.T, ask string) {
		if got := sandbox.Calculate(ask); got != "" && strings.Count(got, " = ") != 1 {
			t.Errorf("%q", got)
		}
	})
}

// FuzzTokens: joined, the tokens of a text are that text.
func FuzzTokens(f *testing.F) {
	f.Add("Hello,  extraordinarily long\nworld ")
	f.Fuzz(func(t *testing.T, text string) {
		if got := strings.Join(sandbox.Tokens(text), ""); utf8.ValidString(text) && got != text {
			t.Errorf("%q from %q", got, text)
		}
	})
}
