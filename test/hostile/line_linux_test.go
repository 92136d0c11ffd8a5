package hostile_test

import (
	"fmt"
	"io"
	"net"
	"sync"
	"testing"
	"time"

	"unitask/internal/api"
	"unitask/internal/client"
	"unitask/internal/task"
	"unitask/test/harness"
)

// attacked has attackers attack the server as fast as they can, and returns the answers' statuses and what those noticed
// who asked the server in quiet and meanwhile.
func attacked(t *testing.T, s *harness.Server, name string, o order) (statuses map[int]int, quiet, busy *watched) {
	t.Helper()
	quiet = watch(s).stop(watchTime(t))
	w := watch(s)
	attack(t, s, name, o, &statuses)
	return statuses, quiet, w.stop(0)
}

// attackedByLine does the same in the long form over a line of a gigabit a second, first to a sink and then to the
// server: traffic costs the machine something whoever takes it, and all of this is on one machine.
func attackedByLine(t *testing.T, s *harness.Server, name string, o order) {
	t.Helper()
	if !long(t) {
		return
	}
	o.Rate = gigabit
	var seen [2]*watched
	var statuses map[int]int
	for i, target := range []string{sink, ""} {
		o.Target, statuses = target, nil
		w := watch(s)
		attack(t, s, name, o, &statuses)
		seen[i] = w.stop(0)
	}
	t.Logf("by a line: %v; a sink attacked: %s; the server attacked: %s", statuses, seen[0], seen[1])
	seen[1].hold(t, seen[0])
}

// attackers returns their keys: one, and in the long form 64, each of an account of its own.
func attackers(s *harness.Server) []string {
	keys := []string{keyOf(s, "attacker")}
	for long(s.T) && len(keys) < 64 {
		keys = append(keys, keyOf(s, fmt.Sprintf("attacker-%d", len(keys))))
	}
	return keys
}

// keyOf returns a new key of an account.
func keyOf(s *harness.Server, account string) string {
	s.T.Helper()
	admin, err := client.NewAdmin(s.Data())
	if err != nil {
		s.T.Fatal(err)
	}
	key, err := admin.CreateKey(s.T.Context(), api.KeyCreate{Name: account, Account: account, Mode: task.Test})
	if err != nil {
		s.T.Fatal(err)
	}
	return key.Secret
}

// sink as a target stands for a server of the attackers' own.
const sink = "sink"

// newSink returns the address of a server that reads what is sent, up to as much as a body may be, and refuses it.
func newSink() (string, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0") //nolint:noctx // it ends with the process
	if err != nil {
		return "", err
	}
	go func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			go func() {
				_, _ = io.CopyN(io.Discard, conn, bodySize)
				_, _ = io.WriteString(conn, "HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n")
				_ = conn.Close()
			}()
		}
	}()
	return l.Addr().String(), nil
}

// line is what the attackers share to send by.
var line struct {
	rate int // bytes a second; 0: any

	mu   sync.Mutex
	free time.Time // from when on the next bytes may go
}

const (
	gigabit = 125_000_000 // bytes a second
	packet  = 64 << 10
)

// upload writes text to a connection, as fast as the line lets it.
func upload(conn net.Conn, text string) error {
	if line.rate == 0 {
		_, err := io.WriteString(conn, text)
		return err
	}
	for text != "" {
		n := min(len(text), packet)
		line.mu.Lock()
		if now := time.Now(); line.free.Before(now) {
			line.free = now
		}
		line.free = line.free.Add(time.Duration(n) * time.Second / time.Duration(line.rate))
		until := line.free
		line.mu.Unlock()
		time.Sleep(time.Until(until))
		if _, err := io.WriteString(conn, text[:n]); err != nil {
			return err
		}
		text = text[n:]
	}
	return nil
}
