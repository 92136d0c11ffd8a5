package catalog_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/big"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"unitask/internal/catalog"
	"unitask/internal/fault"
)

func TestDecode(t *testing.T) {
	for _, tt := range []struct {
		name, body string
		want       catalog.Request
	}{
		{
			name: "canonical form",
			body: ` {"input": {"b": 1.0, "a": "\u0041\/"}, "parameters": {"y": 1e2, "x": -0}, "capability": "text.chat"} `,
			want: catalog.Request{
				Capability: "text.chat", Input: json.RawMessage(`{"a":"A/","b":1}`), Parameters: json.RawMessage(`{"x":0,"y":100}`),
			},
		},
		{
			name: "no parameters",
			body: `{"capability":"text.chat","input":{}}`,
			want: catalog.Request{Capability: "text.chat", Input: json.RawMessage(`{}`), Parameters: json.RawMessage(`{}`)},
		},
		{
			name: "numbers at the bounds",
			body: `{"capability":"x","input":{"n":[9007199254740991,-9007199254740991.0,90071992547409910e-1,5e-324,0e99999,0.000]}}`,
			want: catalog.Request{
				Capability: "x", Input: json.RawMessage(`{"n":[9007199254740991,-9007199254740991,9007199254740991,5e-324,0,0]}`),
				Parameters: json.RawMessage(`{}`),
			},
		},
		{
			name: "the same name in different objects",
			body: `{"capability":"x","input":{"a":{"a":1},"b":[{"a":1},{"a":2}],"input":1}}`,
			want: catalog.Request{
				Capability: "x", Input: json.RawMessage(`{"a":{"a":1},"b":[{"a":1},{"a":2}],"input":1}`), Parameters: json.RawMessage(`{}`),
			},
		},
		{
			name: "paired surrogates",
			body: `{"capability":"x","input":{"a":"\ud83e\udd8a"}}`,
			want: catalog.Request{Capability: "x", Input: json.RawMessage(`{"a":"🦊"}`), Parameters: json.RawMessage(`{}`)},
		},
		{
			name: "deepest allowed",
			body: `{"capability":"x","input":` + strings.Repeat(`{"a":`, 62) + `[]` + strings.Repeat(`}`, 63),
			want: catalog.Request{
				Capability: "x", Input: json.RawMessage(strings.Repeat(`{"a":`, 62) + `[]` + strings.Repeat(`}`, 62)),
				Parameters: json.RawMessage(`{}`),
			},
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			body := []byte(tt.body)
			got, f := catalog.Decode(body, catalog.Limits{Depth: 64})
			if f != nil {
				t.Fatal(f)
			}
			if !bytes.Equal(body, []byte(tt.body)) {
				t.Error("Decode changed the body")
			}
			clear(body)
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

const beyond = "must be a number between -9007199254740991 and 9007199254740991"

func TestDecodeRefuses(t *testing.T) {
	row := func(field, problem string) []fault.Detail { return []fault.Detail{{Field: field, Message: problem}} }
	in := func(input string) string { return `{"capability":"x","input":` + input + `}` }
	for _, tt := range []struct {
		name, body string
		want       []fault.Detail
	}{
		{"empty", "", row("body", "is empty; a JSON object is needed")},
		{"white space", " \n", row("body", "is empty; a JSON object is needed")},
		{"cut off", `{"capability":"x",`, row("body", "is not valid JSON: it ends too early")},
		{"two values", in(`{}`) + ` {}`, row("body", "is not valid JSON: more data follows the object")},
		{"garbage behind", in(`{}`) + ` x`, row("body", "is not valid JSON (line 1, column 31)")},
		{"no comma", "{\n \"capability\":\"x\"\n \"input\":{}}", row("body", "is not valid JSON (line 3, column 2)")},
		{"trailing comma", in(`{"a":1,}`), row("body", "is not valid JSON (line 1, column 33)")},
		{"comment", `/**/` + in(`{}`), row("body", "is not valid JSON (line 1, column 1)")},
		{"byte order mark", "\ufeff" + in(`{}`), row("body", "is not valid JSON (line 1, column 1)")},
		{"NaN", in(`{"a":NaN}`), row("body", "is not valid JSON (line 1, column 32)")},
		{"leading zero", in(`{"a":01}`), row("body", "is not valid JSON (line 1, column 33)")},
		{"invalid UTF-8", in("{\"a\":\"\xff\"}"), row("body", "is not valid UTF-8")},
		{"overlong UTF-8", in("{\"a\":\"\xc0\xaf\"}"), row("body", "is not valid UTF-8")},
		{"lone high surrogate", in(`{"a":"\ud800"}`), row("body", "is not valid JSON (line 1, column 33)")},
		{"lone low surrogate", in(`{"a":"\udc00x"}`), row("body", "is not valid JSON (line 1, column 33)")},
		{"surrogate in a name", in(`{"\ud800":1}`), row("body", "is not valid JSON (line 1, column 29)")},

		{"duplicate at the top", `{"capability":"x","input":{},"capability":"x"}`, row("capability", "is given more than once")},
		{"duplicate below", in(`{"a":[{"b":1,"b":1}]}`), row("input.a.0.b", "is given more than once")},
		{"duplicate by escape", in(`{"prompt":1,"\u0070rompt":1}`), row("input.prompt", "is given more than once")},

		{"too deep", in(strings.Repeat("[", 64) + strings.Repeat("]", 64)), row("input"+strings.Repeat(".0", 63), "is nested too deeply; at most 64 levels are allowed")},
		{"beyond the tokenizer", in(strings.Repeat("[", 20000)), row("input"+strings.Repeat(".0", 63), "is nested too deeply; at most 64 levels are allowed")},
		{"too many values", in(`{"a":[` + strings.Repeat("1,", 1<<15) + `1]}`), row("body", "has too many values; at most 32768 names and values are allowed")},

		{"an array", `[1]`, row("body", "must be a JSON object")},
		{"an array of an object", `[` + in(`{}`) + `]`, row("body", "must be a JSON object")},
		{"a string", `"capability"`, row("body", "must be a JSON object")},
		{"null", `null`, row("body", "must be a JSON object")},
		{"nothing in it", `{}`, []fault.Detail{{Field: "capability", Message: "is required"}, {Field: "input", Message: "is required"}}},
		{"wrong types", `{"capability":1,"input":[],"parameters":null}`, []fault.Detail{
			{Field: "capability", Message: "must be a string"},
			{Field: "input", Message: "must be an object"},
			{Field: "parameters", Message: "must be an object"},
		}},
		{"input as a string", `{"capability":"x","input":"{}"}`, row("input", "must be an object")},
		{"unknown members", `{"capability":"x","input":{},"model":"m","Input":{}}`, []fault.Detail{
			{Field: "model", Message: "is not a known member; the service chooses the model by the capability"},
			{Field: "Input", Message: "is not a known member"},
		}},
		{"another API's body", `{"model":"m","messages":[],"max_tokens":5,"temperature":1,"stream":true,"user":"u"}`, []fault.Detail{
			{Field: "capability", Message: "is required"},
			{Field: "input", Message: "is required"},
			{Field: "model", Message: "is not a known member; the service chooses the model by the capability"},
			{Field: "messages", Message: "is not a known member; use input.messages"},
			{Field: "max_tokens", Message: "is not a known member; use parameters.max_output_tokens"},
			{Field: "temperature", Message: "is not a known member; use parameters.temperature"},
			{Field: "stream", Message: "is not a known member; send the header Accept: text/event-stream instead"},
			{Field: "user", Message: "is not a known member"},
		}},
		{"an odd name", `{"capability":"x","input":{},"a.b\n\u001b":1}`, row(`"a.b\n\x1b"`, "is not a known member")},

		{"2^53+1", in(`{"a":9007199254740993}`), row("input.a", beyond)},
		{"2^53+1 as a decimal", in(`{"a":9007199254740993.0}`), row("input.a", beyond)},
		{"2^53+1 as a power", in(`{"a":9.007199254740993e15}`), row("input.a", beyond)},
		{"2^53", in(`{"a":-9007199254740992}`), row("input.a", beyond)},
		{"a fraction over 2^53-1", in(`{"a":9007199254740991.2}`), row("input.a", beyond)},
		{"overflow", in(`{"a":1e400}`), row("input.a", beyond)},
		{"underflow", in(`{"a":-1e-400}`), row("input.a", "is a number too close to zero to be told from it")},
		{"two numbers", `{"capability":"x","input":{"messages":[{"content":1e99}]},"parameters":{"n":1e99}}`, []fault.Detail{
			{Field: "input.messages.0.content", Message: beyond}, {Field: "parameters.n", Message: beyond},
		}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got, f := catalog.Decode([]byte(tt.body), catalog.Limits{Depth: 64})
			if f == nil {
				t.Fatalf("accepted as %+v", got)
			}
			want := fault.Invalid(tt.want[0].Field, tt.want[0].Message).WithDetails(tt.want[1:]...)
			if diff := cmp.Diff(want, f, cmp.AllowUnexported(fault.Error{})); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// TestDecodeOrder decodes bodies with several faults; the first in the order is reported.
func TestDecodeOrder(t *testing.T) {
	deep := strings.Repeat("[", 70) + strings.Repeat("]", 70)
	for _, tt := range []struct{ name, body, want string }{
		{"syntax before duplicates", `{"a":1,"a":1,"b":` + deep + `,"c":1e400`, "is not valid JSON: it ends too early"},
		{"duplicates before depth", `{"b":` + deep + `,"a":1,"a":1e400}`, "is given more than once"},
		{"depth before members", `{"c":1e400,"b":` + deep + `}`, "is nested too deeply; at most 64 levels are allowed"},
		{"members before numbers", `{"capability":1e400,"input":{}}`, "must be a string"},
	} {
		_, f := catalog.Decode([]byte(tt.body), catalog.Limits{Depth: 64})
		if f == nil || f.Details[0].Message != tt.want {
			t.Errorf("%s: got %v, want %q", tt.name, f, tt.want)
		}
	}
}

// TestDecodeAgain reuses decoders after sound and unsound bodies: no state is left for the next.
func TestDecodeAgain(t *testing.T) {
	bodies := []string{
		`{"capability":"a","input":{"b":"one"}}`, `{"capability":"a","input":{"b":"two","b":1}}`, `{"capability":"a","input":{"b":[1,`,
		`{"capability":"a","input":{"c":1},"parameters":{"b":2}}`, "", `{"input":{"\u0062":"thr\u0065e","d":0.5}} {`,
	}
	decode := func(body string) (string, *fault.Error) {
		r, f := catalog.Decode([]byte(body), catalog.Limits{Depth: 64})
		return fmt.Sprintf("%s %s %s", r.Capability, r.Input, r.Parameters), f
	}
	for _, first := range bodies {
		for _, second := range bodies {
			wantText, wantFault := decode(second)
			_, _ = decode(first)
			gotText, gotFault := decode(second)
			if gotText != wantText || fmt.Sprint(gotFault) != fmt.Sprint(wantFault) {
				t.Errorf("%s after %s: got %s, %v, want %s, %v", second, first, gotText, gotFault, wantText, wantFault)
			}
		}
	}
}

func TestDecodeWithoutLimit(t *testing.T) {
	body := `{"capability":"x","input":{"a":` + strings.Repeat("[", 500) + strings.Repeat("]", 500) + `}}`
	if _, f := catalog.Decode([]byte(body), catalog.Limits{}); f != nil {
		t.Error(f)
	}
}

func TestDecodeBoundsRows(t *testing.T) {
	for name, body := range map[string]string{
		"numbers": `{"capability":"x","input":{"a":[1e99` + strings.Repeat(",1e99", 1000) + `]}}`,
		"members": `{"0":0` + strings.Join(slices.Collect(unknownNames(1000)), "") + `}`,
	} {
		_, f := catalog.Decode([]byte(body), catalog.Limits{})
		if got, want := len(details(f)), 20; got != want {
			t.Errorf("%s: %d rows, want %d", name, got, want)
		}
	}
}

func unknownNames(n int) func(func(string) bool) {
	return func(yield func(string) bool) {
		for i := range n {
			if !yield(`,"x` + strings.Repeat("y", i) + `":0`) {
				return
			}
		}
	}
}

func TestFieldPathsAreBounded(t *testing.T) {
	long := strings.Repeat("é", 10_000)
	body := `{"capability":"x","input":` + strings.Repeat(`{"`+long+`":`, 30) + `1e99` + strings.Repeat("}", 31)
	_, f := catalog.Decode([]byte(body), catalog.Limits{})
	if f == nil || len(f.Details[0].Field) > 400 {
		t.Errorf("got %v", f)
	}
}

func FuzzDecode(f *testing.F) {
	seeds := []string{
		`{"capability":"text.chat","input":{"prompt":"hi"},"parameters":{"n":1.50,"m":-0}}`,
		`{"input":{"b":[1e2,{"\u0061":null}],"a":true},"capability":"\u0078"}`,
		`{"capability":"x","input":{},"metadata":{"b":"1","a":"\u0061"}}`,
		`{"capability":"x","input":{"a":9007199254740993}}`, `{"a":1,"\u0061":2}`, `{"a":"\ud800"}`, `[[[`, "\ufeff{}", `{} {}`,
		`{"capability":"x","input":{"b":"` + strings.Repeat("abcd", 2_000) + `ab==","a":"` + strings.Repeat("ab/+", 1_200) + `"}}`,
	}
	for _, c := range mustDefault(f).All() {
		seeds = append(seeds, string(c.Example))
	}
	for _, seed := range seeds {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		checkDecodeFast(t, body, catalog.Limits{Depth: 4})
		r, problem := catalog.Decode(body, catalog.Limits{Depth: 16})
		if problem != nil {
			checkRefusal(t, problem)
			return
		}
		checkTokens(t, body)
		name, err := json.Marshal(r.Capability)
		if err != nil {
			t.Fatal(err)
		}
		metadata, err := json.Marshal(r.Metadata)
		if err != nil || r.Metadata == nil {
			metadata = []byte(`{}`)
		}
		again, problem := catalog.Decode(slices.Concat(
			[]byte(`{"parameters":`), r.Parameters, []byte(`,"metadata":`), metadata, []byte(`,"input":`), r.Input,
			[]byte(`,"capability":`), name, []byte(`}`),
		), catalog.Limits{Depth: 16})
		if problem != nil {
			t.Fatalf("canonical form refused: %v", problem)
		}
		if diff := cmp.Diff(r, again, cmpopts.IgnoreFields(catalog.Request{}, "Base64")); diff != "" {
			t.Fatalf("canonical form isn't stable (-first +second):\n%s", diff)
		}
		if r.Fingerprint() != again.Fingerprint() {
			t.Fatal("fingerprint isn't stable")
		}
	})
}

func checkRefusal(t *testing.T, problem *fault.Error) {
	t.Helper()
	if problem.Code != fault.InvalidRequest || len(problem.Details) == 0 || len(problem.Details) > 20 {
		t.Fatalf("refused as %v with %d rows", problem, len(problem.Details))
	}
}

// checkTokens reads an accepted body with another tokenizer: no object has a name twice, and every
// number is within the bounds, judged with 400 bits.
func checkTokens(t *testing.T, body []byte) {
	t.Helper()
	dec := json.NewDecoder(bytes.NewReader(body))
	dec.UseNumber()
	bound := new(big.Float).SetInt64(1<<53 - 1)
	var names []map[string]bool // nil for an array
	var value []bool            // per level: the next token of an object is a value
	for {
		tok, err := dec.Token()
		if errors.Is(err, io.EOF) {
			return
		}
		if err != nil {
			t.Fatalf("another tokenizer refuses: %v", err)
		}
		top := len(names) - 1
		closing := tok == json.Delim('}') || tok == json.Delim(']')
		if top >= 0 && names[top] != nil && !closing {
			if name, ok := tok.(string); ok && !value[top] {
				if names[top][name] {
					t.Fatalf("name %q twice", name)
				}
				names[top][name] = true
			}
			value[top] = !value[top]
		}
		switch tok := tok.(type) {
		case json.Number:
			if near, err := tok.Float64(); err == nil && near == 0 {
				continue // a zero's exponent may be too large to compute with
			}
			f, _, err := big.ParseFloat(tok.String(), 10, 400, big.ToNearestEven)
			if err != nil || f.Abs(f).Cmp(bound) > 0 {
				t.Fatalf("number %s accepted (%v)", tok, err)
			}
		case json.Delim:
			switch tok {
			case '{':
				names, value = append(names, map[string]bool{}), append(value, false)
			case '[':
				names, value = append(names, nil), append(value, false)
			default:
				names, value = names[:top], value[:top]
			}
		}
	}
}

// TestCheckJSON refuses in any JSON what Decode refuses in a request.
func TestCheckJSON(t *testing.T) {
	for body, want := range map[string]string{
		`[{"a":1.5}]`:                            "",
		`"text"`:                                 "",
		`{"a":`:                                  "body is not valid JSON: it ends too early",
		`{} {}`:                                  "body is not valid JSON: more data follows the object",
		`{"a":[{"b":1,"b":2}]}`:                  "a.0.b is given more than once",
		`[[[[1]]]]`:                              "0.0.0 is nested too deeply; at most 3 levels are allowed",
		`{"a":9007199254740993}`:                 "a must be a number between -9007199254740991 and 9007199254740991",
		`[` + strings.Repeat("1,", 1<<15) + `1]`: "body has too many values; at most 32768 names and values are allowed",
	} {
		got := ""
		if refused := catalog.CheckJSON([]byte(body), catalog.Limits{Depth: 3}); refused != nil {
			got = refused.Message
		}
		if got != want {
			t.Errorf("%.40s: %q, want %q", body, got, want)
		}
	}
}
