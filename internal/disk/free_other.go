//go:build !linux && !darwin

package disk

import "math"

// Free knows nothing of this system's disks: there is always room.
func Free(string) (int64, error) { return math.MaxInt64, nil }
