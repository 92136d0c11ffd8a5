package pgstore_test

import (
	"fmt"
	"runtime"
	"strings"
	"testing"

	"unitask/internal/store"
	"unitask/internal/store/storetest"
	"unitask/internal/task"
)

// TestCopyOfLargeResults: a reader of all tasks has few of them in memory, however large their results are.
func TestCopyOfLargeResults(t *testing.T) {
	const tasks, size = 20, 4 << 20
	eachWay(t, func(t *testing.T, clock *storetest.Clock, from, to kept) {
		ended := fillTasks(t, from, clock, tasks)
		into, err := to.target(store.CopyOf{From: "the test"})
		mustDo(t, err)
		defer mustClose(t, into)
		mustDo(t, into.PutContents(t.Context(), store.Contents{Since: ended[0].CreatedAt}))
		text := fmt.Appendf(nil, `{"text":%q}`, strings.Repeat("large ", size/6))
		for _, one := range ended {
			one.Output = &task.Output{JSON: text}
			mustDo(t, into.PutTasks(t.Context(), []task.Task{one}))
		}
		mustDo(t, into.Finish(t.Context()))
		n, before := 0, liveHeap()
		for one, err := range into.Tasks(t.Context(), "") {
			mustDo(t, err)
			if n++; one.Output.Size() != len(text) {
				t.Fatalf("%s has a result of %d bytes", one.ID, one.Output.Size())
			}
			if more := liveHeap() - before; more > tasks*size/3 {
				t.Fatalf("at task %d of %d: %d MiB in memory", n, tasks, more>>20)
			}
		}
		if n != tasks {
			t.Errorf("read %d tasks, want %d", n, tasks)
		}
	})
}

// liveHeap returns the bytes that are in use.
func liveHeap() int64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}
