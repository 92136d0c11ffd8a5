// Package e2e runs the real binary, server and client, as its users do: separate processes, real
// sockets, real tools that judge the results.
package e2e_test

import (
	"bytes"
	"context"
	"encoding/json"
	"flag"
	"net/http"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"unitask/internal/account"
	"unitask/internal/api"
	"unitask/internal/task"
	"unitask/test/harness"
)

// TestMain runs four tests at a time unless -parallel says otherwise: they wait much and work little.
func TestMain(m *testing.M) {
	if err := flag.Set("test.parallel", "4"); err != nil {
		panic(err) // the testing package has this flag
	}
	os.Exit(harness.Main(m))
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

// host is a server with a test key, and the clients' folder.
type host struct {
	*harness.Server
	key string
}

// newHost prepares a host; start runs it.
func newHost(t *testing.T) *host {
	t.Helper()
	h := &host{Server: harness.NewServer(t), key: account.NewKeySecret(account.DefaultKeyPrefix, task.Test)}
	h.Bootstrap = h.key
	return h
}

// start runs the server and waits until it is ready.
func (h *host) start() *host {
	h.T.Helper()
	h.Start()
	return h
}

// outcome is the result of a client command.
type outcome struct {
	stdout, stderr string
	code           int
}

// client runs a client command against the host with its test key.
func (h *host) client(args ...string) outcome {
	h.T.Helper()
	ctx, cancel := context.WithTimeout(h.T.Context(), 2*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, harness.Binary(), args...)
	cmd.Env = append(h.Environ(), "UNITASK_BASE_URL="+h.Base, "UNITASK_API_KEY="+h.key, "UNITASK_DATA_DIR="+h.Data())
	cmd.Dir = h.Dir
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	err := cmd.Run()
	if err != nil && cmd.ProcessState == nil {
		h.T.Fatal(err)
	}
	return outcome{stdout.String(), stderr.String(), cmd.ProcessState.ExitCode()}
}

// must is client for a command that has to succeed; it returns stdout.
func (h *host) must(args ...string) string {
	h.T.Helper()
	o := h.client(args...)
	if o.code != 0 {
		h.T.Fatalf("unitask %s: exit %d\n%s%s", strings.Join(args, " "), o.code, o.stdout, o.stderr)
	}
	return o.stdout
}

// reply is a response whose body was read.
type reply struct {
	status int
	header http.Header
}

// call makes one HTTP request with the host's key and decodes the answer into v, if given.
func (h *host) call(method, path, body string, header map[string]string, v any) reply {
	h.T.Helper()
	got, err := h.Send(h.T.Context(), harness.Request{Method: method, Path: path, Key: h.key, Body: body, Header: header})
	if err != nil {
		h.T.Fatal(err)
	}
	if v != nil {
		if err := json.Unmarshal(got.Body, v); err != nil {
			h.T.Fatalf("%s %s: %d %s", method, path, got.Status, got.Body)
		}
	}
	return reply{got.Status, got.Header}
}

// states returns a task's recorded timeline.
func (h *host) states(id string) []task.State {
	h.T.Helper()
	var timeline api.Timeline
	h.call(http.MethodGet, api.PathTasks+"/"+id+"/timeline", "", nil, &timeline)
	states := make([]task.State, 0, len(timeline.Data))
	for _, m := range timeline.Data {
		states = append(states, m.State)
	}
	return states
}
