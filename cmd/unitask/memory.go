package main

import (
	"os"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
)

// The garbage collector's default doubles a heap before it collects it. A gateway's is some megabytes, so
// it would run dozens of times a second under load, and a collection costs more than its marking: what
// the processors had at hand is gone. Here a small heap may grow up to heapGoal, which leaves a node
// below 64 MB, and a large one by less than it does by default.
const (
	heapGoal     = 44 << 20 // bytes at the next collection, where heaps are small
	leastPercent = 50
	mostPercent  = 1000
)

// tuneMemory sets the collector's pace after each collection, unless the user's GOGC says it.
func tuneMemory() {
	if _, set := os.LookupEnv("GOGC"); set {
		return
	}
	sizes := []metrics.Sample{
		{Name: "/gc/heap/live:bytes"}, {Name: "/gc/scan/stack:bytes"}, {Name: "/gc/scan/globals:bytes"}, {Name: "/memory/classes/total:bytes"},
	}
	mapped := uint64(0)
	var tune func(int)
	tune = func(last int) {
		metrics.Read(sizes)
		percent := heapPercent(sizes[0].Value.Uint64(), sizes[1].Value.Uint64()+sizes[2].Value.Uint64())
		if percent != last {
			debug.SetGCPercent(percent)
		}
		if total := sizes[3].Value.Uint64(); total > mapped { // the heap has got new addresses
			mapped = total
			hugePages()
		}
		runtime.AddCleanup(new([32]byte), tune, percent) // runs after the next collection
	}
	tune(100)
}

// heapPercent returns the GOGC that suits a heap of so many live bytes, beside so many that are looked
// through with it: the collector lets the heap grow by a part of both.
func heapPercent(live, beside uint64) int {
	room := heapGoal - min(live, heapGoal)
	return int(min(max(room*100/max(live+beside, 1), leastPercent), mostPercent))
}
