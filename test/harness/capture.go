package harness

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"time"

	"unitask/internal/api"
	"unitask/internal/sse"
	"unitask/internal/task"
)

// Capture records one exchange to its end. A client that hangs up closes its sending side and reads on, so that an
// answer that crosses its hang-up isn't mistaken for one that was never written.
type Capture struct {
	Patience time.Duration // how long late bytes are waited for

	mu    sync.Mutex
	lines []*capturedConn
}

// Client returns one that makes a connection for each request.
func (e *Capture) Client() *http.Client {
	return &http.Client{Transport: &http.Transport{DisableKeepAlives: true, DialContext: e.dial}}
}

func (e *Capture) dial(ctx context.Context, network, address string) (net.Conn, error) {
	c, err := (&net.Dialer{}).DialContext(ctx, network, address)
	if err != nil {
		return nil, err
	}
	l := &capturedConn{TCPConn: c.(*net.TCPConn), patience: e.Patience, ended: make(chan struct{})}
	l.more = sync.NewCond(&l.mu)
	go l.listen()
	e.mu.Lock()
	defer e.mu.Unlock()
	e.lines = append(e.lines, l)
	return l, nil
}

// Whole hangs up and returns the received bytes, once no more arrive.
func (e *Capture) Whole() []byte {
	e.mu.Lock()
	defer e.mu.Unlock()
	var all []byte
	for _, l := range e.lines {
		_ = l.Close()
		<-l.ended
		all = append(all, l.heard...)
	}
	return all
}

// capturedConn is a connection that is read to its end, even after its user has closed it.
type capturedConn struct {
	*net.TCPConn
	patience time.Duration
	ended    chan struct{}

	mu     sync.Mutex
	more   *sync.Cond
	heard  []byte
	read   int
	over   bool // no more bytes arrive
	closed bool // by its user
}

func (l *capturedConn) listen() {
	defer close(l.ended)
	defer func() { _ = l.TCPConn.Close() }()
	piece := make([]byte, 4<<10)
	for {
		n, err := l.TCPConn.Read(piece)
		l.mu.Lock()
		l.heard, l.over = append(l.heard, piece[:n]...), err != nil
		l.more.Broadcast()
		l.mu.Unlock()
		if err != nil {
			return
		}
	}
}

// Read implements net.Conn.
func (l *capturedConn) Read(b []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for l.read == len(l.heard) && !l.over && !l.closed {
		l.more.Wait()
	}
	switch {
	case l.closed:
		return 0, net.ErrClosed
	case l.read == len(l.heard):
		return 0, io.EOF
	}
	n := copy(b, l.heard[l.read:])
	l.read += n
	return n, nil
}

// Close says that no more is sent. Late events are read for as long as the capture is patient.
func (l *capturedConn) Close() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closed {
		return nil
	}
	l.closed = true
	l.more.Broadcast()
	_ = l.SetReadDeadline(time.Now().Add(l.patience))
	return l.CloseWrite()
}

// CarriesFailure reports whether an answer, as it was received, tells that the task failed. A stream may be cut short
// after it.
func CarriesFailure(raw []byte) bool {
	answer, err := http.ReadResponse(bufio.NewReader(bytes.NewReader(raw)), nil)
	if err != nil {
		return false
	}
	defer func() { _ = answer.Body.Close() }()
	body, err := io.ReadAll(answer.Body)
	if strings.HasPrefix(answer.Header.Get("Content-Type"), sse.ContentType) {
		for e := range sse.Read(bytes.NewReader(body), 0) {
			if e.Name == api.EventTask && tellsFailure([]byte(e.Data)) {
				return true
			}
		}
		return false
	}
	return err == nil && tellsFailure(body)
}

func tellsFailure(body []byte) bool {
	var told struct {
		State  task.State `json:"state"`
		TaskID string     `json:"task_id"`
		Error  *api.Error `json:"error"`
	}
	return json.Unmarshal(body, &told) == nil && told.Error != nil && (told.TaskID != "" || told.State == task.Failed)
}
