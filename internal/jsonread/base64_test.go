package jsonread_test

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"unitask/internal/jsonread"
)

// FuzzBase64 reads a long string of base64 with something odd at some place, from memory of its own and after it was
// read before: each way the result is that of a decoder, and what is taken for base64 is base64.
func FuzzBase64(f *testing.F) {
	for _, odd := range []string{"", "=", "==", "===", "====", "\n", `\/`, `\"`, `"`, "é", "\xff", "-", "QUJD", `","tool_calls":[`} {
		for _, at := range []uint16{0, 1, 63, 64, 4095, 4096, 65535} {
			f.Add(odd, at, uint16(8))
			f.Add(odd, at, uint16(65535))
		}
	}
	f.Fuzz(func(t *testing.T, odd string, before, after uint16) {
		long := strings.Repeat("QUJDRA+/", 1<<13)
		text := []byte(`{"a":"` + long[:before] + odd + long[:after] + `","b":["",{"c":1}]}`)
		r := jsonread.New(text)
		read := r.Value()
		if sound := jsontext.Value(text).IsValid(jsontext.AllowDuplicateNames(true)); sound != r.Done() || sound && !bytes.Equal(read, text) {
			t.Fatalf("taken: %v, sound: %v", r.Done(), sound)
		} else if !sound {
			return
		}
		first, base64 := readStrings(t, jsonread.New(text), nil)
		for way, again := range []jsonread.Reader{jsonread.New(text).Passing(base64), jsonread.Sound(text).Passing(base64), jsonread.Sound(bytes.Clone(text)).Passing(base64)} {
			if got, _ := readStrings(t, again, base64); got != first {
				t.Errorf("way %d: %s, want %s", way, got, first)
			}
		}
		const piece = `"tool_calls":[`
		if got, want := jsonread.Contains(text, piece, base64), bytes.Contains(text, []byte(piece)); got != want {
			t.Errorf("%s is in it: %v, want %v", piece, got, want)
		}
	})
}

// readStrings says how the strings of a value are read, and returns those that are base64.
func readStrings(t *testing.T, r jsonread.Reader, known [][]byte) (said string, base64 [][]byte) {
	t.Helper()
	for r.Open('{'); r.More('}'); {
		r.Name()
		if r.Peek() != '"' {
			r.Skip()
			continue
		}
		raw, spelling := r.Quoted()
		said += fmt.Sprintf("%d bytes, %d runes, escaped %v\n", len(raw), spelling.Runes(raw), spelling.Escaped())
		if spelling.Base64 {
			text := spelling.Unquote(raw)
			if !jsonread.IsBase64(text) {
				t.Errorf("%d bytes are taken for base64", len(text))
			}
			base64 = append(base64, text)
		}
	}
	if !r.Done() || known != nil && len(base64) > len(known) {
		t.Errorf("read to its end: %v; %d of base64", r.Done(), len(base64))
	}
	return said, base64
}

// TestPassing: only the string itself is passed over, not another one of its length, and what stands around it is found.
func TestPassing(t *testing.T) {
	long := strings.Repeat("QUJD", 2_000)
	text := []byte(`{"before":1,"a":"` + long + `","b":"` + long[:len(long)-1] + `-","after":["` + long + `"],"end":2}`)
	var base64 [][]byte
	read := func(r jsonread.Reader) (found []bool) {
		for r.Open('{'); r.More('}'); {
			r.Name()
			if r.Peek() != '"' {
				r.Skip()
				continue
			}
			raw, spelling := r.Quoted()
			if found = append(found, spelling.Base64); len(base64) == 0 {
				base64 = append(base64, spelling.Unquote(raw))
			}
		}
		if !r.Done() {
			t.Error("it isn't read to its end")
		}
		return found
	}
	for _, r := range []jsonread.Reader{jsonread.New(text), jsonread.New(text).Passing(base64), jsonread.Sound(text).Passing(base64)} {
		if got := read(r.Passing(base64)); !slices.Equal(got, []bool{true, false}) {
			t.Errorf("base64: %v", got)
		}
	}
	for piece, want := range map[string]bool{`"before"`: true, `"b":"`: true, `"after":[`: true, `"end"`: true, `"other"`: false} {
		if got := jsonread.Contains(text, piece, base64); got != want {
			t.Errorf("%s is in it: %v", piece, got)
		}
	}
	at := bytes.Index(text, []byte(`"QUJD`))
	cut := jsonread.Sound(text[at : at+len(long)/2]).Passing(base64)
	if raw, _ := cut.Quoted(); raw != nil {
		t.Errorf("of half a string %d bytes are read", len(raw))
	}
	elsewhere := append(make([]byte, 0, cap(text)), text...)
	copy(elsewhere[len(long)/2:], `","x":"`)
	if got := read(jsonread.Sound(elsewhere).Passing(base64)); !slices.Equal(got, []bool{false, false, false}) {
		t.Errorf("base64 in other memory: %v", got)
	}
	copy(elsewhere[len(long)/2:], `"other"`)
	if !jsonread.Contains(elsewhere, `"other"`, base64) {
		t.Error("a string of other memory is passed over")
	}
}

// TestPassingMany: a body of thousands of such strings is read no slower with them than without, whole or piece by piece.
func TestPassingMany(t *testing.T) {
	text := []byte(`["` + strings.Repeat(strings.Repeat("QUJD", 1_025)+`"],["`, 3_000) + `end"]`)
	text = []byte("[" + string(text) + "]")
	var base64 [][]byte
	in := jsonread.New(text)
	for in.Open('['); in.More(']'); {
		for in.Open('['); in.More(']'); {
			if raw, spelling := in.Quoted(); spelling.Base64 {
				base64 = append(base64, spelling.Unquote(raw))
			}
		}
	}
	if !in.Done() || len(base64) != 3_000 {
		t.Fatalf("%d strings of base64", len(base64))
	}
	took := func(base64 [][]byte, read func(jsonread.Reader) jsonread.Reader) time.Duration {
		least := time.Hour
		for range 5 {
			start := time.Now()
			if in := read(jsonread.Sound(text).Passing(base64)); !in.Done() {
				t.Fatal("it isn't read to its end")
			}
			least = min(least, time.Since(start))
		}
		return least
	}
	whole := func(in jsonread.Reader) jsonread.Reader {
		in.Skip()
		return in
	}
	if with, without := took(base64, whole), took(nil, whole); with > 2*without {
		t.Errorf("whole: %v with the strings known, %v without", with, without)
	}
	pieces := func(in jsonread.Reader) jsonread.Reader {
		for in.Open('['); in.More(']'); {
			part := jsonread.Sound(in.Value()).Passing(base64)
			if part.Skip(); !part.Done() {
				in.Fail()
			}
		}
		return in
	}
	if with, without := took(base64, pieces), took(nil, whole); with > 2*without {
		t.Errorf("in pieces: %v with the strings known, %v whole without", with, without)
	}
}
