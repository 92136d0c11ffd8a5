package node

import (
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// systemLimit returns nine tenths of the memory in bytes that a container or a service manager leaves the process;
// math.MaxInt64 without a bound.
func systemLimit() int64 {
	groups, err := os.ReadFile("/proc/self/cgroup") // Linux
	if err != nil {
		return math.MaxInt64
	}
	limit := groupLimit("/sys/fs/cgroup", string(groups))
	return limit - limit/10
}

// groupLimit returns the least memory limit in bytes of the control groups that a process is in, which are listed as
// in /proc/PID/cgroup, and of those around them; math.MaxInt64 without one. root is the mount point, of the first
// version and of the second.
func groupLimit(root, groups string) int64 {
	limit := int64(math.MaxInt64)
	for line := range strings.Lines(groups) {
		_, rest, _ := strings.Cut(strings.TrimSpace(line), ":")
		controllers, group, ok := strings.Cut(rest, ":")
		switch {
		case !ok:
		case controllers == "":
			limit = min(limit, leastLimit(root, group, "memory.max"))
		case controllers == "memory":
			limit = min(limit, leastLimit(filepath.Join(root, "memory"), group, "memory.limit_in_bytes"))
		}
	}
	return limit
}

// leastLimit returns the least limit of a group and of those around it. In a container, which may see its own group
// as the root, only the root may be there.
func leastLimit(root, group, name string) int64 {
	limit := int64(math.MaxInt64)
	for group = filepath.Join("/", group); ; group = filepath.Dir(group) {
		raw, err := os.ReadFile(filepath.Join(root, group, name))
		n, bad := strconv.ParseInt(strings.TrimSpace(string(raw)), 10, 64)
		if err == nil && bad == nil && n > 0 { // "max" is no number
			limit = min(limit, n)
		}
		if group == "/" {
			return limit
		}
	}
}
