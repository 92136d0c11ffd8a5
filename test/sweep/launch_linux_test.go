package sweep_test

import (
	"fmt"
	"net"
	"os"
	"runtime"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// launchVariable names the socket of the injector to a test binary that is started anew: it hands its
// system calls over and becomes the program of its command line.
const launchVariable = "UNITASK_SWEEP_SOCKET"

// launch returns only with an error.
func launch(socket string, line []string) error {
	conn, err := net.Dial("unix", socket) //nolint:noctx // the process ends here or becomes another
	if err != nil {
		return err
	}
	runtime.LockOSThread() // the filter is the thread's until it becomes the program
	listener, err := handOver()
	if err != nil {
		return err
	}
	_, _, err = conn.(*net.UnixConn).WriteMsgUnix([]byte{0}, syscall.UnixRights(listener), nil)
	if err != nil {
		return err
	}
	return syscall.Exec(line[0], line, os.Environ())
}

// handOver makes each of the swept system calls wait for the reader of the returned descriptor.
func handOver() (int, error) {
	filter := []unix.SockFilter{{Code: unix.BPF_LD | unix.BPF_W | unix.BPF_ABS}} // the number of the call
	swept := numbers()
	for i, nr := range swept {
		filter = append(filter, unix.SockFilter{
			Code: unix.BPF_JMP | unix.BPF_JEQ | unix.BPF_K, K: uint32(nr), Jt: uint8(len(swept) - i),
		})
	}
	filter = append(filter,
		unix.SockFilter{Code: unix.BPF_RET | unix.BPF_K, K: unix.SECCOMP_RET_ALLOW},
		unix.SockFilter{Code: unix.BPF_RET | unix.BPF_K, K: unix.SECCOMP_RET_USER_NOTIF})
	program := unix.SockFprog{Len: uint16(len(filter)), Filter: &filter[0]}
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		return 0, err
	}
	const flags = unix.SECCOMP_FILTER_FLAG_NEW_LISTENER | unix.SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV
	fd, _, errno := unix.Syscall(unix.SYS_SECCOMP, unix.SECCOMP_SET_MODE_FILTER, flags, uintptr(unsafe.Pointer(&program)))
	if errno != 0 {
		return 0, fmt.Errorf("seccomp: %w", errno)
	}
	return int(fd), nil
}
