package main

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"time"
)

// A file like one of the engine's logs, and how often it is written to: two commits for each of the paced tasks.
const (
	diskPage = 4096
	diskFile = 4 << 20
	diskRate = 2 * paced
)

// disk measures a commit on this machine without unitask: one page written over in place and synced, on a thread of
// its own, and how long of it that thread waited for a processor.
func (b *testbed) disk(ctx context.Context, d time.Duration) (f figures, err error) {
	file, err := os.Create(filepath.Join(b.dir, "disk"))
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, file.Close(), os.Remove(file.Name())) }()
	if _, err := file.WriteAt(make([]byte, diskFile), 0); err != nil {
		return nil, err
	}
	if err := file.Sync(); err != nil {
		return nil, err
	}
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	var took, waited []time.Duration
	start, page := time.Now(), make([]byte, diskPage)
	for n := 1; time.Since(start) < d && ctx.Err() == nil; n++ {
		time.Sleep(time.Until(start.Add(time.Duration(n) * time.Second / diskRate)))
		before, at := processorWait(), time.Now()
		if _, err := file.WriteAt(page, int64(n)*diskPage%diskFile); err != nil {
			return nil, err
		}
		if err := syncData(file); err != nil {
			return nil, err
		}
		took = append(took, time.Since(at))
		waited = append(waited, processorWait()-before)
	}
	slices.Sort(took)
	slices.Sort(waited)
	return figures{
		p50: quantile(took, 0.5), p99: quantile(took, 0.99), p999: quantile(took, 0.999),
		waitP99: quantile(waited, 0.99), waitP999: quantile(waited, 0.999),
	}, nil
}

// processorWait returns how long this thread has waited for a processor so far; 0 if the system doesn't say.
func processorWait() time.Duration {
	raw, err := os.ReadFile("/proc/thread-self/schedstat")
	if err != nil {
		return 0
	}
	fields := strings.Fields(string(raw))
	if len(fields) < 2 {
		return 0
	}
	n, _ := strconv.ParseInt(fields[1], 10, 64) // the kernel's own
	return time.Duration(n)
}
