package jsonread_test

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"

	"unitask/internal/jsonread"
)

// TestLongStrings reads strings in several steps: the result is that of one step, whatever character is at the border.
func TestLongStrings(t *testing.T) {
	const breaks = 64 << 10
	for _, odd := range []string{"", "a", `\n`, `\"`, `\u0041`, `\ud83d\ude00`, "é", "😀", "\xff", "\n", `\x`, `"`} {
		for before := breaks - 14; before <= breaks+2; before++ {
			for _, after := range []int{0, 1, breaks - 6, breaks} {
				text := []byte(`"` + strings.Repeat("a", before) + odd + strings.Repeat("b", after) + `"`)
				r := jsonread.New(text)
				raw, spelling := r.Quoted()
				at := fmt.Sprintf("%q after %d and before %d bytes", odd, before, after)
				if sound := jsontext.Value(text).IsValid(); r.Done() != sound {
					t.Fatalf("%s: taken: %v, sound: %v", at, r.Done(), sound)
				} else if !sound {
					continue
				}
				unquoted, err := jsontext.AppendUnquote(nil, text)
				if err != nil || !bytes.Equal(raw, text) {
					t.Fatalf("%s: %d of %d bytes, %v", at, len(raw), len(text), err)
				}
				if got, want := spelling.Runes(raw), len([]rune(string(unquoted))); got != want {
					t.Fatalf("%s: %d code points, want %d", at, got, want)
				}
				r = jsonread.Sound(text)
				if again, known := r.Quoted(); !bytes.Equal(again, text) || known.Runes(again) != spelling.Runes(raw) || known.Escaped() != spelling.Escaped() {
					t.Fatalf("%s: as sound %d bytes, %+v", at, len(again), known)
				}
			}
		}
	}
}

// TestOddBytes puts odd bytes at every place of a string that is read in windows.
func TestOddBytes(t *testing.T) {
	const size = 1200
	for _, odd := range []string{"\x00", "\x1f", "\n", `"`, `\`, `\n`, "\x7f", "\x80", "\xff", "é", "\xc3"} {
		for at := range size {
			text := []byte(`"` + strings.Repeat("a", at) + odd + strings.Repeat("b", size-at) + `"`)
			r := jsonread.New(text)
			if r.Skip(); r.Done() != jsontext.Value(text).IsValid() {
				t.Fatalf("%q after %d bytes: taken %v", odd, at, r.Done())
			}
		}
	}
}
