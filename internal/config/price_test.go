package config_test

import (
	"testing"

	"github.com/goccy/go-yaml"
	"github.com/google/go-cmp/cmp"

	"unitask/internal/config"
	"unitask/internal/task"
)

// TestRates: every rate of a price gets to the task's price, an absent one stays absent, and neither is shown.
func TestRates(t *testing.T) {
	got, err := load(t, config.Sources{}, `prices:
  text.chat:
    unit: mtok
    input: "2.00"
    output: 10
    cached_input: 0.20
    cache_write: "2.5"
    image_input: 3
    audio_input: 4
    reasoning: 0
    image_output: 5
    audio_output: 6
    request: 0.001
    search: "0.01"
  text.embed: {unit: request, input: 0.002}
`)
	if err != nil {
		t.Fatal(err)
	}
	want := task.Price{Unit: task.PerMillionTokens, Input: 2 * task.USD, Output: 10 * task.USD, Rates: &task.Rates{
		CachedInput: new(task.USD / 5), CacheWrite: new(5 * task.USD / 2), ImageInput: new(3 * task.USD), AudioInput: new(4 * task.USD),
		Reasoning: new(task.Money(0)), ImageOutput: new(5 * task.USD), AudioOutput: new(6 * task.USD),
		Request: new(task.USD / 1000), Search: new(task.USD / 100),
	}}
	if diff := cmp.Diff(want, got.Prices["text.chat"].Task()); diff != "" {
		t.Errorf("with rates (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(task.Price{Unit: task.PerRequest, Input: task.USD / 500}, got.Prices["text.embed"].Task()); diff != "" {
		t.Errorf("without (-want +got):\n%s", diff)
	}
	shown, err := yaml.Marshal(got.Prices["text.embed"])
	if err != nil || string(shown) != "unit: request\ninput: \"0.002\"\noutput: \"0\"\n" {
		t.Errorf("shown as %q, %v", shown, err)
	}
}
