package openai_test

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

	"github.com/google/go-cmp/cmp"

	"unitask/internal/fault"
	"unitask/internal/supplier"
	"unitask/internal/supplier/openai"
	"unitask/internal/supplier/suppliertest"
)

const (
	aimockKey  = "aimock-test-key"
	aimockText = "Hello from a server that nobody here wrote."
	// A Node.js program's start on a busy machine.
	aimockStart = 60 * time.Second
)

// aimock is a running server of @copilotkit/aimock, an independent mock of suppliers.
type aimock struct {
	url string
}

// startAimock starts the server that `make npm` installs. Without it the test is skipped, but in CI
// it fails.
func startAimock(t *testing.T) *aimock {
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
	cmd := exec.CommandContext(t.Context(), bin, "--port", "0", "--fixtures", "testdata/aimock.json",
		"--validate-on-load", "--strict")
	cmd.Env = append(os.Environ(), "AIMOCK_API_KEYS="+aimockKey)
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
	return &aimock{url: listening(t, out)}
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
	case <-time.After(aimockStart):
		t.Fatalf("aimock doesn't listen after %v", aimockStart)
		return ""
	}
}

// control calls aimock's own interface.
func (m *aimock) control(t *testing.T, method, path, body string) []byte {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), aimockStart)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, method, m.url+"/__aimock"+path, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer "+aimockKey)
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

// journaled is one request as aimock saw it.
type journaled struct {
	Method   string `json:"method"`
	Path     string `json:"path"`
	Response struct {
		Status int `json:"status"`
	} `json:"response"`
}

func (m *aimock) journal(t *testing.T) []journaled {
	t.Helper()
	var got []journaled
	if err := json.Unmarshal(m.control(t, http.MethodGet, "/journal", ""), &got); err != nil {
		t.Fatal(err)
	}
	return got
}

func (m *aimock) adapter(t *testing.T, key string) supplier.Adapter {
	t.Helper()
	a, err := openai.New(supplier.Config{
		Name: "aimock", BaseURL: m.url + "/v1", APIKey: func() (string, error) { return key, nil }, Timeout: aimockStart,
	})
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// TestAimock holds the adapter against a server written by others. Each row is exactly one request.
func TestAimock(t *testing.T) {
	m := startAimock(t)
	chat := request("text.chat", `{"system":"Be kind.","prompt":"Greet me"}`, `{"max_output_tokens":20}`)
	embed := request("text.embed", `{"texts":["a red fox"]}`, `{"dimensions":3}`)
	text := &supplier.Result{
		Text: new(aimockText), FinishReason: "stop", Usage: supplier.Usage{InputTokens: 4, OutputTokens: 11},
	}
	tests := []struct {
		name    string
		prepare string // control path and body
		key     string
		request supplier.Request
		stream  bool
		want    *supplier.Result
		verdict suppliertest.Verdict
		status  int
	}{
		{name: "chat", request: chat, want: text, status: 200},
		{name: "streamed chat", request: chat, stream: true, want: text, status: 200},
		{
			name: "embeddings", request: embed, status: 200,
			want: &supplier.Result{Embeddings: [][]float32{{0.5, -0.25, 0.125}}, Usage: supplier.Usage{InputTokens: 3}},
		},
		{
			name: "injected 503", prepare: `/error {"status":503}`, request: chat, status: 503,
			verdict: suppliertest.Verdict{Code: fault.CapacityExhausted, Sent: supplier.Refused},
		},
		{
			name: "injected 503 of a stream", prepare: `/error {"status":503}`, request: chat, stream: true, status: 503,
			verdict: suppliertest.Verdict{Code: fault.CapacityExhausted, Sent: supplier.Refused},
		},
		{
			name: "429 with advice", prepare: `/chaos {"rateLimitRate":1}`, request: chat, status: 429,
			verdict: suppliertest.Verdict{Code: fault.CapacityExhausted, Sent: supplier.Refused, RetryAfter: time.Second},
		},
		{
			name: "quota", request: chat, status: 429,
			prepare: `/error {"status":429,"body":{"message":"m","type":"insufficient_quota","code":"insufficient_quota"}}`,
			verdict: suppliertest.Verdict{
				Code: fault.ProviderUnavailable, Sent: supplier.Refused, Operator: true, RetryAfter: time.Second,
			},
		},
		{
			name: "review", request: chat, status: 400,
			prepare: `/error {"status":400,"body":{"message":"m","type":"invalid_request_error","code":"content_policy_violation"}}`,
			verdict: suppliertest.Verdict{Code: fault.ContentPolicyViolation, Sent: supplier.Refused},
		},
		{
			name: "malformed", prepare: `/chaos {"malformedRate":1}`, request: chat, status: 200,
			verdict: suppliertest.Verdict{Code: fault.ProviderUnavailable, Sent: supplier.Unknown},
		},
		{
			name: "disconnect", prepare: `/chaos {"disconnectRate":1}`, request: chat,
			verdict: suppliertest.Verdict{Code: fault.ProviderUnavailable, Sent: supplier.Unknown},
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			m.control(t, http.MethodDelete, "/chaos", "")
			m.control(t, http.MethodPost, "/reset/journal", "")
			if path, body, ok := strings.Cut(tt.prepare, " "); ok {
				m.control(t, http.MethodPost, path, body)
			}
			a := m.adapter(t, aimockKey)
			got, err := run(t, a, tt.request, tt.stream)
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("result (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(tt.verdict, verdict(err)); diff != "" {
				t.Errorf("verdict (-want +got):\n%s\nof %v", diff, err)
			}
			path := "/v1/chat/completions"
			if tt.request.Capability == "text.embed" {
				path = "/v1/embeddings"
			}
			want := journaled{Method: "POST", Path: path}
			want.Response.Status = tt.status
			if diff := cmp.Diff([]journaled{want}, m.journal(t)); diff != "" {
				t.Errorf("journal (-want +got):\n%s", diff)
			}
		})
	}
}

// TestAimockKey shows that the key is what opens the server, and Probe what shows it closed.
func TestAimockKey(t *testing.T) {
	m := startAimock(t)
	chat := request("text.chat", `{"prompt":"Greet me"}`, `{}`)
	if _, err := run(t, m.adapter(t, aimockKey), chat, false); err != nil {
		t.Errorf("with the key: %v", err)
	}
	if err := m.adapter(t, aimockKey).(supplier.Prober).Probe(t.Context()); err != nil {
		t.Errorf("probe with the key: %v", err)
	}
	_, err := run(t, m.adapter(t, "another"), chat, false)
	want := suppliertest.Verdict{Code: fault.ProviderUnavailable, Sent: supplier.Refused, Operator: true}
	if diff := cmp.Diff(want, verdict(err)); diff != "" {
		t.Errorf("with another key (-want +got):\n%s", diff)
	}
}

func run(t *testing.T, a supplier.Adapter, r supplier.Request, stream bool) (*supplier.Result, error) {
	t.Helper()
	if !stream {
		out, err := a.Submit(t.Context(), r)
		return out.Result, err
	}
	var text strings.Builder
	out, err := a.(supplier.Streamer).Stream(t.Context(), r, func(d supplier.Delta) { text.WriteString(d.Text) })
	if err == nil && text.String() != *out.Result.Text {
		t.Errorf("deltas: got %q, want %q", text.String(), *out.Result.Text)
	}
	return out.Result, err
}

func verdict(err error) suppliertest.Verdict {
	if err == nil {
		return suppliertest.Verdict{}
	}
	e := supplier.AsError(err)
	return suppliertest.Verdict{Code: e.Fault.Code, Sent: e.Sent, Operator: e.Operator, RetryAfter: e.RetryAfter}
}
