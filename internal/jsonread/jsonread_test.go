package jsonread_test

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	jsonv2 "github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/google/go-cmp/cmp"

	"unitask/internal/jsonread"
)

var texts = []string{
	`null`, `true`, ` [ ] `, `{"a":1,"b":[{}, "c\n\u00e9\ud83d\ude00 é😀 and more of it"]}`, `-0.5e+10`, `[0,1.25,10E9,-0]`,
	"[\"12345678\u00e9\",\"1234567\\\"\",\"\x7f\"]", `{"a":{"b":{"c":[[[true]]]}}} `, `{"":"","\u0061":"\/"}`,
	``, ` `, `{`, `[1,]`, `{"a":1,}`, `[,1]`, `[1 2]`, `{"a" 1}`, `{"a"}`, `{a:1}`, `01`, `-`, `1.`, `1e`, `+1`, `.5`, `nul`, `nullx`, `truefalse`,
	`"`, `"a`, `"\x"`, `"\u12"`, `"\u+123"`, `"\ud800"`, `"\udc00\ud800"`, `"\ud800\u0041"`, "\"\xff\"", "\"\\n\xff\"", "\"\xff\\n\"", "\"a\nb\"", "\"12345678\t\"", `[}`, `{]`, `]`, `1]`, `{"a":1}}`, `[1]1`,
	"\"\xed\xa0\x80\"", "\"12345678\xc3\"",
	strings.Repeat("[", 10_000) + strings.Repeat("]", 10_000), strings.Repeat("[", 10_001) + strings.Repeat("]", 10_001),
}

// FuzzReader: a value is passed over to its end just if it is JSON in valid UTF-8, and comes back as it stands; so do
// the strings in it, with what they say.
func FuzzReader(f *testing.F) {
	for _, text := range texts {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		r := jsonread.New(text)
		got := r.Value()
		want := jsontext.Value(text).IsValid(jsontext.AllowDuplicateNames(true))
		if r.Done() != want {
			t.Fatalf("%q: taken %v, want %v", text, !want, want)
		}
		if want && !bytes.Equal(got, bytes.Trim(text, " \t\r\n")) {
			t.Errorf("%q is returned as %q", text, got)
		}
		r = jsonread.New(text)
		visit(t, &r)
		if r.Done() != want {
			t.Errorf("%q: visited %v, want %v", text, !want, want)
		}
	})
}

// visit goes over a value by the other methods.
func visit(t *testing.T, r *jsonread.Reader) {
	switch r.Peek() {
	case '{':
		for r.Open('{'); r.More('}'); visit(t, r) {
			r.Name()
		}
	case '[':
		for r.Open('['); r.More(']'); visit(t, r) {
		}
	case '"':
		raw, says := r.Text()
		var want string
		if raw != nil && (jsonv2.Unmarshal(raw, &want) != nil || want != string(says)) {
			t.Errorf("%s says %q, want %q", raw, says, want)
		}
	default:
		r.Value()
	}
}

// TestTextEverywhere: whatever character stands wherever in a string, it is found out.
func TestTextEverywhere(t *testing.T) {
	const long = "abcdefgh~ !#[]01"
	for c := range 0x100 {
		for at := range len(long) {
			text := []byte(`"` + long[:at] + string([]byte{byte(c)}) + long[at:] + `"`)
			r := jsonread.New(text)
			raw, says := r.Text()
			var want string
			if ok := jsonv2.Unmarshal(text, &want) == nil; r.Done() != ok || ok && (string(says) != want || !bytes.Equal(raw, text)) {
				t.Errorf("%q is read as %q, %q", text, raw, says)
			}
		}
	}
}

func TestMembers(t *testing.T) {
	type read struct {
		A, LongName string
		Fine        bool
	}
	tests := []struct {
		text        string
		only, among read
	}{
		{text: `{}`, only: read{Fine: true}, among: read{Fine: true}},
		{text: `{"a":1}`, only: read{A: "1", Fine: true}, among: read{A: "1", Fine: true}},
		{text: `{"long_name":[2] , "\u0061":{}}`, only: read{"{}", "[2]", true}, among: read{"{}", "[2]", true}},
		{text: `{"b":1,"a":2,"long_nam":3,"long_names":4,"xlong_name":5,"":6}`, among: read{A: "2", Fine: true}},
		{text: `{"a":1,"a":1}`},
		{text: `{"A":1}`},
		{text: `{"_a-":1}`},
		{text: `{"longname":1}`},
		{text: `{"LONG-NAME":1}`},
		{text: `{"long_N\u0041me":1}`},
		{text: `{"lonɢ_name":1}`},
		{text: `{"é":1}`},
		{text: `{"bé":1}`, among: read{Fine: true}},
		{text: `{"a":}`},
		{text: `[]`},
		{text: `null`},
		{text: ``},
	}
	for _, tt := range tests {
		gather := func(enter func(r *jsonread.Reader) jsonread.Members) (got read) {
			r := jsonread.New([]byte(tt.text))
			for m := enter(&r); m.Next(); {
				if v := string(r.Value()); m.Name == "a" {
					got.A = v
				} else {
					got.LongName = v
				}
			}
			if got.Fine = r.Done(); !got.Fine {
				return read{}
			}
			return got
		}
		only := gather(func(r *jsonread.Reader) jsonread.Members { return r.Only("a", "long_name") })
		among := gather(func(r *jsonread.Reader) jsonread.Members { return r.Among("a", "long_name") })
		if diff := cmp.Diff([]read{tt.only, tt.among}, []read{only, among}); diff != "" {
			t.Errorf("%s (-want +got)\n%s", tt.text, diff)
		}
	}
}

// FuzzAmong: a name that isn't taken for a known one is none to a reader that is lenient about names.
func FuzzAmong(f *testing.F) {
	for _, name := range []string{"long_name", "longName", "LONG--NAME_", "long_named", "lon", "", "k", "\u212a", "a\u212a", "x"} {
		f.Add(name)
	}
	f.Fuzz(func(t *testing.T, name string) {
		text, err := json.Marshal(map[string]int{name: 1})
		if err != nil {
			t.Fatal(err)
		}
		var lenient struct {
			LongName int `json:"long_name"`
			AK       int `json:"ak"`
			K        int `json:"k"`
		}
		if err := jsonv2.Unmarshal(text, &lenient, jsonv2.MatchCaseInsensitiveNames(true)); err != nil {
			t.Fatal(err)
		}
		r := jsonread.New(text)
		known := 0
		for m := r.Among("long_name", "ak", "k"); m.Next(); r.Skip() {
			known++
		}
		if found := lenient.LongName + lenient.AK + lenient.K; r.Done() && known != found {
			t.Errorf("%q is known %d times, to a lenient reader %d", name, known, found)
		}
	})
}

func BenchmarkValue(b *testing.B) {
	text := []byte(`{"id":"x","created":1700000000,"choices":[{"index":0,"message":{"role":"assistant","content":"` +
		strings.Repeat("All work and no play. ", 28) + `"},"finish_reason":"stop"}],"usage":{"prompt_tokens":12,"completion_tokens":120}}`)
	b.ReportAllocs()
	for b.Loop() {
		r := jsonread.New(text)
		if r.Value(); !r.Done() {
			b.Fatal("not read")
		}
	}
}
