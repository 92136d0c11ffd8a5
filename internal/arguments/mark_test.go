package arguments

import (
	"io"
	"strings"
	"testing"
	"testing/iotest"
)

// TestUnmarked drops exactly one byte order mark at the beginning.
func TestUnmarked(t *testing.T) {
	for _, tt := range []struct{ in, want string }{
		{"", ""},
		{"a", "a"},
		{"text", "text"},
		{"\ufefftext", "text"},
		{"\ufeff", ""},
		{"\ufeff\ufefftext", "\ufefftext"},
		{"te\ufeffxt", "te\ufeffxt"},
		{"\xef\xbb", "\xef\xbb"},
	} {
		got, err := io.ReadAll(Unmarked(iotest.OneByteReader(strings.NewReader(tt.in))))
		if err != nil || string(got) != tt.want {
			t.Errorf("%q: got %q, %v, want %q", tt.in, got, err, tt.want)
		}
	}
}
