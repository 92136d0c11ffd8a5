package hostile_test

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"unitask/test/harness"
)

// TestConnections: connections that say nothing, and ones that say it very slowly, keep nobody out, neither while they
// are made, as fast as the attacker can, nor while they last.
func TestConnections(t *testing.T) {
	s := harness.NewServer(t)
	idle, slow := 200, 50
	s.Config = "limits: {creates_per_minute: 0, connections: 128, connections_per_address: 64}\n"
	if long(t) {
		idle, slow, s.Config = 5000, 1000, "limits: {creates_per_minute: 0}\n"
	}
	s.Start()
	quiet := watch(s).stop(watchTime(t))

	making := watch(s)
	before := worked(s)
	release := gather(t, s, idle, slow)
	defer release()
	making.stop(0)
	cost := worked(s) - before
	lasting := watch(s).stop(watchTime(t))
	t.Logf("%d idle and %d slow connections, made for %s of the server's CPU; VmHWM %d MB; quiet: %s; while they are made: %s; while they last: %s",
		idle, slow, cost, memory(s, "VmHWM")>>20, quiet, making, lasting)
	boundedMemory(t, s)
	making.hold(t, quiet)
	lasting.hold(t, quiet)
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

// What the attacker's process is told by its environment.
const (
	crowdTarget = "UNITASK_TEST_CROWD_TARGET"
	crowdIdle   = "UNITASK_TEST_CROWD_IDLE"
	crowdSlow   = "UNITASK_TEST_CROWD_SLOW"
)

// gather starts an attacker, and returns once all its connections were made. It has a process of its own, at the
// lowest priority: a stranger doesn't attack with the server's own processors.
func gather(t *testing.T, s *harness.Server, idle, slow int) (release func()) {
	t.Helper()
	attacker := exec.CommandContext(t.Context(), "nice", "-n", "19", os.Args[0])
	attacker.Env = append(os.Environ(), crowdTarget+"="+strings.TrimPrefix(s.Base, "http://"),
		fmt.Sprintf("%s=%d", crowdIdle, idle), fmt.Sprintf("%s=%d", crowdSlow, slow))
	attacker.Stderr = os.Stderr
	in, err := attacker.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := attacker.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := attacker.Start(); err != nil {
		t.Fatal(err)
	}
	release = func() {
		_ = in.Close()
		_ = attacker.Wait()
	}
	if line, err := bufio.NewReader(out).ReadString('\n'); err != nil || line != "made\n" {
		release()
		t.Fatalf("the attacker said %q: %v", line, err)
	}
	return release
}

// crowd is the attacker's process: it makes its connections, says so, and keeps them until its input ends. It returns
// its exit code.
func crowd(target string) int {
	var idle, slow int
	if _, err := fmt.Sscan(os.Getenv(crowdIdle)+" "+os.Getenv(crowdSlow), &idle, &slow); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	kept := make([]net.Conn, 0, idle+slow)
	for n := range idle + slow {
		conn, err := net.Dial("tcp", target) //nolint:noctx // it ends with the process
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
		if kept = append(kept, conn); n >= idle {
			go trickle(target, conn)
		}
	}
	fmt.Println("made")
	_, _ = io.Copy(io.Discard, os.Stdin)
	for _, conn := range kept {
		_ = conn.Close()
	}
	return 0
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
