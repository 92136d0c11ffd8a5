package main

import (
	"os"
	"reflect"
	"strings"
	"testing"
)

func TestHeapAround(t *testing.T) {
	const maps = `00400000-00600000 r-xp 00000000 fe:00 1 /bin/x
005d0000-005e0000 rw-p 00000000 00:00 0
33e310800000-33e312c00000 rw-p 00000000 00:00 0
33e312c00000-33e313000000 rw-p 00000000 00:00 0 [anon: Go: heap]
33e313000000-33e314800000 ---p 00000000 00:00 0
7f5468b00000-7f5478b00000 rw-p 00000000 00:00 0
a line that is none
`
	for _, tt := range []struct{ at, from, to uint64 }{
		{0x33e310800000, 0x33e310800000, 0x33e313000000},
		{0x33e312c00010, 0x33e310800000, 0x33e313000000},
		{0x33e313000000, 0, 0},
		{0x00500000, 0, 0},
		{0x7f5468c00000, 0x7f5468b00000, 0x7f5468b00000 + mostHuge},
	} {
		if from, to := heapAround(strings.NewReader(maps), tt.at); from != tt.from || to != tt.to {
			t.Errorf("%x: %x-%x, want %x-%x", tt.at, from, to, tt.from, tt.to)
		}
	}
}

// TestHugePages looks for the kernel's own note of the wish.
func TestHugePages(t *testing.T) {
	if _, err := os.Stat("/sys/kernel/mm/transparent_hugepage/enabled"); err != nil {
		t.Skip("the kernel knows no huge pages")
	}
	hugePages()
	maps, err := os.ReadFile("/proc/self/smaps")
	if err != nil {
		t.Skip(err)
	}
	at := uint64(reflect.ValueOf(new([64]byte)).Pointer())
	var inside bool
	for line := range strings.Lines(string(maps)) {
		if fields := strings.Fields(line); len(fields) > 1 && strings.HasPrefix(fields[1], "rw-") {
			from, _ := heapAround(strings.NewReader(line), at)
			inside = from > 0
		}
		if flags, ok := strings.CutPrefix(line, "VmFlags:"); ok && inside {
			if !strings.Contains(flags, " hg") {
				t.Errorf("the heap's flags are %s", flags)
			}
			return
		}
	}
	t.Error("the heap isn't in the list")
}
