package model_test

import (
	"bytes"
	"context"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

const (
	readyLimit  = time.Minute // a server's first answer, on a busy machine
	answerLimit = time.Minute // one answer of the model, its loading included, or another command
	stopLimit   = 10 * time.Second
)

// start runs a server until the test ends and waits for a 200 at url. The server stays in the test's
// process group, so that an interrupt at the terminal ends it too.
func start(t *testing.T, name, url string, env []string, path string, args ...string) {
	t.Helper()
	log, err := os.Create(filepath.Join(t.TempDir(), name+".log"))
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), path, args...)
	cmd.Env, cmd.Stdout, cmd.Stderr = env, log, log
	cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGTERM) }
	cmd.WaitDelay = stopLimit
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	exited := make(chan struct{})
	go func() {
		_ = cmd.Wait()
		close(exited)
	}()
	t.Cleanup(func() {
		<-exited // the test's context has ended, and the server with it
		_ = log.Close()
		if t.Failed() {
			t.Logf("%s wrote:\n%s", name, tail(log.Name()))
		}
	})
	awaitReady(t, name, url, exited)
}

func awaitReady(t *testing.T, name, url string, exited <-chan struct{}) {
	t.Helper()
	limit := time.After(readyLimit)
	for !ready(t, url) {
		select {
		case <-exited:
			t.Fatalf("%s ended before it was ready", name)
		case <-limit:
			t.Fatalf("%s wasn't ready within %s", name, readyLimit)
		case <-time.After(50 * time.Millisecond):
		}
	}
}

func ready(t *testing.T, url string) bool {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url, nil)
	if err != nil {
		t.Fatal(err)
	}
	response, err := (&http.Client{Timeout: time.Second}).Do(request)
	if err != nil {
		return false
	}
	_ = response.Body.Close()
	return response.StatusCode == http.StatusOK
}

// output runs a command that has to succeed and returns its stdout.
func output(t *testing.T, limit time.Duration, env []string, path string, args ...string) string {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), limit)
	defer cancel()
	cmd := exec.CommandContext(ctx, path, args...)
	var stdout, stderr bytes.Buffer
	cmd.Env, cmd.Stdout, cmd.Stderr = env, &stdout, &stderr
	if err := cmd.Run(); err != nil {
		t.Fatalf("%s %s: %v\n%s%s", filepath.Base(path), strings.Join(args, " "), err, stdout.String(), stderr.String())
	}
	return stdout.String()
}

// tail returns the last lines of a server's log.
func tail(file string) string {
	text, err := os.ReadFile(file)
	if err != nil {
		return err.Error()
	}
	const most = 8 << 10
	return string(text[max(0, len(text)-most):])
}
