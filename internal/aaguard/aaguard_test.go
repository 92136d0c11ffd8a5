//go:build unix

package aaguard_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/creack/pty"
	"github.com/google/go-cmp/cmp"

	"unitask/internal/aaguard"
)

const limit = 4 * time.Second // of a whole run on a terminal that never answers; the query alone waits 5 s

func TestSilentTerminal(t *testing.T) {
	program, bus := mustBuild(t), mustHangBus(t)
	tests := []struct {
		name string
		env  []string
		want string
	}{
		{
			name: "nothing set",
			want: "CI=unset BUS=unset PROFILE=ANSI256\r\n",
		},
		{
			name: "a user's own values come back",
			env:  []string{"CI=yes", "DBUS_SESSION_BUS_ADDRESS=unix:path=/nonexistent/bus"},
			want: `CI="yes" BUS="unix:path=/nonexistent/bus" PROFILE=Ascii` + "\r\n",
		},
		{
			name: "an empty value stays set",
			env:  []string{"CI="},
			want: `CI="" BUS=unset PROFILE=ANSI256` + "\r\n",
		},
		{
			name: "a bus that never answers",
			env:  []string{"DBUS_SESSION_BUS_ADDRESS=unix:path=" + bus},
			want: `CI=unset BUS="unix:path=` + bus + `" PROFILE=ANSI256` + "\r\n",
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s := mustStart(t, program, tt.env...)
			out := s.wait(t)
			if d := time.Since(s.started); d > limit {
				t.Errorf("the program took %v on a silent terminal, want at most %v", d, limit)
			}
			if diff := cmp.Diff(tt.want, out); diff != "" {
				t.Errorf("terminal output (-want +got):\n%s", diff)
			}
			if s.launchedBus(t) {
				t.Error("a session bus was launched")
			}
		})
	}
}

// TestWithoutGuard is the control: the same program without the guard queries the terminal, so the
// silence above is the guard's doing.
func TestWithoutGuard(t *testing.T) {
	s := mustStart(t, mustBuild(t, "-tags", "bare"))
	first := make([]byte, 64)
	n, err := s.terminal.Read(first)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.HasPrefix(first[:n], []byte("\x1b]11;?")) {
		t.Errorf("first output %q, want the query of the background colour", first[:n])
	}
}

func TestRestoreTwice(t *testing.T) {
	aaguard.Restore()
	t.Setenv("CI", "changed since")
	aaguard.Restore()
	if got, want := os.Getenv("CI"), "changed since"; got != want {
		t.Errorf("CI = %q after a second Restore, want %q", got, want)
	}
}

// session is a program on a terminal of its own that never answers a query.
type session struct {
	terminal *os.File
	cmd      *exec.Cmd
	launches string // the file that the stand-in for dbus-launch writes
	started  time.Time
}

func mustStart(t *testing.T, program string, env ...string) *session {
	t.Helper()
	dir := t.TempDir()
	launches := filepath.Join(dir, "launches")
	script := "#!/bin/sh\necho launched >" + launches + "\nexit 1\n"
	if err := os.WriteFile(filepath.Join(dir, "dbus-launch"), []byte(script), 0o700); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	t.Cleanup(cancel)
	cmd := exec.CommandContext(ctx, program)
	cmd.Env = append([]string{"PATH=" + dir, "HOME=" + dir, "TERM=xterm-256color"}, env...)
	started := time.Now()
	terminal, err := pty.Start(cmd)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
		_ = terminal.Close()
	})
	return &session{terminal: terminal, cmd: cmd, launches: launches, started: started}
}

// wait returns all that the program wrote until it ended.
func (s *session) wait(t *testing.T) string {
	t.Helper()
	out, err := io.ReadAll(s.terminal)
	if err != nil && !errors.Is(err, syscall.EIO) { // how Linux says that the other side has closed
		t.Fatal(err)
	}
	return string(out)
}

func (s *session) launchedBus(t *testing.T) bool {
	t.Helper()
	_, err := os.Stat(s.launches)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		t.Fatal(err)
	}
	return err == nil
}

// mustHangBus is the socket of a bus that takes connections and never answers.
func mustHangBus(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "bus") // a short path, for it is a socket's
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	path := filepath.Join(dir, "bus")
	l, err := new(net.ListenConfig).Listen(t.Context(), "unix", path) // the kernel takes the connections, and they have no reader
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	return path
}

func mustBuild(t *testing.T, flags ...string) string {
	t.Helper()
	// Read here, so that the test's cached result depends on the program's sources.
	for _, pattern := range []string{"../../go.*", "testdata/probe/*.go", "../secret/*.go"} {
		files, err := filepath.Glob(pattern)
		if err != nil || len(files) == 0 {
			t.Fatalf("no files %s: %v", pattern, err)
		}
		for _, file := range files {
			if _, err := os.ReadFile(file); err != nil {
				t.Fatal(err)
			}
		}
	}
	program := filepath.Join(t.TempDir(), "probe")
	args := append(append([]string{"build", "-o", program}, flags...), "./testdata/probe")
	if out, err := exec.CommandContext(t.Context(), "go", args...).CombinedOutput(); err != nil {
		t.Fatalf("go build: %v\n%s", err, out)
	}
	return program
}
