//go:build clocktest

package node

import (
	"os"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"unitask/internal/clockstep"
)

// The file that says by how many seconds the clock is off, and whether the clock has a monotonic
// reading beside; both are of tests alone.
const (
	clockVariable = "UNITASK_TEST_CLOCK"
	naiveVariable = "UNITASK_TEST_CLOCK_NAIVE"
)

// clockOffset follows the file.
var clockOffset = sync.OnceValue(func() *atomic.Int64 {
	offset := new(atomic.Int64)
	read := func() {
		raw, err := os.ReadFile(os.Getenv(clockVariable))
		if n, bad := strconv.ParseInt(strings.TrimSpace(string(raw)), 10, 64); err == nil && bad == nil {
			offset.Store(n)
		}
	}
	read()
	go func() {
		for range time.Tick(10 * time.Millisecond) {
			read()
		}
	}()
	return offset
})

// wallClock is the system's clock, off by as much as the test says.
func wallClock() time.Time {
	by := time.Duration(clockOffset().Load()) * time.Second
	if os.Getenv(naiveVariable) != "" {
		return time.Now().Round(0).Add(by)
	}
	return clockstep.By(time.Now(), by)
}
