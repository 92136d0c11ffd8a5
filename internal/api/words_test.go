package api_test

import (
	"testing"

	"unitask/internal/api"
	"unitask/internal/task"
)

func TestPriceForPeople(t *testing.T) {
	for want, p := range map[string]api.Price{
		"free":                           {Unit: task.PerImage, Input: "0", Output: "0"},
		"$0.05 in, $0.08 out / M tokens": {Unit: task.PerMillionTokens, Input: "0.05", Output: "0.08"},
		"$0.003 / image":                 {Unit: task.PerImage, Input: "0", Output: "0.003"},
		"$0.15 / second":                 {Unit: task.PerSecond, Input: "0.1", Output: "0.05"},
		"$15 / M characters":             {Unit: task.PerMillionCharacters, Input: "15", Output: "0"},
		"$1":                             {Unit: "mile", Input: "1", Output: "0"},
		"?":                              {Unit: task.PerImage, Input: "0", Output: "\x1b[2J"},
	} {
		if got := p.String(); got != want {
			t.Errorf("%+v: got %q, want %q", p, got, want)
		}
	}
}

func TestSizeForPeople(t *testing.T) {
	for n, want := range map[int64]string{0: "0 B", 999: "999 B", 1000: "1.0 kB", 1_209_208: "1.2 MB", 5_000_000_000_000: "5.0 TB", 1 << 60: "1152921.5 TB"} {
		if got := api.Size(n); got != want {
			t.Errorf("%d: got %q, want %q", n, got, want)
		}
	}
}
