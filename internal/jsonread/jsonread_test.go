package jsonread_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"

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
	`"é🦊\b\/"`, `{"a" : "\u0041", "é\n":[123456789012345,1234567890123456,0.25,0.0000012,-0.0]}`, "\"\xed\xa0\x80\"", "\"12345678\xc3\"",
	strings.Repeat("[", 10_000) + strings.Repeat("]", 10_000), strings.Repeat("[", 10_001) + strings.Repeat("]", 10_001),
}

// FuzzReader checks that a value is read to its end exactly if it is JSON in valid UTF-8, and that it and its strings
// are returned unchanged, with the right text.
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
		if r = jsonread.Sound(text); want {
			visitSound(t, &r)
			if !r.Done() {
				t.Errorf("%q isn't taken as sound", text)
			}
		}
		r = jsonread.Compact(text)
		r.Skip()
		compact := jsontext.Value(text).Clone()
		if want = want && compact.Compact(jsontext.AllowDuplicateNames(true)) == nil && bytes.Equal(compact, text); r.Done() != want {
			t.Errorf("%q: taken tightly %v, want %v", text, !want, want)
		}
	})
}

// visitSound reads a value that is known to be sound.
func visitSound(t *testing.T, r *jsonread.Reader) {
	switch c := r.Peek(); c {
	case '{':
		for r.Open('{'); r.More('}'); visitSound(t, r) {
			r.Name()
		}
	case '[':
		for r.Open('['); r.More(']'); visitSound(t, r) {
		}
	case '"':
		raw, spelling := r.Quoted()
		var want string
		if err := jsonv2.Unmarshal(raw, &want); err != nil || string(spelling.Unquote(raw)) != want ||
			spelling.Runes(raw) != utf8.RuneCountInString(want) || spelling.Escaped() != (bytes.IndexByte(raw, '\\') >= 0) {
			t.Errorf("%s says %q, %+v: %v", raw, spelling.Unquote(raw), spelling, err)
		}
	default:
		r.Skip()
	}
}

// visit reads a value by the other methods.
func visit(t *testing.T, r *jsonread.Reader) {
	switch c := r.Peek(); {
	case c == '{':
		for r.Open('{'); r.More('}'); visit(t, r) {
			ahead := *r
			raw, spelling := ahead.NameQuoted()
			if name := r.Name(); name != nil {
				checkQuoted(t, raw, name, spelling)
			}
		}
	case c == '[':
		for r.Open('['); r.More(']'); visit(t, r) {
		}
	case c == '"':
		ahead := *r
		raw, text := r.Text()
		if again, spelling := ahead.Quoted(); raw != nil {
			checkQuoted(t, again, text, spelling)
		}
	case c == '-' || '0' <= c && c <= '9':
		if raw, value, known := r.Number(); len(raw) > 0 {
			checkNumber(t, raw, value, known)
		}
	default:
		r.Value()
	}
}

func checkQuoted(t *testing.T, raw, text []byte, spelling jsonread.Spelling) {
	t.Helper()
	var want string
	if err := jsonv2.Unmarshal(raw, &want); err != nil || want != string(text) {
		t.Errorf("%s says %q, want %q: %v", raw, text, want, err)
	}
	if got, want := spelling.Runes(raw), utf8.RuneCountInString(want); got != want {
		t.Errorf("%s: %d code points, want %d", raw, got, want)
	}
	if got, want := spelling.Escaped(), bytes.IndexByte(raw, '\\') >= 0; got != want {
		t.Errorf("%s: escaped %v, want %v", raw, got, want)
	}
	if got, want := spelling.ASCII, bytes.IndexFunc(raw, func(r rune) bool { return r >= utf8.RuneSelf }) < 0; got != want {
		t.Errorf("%s: ASCII %v, want %v", raw, got, want)
	}
	long := bytes.Contains(bytes.ReplaceAll(raw, []byte(`\\`), nil), []byte(`\u`))
	if got, want := spelling.Canonical, isCanonical(raw) && !long; got != want {
		t.Errorf("%s: canonical %v, want %v", raw, got, want)
	}
}

// checkNumber checks that a number is reported as canonical exactly if it is, with at most 15 digits and no exponent.
func checkNumber(t *testing.T, raw []byte, value float64, known bool) {
	t.Helper()
	digits := len(raw) - bytes.Count(raw, []byte("-")) - bytes.Count(raw, []byte("."))
	if want := isCanonical(raw) && digits <= 15 && !bytes.ContainsAny(raw, "eE"); known != want {
		t.Errorf("%s: known %v, want %v", raw, known, want)
	}
	if want, err := strconv.ParseFloat(string(raw), 64); known && (err != nil || value != want) {
		t.Errorf("%s is taken as %v, want %v: %v", raw, value, want, err)
	}
}

func isCanonical(raw []byte) bool {
	v := jsontext.Value(raw).Clone()
	return v.Canonicalize() == nil && bytes.Equal(v, raw)
}

// TestTextEverywhere puts every kind of character at every position of a string, with other bytes behind the string.
func TestTextEverywhere(t *testing.T) {
	const long = "abcdefgh~ !#[]01"
	for c := range 0x100 {
		for at := range len(long) + 1 {
			text := []byte(`"` + long[:at] + string([]byte{byte(c)}) + long[at:] + `"`)
			r := jsonread.New(text)
			raw, got := r.Text()
			var want string
			if ok := jsonv2.Unmarshal(text, &want) == nil; r.Done() != ok || ok && (string(got) != want || !bytes.Equal(raw, text)) {
				t.Errorf("%q is read as %q, %q", text, raw, got)
			}
		}
	}
	for n := range len(long) {
		r := jsonread.New([]byte(`["` + long[:n] + `","éééé"]`))
		r.Open('[')
		raw, spelling := r.Quoted()
		if string(raw) != `"`+long[:n]+`"` || spelling != (jsonread.Spelling{ASCII: true, Canonical: true}) {
			t.Errorf("%s is read as %+v", raw, spelling)
		}
	}
}

func TestQuoted(t *testing.T) {
	type quoted struct {
		Raw                       string
		Runes                     int
		ASCII, Escaped, Canonical bool
	}
	for _, tt := range []struct {
		in   string
		want quoted
	}{
		{`""`, quoted{`""`, 0, true, false, true}},
		{`"a",`, quoted{`"a"`, 1, true, false, true}},
		{` "é\n\"🦊"}`, quoted{`"é\n\"🦊"`, 4, false, true, true}},
		{`"\b\f\n\r\t\\"`, quoted{`"\b\f\n\r\t\\"`, 6, true, true, true}},
		{`"` + "\ufffd\u2028\u007f" + `"`, quoted{`"` + "\ufffd\u2028\u007f" + `"`, 3, false, false, true}},
		{`"\/"`, quoted{`"\/"`, 1, true, true, false}},
		{`"\u0041\n"`, quoted{`"\u0041\n"`, 2, true, true, false}},
		{`"\ud83e\udd8a é"`, quoted{`"\ud83e\udd8a é"`, 3, false, true, false}},
		{`"12345678` + strings.Repeat("ü", 20) + `\n"`, quoted{`"12345678` + strings.Repeat("ü", 20) + `\n"`, 29, false, true, true}},
		{`"a`, quoted{}},
		{`"\`, quoted{}},
		{"\"\n\"", quoted{}},
		{"\"\xff\"", quoted{}},
		{"\"\xed\xa0\x80\"", quoted{}},
		{"\"\xc0\xaf\"", quoted{}},
		{``, quoted{}},
		{`a"`, quoted{}},
	} {
		var got quoted
		r := jsonread.New([]byte(tt.in))
		if raw, spelling := r.Quoted(); raw != nil {
			got = quoted{string(raw), spelling.Runes(raw), spelling.ASCII, spelling.Escaped(), spelling.Canonical}
		}
		if diff := cmp.Diff(tt.want, got); diff != "" {
			t.Errorf("%q (-want +got)\n%s", tt.in, diff)
		}
	}
}

func TestNumber(t *testing.T) {
	type number struct {
		Raw   string
		Value float64
		OK    bool
	}
	for _, tt := range []struct {
		in   string
		want number
	}{
		{"0", number{"0", 0, true}},
		{" -1,", number{"-1", -1, true}},
		{"0.000001]", number{"0.000001", 1e-6, true}},
		{"-0.25", number{"-0.25", -0.25, true}},
		{"999999999999999", number{"999999999999999", 999999999999999, true}},
		{"1234567.89012345", number{"1234567.89012345", 1234567.89012345, true}},
		{"-0.12345678901234", number{"-0.12345678901234", -0.12345678901234, true}},
		{"1e3", number{Raw: "1e3"}},
		{"1.5E-3", number{Raw: "1.5E-3"}},
		{"1000000000000000", number{Raw: "1000000000000000"}},
		{"-1000000000000001", number{Raw: "-1000000000000001"}},
		{"1.234567890123456", number{Raw: "1.234567890123456"}},
		{"99999999999999999999999", number{Raw: "99999999999999999999999"}},
		{"0.0000001", number{Raw: "0.0000001"}},
		{"1.0", number{Raw: "1.0"}},
		{"1.50", number{Raw: "1.50"}},
		{"-0", number{Raw: "-0"}},
		{"-0.0", number{Raw: "-0.0"}},
		{"1.", number{}},
		{".5", number{}},
		{"01", number{}},
		{"-", number{}},
		{"+1", number{}},
		{"1e", number{}},
		{"", number{}},
	} {
		r := jsonread.New([]byte(tt.in))
		raw, value, ok := r.Number()
		if diff := cmp.Diff(tt.want, number{string(raw), value, ok}); diff != "" {
			t.Errorf("%q (-want +got)\n%s", tt.in, diff)
		}
	}
}

// TestNumberAtRandom checks that a number reported as canonical is its double's canonical form.
func TestNumberAtRandom(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	known := 0
	for range 50_000 {
		in := strconv.FormatInt(random.Int64N(1<<random.IntN(63)), 10)
		if random.IntN(2) == 0 {
			in += fmt.Sprintf(".%0*d", random.IntN(16), random.Int64N(1<<random.IntN(52)))
		}
		r := jsonread.New([]byte(in))
		raw, value, ok := r.Number()
		if len(raw) > 0 {
			checkNumber(t, raw, value, ok)
		}
		if ok {
			known++
		}
	}
	if known < 12_000 {
		t.Errorf("the value of only %d numbers is known", known)
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

// FuzzAmong checks that a name that Among skips isn't a known one for a lenient decoder either.
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

// BenchmarkLongString reads a string as long as a picture's base64.
func BenchmarkLongString(b *testing.B) {
	text := []byte(`"` + strings.Repeat("QUJDRA+/", 1<<17) + `"`)
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		r := jsonread.New(text)
		if r.Quoted(); !r.Done() {
			b.Fatal("not read")
		}
	}
}
