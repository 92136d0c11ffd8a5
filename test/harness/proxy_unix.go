//go:build unix

package harness

import (
	"bytes"
	"context"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// Proxy is nginx with its loop of health as deploy/compose runs them, with paths and addresses changed.
type Proxy struct {
	URL, Secure string
	Command     *exec.Cmd // the loop's process
}

// ProxyConfig configures a Proxy.
type ProxyConfig struct {
	Folder string   // deploy/compose/proxy, from the test's folder
	Nodes  []string // addresses
	Work   string   // a folder for its files; with certificate.pem and key.pem there it serves TLS too
}

// NewProxy starts a proxy that ends with the test. Without the programs the test is skipped; in CI it fails.
func NewProxy(t *testing.T, c ProxyConfig) *Proxy {
	t.Helper()
	for _, name := range []string{"nginx", "curl"} {
		if _, err := exec.LookPath(name); err != nil && os.Getenv("CI") == "true" {
			t.Fatalf("%s isn't there, and CI must run this test", name)
		} else if err != nil {
			t.Skipf("not run: %s isn't there", name)
		}
	}
	plain, secure := FreeAddress(t), FreeAddress(t)
	change := strings.NewReplacer("/tmp/", c.Work+"/", "/etc/nginx/certificate/", c.Work+"/", "/etc/nginx/tls/", c.Work+"/tls/",
		"/etc/unitask/", c.Work+"/", "listen 8080", "listen "+plain, "listen 8443", "listen "+secure)
	files := map[string]string{"nginx.conf": "nginx.conf", "locations.conf": "locations.conf"}
	if _, err := os.Stat(filepath.Join(c.Work, "certificate.pem")); err == nil {
		files["tls.conf"] = "tls/tls.conf"
	}
	for from, to := range files {
		raw, err := os.ReadFile(filepath.Join(c.Folder, from))
		text := change.Replace(string(raw))
		if from == "nginx.conf" && os.Geteuid() == 0 {
			text = "user root;\n" + text // whose folder this is
		}
		to = filepath.Join(c.Work, to)
		if err == nil {
			err = os.MkdirAll(filepath.Dir(to), 0o700)
		}
		if err == nil {
			err = os.WriteFile(to, []byte(text), 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	p := &Proxy{URL: "http://" + plain, Secure: "https://" + secure}
	p.start(t, c)
	p.awaitPort(t, plain)
	return p
}

func (p *Proxy) start(t *testing.T, c ProxyConfig) {
	t.Helper()
	var log bytes.Buffer
	p.Command = exec.CommandContext(context.Background(), "/bin/sh", filepath.Join(c.Folder, "run.sh"))
	p.Command.Env = append(os.Environ(),
		"NODES="+strings.Join(c.Nodes, " "), "PROXY_WORK="+c.Work, "PROXY_SETTINGS="+filepath.Join(c.Work, "nginx.conf"))
	p.Command.Stdout, p.Command.Stderr = &log, &log
	p.Command.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if err := p.Command.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = syscall.Kill(-p.Command.Process.Pid, syscall.SIGKILL)
		_ = p.Command.Wait()
		if t.Failed() {
			t.Logf("the proxy said:\n%s", log.String()[max(0, log.Len()-4<<10):])
		}
	})
}

func (p *Proxy) awaitPort(t *testing.T, address string) {
	t.Helper()
	for end := time.Now().Add(15 * time.Second); ; time.Sleep(20 * time.Millisecond) {
		c, err := (&net.Dialer{}).DialContext(t.Context(), "tcp", address)
		if err == nil {
			_ = c.Close()
			return
		}
		if time.Now().After(end) {
			t.Fatalf("nginx doesn't answer: %v", err)
		}
	}
}
