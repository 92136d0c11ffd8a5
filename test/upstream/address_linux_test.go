package upstream_test

import (
	"context"
	"errors"
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
// address is in 127.0.0.0/8 and not used otherwise, so that its port stays free meanwhile.
type host struct {
	t       *testing.T
	address string // host:port

	mu     sync.Mutex
	served *served // nil while the address fails
	stuck  *stuck
	silent net.Listener
	serve  http.Handler
}

// served is one stretch of time in which an address is served.
type served struct {
	server   *http.Server
	listener net.Listener
	serve    http.Handler
	over     atomic.Bool // requests that come now come by a connection of before

	mu    sync.Mutex
	fresh map[net.Conn]bool // connections that have brought no request yet
}

func newServed(l net.Listener, h http.Handler) *served {
	s := &served{listener: l, serve: h, fresh: map[net.Conn]bool{}}
	s.server = &http.Server{Handler: s, ErrorLog: quiet, ReadHeaderTimeout: time.Minute, ConnState: s.note}
	return s
}

func (s *served) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if s.over.Load() {
		reset(w, "")
		return
	}
	s.serve.ServeHTTP(w, r)
}

// note records connections that http.Server.Shutdown would leave open for some seconds.
func (s *served) note(c net.Conn, state http.ConnState) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if state == http.StateNew {
		s.fresh[c] = true
	} else {
		delete(s.fresh, c)
	}
}

// end takes no more connections and closes those that are idle. It doesn't wait for the others.
func (s *served) end() {
	s.over.Store(true)
	_ = s.listener.Close() // for the server may not have started
	stopped, cancel := context.WithCancel(context.Background())
	cancel()
	_ = s.server.Shutdown(stopped)
	s.mu.Lock()
	defer s.mu.Unlock()
	for c := range s.fresh {
		_ = c.Close()
	}
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
	if h.served != nil {
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
	h.served = newServed(l, h.serve)
	go func(s *served) { _ = s.server.Serve(l) }(h.served)
}

// refuse makes the address refuse connections; established ones go on.
func (h *host) refuse() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.leaveLocked()
}

// leaveLocked stops serving. It reports whether the address was served.
func (h *host) leaveLocked() bool {
	if h.served == nil {
		return false
	}
	h.served.end()
	h.served = nil
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

// freeLocked closes listeners that hold the address without serving it.
func (h *host) freeLocked() {
	h.stuck.release()
	h.stuck = nil
	if h.silent != nil {
		_ = h.silent.Close()
		h.silent = nil
	}
}

// stuck is a listener whose queue is full, after a first connection: the kernel drops all others.
type stuck struct {
	fd     int
	filler net.Conn
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
	if err == nil {
		s.filler, err = (&net.Dialer{Timeout: time.Minute}).Dial("tcp4", address)
	}
	for tries := 0; err == nil && !full(fd); tries++ {
		if time.Sleep(time.Millisecond); tries == 10_000 {
			err = errors.New("a queue of none isn't full with one")
		}
	}
	if err != nil {
		s.release()
		return nil, err
	}
	return s, nil
}

// full reports whether a listening socket's queue is full, by the kernel's figures of its length and its
// limit.
func full(fd int) bool {
	info, err := unix.GetsockoptTCPInfo(fd, unix.SOL_TCP, unix.TCP_INFO)
	return err == nil && info.Unacked > info.Sacked
}

// release may be called for nil.
func (s *stuck) release() {
	if s == nil {
		return
	}
	if s.filler != nil {
		_ = s.filler.Close()
	}
	_ = unix.Close(s.fd)
}

// deaf makes the address accept connections without serving them.
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

// patient accepts connections on which the service waits longer than it otherwise would for a request's head:
// the caller shares this busy process, and may be late with it.
type patient struct{ net.Listener }

// Accept implements net.Listener.
func (p patient) Accept() (net.Conn, error) {
	c, err := p.Listener.Accept()
	return unhurried{c}, err
}

type unhurried struct{ net.Conn }

// SetReadDeadline implements net.Conn. One that is long over stays so: it ends a read at once.
func (u unhurried) SetReadDeadline(t time.Time) error {
	if !t.IsZero() {
		t = t.Add(time.Minute)
	}
	return u.Conn.SetReadDeadline(t)
}
