package jq_test

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"unitask/internal/supplier/jq"
)

func TestDecode(t *testing.T) {
	for text, want := range map[string]any{
		`{"a":[1,2.5,"x",true,null],"a":1}`: map[string]any{"a": 1}, ` 7 `: 7, `12345678901234567890`: 12345678901234567890.0, `[]`: []any{}, `1e3`: 1000.0,
	} {
		got, err := jq.Decode([]byte(text))
		if diff := cmp.Diff(want, got); diff != "" || err != nil {
			t.Errorf("%s: %v\n%s", text, err, diff)
		}
	}
	got, err := jq.DecodeWithout([]byte(`{"a":{"b":[1,{"c":2}]},"x~y":3}`), "/a/b/1", "/x~0y")
	if diff := cmp.Diff(map[string]any{"a": map[string]any{"b": []any{1, nil}}, "x~y": nil}, got); diff != "" || err != nil {
		t.Errorf("without: %v\n%s", err, diff)
	}
	for name, text := range map[string]string{
		"empty": "", "html": "<html>", "cut": `{"a":[`, "two": "1 2", "deep": strings.Repeat("[", 200) + strings.Repeat("]", 200),
		"many": "[" + strings.Repeat("0,", 2<<20) + "0]", "a large number": "1e999999",
	} {
		if v, err := jq.Decode([]byte(text)); err == nil || v != nil {
			t.Errorf("%s: got %v, %v", name, v, err)
		}
	}
}

// FuzzRun holds that any program on any value is refused, ends with an error that is known, or gives a result that is
// JSON: it never panics and never hangs.
func FuzzRun(f *testing.F) {
	for _, p := range programs {
		f.Add(p, sample)
	}
	for p := range hostile {
		f.Add(p, `[1]`)
	}
	f.Fuzz(func(t *testing.T, text, input string) {
		v, err := jq.Decode([]byte(input))
		if err != nil {
			return
		}
		if !json.Valid([]byte(strings.ToValidUTF8(input, "?"))) {
			t.Errorf("%q was read as JSON", input)
		}
		program, err := jq.Compile(text)
		if err != nil {
			return
		}
		result, err := program.Run(t.Context(), v)
		if err != nil {
			if own, is := errors.AsType[*jq.Error](err); is && !strings.Contains(strings.Join(program.Errors(), "\x00"), own.Text) {
				t.Errorf("an error %q that isn't the program's", own.Text)
			}
			return
		}
		encoded, err := jq.Encode(result)
		if err != nil || !json.Valid(encoded) {
			t.Errorf("%s gives %v, %v", text, result, err)
		}
	})
}
