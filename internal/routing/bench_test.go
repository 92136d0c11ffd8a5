package routing_test

import (
	"strconv"
	"testing"

	"unitask/internal/catalog"
	"unitask/internal/routing"
	"unitask/internal/task"
)

// BenchmarkChoose decides on one request as its acceptance does, up to the plans for the store.
func BenchmarkChoose(b *testing.B) {
	for _, n := range []int{3, 10, 1000, 10_000} {
		b.Run(strconv.Itoa(n), func(b *testing.B) {
			routes := make([]routing.Route, n)
			for i := range routes {
				routes[i] = tokens("supplier-"+strconv.Itoa(i), task.Money(n-i), task.Money(n-i))
			}
			table, err := routing.NewTable(routes, nil)
			if err != nil {
				b.Fatal(err)
			}
			health := routing.NewHealth(nil)
			w := want(task.Usage{InputTokens: 100, OutputTokens: 1024})
			b.ReportAllocs()
			for b.Loop() {
				choices, passed := table.Choose(w, health)
				if len(routing.Plans(choices, passed)) == 0 {
					b.Fatal("no plan")
				}
			}
		})
	}
}

// BenchmarkEstimate estimates a small chat with the default parameters and with its own.
func BenchmarkEstimate(b *testing.B) {
	for name, parameters := range map[string]string{"default": `{"max_output_tokens":1024}`, "own": `{"max_output_tokens":200,"temperature":0.7}`} {
		b.Run(name, func(b *testing.B) {
			input, parameters := []byte(`{"prompt":"hello"}`), []byte(parameters)
			b.ReportAllocs()
			for b.Loop() {
				if routing.Estimate(catalog.Capability{Name: "text.chat"}, 0, input, parameters).OutputTokens > 1024 {
					b.Fatal("too much")
				}
			}
		})
	}
}
