package hostile_test

import (
	"fmt"
	"io"
	"net"
	"os"
	"strings"
	"testing"
	"time"

	"unitask/test/harness"
)

// TestConnections: silent connections, and very slow ones, keep no client out, while they are made, as fast as the
// attacker can, and while they last.
func TestConnections(t *testing.T) {
	s := harness.NewServer(t)
	idle, slow := 200, 50
	s.Config = "limits: {creates_per_minute: 0, connections: 128, connections_per_address: 64}\n"
	if long(t) {
		idle, slow, s.Config = 5000, 1000, "limits: {creates_per_minute: 0}\n"
	}
	s.Start()
	before := quiet(s)

	w, cpu := watch(s), worked(s)
	attackers := begin(t, s, "crowd", last, order{Idle: idle, Slow: slow})
	attackers.hear(new(string))
	making, cost := w.stop(), worked(s)-cpu
	lasting := quiet(s)
	attackers.end()
	t.Logf("%d idle and %d slow connections, made for %s of the server's CPU; VmHWM %d MB; quiet: %s; while they are made: %s; while they last: %s",
		idle, slow, cost, memory(s, "VmHWM")>>20, before, making, lasting)
	boundedMemory(t, s)
	making.served(t)
	lasting.undisturbed(t, before, 2)
}

// worked returns how much CPU the server's process has used.
func worked(s *harness.Server) time.Duration {
	s.T.Helper()
	raw, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", s.PID()))
	if err != nil {
		s.T.Fatal(err)
	}
	var user, system int64 // in hundredths of a second
	_, after, _ := strings.Cut(string(raw), ") ")
	fields := strings.Fields(after)
	if _, err := fmt.Sscan(fields[11]+" "+fields[12], &user, &system); err != nil {
		s.T.Fatal(err)
	}
	return time.Duration(user+system) * 10 * time.Millisecond
}

// crowd is the part of an attacker who makes connections, says so, and keeps them until the end.
func crowd(o order, say func(any), end <-chan struct{}) {
	kept := make([]net.Conn, 0, o.Idle+o.Slow)
	for n := range o.Idle + o.Slow {
		conn, err := net.Dial("tcp", o.Target) //nolint:noctx // it ends with the process
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			return
		}
		if kept = append(kept, conn); n >= o.Idle {
			go trickle(o.Target, conn)
		}
	}
	say("made")
	<-end
	for _, conn := range kept {
		_ = conn.Close()
	}
}

// trickle sends a header of which no end comes, a piece a second. Whenever the server has enough of it, it begins anew.
func trickle(target string, conn net.Conn) {
	for {
		_, err := io.WriteString(conn, "GET / HTTP/1.1\r\n")
		for ; err == nil; _, err = io.WriteString(conn, "X-Slow: a\r\n") {
			time.Sleep(time.Second)
		}
		_ = conn.Close()
		if conn, err = net.Dial("tcp", target); err != nil { //nolint:noctx // it ends with the process
			return
		}
	}
}
