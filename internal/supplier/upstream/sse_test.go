package upstream_test

import (
	"errors"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/google/go-cmp/cmp"

	"unitask/internal/fault"
	"unitask/internal/supplier"
	"unitask/internal/supplier/upstream"
)

func events(r io.Reader) (all []upstream.Event, err error) {
	for e, err := range upstream.Events(r, 0) {
		if err != nil {
			return all, err
		}
		all = append(all, e)
	}
	return all, nil
}

func TestEvents(t *testing.T) {
	tests := []struct {
		name, in string
		want     []upstream.Event
	}{
		{"none", "", nil},
		{"one", "data: a\n\n", []upstream.Event{{Data: "a"}}},
		{"no space", "data:a\n\n", []upstream.Event{{Data: "a"}}},
		{"second space", "data:  a\n\n", []upstream.Event{{Data: " a"}}},
		{"crlf", "data: a\r\n\r\ndata: b\r\n\r\n", []upstream.Event{{Data: "a"}, {Data: "b"}}},
		{"cr", "data: a\r\rdata: b\r\r", []upstream.Event{{Data: "a"}, {Data: "b"}}},
		{"named", "event: x\ndata: a\n\ndata: b\n\n", []upstream.Event{{Name: "x", Data: "a"}, {Data: "b"}}},
		{"lines", "data: a\ndata\ndata: b\n\n", []upstream.Event{{Data: "a\n\nb"}}},
		{"comment", ": ping\n\n:\ndata: a\n\n", []upstream.Event{{Data: "a"}}},
		{"name alone", "event: x\n\ndata: a\n\n", []upstream.Event{{Data: "a"}}},
		{"mark", "\ufeffdata: a\n\n", []upstream.Event{{Data: "a"}}},
		{"other fields", "id: 1\nretry: 5\ndata: a\nfoo: b\n\n", []upstream.Event{{Data: "a"}}},
		{"cut", "data: a\n\ndata: b", []upstream.Event{{Data: "a"}, {Data: "b"}}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, err := events(strings.NewReader(tt.in))
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestEventsErrors(t *testing.T) {
	tooLarge := outcome{Code: fault.ProviderUnavailable, Sent: supplier.Unknown}
	for name, in := range map[string]string{
		"a long line": "data: " + strings.Repeat("x", 2<<20),
		"many lines":  strings.Repeat("data: x\n", 1<<18),
	} {
		t.Run(name, func(t *testing.T) {
			_, err := events(strings.NewReader(in))
			if diff := cmp.Diff(tooLarge, outcomeOf(err)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
	broken := errors.New("broken")
	got, err := events(io.MultiReader(strings.NewReader("data: a\n\ndata: b"), iotest.ErrReader(broken)))
	if diff := cmp.Diff([]upstream.Event{{Data: "a"}}, got); diff != "" || !errors.Is(err, broken) {
		t.Errorf("error %v, events (-want +got):\n%s", err, diff)
	}
}

// FuzzEvents checks that a stream's cuts into reads and its line ends don't matter, and that no event is made up.
func FuzzEvents(f *testing.F) {
	for _, s := range []string{"data: a\n\n", "event: x\r\ndata: a\r\n\r\n", ": c\n\ndata:a\n\n", "\ufeffdata: a\r\r\ndata"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, in string) {
		want, err := events(strings.NewReader(in))
		if err != nil {
			t.Skip() // too long a line
		}
		size := 0
		for _, e := range want {
			size += len(e.Name) + len(e.Data)
		}
		if size > len(in) {
			t.Errorf("%d bytes of events from %d", size, len(in))
		}
		lf := strings.NewReplacer("\r\n", "\n", "\r", "\n").Replace(in)
		for name, r := range map[string]io.Reader{
			"bytewise": iotest.OneByteReader(strings.NewReader(in)),
			"lf":       strings.NewReader(lf),
			"crlf":     strings.NewReader(strings.ReplaceAll(lf, "\n", "\r\n")),
			"cr":       strings.NewReader(strings.ReplaceAll(lf, "\n", "\r")),
		} {
			got, err := events(r)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("%s (-want +got):\n%s", name, diff)
			}
		}
	})
}
