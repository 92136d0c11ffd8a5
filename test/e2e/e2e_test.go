// Package e2e runs the real binary, server and client, as its users do: separate processes, real
// sockets, real tools that judge the results.
package e2e_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"unitask/internal/account"
	"unitask/internal/api"
	"unitask/internal/task"
)

// binary is the built unitask; TestMain makes it.
var binary string

func TestMain(m *testing.M) { os.Exit(run(m)) }

func run(m *testing.M) int {
	dir, err := os.MkdirTemp("", "unitask-e2e-")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer func() { _ = os.RemoveAll(dir) }()
	binary = filepath.Join(dir, "unitask")
	build := exec.CommandContext(context.Background(), "go", "build", "-o", binary, "unitask/cmd/unitask")
	if out, err := build.CombinedOutput(); err != nil {
		fmt.Fprintf(os.Stderr, "%s\n%v\n", out, err)
		return 1
	}
	return m.Run()
}

// need returns the path of a tool; without it the test fails in CI and is skipped elsewhere.
func need(t *testing.T, tool string) string {
	t.Helper()
	path, err := exec.LookPath(tool)
	if err != nil {
		missing(t, tool+" is not installed")
	}
	return path
}

func missing(t *testing.T, what string) {
	t.Helper()
	if os.Getenv("CI") == "true" {
		t.Fatalf("%s, and CI must run this test", what)
	}
	t.Skipf("%s: this part isn't tested here", what)
}

// host is one running server with its data folder and keys.
type host struct {
	t       *testing.T
	dir     string // data folder and configuration folder stand in it
	base    string
	key     string // a test key
	config  string // the configuration's text, "" for none
	env     []string
	command *exec.Cmd
	stderr  *bytes.Buffer
	exited  chan struct{}
}

// newHost prepares a host; start runs it.
func newHost(t *testing.T) *host {
	t.Helper()
	return &host{
		t: t, dir: t.TempDir(), base: "http://" + freeAddress(t),
		key: account.NewKeySecret(account.DefaultKeyPrefix, task.Test), stderr: &bytes.Buffer{},
	}
}

func freeAddress(t *testing.T) string {
	t.Helper()
	l, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = l.Close() }()
	return l.Addr().String()
}

// start runs the server and waits until it is ready.
func (h *host) start() *host {
	h.t.Helper()
	args := []string{"serve", "--listen", strings.TrimPrefix(h.base, "http://"), "--data-dir", h.data()}
	if h.config != "" {
		file := filepath.Join(h.dir, "unitask.yaml")
		if err := os.WriteFile(file, []byte(h.config), 0o600); err != nil {
			h.t.Fatal(err)
		}
		args = append(args, "--config", file)
	}
	h.command = exec.CommandContext(context.Background(), binary, args...)
	h.command.Env = append(h.environ(), "UNITASK_BOOTSTRAP_KEY="+h.key)
	h.command.Stderr = h.stderr
	h.command.Stdout = h.stderr
	if err := h.command.Start(); err != nil {
		h.t.Fatal(err)
	}
	exited := make(chan struct{})
	h.exited = exited
	command := h.command
	go func() {
		_ = command.Wait()
		close(exited)
	}()
	h.t.Cleanup(h.kill)
	h.until(10*time.Second, "the server is ready", func() bool {
		select {
		case <-exited:
			h.t.Fatalf("serve ended: %s", h.stderr)
		default:
		}
		return h.ready()
	})
	return h
}

func (h *host) ready() bool {
	request, err := http.NewRequestWithContext(h.t.Context(), http.MethodGet, h.base+api.PathReady, nil)
	if err != nil {
		h.t.Fatal(err)
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return false
	}
	_ = response.Body.Close()
	return response.StatusCode == http.StatusOK
}

func (h *host) data() string { return filepath.Join(h.dir, "data") }

// environ is a clean environment: no key, no proxy, no session bus of whoever runs the tests.
func (h *host) environ() []string {
	return append([]string{
		"PATH=" + os.Getenv("PATH"), "HOME=" + h.dir, "TMPDIR=" + os.TempDir(),
		"UNITASK_CONFIG_DIR=" + filepath.Join(h.dir, "config"), "NO_COLOR=1",
	}, h.env...)
}

// kill ends the server as a crash would.
func (h *host) kill() {
	if h.command != nil {
		_ = h.command.Process.Signal(syscall.SIGKILL)
		<-h.exited
	}
}

// stop ends the server as an operator would and fails the test when it doesn't end well.
func (h *host) stop() {
	h.t.Helper()
	_ = h.command.Process.Signal(syscall.SIGTERM)
	select {
	case <-h.exited:
	case <-time.After(30 * time.Second):
		h.t.Fatal("the server didn't stop within 30 s of SIGTERM")
	}
	if code := h.command.ProcessState.ExitCode(); code != 0 {
		h.t.Fatalf("serve ended with %d: %s", code, h.stderr)
	}
}

// outcome is what a client command left.
type outcome struct {
	stdout, stderr string
	code           int
}

// client runs a client command against the host with its test key.
func (h *host) client(args ...string) outcome {
	h.t.Helper()
	ctx, cancel := context.WithTimeout(h.t.Context(), 2*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, binary, args...)
	cmd.Env = append(h.environ(), "UNITASK_BASE_URL="+h.base, "UNITASK_API_KEY="+h.key, "UNITASK_DATA_DIR="+h.data())
	cmd.Dir = h.dir
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	err := cmd.Run()
	if err != nil && cmd.ProcessState == nil {
		h.t.Fatal(err)
	}
	return outcome{stdout.String(), stderr.String(), cmd.ProcessState.ExitCode()}
}

// must is client for a command that has to succeed; it returns stdout.
func (h *host) must(args ...string) string {
	h.t.Helper()
	o := h.client(args...)
	if o.code != 0 {
		h.t.Fatalf("unitask %s: exit %d\n%s%s", strings.Join(args, " "), o.code, o.stdout, o.stderr)
	}
	return o.stdout
}

// reply is what is left of a response whose body was read.
type reply struct {
	status int
	header http.Header
}

// call makes one HTTP request with the host's key and decodes the answer into v, if given.
func (h *host) call(method, path, body string, header map[string]string, v any) reply {
	h.t.Helper()
	request, err := http.NewRequestWithContext(h.t.Context(), method, h.base+path, strings.NewReader(body))
	if err != nil {
		h.t.Fatal(err)
	}
	request.Header.Set("Authorization", "Bearer "+h.key)
	if body != "" {
		request.Header.Set("Content-Type", "application/json")
	}
	for k, value := range header {
		request.Header.Set(k, value)
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		h.t.Fatal(err)
	}
	defer func() { _ = response.Body.Close() }()
	raw, err := io.ReadAll(response.Body)
	if err != nil {
		h.t.Fatal(err)
	}
	if v != nil {
		if err := json.Unmarshal(raw, v); err != nil {
			h.t.Fatalf("%s %s: %d %s", method, path, response.StatusCode, raw)
		}
	}
	return reply{response.StatusCode, response.Header}
}

// states returns a task's recorded timeline.
func (h *host) states(id string) []task.State {
	h.t.Helper()
	var timeline api.Timeline
	h.call(http.MethodGet, api.PathTasks+"/"+id+"/timeline", "", nil, &timeline)
	states := make([]task.State, 0, len(timeline.Data))
	for _, m := range timeline.Data {
		states = append(states, m.State)
	}
	return states
}

// until waits for a condition.
func (h *host) until(limit time.Duration, what string, ok func() bool) {
	h.t.Helper()
	deadline := time.Now().Add(limit)
	for !ok() {
		if time.Now().After(deadline) {
			h.t.Fatalf("waited %s until %s\n%s", limit, what, h.stderr)
		}
		<-time.After(20 * time.Millisecond)
	}
}
