package jsonscan_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strconv"
	"testing"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"

	"unitask/internal/jsonscan"
)

func TestString(t *testing.T) {
	for _, tt := range []struct {
		in         string
		end, runes int
		ok         bool
	}{
		{`""`, 2, 0, true},
		{`"a",`, 3, 1, true},
		{`"é\n\"🦊"}`, 12, 4, true},
		{`"` + "\ufffd\u2028\u007f" + `"`, 9, 3, true},
		{`"a`, 0, 0, false},
		{`"\`, 0, 0, false},
		{`"\/"`, 0, 0, false},
		{`"\u0041"`, 0, 0, false},
		{"\"\n\"", 0, 0, false},
		{"\"\xff\"", 0, 0, false},
		{"\"\xed\xa0\x80\"", 0, 0, false},
		{"\"\xc0\xaf\"", 0, 0, false},
		{``, 0, 0, false},
		{`a"`, 0, 0, false},
	} {
		end, runes, ok := jsonscan.String([]byte(tt.in), 0)
		if end != tt.end || runes != tt.runes || ok != tt.ok {
			t.Errorf("%q: got %d, %d, %v", tt.in, end, runes, ok)
		}
	}
}

func TestNumber(t *testing.T) {
	for _, tt := range []struct {
		in    string
		end   int
		value float64
		ok    bool
	}{
		{"0", 1, 0, true},
		{"-1,", 2, -1, true},
		{"0.000001]", 8, 1e-6, true},
		{"-0.25", 5, -0.25, true},
		{"999999999999999", 15, 999999999999999, true},
		{"1234567.89012345", 16, 1234567.89012345, true},
		{"1e3", 0, 0, false},
		{"1.5E3", 0, 0, false},
		{"1000000000000000", 0, 0, false},
		{"1.234567890123456", 0, 0, false},
		{"99999999999999999999999", 0, 0, false},
		{"0.0000001", 0, 0, false},
		{"1.0", 0, 0, false},
		{"1.50", 0, 0, false},
		{"1.", 0, 0, false},
		{".5", 0, 0, false},
		{"01", 0, 0, false},
		{"-0", 0, 0, false},
		{"-", 0, 0, false},
		{"+1", 0, 0, false},
		{"", 0, 0, false},
	} {
		end, value, ok := jsonscan.Number([]byte(tt.in), 0)
		if end != tt.end || value != tt.value || ok != tt.ok {
			t.Errorf("%q: got %d, %v, %v", tt.in, end, value, ok)
		}
	}
}

func TestMember(t *testing.T) {
	for _, tt := range []struct {
		in, name string
		value    int
		ok       bool
	}{
		{`{"a":1}`, "a", 5, true},
		{`,"é":`, "é", 6, true},
		{`{"":1}`, "", 4, true},
		{`{}`, "", 0, false},
		{`{`, "", 0, false},
		{`{"a"`, "", 0, false},
		{`{"a" :1}`, "", 0, false},
		{`{a:1}`, "", 0, false},
	} {
		name, value, ok := jsonscan.Member([]byte(tt.in), 0)
		if string(name) != tt.name || value != tt.value || ok != tt.ok {
			t.Errorf("%s: got %s, %d, %v", tt.in, name, value, ok)
		}
	}
	if _, _, ok := jsonscan.Member([]byte(`{"a\n":1}`), 0); ok {
		t.Error("a name with an escape is taken")
	}
}

// TestNumberAtRandom: a decimal that is taken is its double's canonical form.
func TestNumberAtRandom(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	taken := 0
	for range 200_000 {
		in := strconv.FormatInt(random.Int64N(1<<random.IntN(63)), 10)
		if random.IntN(2) == 0 {
			in += fmt.Sprintf(".%0*d", random.IntN(16), random.Int64N(1<<random.IntN(52)))
		}
		if checkNumber(t, []byte(in)) {
			taken++
		}
	}
	if taken < 50_000 {
		t.Errorf("only %d numbers were taken", taken)
	}
}

func FuzzScan(f *testing.F) {
	for _, seed := range []string{`"a\n"`, `"é🦊"`, "\"\xff\"", `"\ud800"`, "0.25", "-0", "1e5", "0.0000012", "123456789012345", `{"a":1}`, `,"\u0061":`} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		checkString(t, b)
		checkNumber(t, b)
		name, value, ok := jsonscan.Member(b, 0)
		if !ok {
			return
		}
		var read string
		if err := json.Unmarshal(b[1:value-1], &read); err != nil || read != string(name) || b[value-1] != ':' {
			t.Fatalf("member %q of %q: %v", name, b, err)
		}
	})
}

func checkString(t *testing.T, b []byte) {
	t.Helper()
	end, runes, ok := jsonscan.String(b, 0)
	if !ok {
		return
	}
	var read string
	if err := json.Unmarshal(b[:end], &read); err != nil || utf8.RuneCountInString(read) != runes {
		t.Fatalf("%q is taken as %d code points, but read as %q: %v", b[:end], runes, read, err)
	}
	mustBeCanonical(t, b[:end])
}

func checkNumber(t *testing.T, b []byte) bool {
	t.Helper()
	end, value, ok := jsonscan.Number(b, 0)
	if !ok {
		return false
	}
	if want, err := strconv.ParseFloat(string(b[:end]), 64); err != nil || value != want {
		t.Fatalf("%q is taken as %v, want %v: %v", b[:end], value, want, err)
	}
	mustBeCanonical(t, b[:end])
	return true
}

func mustBeCanonical(t *testing.T, b []byte) {
	t.Helper()
	v := jsontext.Value(b).Clone()
	if err := v.Canonicalize(); err != nil || string(v) != string(b) {
		t.Fatalf("%q is taken, but its canonical form is %q: %v", b, v, err)
	}
}
