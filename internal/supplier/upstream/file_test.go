package upstream_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"unitask/internal/supplier"
	"unitask/internal/supplier/upstream"
)

func TestFile(t *testing.T) {
	for _, tt := range []struct {
		in   string
		want *supplier.File // nil: none
	}{
		{"data:image/png;base64,AAE=", &supplier.File{ContentType: "image/png", Data: []byte{0, 1}}},
		{"data:;base64,AAE=", &supplier.File{Data: []byte{0, 1}}},
		{"https://a.example/;base64,AAE=", &supplier.File{URL: "https://a.example/;base64,AAE="}},
		{"http://a.example", &supplier.File{URL: "http://a.example"}},
		{"data:image/png,AAE=", nil},
		{"data:image/png;base64", nil},
		{"data:image/png;base64,", nil},
		{"data:image/png;base64,%%", nil},
		{"file:///etc/passwd", nil},
		{"https:///path", nil},
		{"//a.example/1", nil},
		{"", nil},
	} {
		got, ok := upstream.File(tt.in)
		if ok != (tt.want != nil) {
			t.Errorf("%s: got %t", tt.in, ok)
		}
		if tt.want != nil {
			if diff := cmp.Diff(*tt.want, got); diff != "" {
				t.Errorf("%s: (-want +got):\n%s", tt.in, diff)
			}
		}
	}
}

func TestFitsPath(t *testing.T) {
	for id, want := range map[string]bool{
		"job-1_A": true, strings.Repeat("x", 128): true,
		"": false, ".": false, "a/b": false, "a?b": false, "a%2f": false, "ä": false, strings.Repeat("x", 129): false,
	} {
		if got := upstream.FitsPath(id); got != want {
			t.Errorf("%q: got %t", id, got)
		}
	}
}
