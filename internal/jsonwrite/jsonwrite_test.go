package jsonwrite_test

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"unitask/internal/jsonwrite"
)

func TestWriter(t *testing.T) {
	w := jsonwrite.New(16)
	w.Raw('>')
	w.Begin('{')
	w.Name("a")
	w.Begin('[')
	w.Int(-1)
	w.Float(0.5)
	w.Float(-1e-7)
	w.Float(1e21)
	w.Float(0)
	w.Bool(false)
	w.Null()
	w.String("<\"\n\xff\u2028>")
	w.End(']')
	w.Name("b")
	w.Any(map[string]string{"url": "x?a=1&b=2"})
	w.Name("c")
	w.Time(time.Unix(0, 1).UTC())
	w.Name("d")
	w.JSON([]byte(`{"e":1.50}`))
	w.End('}')
	got, err := w.Bytes()
	want := `>{"a":[-1,0.5,-1e-7,1e+21,0,false,null,"<\"\n` + "\ufffd\u2028" + `>"],"b":{"url":"x?a=1&b=2"},"c":"1970-01-01T00:00:00.000000001Z","d":{"e":1.50}}`
	if err != nil || string(got) != want {
		t.Errorf("%v, got\n%s\nwant\n%s", err, got, want)
	}
	w.Any(func() {})
	if _, err := w.Bytes(); err == nil {
		t.Error("what JSON can't hold is no error")
	}
}

// TestString writes every character at every position: it decodes to itself, or to U+FFFD if invalid.
func TestString(t *testing.T) {
	const long = "abcdefgh~ !#[]01"
	for c := range 0x300 {
		texts := []string{string(rune(c)), "a" + string(rune(c)), string(rune(c)) + "z", "a" + string([]byte{byte(c)}) + "z"}
		for at := range len(long) {
			texts = append(texts, long[:at]+string([]byte{byte(c)})+long[at:])
		}
		for _, text := range texts {
			w := jsonwrite.New(16)
			w.String(text)
			raw, err := w.Bytes()
			var got string
			if err == nil {
				err = json.Unmarshal(raw, &got)
			}
			if want := strings.ToValidUTF8(text, "\ufffd"); err != nil || got != want || !utf8.Valid(raw) {
				t.Errorf("%q is written as %s and read as %q (%v)", text, raw, got, err)
			}
		}
	}
}

// TestLong: long texts are the pieces' own memory, short ones are copied, and the whole is the same.
func TestLong(t *testing.T) {
	long := []byte(strings.Repeat("QUJD", 5_000))
	w := jsonwrite.New(16)
	w.Begin('[')
	w.Long("data:", long)
	w.Long("", long[:8])
	w.Long("", long[4:])
	w.Int(1)
	w.End(']')
	want := `["data:` + string(long) + `","` + string(long[:8]) + `","` + string(long[4:]) + `",1]`
	pieces, err := w.Pieces()
	if got := string(bytes.Join(pieces, nil)); err != nil || got != want {
		t.Errorf("%v, got\n%s\nwant\n%s", err, got, want)
	}
	if len(pieces) != 5 || &pieces[1][0] != &long[0] || &pieces[3][0] != &long[4] {
		t.Errorf("%d pieces", len(pieces))
	}
	if got, err := w.Bytes(); err != nil || string(got) != want {
		t.Errorf("%v, got\n%s\nwant\n%s", err, got, want)
	}
}
