package catalog_test

import (
	"crypto/sha256"
	"encoding/json"
	"testing"

	"unitask/internal/catalog"
)

func TestFingerprintOfKnownRequest(t *testing.T) {
	r := mustDecode(t, ` { "input" : {"prompt":"\u00e9"}, "capability":"text.chat" } `)
	want := sha256.Sum256([]byte(`{"capability":"text.chat","input":{"prompt":"é"},"parameters":{}}`))
	if got := r.Fingerprint(); got != want {
		t.Errorf("got %x, want %x", got, want)
	}
	if got := (catalog.Request{Capability: "text.chat", Input: json.RawMessage(`{"prompt":"é"}`)}).Fingerprint(); got != want {
		t.Errorf("without Parameters: got %x, want %x", got, want)
	}
}

// TestFingerprintOfConversation: what a message may be since hasn't changed what plain ones are.
func TestFingerprintOfConversation(t *testing.T) {
	const canonical = `{"capability":"text.chat","input":{"messages":[{"content":"a","role":"user"},{"content":"b","role":"assistant"}],"system":"c"},` +
		`"parameters":{"max_output_tokens":5}}`
	r := mustDecode(t, `{"capability":"text.chat","parameters":{"max_output_tokens":5},`+
		`"input":{"system":"c","messages":[{"role":"user","content":"a"},{"role":"assistant","content":"b"}]}}`)
	if got, want := r.Fingerprint(), sha256.Sum256([]byte(canonical)); got != want {
		t.Errorf("got %x, want %x", got, want)
	}
}

func TestFingerprintEquality(t *testing.T) {
	for _, tt := range []struct {
		name, a, b string
		equal      bool
	}{
		{
			"white space and order",
			`{"capability":"x","input":{"a":1,"b":{"c":2,"d":3}}}`,
			"{ \"input\" :\n{\"b\":{\"d\":3,\"c\":2},\"a\":1},\t\"capability\":\"x\"}", true,
		},
		{"absent parameters", `{"capability":"x","input":{}}`, `{"capability":"x","input":{},"parameters":{ }}`, true},
		{"1 and 1.0", `{"capability":"x","input":{"a":1}}`, `{"capability":"x","input":{"a":1.0}}`, true},
		{"1 and 1e0", `{"capability":"x","input":{"a":1}}`, `{"capability":"x","input":{"a":1e0}}`, true},
		{"100 and 1E+2", `{"capability":"x","input":{"a":100}}`, `{"capability":"x","input":{"a":1E+2}}`, true},
		{"0 and -0", `{"capability":"x","input":{"a":0}}`, `{"capability":"x","input":{"a":-0.0}}`, true},
		{"escapes of a value", `{"capability":"x","input":{"a":"é/\n"}}`, `{"capability":"x","input":{"a":"\u00e9\/\u000a"}}`, true},
		{"escapes of a name", `{"capability":"x","input":{"a":1}}`, `{"capability":"x","input":{"\u0061":1}}`, true},
		{"escapes of the capability", `{"capability":"x","input":{}}`, `{"c\u0061pability":"\u0078","input":{}}`, true},

		{"another capability", `{"capability":"x","input":{}}`, `{"capability":"y","input":{}}`, false},
		{"another value", `{"capability":"x","input":{"a":1}}`, `{"capability":"x","input":{"a":2}}`, false},
		{"a number and its text", `{"capability":"x","input":{"a":1}}`, `{"capability":"x","input":{"a":"1"}}`, false},
		{"null and absent", `{"capability":"x","input":{"a":null}}`, `{"capability":"x","input":{}}`, false},
		{"order of an array", `{"capability":"x","input":{"a":[1,2]}}`, `{"capability":"x","input":{"a":[2,1]}}`, false},
		{"white space in a text", `{"capability":"x","input":{"a":"b"}}`, `{"capability":"x","input":{"a":"b "}}`, false},
		{"composed and decomposed", `{"capability":"x","input":{"a":"\u00e9"}}`, `{"capability":"x","input":{"a":"e\u0301"}}`, false},
		{"moved between groups", `{"capability":"x","input":{"a":1}}`, `{"capability":"x","input":{},"parameters":{"a":1}}`, false},
		{"neighbours at the bound", `{"capability":"x","input":{"a":9007199254740991}}`, `{"capability":"x","input":{"a":9007199254740990}}`, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			a, b := mustDecode(t, tt.a).Fingerprint(), mustDecode(t, tt.b).Fingerprint()
			if got := a == b; got != tt.equal {
				t.Errorf("equal = %t, want %t", got, tt.equal)
			}
		})
	}
}
