package task_test

import (
	"testing"

	"unitask/internal/task"
)

// BenchmarkCost prices a plain text, and one with tokens of kinds.
func BenchmarkCost(b *testing.B) {
	for name, tt := range map[string]struct {
		price task.Price
		usage task.Usage
	}{
		"plain": {task.Price{Unit: task.PerMillionTokens, Input: task.USD, Output: task.USD}, task.Usage{InputTokens: 12, OutputTokens: 120}},
		"kinds": {
			task.Price{Unit: task.PerMillionTokens, Input: task.USD, Output: task.USD, Rates: &task.Rates{CachedInput: new(task.Money)}},
			task.Usage{InputTokens: 12, CachedInputTokens: 8, OutputTokens: 120},
		},
	} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if tt.price.Cost(tt.usage) == 0 {
					b.Fatal("free")
				}
			}
		})
	}
}
