//go:build !clocktest

package node

import "time"

// wallClock is the system's clock. A build with the tag clocktest has one that tests can set.
func wallClock() time.Time { return time.Now() }
