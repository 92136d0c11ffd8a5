package upstream_test

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// host is a server of the test's at an address of its own, which can be taken away and given back. The
// address is one of 127.0.0.0/8 that nothing else uses, so that nobody takes its port meanwhile.
type host struct {
	t       *testing.T
	address string // host:port

	mu     sync.Mutex
	server *http.Server
	taken  net.Listener // the server's
	stuck  *stuck
	silent net.Listener
	serve  http.Handler
}

var hosts atomic.Uint32

// newHost starts a server that ends with the test.
func newHost(t *testing.T, h http.Handler) *host {
	t.Helper()
	n := hosts.Add(1)
	ip := net.IPv4(127, byte(64+os.Getpid()%128), byte(n>>8), byte(n))
	s := &host{t: t, serve: h, address: ip.String() + ":0"}
	s.restore()
	t.Cleanup(s.close)
	return s
}

// restore serves at the address again.
func (h *host) restore() {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.server != nil {
		return
	}
	h.freeLocked()
	l, err := (&net.ListenConfig{}).Listen(context.Background(), "tcp4", h.address)
	if err != nil {
		h.t.Errorf("the address can't be served: %v", err)
		return
	}
	if strings.HasSuffix(h.address, ":0") { // it never changes again
		h.address = l.Addr().String()
	}
	h.server = &http.Server{Handler: h.serve, ErrorLog: quiet, ReadHeaderTimeout: time.Minute}
	h.taken = l
	go func(s *http.Server) { _ = s.Serve(l) }(h.server)
}

// refuse makes the address refuse connections; those that stand go on.
func (h *host) refuse() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.leaveLocked()
}

// leaveLocked serves no longer. It reports false where the address wasn't served.
func (h *host) leaveLocked() bool {
	if h.server == nil {
		return false
	}
	_ = h.taken.Close() // for the server may not have begun
	s := h.server
	h.server = nil
	stopped, cancel := context.WithCancel(context.Background())
	cancel()
	_ = s.Shutdown(stopped) // closes what is idle and waits for nobody
	return true
}

// ignore makes the address leave connections unanswered.
func (h *host) ignore() {
	h.mu.Lock()
	defer h.mu.Unlock()
	if !h.leaveLocked() {
		return
	}
	var err error
	if h.stuck, err = newStuck(h.address); err != nil {
		h.t.Errorf("the address can't be made to hang: %v", err)
	}
}

func (h *host) close() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.leaveLocked()
	h.freeLocked()
}

// freeLocked gives up what holds the address without serving it.
func (h *host) freeLocked() {
	h.stuck.release()
	h.stuck = nil
	if h.silent != nil {
		_ = h.silent.Close()
		h.silent = nil
	}
}

// stuck is a listener whose queue is full: the kernel drops whoever knocks.
type stuck struct {
	fd      int
	fillers []net.Conn
}

func newStuck(address string) (*stuck, error) {
	name, port, err := net.SplitHostPort(address)
	if err != nil {
		return nil, err
	}
	number, err := strconv.Atoi(port)
	if err != nil {
		return nil, err
	}
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return nil, err
	}
	s := &stuck{fd: fd}
	at := &unix.SockaddrInet4{Port: number, Addr: [4]byte(net.ParseIP(name).To4())}
	err = errors.Join(unix.SetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_REUSEADDR, 1), unix.Bind(fd, at), unix.Listen(fd, 0))
	for err == nil {
		c, dial := (&net.Dialer{Timeout: 50 * time.Millisecond}).Dial("tcp4", address)
		if dial != nil {
			return s, nil //nolint:nilerr // nobody gets in any more
		}
		if s.fillers = append(s.fillers, c); len(s.fillers) > 10 {
			err = fmt.Errorf("a queue of none takes %d", len(s.fillers))
		}
	}
	s.release()
	return nil, err
}

// release may be called for nil.
func (s *stuck) release() {
	if s == nil {
		return
	}
	for _, c := range s.fillers {
		_ = c.Close()
	}
	_ = unix.Close(s.fd)
}

// deaf makes the address take connections that nobody serves.
func (h *host) deaf() {
	h.mu.Lock()
	defer h.mu.Unlock()
	if !h.leaveLocked() {
		return
	}
	l, err := (&net.ListenConfig{}).Listen(context.Background(), "tcp4", h.address)
	if err != nil {
		h.t.Errorf("the address can't be taken: %v", err)
		return
	}
	h.silent = l
}
