package artifact_test

import (
	"bytes"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"

	"unitask/internal/artifact"
	"unitask/internal/jsonread"
)

func TestInline(t *testing.T) {
	const field = "input.image"
	tests := []struct {
		name, data string
		limit      int64
		want       string
		problem    string
	}{
		{name: "padded", data: "aGVsbG8=", limit: 5, want: "hello"},
		{name: "standard alphabet", data: "+/+/", limit: 3, want: "\xfb\xff\xbf"},
		{name: "empty", limit: 5, problem: " is empty"},
		{name: "one byte too many", data: "aGVsbG8=", limit: 4, problem: " is larger than 4 bytes"},
		{name: "ten mebibytes too many", data: "aGVsbG8hIQ==aGVsbG8hIQ==", limit: 1, problem: " is larger than 1 bytes"},
		{name: "no padding", data: "aGVsbG8", limit: 9, problem: " is not base64 in the standard alphabet with padding"},
		{name: "URL alphabet", data: "-_-_", limit: 9, problem: " is not base64 in the standard alphabet with padding"},
		{name: "line end", data: "aGVs\nbG8=", limit: 9, problem: " is not base64 in the standard alphabet with padding"},
		{name: "stray bits", data: "aGVsbG9=", limit: 9, problem: " is not base64 in the standard alphabet with padding"},
		{name: "tail", data: "aGVsbG8=x", limit: 9, problem: " is not base64 in the standard alphabet with padding"},
		{name: "padding alone", data: "====", limit: 9, problem: " is not base64 in the standard alphabet with padding"},
		{name: "long", data: strings.Repeat("AAAA", 20_000), limit: 60_000, want: strings.Repeat("\x00", 60_000)},
		{name: "padding in the middle", data: strings.Repeat("AAAA", 8191) + "AA==" + "AAAA", limit: 60_000, problem: " is not base64 in the standard alphabet with padding"},
		{name: "data URL", data: "data:image/png;base64,AAAA", limit: 99, problem: " is not base64 in the standard alphabet with padding"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, err := readInline(field, tt.data, tt.limit)
			if tt.problem != "" {
				mustBlame(t, err, field+tt.problem)
				return
			}
			if err != nil || string(got) != tt.want {
				t.Errorf("decoded %q, %v, want %q", got, err, tt.want)
			}
		})
	}
}

// readInline reads an inline value to its end.
func readInline(field, data string, limit int64) ([]byte, error) {
	r, err := artifact.NewInline(field, []byte(data), limit)
	if err != nil {
		return nil, err
	}
	checked := r.Check(jsonread.IsBase64(data))
	if again := r.Check(false); (again == nil) != (checked == nil) {
		return nil, fmt.Errorf("checked: %w", errors.Join(again, checked))
	}
	raw, err := io.ReadAll(r)
	if checked != nil && err != nil && checked.Error() == err.Error() {
		return nil, err
	}
	if checked != nil || err != nil || int64(len(raw)) != r.Len() {
		return nil, fmt.Errorf("%d of %d bytes were read: %s, checked: %s", len(raw), r.Len(), fmt.Sprint(err), fmt.Sprint(checked))
	}
	return raw, nil
}

// FuzzInline: an accepted text has this one spelling and keeps the limit.
func FuzzInline(f *testing.F) {
	for _, seed := range []string{"", "aGVsbG8=", "aGVs\r\nbG8=", "AA==", "AB==", "====", "A"} {
		f.Add(seed, int64(4))
	}
	f.Add(strings.Repeat("AAAA", 8191)+"AA=="+"AA==", int64(60_000))
	f.Fuzz(func(t *testing.T, data string, limit int64) {
		raw, err := readInline("input.image", data, limit)
		if err != nil {
			return
		}
		if int64(len(raw)) > limit || base64.StdEncoding.EncodeToString(raw) != data || bytes.ContainsAny([]byte(data), "\r\n") {
			t.Errorf("%q is decoded to %d bytes under a limit of %d", data, len(raw), limit)
		}
	})
}
