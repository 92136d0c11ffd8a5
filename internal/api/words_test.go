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
		"$0.01 / page":                   {Unit: task.PerPage, Input: "0.01", Output: "0"},
		"$0.002 / request":               {Unit: task.PerRequest, Input: "0", Output: "0.002"},
		"$0.005 / search":                {Unit: task.PerSearch, Input: "0", Output: "0.005"},
		"$1 in, $2 out / M tokens, $0.01 / search": {
			Unit: task.PerMillionTokens, Input: "1", Output: "2", Search: "0.01", Page: "0", CachedInput: "0.1",
		},
		"$0.03 / request": {Unit: task.PerMillionTokens, Input: "0", Output: "0", Request: "0.03"},
		"?":               {Unit: task.PerImage, Input: "0", Output: "\x1b[2J"},
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

func TestKindsForPeople(t *testing.T) {
	for want, p := range map[string]api.Price{
		"": {Unit: task.PerMillionTokens, Input: "1", Output: "2", Search: "1"},
		"cached input $0.2, reasoning $0 / M tokens": {Unit: task.PerMillionTokens, Input: "2", Output: "10", CachedInput: "0.20", Reasoning: "0"},
		"audio output ? / M tokens":                  {AudioOutput: "\x1b[2J"},
	} {
		if got := p.Kinds(); got != want {
			t.Errorf("%+v: got %q, want %q", p, got, want)
		}
	}
}
