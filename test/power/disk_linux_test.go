package power_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"unsafe"
)

// diskSize is the least that mkfs.xfs takes. The image is sparse.
const diskSize = 300 << 20

// The file-system shutdown of Linux: FS_IOC_SHUTDOWN of ext4, XFS_IOC_GOINGDOWN of xfs. Without flushing the log,
// later bytes never get to the disk.
const (
	shutdownRequest = 0x8004587d
	shutdownNoFlush = 2
)

// volume is a file system of its own on an image file.
type volume struct {
	t      *testing.T
	kind   string // ext4 or xfs
	device string
	dir    string // its mount point
}

// newVolume makes and mounts one, or skips the test if this machine can't.
func newVolume(t *testing.T, kind string) *volume {
	t.Helper()
	if os.Getuid() != 0 {
		t.Skip("not run: only root can mount the image of a disk")
	}
	work := t.TempDir()
	if info, err := os.Stat("/dev/shm"); err == nil && info.IsDir() { // in memory: the image is no real disk anyway
		if work, err = os.MkdirTemp("/dev/shm", "unitask-power-"); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = os.RemoveAll(work) })
	}
	d := &volume{t: t, kind: kind, dir: filepath.Join(work, "mount")}
	image := filepath.Join(work, "image")
	for _, err := range []error{
		os.Mkdir(d.dir, 0o700), os.WriteFile(image, nil, 0o600), os.Truncate(image, diskSize),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	d.tool("mkfs."+kind, "-q", image)
	d.device = d.tool("losetup", "--find", "--show", image)
	t.Cleanup(func() { d.tool("losetup", "--detach", d.device) })
	if err := d.mount(); err != nil {
		t.Skipf("not run: %s can't be mounted here: %v", kind, err)
	}
	t.Cleanup(func() { _ = syscall.Unmount(d.dir, syscall.MNT_DETACH) }) // gone already after success
	return d
}

// tool runs a program and returns its output; if it is missing or can't work, the test is skipped.
func (d *volume) tool(name string, args ...string) string {
	d.t.Helper()
	out, err := exec.Command(name, args...).CombinedOutput() //nolint:noctx // also in cleanups, whose context is over
	if err != nil {
		d.t.Skipf("not run: %s: %v: %s", name, err, out)
	}
	return strings.TrimSpace(string(out))
}

func (d *volume) mount() error { return syscall.Mount(d.device, d.dir, d.kind, 0, "") }

// cut takes the power away: the file system's memory is gone, and every call on it fails from here on.
func (d *volume) cut() {
	d.t.Helper()
	root, err := os.Open(d.dir)
	if err != nil {
		d.t.Fatal(err)
	}
	defer func() { _ = root.Close() }()
	how := uint32(shutdownNoFlush)
	if _, _, errno := syscall.Syscall(syscall.SYS_IOCTL, root.Fd(), shutdownRequest, uintptr(unsafe.Pointer(&how))); errno != 0 {
		d.t.Skipf("not run: the shutdown of %s: %v", d.kind, errno)
	}
}

// restore brings the power back: mounting reads the log.
func (d *volume) restore() {
	d.t.Helper()
	if err := syscall.Unmount(d.dir, 0); err != nil {
		d.t.Fatalf("unmount: %v", err)
	}
	if err := d.mount(); err != nil {
		d.t.Fatalf("mount after the power cut: %v", err)
	}
}
