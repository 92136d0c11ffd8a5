package node

import (
	"math"
	"testing"
)

func TestHeapPercent(t *testing.T) {
	for _, tt := range []struct {
		live, beside uint64 // MiB
		want         int
	}{{0, 0, 1000}, {1, 0, 1000}, {4, 6, 400}, {8, 4, 300}, {20, 4, 100}, {28, 0, 57}, {30, 10, 50}, {44, 0, 50}, {1024, 0, 50}} {
		if got := heapPercent(tt.live<<20, tt.beside<<20); got != tt.want {
			t.Errorf("%d MiB live and %d beside: %d %%, want %d", tt.live, tt.beside, got, tt.want)
		}
	}
}

func TestMemoryLimit(t *testing.T) {
	for _, tt := range []struct {
		live uint64 // MiB
		most int64
		want int64
	}{{0, math.MaxInt64, 128 << 20}, {80, math.MaxInt64, 128 << 20}, {1000, math.MaxInt64, 1500 << 20}, {0, 64 << 20, 64 << 20}, {1000, 1 << 30, 1 << 30}} {
		if got := memoryLimit(tt.live<<20, tt.most); got > tt.want || got < tt.want-200 {
			t.Errorf("%d MiB live of %d: %d, want %d", tt.live, tt.most, got, tt.want)
		}
	}
}
