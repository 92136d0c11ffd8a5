package sse_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"unitask/internal/sse"
)

func readAll(in string, most int) (all []sse.Event, err error) {
	for e, err := range sse.Read(strings.NewReader(in), most) {
		if err != nil {
			return all, err
		}
		all = append(all, e)
	}
	return all, nil
}

func TestRead(t *testing.T) {
	got, err := readAll(string(sse.Append(nil, "task", []byte("{}")))+sse.Beat+"data: a\ndata: b\n\n", 0)
	want := []sse.Event{{Name: "task", Data: "{}"}, {Data: "a\nb"}}
	if diff := cmp.Diff(want, got); diff != "" || err != nil {
		t.Errorf("error %v, events (-want +got):\n%s", err, diff)
	}
	for _, long := range []string{"data: " + strings.Repeat("x", 200), strings.Repeat("data: x\n", 30)} {
		if _, err := readAll(long, 100); !errors.Is(err, sse.ErrTooLong) {
			t.Errorf("%q: %v", long, err)
		}
	}
}

// FuzzAppend reads back written events: the data is the same but for its line ends.
func FuzzAppend(f *testing.F) {
	for _, seed := range []string{"", "a", "a\nb", "\n", `{"text":"é"}`, ": x", "\ufeff"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, data string) {
		if strings.Contains(data, "\r") {
			t.Skip() // a line end too
		}
		raw := append(sse.Append(nil, "x", []byte(data)), sse.Beat...)
		got, err := readAll(string(raw), 0)
		if diff := cmp.Diff([]sse.Event{{Name: "x", Data: data}}, got); diff != "" || err != nil {
			t.Errorf("error %v, events (-want +got):\n%s", err, diff)
		}
	})
}
