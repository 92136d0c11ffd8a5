package main

import "testing"

func TestHeapPercent(t *testing.T) {
	for live, want := range map[uint64]int{0: 1000, 1 << 20: 1000, 5 << 20: 400, 20 << 20: 100, 40 << 20: 50, 1 << 30: 50} {
		if got := heapPercent(live); got != want {
			t.Errorf("%d MiB live: %d %%, want %d", live>>20, got, want)
		}
	}
}
