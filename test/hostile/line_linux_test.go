package hostile_test

import (
	"fmt"
	"io"
	"net"
	"strings"
	"sync"
	"time"

	"unitask/internal/api"
	"unitask/internal/client"
	"unitask/internal/task"
	"unitask/test/harness"
)

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

// line is the attackers' shared line.
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
	_, err := io.CopyBuffer(conn, &paced{strings.NewReader(text)}, make([]byte, packet))
	return err
}

// paced is a text that is read no faster than the line lets it.
type paced struct{ text *strings.Reader }

func (p *paced) Read(b []byte) (int, error) {
	n, err := p.text.Read(b[:min(len(b), packet)])
	if line.rate > 0 {
		line.mu.Lock()
		if now := time.Now(); line.free.Before(now) {
			line.free = now
		}
		line.free = line.free.Add(time.Duration(n) * time.Second / time.Duration(line.rate))
		until := line.free
		line.mu.Unlock()
		time.Sleep(time.Until(until))
	}
	return n, err
}
