package wire_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"unitask/internal/supplier/wire"
)

func TestDataURI(t *testing.T) {
	type parsed struct {
		Kind string
		Data []byte
		OK   bool
	}
	for _, tt := range []struct {
		in   string
		want parsed
	}{
		{"data:image/png;base64,AAE=", parsed{"image/png", []byte{0, 1}, true}},
		{"data:;base64,AAE=", parsed{"", []byte{0, 1}, true}},
		{"data:image/png,AAE=", parsed{}},
		{"data:image/png;base64", parsed{}},
		{"data:image/png;base64,", parsed{}},
		{"data:image/png;base64,%%", parsed{}},
		{"https://a.example/;base64,AAE=", parsed{}},
		{"", parsed{}},
	} {
		kind, data, ok := wire.DataURI(tt.in)
		if diff := cmp.Diff(tt.want, parsed{kind, data, ok}); diff != "" {
			t.Errorf("%s: (-want +got):\n%s", tt.in, diff)
		}
	}
}
