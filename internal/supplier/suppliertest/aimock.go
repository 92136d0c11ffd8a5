package suppliertest

import (
	"bufio"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

const (
	// AimockKey is the key that an Aimock asks for.
	AimockKey = "aimock-test-key"
	// AimockTime bounds an exchange with an Aimock, its start included: that of a Node.js program on
	// a busy machine.
	AimockTime = 60 * time.Second
)

// Aimock is a running server of @copilotkit/aimock, an independent mock of suppliers.
type Aimock struct {
	URL string
}

// StartAimock starts the server that `make npm` installs, with the given file of fixtures; it ends with
// the test. Without it the test is skipped, but in CI it fails. The caller's package stands below
// internal/supplier.
func StartAimock(t *testing.T, fixtures string) *Aimock {
	t.Helper()
	bin, err := filepath.Abs("../../../test/npm/node_modules/.bin/llmock")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(bin); err != nil {
		const missing = "aimock is not installed: run `make npm` (npm ci in test/npm)"
		if os.Getenv("CI") == "true" {
			t.Fatal(missing)
		}
		t.Skip(missing)
	}
	cmd := exec.CommandContext(t.Context(), bin, "--port", "0", "--fixtures", fixtures, "--validate-on-load", "--strict")
	cmd.Env = append(os.Environ(), "AIMOCK_API_KEYS="+AimockKey)
	cmd.Stderr = t.Output()
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	})
	return &Aimock{URL: listening(t, out)}
}

// listening waits for the line that names the address, and then drains the output.
func listening(t *testing.T, out io.Reader) string {
	t.Helper()
	found := make(chan string, 1)
	go func() {
		defer close(found)
		lines := bufio.NewScanner(out)
		for lines.Scan() {
			if _, url, ok := strings.Cut(lines.Text(), "listening on "); ok {
				found <- url
				break
			}
		}
		_, _ = io.Copy(io.Discard, out)
	}()
	select {
	case url, ok := <-found:
		if !ok {
			t.Fatal("aimock ended without listening")
		}
		return url
	case <-time.After(AimockTime):
		t.Fatalf("aimock doesn't listen after %v", AimockTime)
		return ""
	}
}

// Journaled is one request as aimock saw it.
type Journaled struct {
	Method, Path string
	Status       int
}

// Prepare forgets the journal and all faults, and injects one: a path of aimock's control interface and a body, such
// as `/error {"status":503}`; "" without one.
func (m *Aimock) Prepare(t *testing.T, injected string) {
	t.Helper()
	m.control(t, http.MethodDelete, "/chaos", "")
	m.control(t, http.MethodPost, "/reset/journal", "")
	if path, body, ok := strings.Cut(injected, " "); ok {
		m.control(t, http.MethodPost, path, body)
	}
}

// Journal returns the requests since Prepare.
func (m *Aimock) Journal(t *testing.T) []Journaled {
	t.Helper()
	var rows []struct {
		Method   string `json:"method"`
		Path     string `json:"path"`
		Response struct {
			Status int `json:"status"`
		} `json:"response"`
	}
	if err := json.Unmarshal(m.control(t, http.MethodGet, "/journal", ""), &rows); err != nil {
		t.Fatal(err)
	}
	var got []Journaled
	for _, r := range rows {
		got = append(got, Journaled{Method: r.Method, Path: r.Path, Status: r.Response.Status})
	}
	return got
}

// control calls aimock's own interface.
func (m *Aimock) control(t *testing.T, method, path, body string) []byte {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), AimockTime)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, method, m.URL+"/__aimock"+path, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer "+AimockKey)
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = resp.Body.Close() }()
	got, err := io.ReadAll(resp.Body)
	if err != nil || resp.StatusCode != http.StatusOK {
		t.Fatalf("%s %s: status %d, %v: %s", method, path, resp.StatusCode, err, got)
	}
	return got
}
