package crash_test

import (
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"unitask/internal/api"
	"unitask/internal/client"
	"unitask/internal/task"
)

// server is the process under test, on one data folder and one port through all its lives.
type server struct {
	t       *testing.T
	dir     string
	address string
	base    string
	command *exec.Cmd
	output  *bytes.Buffer
	exited  chan struct{}
}

func newServer(t *testing.T, suppliers string) *server {
	t.Helper()
	s := &server{t: t, dir: t.TempDir(), address: freeAddress(t)}
	s.base = "http://" + s.address
	if err := os.WriteFile(s.config(), []byte(config(suppliers)), 0o600); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.kill)
	return s
}

// freeAddress returns one below the ports that outgoing connections get, which could take it while
// the server is down.
func freeAddress(t *testing.T) string {
	t.Helper()
	for range 100 {
		address := fmt.Sprintf("127.0.0.1:%d", 20000+rand.IntN(12000))
		l, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", address)
		if err == nil {
			_ = l.Close()
			return address
		}
	}
	t.Fatal("no port is free")
	return ""
}

func (s *server) data() string   { return filepath.Join(s.dir, "data") }
func (s *server) config() string { return filepath.Join(s.dir, "unitask.yaml") }

func (s *server) start() {
	s.t.Helper()
	s.command = exec.CommandContext(context.Background(), binary,
		"serve", "--listen", s.address, "--data-dir", s.data(), "--config", s.config())
	s.command.Env = []string{
		"PATH=" + os.Getenv("PATH"), "HOME=" + s.dir, "TMPDIR=" + os.TempDir(),
		"UNITASK_CONFIG_DIR=" + filepath.Join(s.dir, "config"), "NO_COLOR=1",
	}
	s.output = &bytes.Buffer{}
	s.command.Stdout, s.command.Stderr = s.output, s.output
	if err := s.command.Start(); err != nil {
		s.t.Fatal(err)
	}
	command, exited := s.command, make(chan struct{})
	s.exited = exited
	go func() {
		_ = command.Wait()
		close(exited)
	}()
}

func (s *server) awaitReady() {
	s.t.Helper()
	limit := time.After(30 * time.Second)
	for !s.ready() {
		select {
		case <-s.exited:
			s.t.Fatalf("the server ended by itself:\n%s", s.tail())
		case <-limit:
			s.t.Fatal("the server isn't ready after 30 s")
		case <-time.After(10 * time.Millisecond):
		}
	}
}

func (s *server) ready() bool {
	request, err := http.NewRequestWithContext(s.t.Context(), http.MethodGet, s.base+api.PathReady, nil)
	if err != nil {
		s.t.Fatal(err)
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return false
	}
	_ = response.Body.Close()
	return response.StatusCode == http.StatusOK
}

func (s *server) kill() {
	if s.command != nil {
		_ = s.command.Process.Signal(syscall.SIGKILL)
		<-s.exited
	}
}

// killAgainAndAgain kills the running server n times and leaves it running. One kill in five meets a
// server that is still starting.
func (s *server) killAgainAndAgain(rng *rand.Rand, n int) {
	s.t.Helper()
	for range n {
		s.life(rng)
		s.kill()
		if strings.Contains(s.tail(), "panic") {
			s.t.Errorf("the server panicked:\n%s", s.tail())
		}
		s.start()
	}
	s.awaitReady()
}

// life lets the server live until the moment it is to be killed.
func (s *server) life(rng *rand.Rand) {
	s.t.Helper()
	span := 20 + rng.IntN(900)
	if rng.IntN(5) == 0 {
		span = rng.IntN(150)
	} else {
		s.awaitReady()
	}
	select {
	case <-time.After(time.Duration(span) * time.Millisecond):
	case <-s.exited:
		s.t.Fatalf("the server ended by itself:\n%s", s.tail())
	}
}

// tail returns the end of what the last server printed of an operator's interest. It ends the
// server: its output is whole only then.
func (s *server) tail() string {
	s.kill()
	var out strings.Builder
	for line := range strings.Lines(s.output.String()) {
		if !strings.Contains(line, `"level":"INFO"`) {
			out.WriteString(line)
		}
	}
	return out.String()[max(0, out.Len()-8<<10):]
}

// newKey makes a key without limits.
func (s *server) newKey(mode task.Mode) string {
	s.t.Helper()
	admin, err := client.NewAdmin(s.data())
	if err != nil {
		s.t.Fatal(err)
	}
	key, err := admin.CreateKey(s.t.Context(), api.KeyCreate{
		Name: string(mode), Mode: mode, CreatesPerMinute: -1, OpenTasks: -1,
	})
	if err != nil {
		s.t.Fatal(err)
	}
	return key.Secret
}
