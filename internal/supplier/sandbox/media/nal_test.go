package media_test

import (
	"bytes"
	"testing"

	"github.com/google/go-cmp/cmp"

	"unitask/internal/supplier/sandbox/media"
)

func TestNALPreventsStartCodes(t *testing.T) {
	t.Parallel()
	for payload, want := range map[string]string{
		"":                         "\x65",
		"\x00\x00\x04":             "\x65\x00\x00\x04",
		"\x00\x00\x00":             "\x65\x00\x00\x03\x00",
		"\x00\x00\x01":             "\x65\x00\x00\x03\x01",
		"\x00\x00\x03\x00\x00\x02": "\x65\x00\x00\x03\x03\x00\x00\x03\x02",
	} {
		if diff := cmp.Diff(want, string(media.NAL(0x65, []byte(payload)))); diff != "" {
			t.Errorf("%x: %s", payload, diff)
		}
	}
}

// FuzzNAL: no payload makes a start code, and taking the added bytes out gives the payload back.
func FuzzNAL(f *testing.F) {
	f.Add([]byte{0, 0, 0, 0, 1, 0, 0, 2, 0, 0, 3, 1})
	f.Fuzz(func(t *testing.T, payload []byte) {
		got := media.NAL(0x65, payload)
		for _, bad := range [][]byte{{0, 0, 0}, {0, 0, 1}, {0, 0, 2}} {
			if bytes.Contains(got, bad) {
				t.Fatalf("% x holds % x", got, bad)
			}
		}
		if back := bytes.ReplaceAll(got[1:], []byte{0, 0, 3}, []byte{0, 0}); !bytes.Equal(back, payload) {
			t.Errorf("% x becomes % x", payload, back)
		}
	})
}
