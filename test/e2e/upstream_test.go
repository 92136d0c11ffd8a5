package e2e_test

import (
	"bufio"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"unitask/internal/api"
	"unitask/test/fixture"
	"unitask/test/harness"
)

// npmTool returns the path of a tool that `make npm` installs.
func npmTool(t *testing.T, name string) string {
	t.Helper()
	path, err := filepath.Abs(filepath.Join("..", "npm", "node_modules", ".bin", name))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(path); err != nil {
		missing(t, name+" is not installed (make npm)")
	}
	return path
}

// service starts a foreign server and waits for the line with its address; it returns the text after marker on that
// line.
func service(t *testing.T, marker, path string, args ...string) string {
	t.Helper()
	cmd := exec.CommandContext(context.Background(), path, args...)
	cmd.Env = append(os.Environ(), "NO_COLOR=1", "AIMOCK_API_KEYS=upstream-key")
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	cmd.Stderr = cmd.Stdout
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	})
	found := make(chan string, 1)
	go func() {
		defer close(found)
		lines := bufio.NewScanner(out)
		for lines.Scan() {
			if _, rest, ok := strings.Cut(lines.Text(), marker); ok {
				found <- strings.TrimSpace(rest)
				break
			}
		}
		_, _ = io.Copy(io.Discard, out)
	}()
	select {
	case rest, ok := <-found:
		if !ok {
			t.Fatalf("%s ended before it listened", path)
		}
		return rest
	case <-time.After(time.Minute):
		t.Fatalf("%s didn't listen within a minute", path)
		return ""
	}
}

// TestForeignUpstream answers a prompt, embeds a text, makes and edits a picture, speaks and listens by a foreign
// server.
func TestForeignUpstream(t *testing.T) {
	fixtures, err := filepath.Abs("../../internal/supplier/openai/testdata/aimock.json")
	if err != nil {
		t.Fatal(err)
	}
	base := service(t, "listening on ", npmTool(t, "llmock"), "--port", "0", "--fixtures", fixtures, "--validate-on-load", "--strict")
	h := newHost(t)
	h.Env = []string{"UPSTREAM_KEY=upstream-key"}
	h.Config = aimockBehind(base)
	h.start()
	h.useLiveKey()
	if got := strings.TrimSpace(h.must("run", "text.chat", "Greet me")); got != "Hello from a server that nobody here wrote." {
		t.Errorf("text.chat: %q", got)
	}
	embedded := h.task("run", "text.embed", "a red fox", "--json")
	if len(embedded.Output.Embeddings) != 1 || len(embedded.Output.Embeddings[0]) == 0 {
		t.Errorf("text.embed: %+v", embedded.Output)
	}
	made := h.task("run", "image.generate", "a red fox", "--json")
	if len(made.Output.Images) != 1 || made.Output.Images[0].ContentType != "image/png" || *made.Output.Images[0].Width != 1 {
		t.Errorf("image.generate: %+v", made.Output)
	}
	h.must("run", "image.generate", "a red fox", "-o", "fox.png")
	edited := h.task("run", "image.edit", "Make it blue", "images=@fox.png", "authorization.person=none", "--json")
	if len(edited.Output.Images) != 1 {
		t.Errorf("image.edit: %+v", edited.Output)
	}
	h.must("run", "audio.speech", "Mind the gap", "-o", "gap.wav")
	heard := h.task("run", "audio.transcribe", "audio=@gap.wav", "format=srt", "--json")
	if got := *heard.Output.Text; got != "1\n00:00:00,000 --> 00:00:01,250\nMind the gap.\n\n" {
		t.Errorf("audio.transcribe: %q", got)
	}
	if n := journal(t, base); n != 7 {
		t.Errorf("the upstream counted %d calls, want 7", n)
	}
}

// task runs a client command that prints a task as JSON; the task has an output.
func (h *host) task(args ...string) api.Task {
	h.T.Helper()
	var done api.Task
	if err := json.Unmarshal([]byte(h.must(args...)), &done); err != nil {
		h.T.Fatal(err)
	}
	if done.Output == nil {
		h.T.Fatalf("unitask %s: %+v", strings.Join(args, " "), done)
	}
	return done
}

// journal returns how many requests aimock answered.
func journal(t *testing.T, base string) int {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, base+"/__aimock/journal", nil)
	if err != nil {
		t.Fatal(err)
	}
	request.Header.Set("Authorization", "Bearer upstream-key")
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = response.Body.Close() }()
	var entries []json.RawMessage
	if err := json.NewDecoder(response.Body).Decode(&entries); err != nil {
		t.Fatal(err)
	}
	return len(entries)
}

// withoutStreams hands requests on and has them answered by JSON: streams aren't among the document's types.
func withoutStreams(base *url.URL) http.Handler {
	return &httputil.ReverseProxy{Rewrite: func(r *httputil.ProxyRequest) {
		r.SetURL(base)
		r.Out.Header.Del("Accept")
	}}
}

// TestContractBetweenProcesses puts an independent validator of docs/openapi.yaml between the real
// client and the real server, and asks it after every violation.
func TestContractBetweenProcesses(t *testing.T) {
	t.Parallel()
	document, err := filepath.Abs("../../docs/openapi.yaml")
	if err != nil {
		t.Fatal(err)
	}
	h := newHost(t).start()
	direct := h.Base
	address := harness.FreeAddress(t)
	_, port, _ := strings.Cut(address, ":")
	var violations strings.Builder
	proxy := exec.CommandContext(context.Background(), npmTool(t, "prism"), "proxy", document, direct,
		"--port", port, "--host", "127.0.0.1", "--errors", "--validate-request", "true")
	proxy.Env = append(os.Environ(), "NO_COLOR=1")
	proxy.Stdout, proxy.Stderr = &violations, &violations
	if err := proxy.Start(); err != nil {
		t.Fatal(err)
	}
	stopped := make(chan struct{})
	go func() {
		_ = proxy.Wait()
		close(stopped)
	}()
	stop := func() {
		_ = proxy.Process.Kill()
		<-stopped
	}
	t.Cleanup(stop)
	h.Base = "http://" + address
	h.Until(time.Minute, "the proxy is ready", h.Ready)
	plain := httptest.NewServer(withoutStreams(fixture.Must(url.Parse(h.Base))(t)))
	defer plain.Close()
	h.Base = plain.URL

	h.must("capabilities")
	h.must("capabilities", "text.chat")
	h.must("run", "text.chat", "Say hello")
	h.must("run", "text.embed", "one", "two")
	h.must("run", "audio.speech", "Good morning", "-o", "morning.wav")
	h.must("run", "audio.transcribe", "audio=@morning.wav")
	h.must("run", "image.generate", "a red fox", "n=2", "-o", "fox.png")
	h.must("run", "image.edit", "bluer", "images=@fox.png", "authorization.person=none", "-o", "blue.png")
	h.must("run", "video.generate", "waves", "duration_seconds=1", "-o", "waves.*")
	id := strings.TrimSpace(h.must("run", "image.generate", "@slow:30s a boat", "--no-wait"))
	h.must("tasks", "get", id)
	h.must("tasks", "cancel", id)
	h.must("tasks", "list", "--state", "succeeded")
	for _, wrong := range [][]string{
		{"tasks", "get", "task_00000000000000000000000000"},
		{"run", "text.chat", "@fail:CONTENT_POLICY_VIOLATION"},
		{"run", "text.chat", "@fail:PROVIDER_UNAVAILABLE", "--timeout", "5s"},
	} {
		if o := h.client(wrong...); o.code == 0 {
			t.Errorf("unitask %s succeeded: %s", strings.Join(wrong, " "), o.stdout)
		}
	}
	stop()
	for line := range strings.Lines(violations.String()) {
		if strings.Contains(line, "iolation") || strings.Contains(line, "✖") {
			t.Errorf("%s", line)
		}
	}
	if !strings.Contains(violations.String(), "/api/ai/v1/tasks") {
		t.Errorf("nothing went through the proxy:\n%s", violations.String())
	}
}
