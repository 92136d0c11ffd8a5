package openai_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"unitask/internal/supplier/openai"
)

// usual are answers, and pieces of them, that are read in the quick way; the others aren't.
var (
	usual = []string{
		chatAnswer, usualAnswer, `{}`, `{"choices":[]}`, `{"choices":[{}],"usage":null}`,
		chunk(`[{"index":0,"delta":{"role":"assistant","content":"a\nb\u00e9é"},"finish_reason":null}],"usage":{"cost":"x"}`),
		chunk(`[{"index":0,"message":{"content":null,"refusal":"no","annotations":[]},"finish_reason":"length","error":{"code":1},"logprobs":{"content":[]}}]`),
	}
	unusual = []string{
		``, `null`, `[]`, `<html>`, `{`, `{"error":null}`, `{"object":"error"}`, `{"object":null}`, `{"object":1}`, `{"choices":null}`, `{"choices":[null]}`,
		`{"choices":[{},{}]}`, `{"choices":[{}],"choices":[{"message":{"content":"a"}}]}`, `{"choices":[{}],"Choices":[]}`, `{"choices":[{"message":null}]}`,
		`{"choices":[{"message":{"content":[{"type":"text","text":"a"}]}}]}`, `{"choices":[{"message":{"content":"a","CONTENT":"b"}}]}`,
		`{"choices":[{"message":{"content":1}}]}`, `{"choices":[{"finishReason":"length"}]}`, `{"choices":[{"finish_reason":1}]}`,
		"{\"choices\":[{\"message\":{\"content\":\"\xff\"}}]}", "{\"id\":\"\\ud800\"}", `{"choices":[{}]}x`, `{"choices":[{}]`, `{"choices":[{}],}`,
	}
)

func TestScanAnswer(t *testing.T) {
	for _, body := range usual {
		if _, ok := openai.ScanAnswer([]byte(body)); !ok {
			t.Errorf("%s isn't read in the quick way", body)
		}
	}
	for _, body := range unusual {
		if _, ok := openai.ScanAnswer([]byte(body)); ok {
			t.Errorf("%s is read in the quick way", body)
		}
	}
}

// FuzzScanAnswer: what is read in the quick way is read the same in the other.
func FuzzScanAnswer(f *testing.F) {
	for _, body := range append(usual, unusual...) {
		f.Add([]byte(body))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		got, ok := openai.ScanAnswer(body)
		if !ok {
			return
		}
		want, err := openai.DecodeAnswer(body)
		if diff := cmp.Diff(want, got); err != nil || diff != "" {
			t.Errorf("%s: %v (-want +got)\n%s", body, err, diff)
		}
	})
}

// FuzzScanReport: the same of usage reports.
func FuzzScanReport(f *testing.F) {
	for _, report := range []string{
		`{"prompt_tokens":9,"completion_tokens":2,"total_tokens":11,"completion_tokens_details":{"reasoning_tokens":0}}`,
		`{"input_tokens":1e3,"output_tokens":[2],"seconds":"3","cost":0.1}`, `{"prompt_tokens":1,"prompt_tokens":2}`, `{"promptTokens":1}`, `{"Cost":1}`, `[]`, `null`, ``, `{`,
	} {
		f.Add([]byte(report))
	}
	f.Fuzz(func(t *testing.T, report []byte) {
		got, ok := openai.ScanReport(report)
		if diff := cmp.Diff(openai.DecodeReport(report), got); ok && diff != "" {
			t.Errorf("%s (-want +got)\n%s", report, diff)
		}
	})
}
