package artifact_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"unitask/internal/artifact"
)

const sweptFolder = "UNITASK_TEST_SWEPT_FOLDER"

// TestSweepCalls counts, with strace, the system calls of an hour of sweeps after the first walk: a few for each due
// object, and no calls for the others.
func TestSweepCalls(t *testing.T) {
	const stored, due, perObject = 300, 5, 8
	if dir := os.Getenv(sweptFolder); dir != "" {
		sweepAnHour(t, dir, due)
		return
	}
	if _, err := exec.LookPath("strace"); err != nil {
		if os.Getenv("CI") != "" {
			t.Fatal(err)
		}
		t.Skip("not run: ", err)
	}
	s, dir := newStore(t)
	for i := range stored {
		r := request(newID(), png1)
		if r.TTL = 7 * 24 * time.Hour; i < due {
			r.TTL = time.Minute + time.Duration(i)*time.Second
		}
		mustPut(t, s, r)
	}
	log := filepath.Join(t.TempDir(), "calls")
	cmd := exec.CommandContext(t.Context(), "strace", "-f", "-qq", "-o", log, "-e", "trace=%file,getdents64,statx", os.Args[0], "-test.run=^TestSweepCalls$")
	cmd.Env = append(os.Environ(), sweptFolder+"="+dir)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	raw, err := os.ReadFile(log)
	if err != nil {
		t.Fatal(err)
	}
	_, hour, started := strings.Cut(string(raw), mark(dir, "begin"))
	hour, _, ended := strings.Cut(hour, mark(dir, "end"))
	calls := strings.Count(hour, "\n")
	if !started || !ended || calls < 2*due || calls > perObject*due {
		t.Errorf("%d calls for %d objects that were due of %d, want at most %d (started %t, ended %t)\n%.3000s",
			calls, due, stored, perObject*due, started, ended, hour)
	}
	t.Log(strconv.Itoa(calls) + " calls")
}

func mark(dir, what string) string { return fmt.Sprintf("%q", filepath.Join(dir, "mark-"+what)) }

// sweepAnHour sweeps until everything is known, and then once a minute, between two marks.
func sweepAnHour(t *testing.T, dir string, want int) {
	s, err := artifact.NewFolder(artifact.FolderConfig{Dir: dir})
	if err != nil {
		t.Fatal(err)
	}
	mustSweep(t, s, 0, 0)
	deleted := 0
	for minute := range 62 {
		switch minute {
		case 1:
			_, _ = os.Stat(filepath.Join(dir, "mark-begin"))
		case 61:
			_, _ = os.Stat(filepath.Join(dir, "mark-end"))
		}
		n, err := s.Sweep(t.Context(), start.Add(time.Duration(minute)*time.Minute), 1000)
		if err != nil {
			t.Fatal(err)
		}
		deleted += n
	}
	if deleted != want {
		t.Errorf("%d deleted, want %d", deleted, want)
	}
}
