package artifact_test

import (
	"errors"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"

	"unitask/internal/artifact"
	"unitask/internal/fault"
)

const onSmallDisk = "UNITASK_TEST_SMALL_DISK"

// TestDiskFull runs itself again with a file system of 64 KiB mounted in a name space of its own.
func TestDiskFull(t *testing.T) {
	if dir := os.Getenv(onSmallDisk); dir != "" {
		fillDisk(t, dir)
		return
	}
	cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.v", "-test.run=^TestDiskFull$")
	cmd.Env = append(os.Environ(), onSmallDisk+"="+t.TempDir())
	cmd.SysProcAttr = &syscall.SysProcAttr{
		Cloneflags:  syscall.CLONE_NEWUSER | syscall.CLONE_NEWNS,
		UidMappings: []syscall.SysProcIDMap{{HostID: os.Getuid(), Size: 1}},
		GidMappings: []syscall.SysProcIDMap{{HostID: os.Getgid(), Size: 1}},
	}
	out, err := cmd.CombinedOutput()
	switch {
	case errors.Is(err, syscall.EPERM), strings.Contains(string(out), "--- SKIP"):
		t.Skipf("not run: this machine lets nobody mount in a name space: %v %s", err, out)
	case err != nil || !strings.Contains(string(out), "--- PASS: TestDiskFull"):
		t.Errorf("%v\n%s", err, out)
	}
}

func fillDisk(t *testing.T, dir string) {
	if err := syscall.Mount("tmpfs", dir, "tmpfs", 0, "size=64k"); err != nil {
		t.Skipf("mount: %v", err)
	}
	s, err := artifact.NewFolder(artifact.FolderConfig{Dir: dir})
	if err != nil {
		t.Fatal(err)
	}
	kept := newID()
	mustPut(t, s, request(kept, png1))
	_, err = s.Put(t.Context(), request(newID(), png1+strings.Repeat("x", 128<<10)))
	if fault.CodeOf(err) != fault.CapacityExhausted {
		t.Errorf("put on a full disk: %v, want CAPACITY_EXHAUSTED", err)
	}
	mustHold(t, dir, kept)
	if _, body := mustOpen(t, s, kept); string(body) != png1 {
		t.Errorf("an older object is %q now", body)
	}
	if err := s.Delete(t.Context(), kept); err != nil {
		t.Errorf("delete on a full disk: %v", err)
	}
	mustPut(t, s, request(newID(), png2))
}
