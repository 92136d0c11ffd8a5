package main

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"reflect"
	"strings"

	"golang.org/x/sys/unix"
)

// mostHuge bounds what huge pages are asked for, in bytes of addresses: the kernel keeps a huge page whole,
// so that memory which a large heap gave back would come back with it.
const mostHuge = 64 << 20

// hugePages asks the kernel for huge pages under the beginning of the heap, where it gives them to those
// that ask: a heap of small pages costs a node a twentieth of its CPU in looking up addresses. It is a wish;
// a kernel that doesn't know it, or a system without /proc, stays as it is.
func hugePages() {
	maps, err := os.Open("/proc/self/maps")
	if err != nil {
		return
	}
	defer func() { _ = maps.Close() }()
	from, to := heapAround(maps, uint64(reflect.ValueOf(new([64]byte)).Pointer()))
	if to > from {
		_, _, _ = unix.Syscall(unix.SYS_MADVISE, uintptr(from), uintptr(to-from), unix.MADV_HUGEPAGE)
	}
}

// heapAround returns the bounds of the mappings, one after another, around an address in the heap, from a
// list as in /proc/self/maps, and no more than mostHuge of them.
func heapAround(maps io.Reader, at uint64) (from, to uint64) {
	for lines := bufio.NewScanner(maps); lines.Scan(); {
		var begin, end uint64
		fields := strings.Fields(lines.Text())
		if len(fields) < 2 || !strings.HasPrefix(fields[1], "rw-") {
			continue
		}
		if _, err := fmt.Sscanf(fields[0], "%x-%x", &begin, &end); err != nil {
			continue
		}
		switch {
		case begin == to:
			to = end
		case at < to && at >= from && to > 0:
			return from, min(to, from+mostHuge)
		default:
			from, to = begin, end
		}
	}
	if at < from || at >= to {
		return 0, 0
	}
	return from, min(to, from+mostHuge)
}
