package main

import (
	"os"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
)

// The garbage collector's default doubles a heap before it collects it. A gateway's is a few
// megabytes, so it would run a hundred times a second under load. Here a small heap may grow by
// heapRoom, and a large one less than by default: memory is the same and most collections are saved.
const (
	heapRoom     = 20 << 20 // bytes between two collections, where the default isn't more
	leastPercent = 50
	mostPercent  = 1000
)

// tuneMemory sets the collector's pace after each collection, unless the user's GOGC says it.
func tuneMemory() {
	if _, set := os.LookupEnv("GOGC"); set {
		return
	}
	live := []metrics.Sample{{Name: "/gc/heap/live:bytes"}}
	var tune func(int)
	tune = func(last int) {
		metrics.Read(live)
		percent := heapPercent(live[0].Value.Uint64())
		if percent != last {
			debug.SetGCPercent(percent)
		}
		runtime.AddCleanup(new([32]byte), tune, percent) // runs after the next collection
	}
	tune(100)
}

// heapPercent returns the GOGC that suits a heap of so many live bytes.
func heapPercent(live uint64) int {
	return int(min(max(heapRoom*100/max(live, 1), leastPercent), mostPercent))
}
