package openai_test

import (
	"testing"

	"unitask/internal/door/openai"
	"unitask/internal/task"
)

// FuzzReadParts holds that the fast way to read an output agrees with the plain one wherever it is taken.
func FuzzReadParts(f *testing.F) {
	full, err := task.Parts{Text: new("Hé\n"), Reasoning: "Hm", State: "abc", FinishReason: "stop", ToolCalls: calls, Citations: cited}.Output()
	if err != nil {
		f.Fatal(err)
	}
	f.Add([]byte(full.JSON))
	for _, s := range []string{`{"text":"a","data":{"a":[1]},"finish_reason":"stop"}`, `{"text":null}`, `{"text":5}`, `{"Text":"a"}`, `{"text":"a","text":"b"}`, `{"images":[]}`, `{"text":"\ud800"}`, `[]`} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, output []byte) {
		if fast, plain, taken := openai.ReadParts(output); taken && fast != plain {
			t.Errorf("%s: %s, plainly %s", output, fast, plain)
		}
	})
}
