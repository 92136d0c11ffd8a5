package sweep_test

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// The system calls that change the disk, and how each names its file.
var (
	byDescriptor = map[uintptr]string{
		unix.SYS_PWRITE64: "pwrite64", unix.SYS_WRITE: "write", unix.SYS_FTRUNCATE: "ftruncate",
		unix.SYS_FSYNC: "fsync", unix.SYS_FDATASYNC: "fdatasync",
	}
	byPath = map[uintptr]string{
		unix.SYS_OPENAT: "openat", unix.SYS_MKDIRAT: "mkdirat", unix.SYS_UNLINKAT: "unlinkat",
		unix.SYS_RENAMEAT: "renameat", unix.SYS_LINKAT: "linkat", unix.SYS_UTIMENSAT: "utimensat",
	}
)

// numbers returns the numbers of all these calls.
func numbers() []uintptr {
	return append(slices.Collect(maps.Keys(byDescriptor)), slices.Collect(maps.Keys(byPath))...)
}

// fault is the replacement of a call.
type fault struct {
	name  string
	kill  bool
	errno syscall.Errno
	lie   bool // the call has no effect, and reports success
	skips []string
	only  []string // calls; nil: all but those in skips
	below string   // the folder, within the data folder, of the files; "" for all
}

func (f fault) meets(call, file string) bool {
	if !strings.HasPrefix(file, f.below) {
		return false
	}
	if f.only != nil {
		return slices.Contains(f.only, call)
	}
	return !slices.Contains(f.skips, call)
}

// hit is the call that the fault met.
type hit struct {
	call, file string // the file within the data folder
	at         time.Time
}

// database reports whether the call was one on the database itself or its log.
func (h hit) database() bool {
	return slices.Contains([]string{"unitask.db", "unitask.db.log0", "unitask.db.log1"}, h.file)
}

func (h hit) String() string { return h.call + " of " + h.file }

// injector answers for the system calls of one process: the n-th that changes the data folder, counted
// over all threads, meets the fault.
type injector struct {
	t      *testing.T
	fault  fault
	n      int // 0: calls are only counted
	folder string
	socket *net.UnixListener
	done   chan struct{}

	mu   sync.Mutex
	seen int
	hit  *hit
}

func newInjector(t *testing.T, f fault, n int, folder string) *injector {
	t.Helper()
	address := &net.UnixAddr{Net: "unix", Name: filepath.Join(t.TempDir(), "s")}
	l, err := net.ListenUnix("unix", address)
	if err != nil {
		t.Fatal(err)
	}
	in := &injector{t: t, fault: f, n: n, folder: folder + string(filepath.Separator), socket: l, done: make(chan struct{})}
	go in.serve()
	t.Cleanup(func() {
		_ = l.Close()
		<-in.done
	})
	return in
}

// met returns the call that met the fault, or nil, and the number of calls.
func (in *injector) met() (*hit, int) {
	in.mu.Lock()
	defer in.mu.Unlock()
	return in.hit, in.seen
}

// serve answers for the one process that connects, until it has ended.
func (in *injector) serve() {
	defer close(in.done)
	conn, err := in.socket.AcceptUnix()
	if err != nil {
		return // the test is over
	}
	control := make([]byte, unix.CmsgSpace(4))
	_, n, _, _, err := conn.ReadMsgUnix(make([]byte, 1), control)
	_ = conn.Close()
	messages, err2 := syscall.ParseSocketControlMessage(control[:n])
	if err != nil || err2 != nil || len(messages) != 1 {
		return // the process couldn't hand over; it ends with an error
	}
	fds, err := syscall.ParseUnixRights(&messages[0])
	if err != nil {
		in.t.Error(err)
		return
	}
	defer func() { _ = unix.Close(fds[0]) }()
	for in.await(fds[0]) {
		in.answer(fds[0])
	}
}

// await waits for a call; false: the process has ended.
func (in *injector) await(fd int) bool {
	for {
		poll := []unix.PollFd{{Fd: int32(fd), Events: unix.POLLIN}}
		_, err := unix.Poll(poll, -1)
		switch {
		case errors.Is(err, unix.EINTR):
		case err != nil || poll[0].Revents&unix.POLLIN == 0:
			return false
		default:
			return true
		}
	}
}

// notification and response are struct seccomp_notif and struct seccomp_notif_resp.
type notification struct {
	id   uint64
	pid  uint32
	_    uint32 // flags
	nr   int32
	_    uint32 // architecture
	_    uint64 // instruction
	args [6]uint64
}

type response struct {
	id    uint64
	val   int64
	errno int32
	flags uint32
}

func (in *injector) answer(fd int) {
	var n notification
	if _, _, errno := unix.Syscall(unix.SYS_IOCTL, uintptr(fd), unix.SECCOMP_IOCTL_NOTIF_RECV, uintptr(unsafe.Pointer(&n))); errno != 0 {
		return // the caller was interrupted, and comes again or is dead
	}
	r := response{id: n.id, flags: unix.SECCOMP_USER_NOTIF_FLAG_CONTINUE}
	if in.chosen(n) {
		switch {
		case in.fault.kill:
			_ = syscall.Kill(int(n.pid), syscall.SIGKILL)
			return
		case in.fault.lie:
			r.flags, r.val = 0, int64(n.args[2])
		default:
			r.flags, r.errno = 0, -int32(in.fault.errno)
		}
	}
	_, _, _ = unix.Syscall(unix.SYS_IOCTL, uintptr(fd), unix.SECCOMP_IOCTL_NOTIF_SEND, uintptr(unsafe.Pointer(&r))) // dead by now, perhaps
}

// chosen counts a call on the data folder and reports whether it is the one that meets the fault.
func (in *injector) chosen(n notification) bool {
	call, file := describe(n)
	file, inside := strings.CutPrefix(file, in.folder)
	if !inside || !in.fault.meets(call, file) {
		return false
	}
	in.mu.Lock()
	defer in.mu.Unlock()
	in.seen++
	if in.seen != in.n {
		return false
	}
	in.hit = &hit{call: call, file: file, at: time.Now()}
	return true
}

// describe returns the call's name and its file, "" for one that doesn't change the disk.
func describe(n notification) (call, file string) {
	if call, ok := byDescriptor[uintptr(n.nr)]; ok {
		file, _ = os.Readlink(fmt.Sprintf("/proc/%d/fd/%d", n.pid, n.args[0]))
		return call, file
	}
	if uintptr(n.nr) == unix.SYS_OPENAT && n.args[2]&unix.O_CREAT == 0 {
		return "openat", ""
	}
	return byPath[uintptr(n.nr)], textAt(n.pid, n.args[1])
}

// textAt reads a file's name from the memory of the process.
func textAt(pid uint32, address uint64) string {
	memory, err := os.Open(fmt.Sprintf("/proc/%d/mem", pid))
	if err != nil {
		return ""
	}
	defer func() { _ = memory.Close() }()
	text := make([]byte, unix.PathMax)
	n, _ := memory.ReadAt(text, int64(address)) // cut short at the end of the memory
	text, _, _ = bytes.Cut(text[:n], []byte{0})
	return string(text)
}
