package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"time"

	"unitask/internal/account"
	"unitask/internal/api"
	"unitask/internal/task"
)

// bed is the servers under measurement and the folder they live in.
type bed struct {
	dir      string
	children []*exec.Cmd
	upstream string // address
	proxy    string
	unitask  string
	live     string // a live key, without limits
	test     string // a test key, likewise
	run      string // makes idempotency keys of this run its own
}

func newBed(ctx context.Context) (*bed, error) {
	dir, err := os.MkdirTemp("", "unitask-bench-")
	if err != nil {
		return nil, err
	}
	b := &bed{dir: dir, run: strconv.FormatInt(time.Now().UnixNano(), 36)}
	if err := b.start(ctx); err != nil {
		b.close()
		return nil, err
	}
	return b, nil
}

func (b *bed) close() {
	for _, c := range b.children {
		_ = c.Process.Kill()
		_ = c.Wait()
	}
	_ = os.RemoveAll(b.dir)
}

func (b *bed) start(ctx context.Context) error {
	for _, address := range []*string{&b.upstream, &b.proxy, &b.unitask} {
		l, err := (&net.ListenConfig{}).Listen(ctx, "tcp", "127.0.0.1:0")
		if err != nil {
			return err
		}
		*address = l.Addr().String()
		_ = l.Close()
	}
	self, err := os.Executable()
	if err != nil {
		return err
	}
	binary := filepath.Join(b.dir, "unitask")
	if out, err := exec.CommandContext(ctx, "go", "build", "-o", binary, "unitask/cmd/unitask").CombinedOutput(); err != nil {
		return fmt.Errorf("%w: %s", err, out)
	}
	config := filepath.Join(b.dir, "unitask.yaml")
	if err := os.WriteFile(config, []byte(b.config()), 0o600); err != nil {
		return err
	}
	for _, args := range [][]string{
		{self, "upstream", b.upstream},
		{self, "proxy", b.proxy + ",http://" + b.upstream},
		{binary, "serve", "--config", config, "--listen", b.unitask, "--data-dir", filepath.Join(b.dir, "data")},
	} {
		if err := b.child(ctx, args...); err != nil {
			return err
		}
	}
	if err := b.ready(ctx); err != nil {
		return err
	}
	if b.live, err = b.key(ctx, binary, task.Live); err != nil {
		return err
	}
	b.test, err = b.key(ctx, binary, task.Test)
	return err
}

func (b *bed) config() string {
	return `suppliers:
  - {name: mock, kind: openai, base_url: "http://` + b.upstream + `/v1"}
routes:
  text.chat:
    - {supplier: mock, model: mock, price: {unit: mtok, input: "0.05", output: "0.40"}}
`
}

func (b *bed) child(ctx context.Context, args ...string) error {
	c := exec.CommandContext(context.WithoutCancel(ctx), args[0], args[1:]...)
	c.Env = append(os.Environ(), "UNITASK_CONFIG_DIR="+filepath.Join(b.dir, "config"))
	if err := c.Start(); err != nil {
		return err
	}
	b.children = append(b.children, c)
	return nil
}

func (b *bed) ready(ctx context.Context) error {
	for range 500 {
		request, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+b.unitask+api.PathReady, nil)
		if err != nil {
			return err
		}
		response, err := http.DefaultClient.Do(request)
		if err == nil {
			_ = response.Body.Close()
			if response.StatusCode == http.StatusOK {
				return nil
			}
		}
		time.Sleep(20 * time.Millisecond)
	}
	return errors.New("unitask isn't ready within 10 s")
}

func (b *bed) key(ctx context.Context, binary string, mode task.Mode) (string, error) {
	c := exec.CommandContext(ctx, binary, "keys", "create", "--name", "bench-"+string(mode), "--mode", string(mode),
		"--rate", "-1", "--concurrency", "-1", "--json", "--data-dir", filepath.Join(b.dir, "data"))
	var stderr bytes.Buffer
	c.Stderr = &stderr
	out, err := c.Output()
	if err != nil {
		return "", fmt.Errorf("keys create: %w: %s", err, stderr.String())
	}
	var k api.Key
	if err := json.Unmarshal(out, &k); err != nil {
		return "", err
	}
	if _, ok := account.ParseKeySecret(account.DefaultKeyPrefix, k.Secret); !ok {
		return "", errors.New("keys create printed no key")
	}
	return k.Secret, nil
}

// measurement is one row of the table.
type measurement struct {
	name    string
	measure func(ctx context.Context, d time.Duration) (figures, error)
}

// The rows that others are compared with.
const (
	direct64 = "direct, 64 callers"
	proxy64  = "reverse proxy, 64 callers"
)

func (b *bed) measurements() []measurement {
	upstream := b.plain(b.upstream)
	proxy := b.plain(b.proxy)
	full := func(t target, callers int) func(context.Context, time.Duration) (figures, error) {
		return func(ctx context.Context, d time.Duration) (figures, error) { return saturate(ctx, t, callers, d) }
	}
	steady := func(t target) func(context.Context, time.Duration) (figures, error) {
		return func(ctx context.Context, d time.Duration) (figures, error) { return pace(ctx, t, 500, d) }
	}
	return []measurement{
		{direct64, full(upstream, 64)},
		{proxy64, full(proxy, 64)},
		{"unitask, synchronous, 64 callers", full(b.tasks("sync64", b.live, "text.chat", `"prompt":"hello"`, 200), 64)},
		{"unitask, synchronous, 256 callers", full(b.tasks("sync256", b.live, "text.chat", `"prompt":"hello"`, 200), 256)},
		{"direct, 500/s", steady(upstream)},
		{"reverse proxy, 500/s", steady(proxy)},
		{"unitask, 500/s", steady(b.tasks("pace", b.live, "text.chat", `"prompt":"hello"`, 200))},
		{"unitask, asynchronous accepts, 64 callers", full(b.tasks("accept", b.test, "image.generate", `"prompt":"@stuck:running"`, 202), 64)},
	}
}

func (b *bed) plain(address string) target {
	body := `{"model":"mock","messages":[{"role":"user","content":"hello"}],"max_tokens":100}`
	raw := []byte("POST /v1/chat/completions HTTP/1.1\r\nHost: bench\r\nContent-Type: application/json\r\nContent-Length: " +
		strconv.Itoa(len(body)) + "\r\n\r\n" + body)
	return target{address: address, status: http.StatusOK, request: func(int64) []byte { return raw }}
}

func (b *bed) tasks(label, key, capability, input string, status int) target {
	body := `{"capability":"` + capability + `","input":{` + input + `}}`
	head := "POST " + api.PathTasks + " HTTP/1.1\r\nHost: bench\r\nAuthorization: Bearer " + key +
		"\r\nContent-Type: application/json\r\nContent-Length: " + strconv.Itoa(len(body)) + "\r\nIdempotency-Key: " + b.run + "-" + label + "-" +
		strconv.FormatInt(time.Now().UnixNano(), 36) + "-"
	return target{address: b.unitask, status: status, request: func(n int64) []byte {
		var out bytes.Buffer
		out.Grow(len(head) + len(body) + 24)
		_, _ = fmt.Fprintf(&out, "%s%d\r\n\r\n%s", head, n, body)
		return out.Bytes()
	}}
}
