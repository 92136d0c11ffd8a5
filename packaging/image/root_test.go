//go:build linux

package main

import (
	"archive/tar"
	"bytes"
	"context"
	"encoding/json"
	"encoding/pem"
	"errors"
	"io"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"unitask/test/harness"
)

// TestRoot runs the program in a root that holds exactly the image's files, as the image's user and by the
// Dockerfile's own commands: it serves, it is healthy while it does, and it trusts the authorities of its file alone.
// It takes a build without cgo, and root's rights for chroot: make image-test.
func TestRoot(t *testing.T) {
	if os.Getenv("UNITASK_IMAGE") == "" {
		t.Skip("not run: make image-test runs it, as root")
	}
	c := mustMakeContainer(t)
	lines := dockerfile(t)
	var serve, health []string
	_, check, _ := strings.Cut(lines["HEALTHCHECK"][0], "CMD ")
	if err := errors.Join(json.Unmarshal([]byte(lines["CMD"][0]), &serve), json.Unmarshal([]byte(check), &health)); err != nil {
		t.Fatal(err)
	}
	for i, word := range serve {
		if word == "0.0.0.0:8420" {
			serve[i] = c.address
		}
	}
	if out, err := c.run(t, health[1:]...); err == nil {
		t.Errorf("healthy before it serves: %s", out)
	}
	server := c.command(t.Context(), serve...)
	var log bytes.Buffer
	server.Stderr = &log
	if err := server.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- server.Wait() }()
	for start := time.Now(); ; time.Sleep(50 * time.Millisecond) {
		out, err := c.run(t, health[1:]...)
		if err == nil {
			break
		}
		if time.Since(start) > time.Minute {
			t.Fatalf("it isn't healthy: %v, %s", err, out)
		}
	}
	key, err := c.run(t, "keys", "create", "--name", "test", "--mode", "test")
	if err != nil {
		t.Fatalf("keys create: %v, %s", err, key)
	}
	c.env = append(c.env, "UNITASK_API_KEY="+strings.TrimSpace(key))
	for _, args := range [][]string{
		{"run", "text.chat", "hello", "--base-url", "http://" + c.address},
		{"run", "image.generate", "fox", "size=64x64", "-o", "fox.png", "--base-url", "http://" + c.address},
	} {
		if out, err := c.run(t, args...); err != nil {
			t.Errorf("%q: %v, %s", args, err, out)
		}
	}
	c.trust(t)
	if err := errors.Join(server.Process.Signal(syscall.SIGTERM), <-ended); err != nil {
		t.Errorf("the server ended with %v\n%s", err, log.String())
	}
}

// trust asks a server whose authority is known nowhere, and then named.
func (c *container) trust(t *testing.T) {
	t.Helper()
	private := httptest.NewTLSServer(nil)
	defer private.Close()
	const refused = "certificate"
	if out, err := c.run(t, "capabilities", "--base-url", private.URL); err == nil || !strings.Contains(out, refused) {
		t.Errorf("a server of an unknown authority: %v, %s", err, out)
	}
	ca := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: private.Certificate().Raw})
	if err := os.WriteFile(filepath.Join(c.root, "ca.pem"), ca, 0o644); err != nil {
		t.Fatal(err)
	}
	c.env = append(c.env, "SSL_CERT_FILE=/ca.pem")
	if out, err := c.run(t, "capabilities", "--base-url", private.URL); strings.Contains(out, refused) {
		t.Errorf("a server of the named authority: %v, %s", err, out)
	}
}

// container is a root with the image's files.
type container struct {
	root, address string
	env           []string
}

func mustMakeContainer(t *testing.T) *container {
	t.Helper()
	c := &container{root: t.TempDir(), address: harness.FreeAddress(t), env: []string{"HOME=/home/nonroot"}}
	for dir := c.root; dir != os.TempDir(); dir = filepath.Dir(dir) { // the image's user may pass
		if err := os.Chmod(dir, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	c.env = append(c.env, dockerfile(t)["ENV"]...)
	var files bytes.Buffer
	if err := write(&files); err != nil {
		t.Fatal(err)
	}
	for r := tar.NewReader(&files); ; {
		h, err := r.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err == nil {
			err = extract(c.root, h, r)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	build := exec.CommandContext(t.Context(), "go", "build", "-trimpath", "-pgo=cmd/unitask/release.pgo",
		"-o", filepath.Join(c.root, "usr/bin/unitask"), "./cmd/unitask")
	build.Dir, build.Env = "../..", append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("go build: %v\n%s", err, out)
	}
	return c
}

func extract(root string, h *tar.Header, r io.Reader) error {
	path := filepath.Join(root, h.Name)
	if h.Typeflag == tar.TypeDir {
		if err := os.Mkdir(path, 0o700); err != nil {
			return err
		}
	} else {
		data, err := io.ReadAll(r)
		if err != nil {
			return err
		}
		if err := os.WriteFile(path, data, 0o600); err != nil {
			return err
		}
	}
	mode := h.FileInfo().Mode()
	return errors.Join(os.Chown(path, h.Uid, h.Gid), os.Chmod(path, mode))
}

func (c *container) command(ctx context.Context, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, "/usr/bin/unitask", args...)
	cmd.Env, cmd.Dir = c.env, "/home/nonroot"
	cmd.SysProcAttr = &syscall.SysProcAttr{Chroot: c.root, Credential: &syscall.Credential{Uid: user, Gid: user}}
	return cmd
}

func (c *container) run(t *testing.T, args ...string) (string, error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	cmd := c.command(ctx, args...)
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	if err := cmd.Run(); err != nil {
		return errs.String(), err
	}
	return out.String(), nil
}
