package harness

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"math/rand/v2"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/goccy/go-yaml"
)

// Server is the real server, on one data folder and one port through all its lives. Its fields may be
// changed between two lives. It is used by one goroutine, but for its requests.
type Server struct {
	T      *testing.T
	Dir    string   // its home: data folder and configuration stand in it
	Base   string   // its address as a URL
	Config string   // the text of its configuration, "" without one
	Env    []string // beside a clean environment
	Wrap   []string // a command line that starts it; nil: it is started directly

	Program   string // the program to start; "": the built unitask
	Bootstrap string // a key that is accepted from the first start on, "" without one

	schema  string // in the database, "" for a store of its own
	command *exec.Cmd
	output  *bytes.Buffer
	exited  chan struct{}
}

// readyTime is how long a start may take on a busy machine.
const readyTime = 30 * time.Second

// NewServer prepares a server that is killed when the test ends.
func NewServer(t *testing.T) *Server {
	t.Helper()
	s := &Server{T: t, Dir: t.TempDir(), Base: "http://" + FreeAddress(t), output: &bytes.Buffer{}}
	if database != nil {
		s.schema = fmt.Sprintf("test_%d", schemas.Add(1))
	}
	t.Cleanup(s.Kill)
	return s
}

// FreeAddress returns one below the ports that outgoing connections get, which could take it while the server is
// down. Until the test ends no other test gets it, in other processes either: the datagrams' port of the same number
// stands for it.
func FreeAddress(t *testing.T) string {
	t.Helper()
	for range 100 {
		address := fmt.Sprintf("127.0.0.1:%d", 20000+rand.IntN(12000))
		claim, err := (&net.ListenConfig{}).ListenPacket(t.Context(), "udp", address)
		if err != nil {
			continue
		}
		l, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", address)
		if err != nil {
			_ = claim.Close()
			continue
		}
		_ = l.Close()
		t.Cleanup(func() { _ = claim.Close() })
		return address
	}
	t.Fatal("no port is free")
	return ""
}

// Data returns the data folder.
func (s *Server) Data() string { return filepath.Join(s.Dir, "data") }

// Environ returns a clean environment: no key, no proxy, no session bus of whoever runs the tests.
func (s *Server) Environ() []string {
	return append([]string{
		"PATH=" + os.Getenv("PATH"), "HOME=" + s.Dir, "TMPDIR=" + os.TempDir(),
		"UNITASK_CONFIG_DIR=" + filepath.Join(s.Dir, "config"), "NO_COLOR=1",
	}, append(s.storeEnv(), s.Env...)...)
}

func (s *Server) storeEnv() []string {
	if s.schema == "" {
		return nil
	}
	return []string{"UNITASK_STORE=" + s.Store()}
}

// Store returns the setting of the server's store.
func (s *Server) Store() string {
	if s.schema == "" {
		return "bolt"
	}
	return database.URL() + "&schema=" + s.schema
}

// Launch starts the server and doesn't wait for it.
func (s *Server) Launch() {
	s.T.Helper()
	line := append(append([]string(nil), s.Wrap...), cmp.Or(s.Program, binary),
		"serve", "--listen", strings.TrimPrefix(s.Base, "http://"), "--data-dir", s.Data())
	if text := s.settings(); text != "" {
		file := filepath.Join(s.Dir, "unitask.yaml")
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			s.T.Fatal(err)
		}
		line = append(line, "--config", file)
	}
	s.command = exec.CommandContext(context.Background(), line[0], line[1:]...)
	s.command.Env = append(s.Environ(), "UNITASK_BOOTSTRAP_KEY="+s.Bootstrap)
	s.output = &bytes.Buffer{}
	s.command.Stdout, s.command.Stderr = s.output, s.output
	if err := s.command.Start(); err != nil {
		s.T.Fatal(err)
	}
	command, exited := s.command, make(chan struct{})
	s.exited = exited
	go func() {
		_ = command.Wait()
		close(exited)
	}()
}

// schemas counts those that were given out.
var schemas atomic.Int64

// shortLease lets a server that was killed go on with its work soon: on a database its leases outlast it.
const shortLease = "3s"

// settings returns the text of the configuration; on a database with a short lease.
func (s *Server) settings() string {
	if s.schema == "" {
		return s.Config
	}
	var all map[string]any
	if err := yaml.Unmarshal([]byte(s.Config), &all); err != nil {
		return s.Config // wrong on purpose
	}
	if all == nil {
		all = map[string]any{}
	}
	limits, _ := all["limits"].(map[string]any)
	if limits == nil {
		limits = map[string]any{}
	}
	if _, set := limits["lease"]; !set {
		limits["lease"] = shortLease
	}
	all["limits"] = limits
	text, err := yaml.Marshal(all)
	if err != nil {
		s.T.Fatal(err)
	}
	return string(text)
}

// Start launches the server and waits until it is ready.
func (s *Server) Start() {
	s.T.Helper()
	s.Launch()
	s.AwaitReady()
}

// AwaitReady waits until the server answers that it is ready.
func (s *Server) AwaitReady() {
	s.T.Helper()
	limit := time.After(readyTime)
	for !s.Ready() {
		select {
		case <-s.exited:
			s.T.Fatalf("the server ended by itself:\n%s", s.Output())
		case <-limit:
			s.T.Fatalf("the server isn't ready after %s:\n%s", readyTime, s.Output())
		case <-time.After(10 * time.Millisecond):
		}
	}
}

// PID returns the number of the process.
func (s *Server) PID() int { return s.command.Process.Pid }

// Exited is closed when the server of this life has ended.
func (s *Server) Exited() <-chan struct{} { return s.exited }

// ExitCode returns how the server ended, -1 for a signal.
func (s *Server) ExitCode() int {
	<-s.exited
	return s.command.ProcessState.ExitCode()
}

// Kill ends the server as a crash would; one that isn't running is left so.
func (s *Server) Kill() {
	if s.command != nil {
		_ = s.command.Process.Signal(syscall.SIGKILL)
		<-s.exited
	}
}

// Stop ends the server as an operator would and fails the test when it doesn't end well.
func (s *Server) Stop() {
	s.T.Helper()
	_ = s.command.Process.Signal(syscall.SIGTERM)
	select {
	case <-s.exited:
	case <-time.After(readyTime):
		s.T.Fatalf("the server didn't stop within %s of SIGTERM", readyTime)
	}
	if code := s.ExitCode(); code != 0 {
		s.T.Fatalf("the server ended with %d: %s", code, s.Output())
	}
}

// Output ends the server, whose output is whole only then, and returns it.
func (s *Server) Output() string {
	s.Kill()
	return s.output.String()
}

// Warnings is the end of Output without the lines that don't matter after a failure.
func (s *Server) Warnings() string {
	var out strings.Builder
	for line := range strings.Lines(s.Output()) {
		if !strings.Contains(line, `"level":"INFO"`) {
			out.WriteString(line)
		}
	}
	return out.String()[max(0, out.Len()-8<<10):]
}

// Until waits for a condition, and fails the test when it doesn't come.
func (s *Server) Until(limit time.Duration, what string, ok func() bool) {
	s.T.Helper()
	deadline := time.Now().Add(limit)
	for !ok() {
		if time.Now().After(deadline) {
			s.T.Fatalf("waited %s until %s\n%s", limit, what, s.Warnings())
		}
		<-time.After(20 * time.Millisecond)
	}
}
