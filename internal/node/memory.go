package node

import (
	"os"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
)

// The garbage collector's default doubles a heap before it collects it. A gateway's is some megabytes, so it would
// run dozens of times a second under load, and a collection costs more than its marking: the processors' caches are
// cold after it. Here a small heap may grow up to heapGoal, which leaves a node below 64 MB, and a large one by less
// than it does by default.
const (
	heapGoal     = 44 << 20 // bytes at the next collection, of small heaps
	leastPercent = 50
	mostPercent  = 1000
)

// enough is more memory than a node takes whose callers are well-behaved, in bytes.
const enough = 128 << 20

// TuneMemory sets the collector's pace after each collection, unless GOGC is set, and its memory limit, unless
// GOMEMLIMIT is set.
func TuneMemory() {
	_, paced := os.LookupEnv("GOGC")
	_, limited := os.LookupEnv("GOMEMLIMIT")
	most := systemLimit()
	sizes := []metrics.Sample{{Name: "/gc/heap/live:bytes"}, {Name: "/gc/scan/stack:bytes"}, {Name: "/gc/scan/globals:bytes"}}
	percent, limit := 0, int64(0)
	var tune func(struct{})
	tune = func(struct{}) {
		metrics.Read(sizes)
		live := sizes[0].Value.Uint64()
		if p := heapPercent(live, sizes[1].Value.Uint64()+sizes[2].Value.Uint64()); p != percent && !paced {
			percent = p
			debug.SetGCPercent(p)
		}
		if l := memoryLimit(live, most); l != limit && !limited {
			limit = l
			debug.SetMemoryLimit(l)
		}
		runtime.AddCleanup(new([32]byte), tune, struct{}{}) // runs after the next collection
	}
	tune(struct{}{})
}

// memoryLimit returns the limit for a heap of so many live bytes, if the system leaves the process most: enough, and for
// a larger heap about the size that leastPercent lets it grow to, so that the collector works little harder for it. A
// burst of requests grows a small heap no further than to enough before it is collected.
func memoryLimit(live uint64, most int64) int64 {
	grown := int64(live / 100 * (100 + leastPercent))
	return min(max(enough, grown), most)
}

// heapPercent returns the GOGC that suits a heap of so many live bytes, beside so many that are looked
// through with it: the collector lets the heap grow by a part of both.
func heapPercent(live, beside uint64) int {
	room := heapGoal - min(live, heapGoal)
	return int(min(max(room*100/max(live+beside, 1), leastPercent), mostPercent))
}
