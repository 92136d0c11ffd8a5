package jsonread_test

import (
	"encoding/base64"
	"strings"
	"testing"

	"unitask/internal/jsonread"
)

// TestIsBase64 puts every byte at every place of texts with and without padding: what is taken is what a decoder takes
// that ignores stray bits, without line ends.
func TestIsBase64(t *testing.T) {
	for n := range 28 {
		text := base64.StdEncoding.EncodeToString([]byte("\x00\xff\x10many odd bytes \xfb\xef\xbe and some")[:n])
		for at := range len(text) {
			for c := range 0x100 {
				odd := text[:at] + string([]byte{byte(c)}) + text[at+1:]
				_, err := base64.StdEncoding.DecodeString(odd)
				want := err == nil && !strings.ContainsAny(odd, "\r\n")
				if got := jsonread.IsBase64(odd); got != want || jsonread.IsBase64([]byte(odd)) != want {
					t.Errorf("%q is base64: %v, want %v", odd, got, want)
				}
			}
		}
		for cut := range min(len(text), 4) {
			if got, want := jsonread.IsBase64(text[cut:]), cut == 0; got != want {
				t.Errorf("%q without %d of its characters: %v, want %v", text, cut, got, want)
			}
		}
	}
}
