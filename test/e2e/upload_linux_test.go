package e2e_test

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"unitask/internal/api"
	"unitask/internal/artifact/s3store/s3test"
	"unitask/internal/store/pgstore/pgtest"
	"unitask/test/harness"
)

const (
	uploadCuts   = 5
	uploadMemory = 32 << 20                        // that an upload may cost, beyond what the process has before
	uploadRoom   = "limits: {work_memory: 4GiB}\n" // so that tasks could use so large a file
)

// uploadBytes is the size of the file; `make upload` has 1 GiB.
func uploadBytes(t *testing.T) int64 {
	return int64(harness.Setting(t, "UNITASK_UPLOAD_BYTES", 64<<20))
}

// TestUploadOverCuts sends a file by the real client through five cut connections, and the server's memory stays within
// its bound.
func TestUploadOverCuts(t *testing.T) {
	h := newHost(t)
	proxy := newCutter(t, uploadBytes(t), h)
	h.Config = "base_url: " + proxy.url + "\n" + uploadRoom
	h.start()
	proxy.sendFile(t, h)
}

// TestUploadOverNodes is the same with two nodes that take turns, a PostgreSQL database and an object store.
func TestUploadOverNodes(t *testing.T) {
	database, bucket := pgtest.Start(t, pgtest.Config{}), s3test.Start(t)
	first, second := newHost(t), newHost(t)
	second.key, second.Bootstrap = first.key, first.key
	proxy := newCutter(t, uploadBytes(t), first, second)
	for _, h := range proxy.hosts {
		h.Config = "base_url: " + proxy.url + "\nartifacts: s3://" + s3test.Bucket + "/unitask?region=us-east-1&path_style=true&endpoint=" + bucket.Endpoint() + "\n" + uploadRoom
		h.Env = append(s3test.Environ(), "UNITASK_STORE="+database.URL())
		h.start()
	}
	proxy.sendFile(t, first)
	for i, n := range proxy.turns {
		if n.Load() == 0 {
			t.Errorf("node %d got no connection", i)
		}
	}
}

// sendFile runs the client against the proxy and judges the upload and the servers' memory.
func (p *cutter) sendFile(t *testing.T, h *host) {
	path, sum := bigFile(t, h.Dir, p.all)
	before, most := p.watch(t)
	var sent api.Upload
	out := h.client("upload", path, "--base-url", p.url, "--json")
	if err := json.Unmarshal([]byte(out.stdout), &sent); err != nil || out.code != 0 {
		t.Fatalf("upload: exit %d, %v\n%s%s", out.code, err, out.stdout, out.stderr)
	}
	if sent.State != api.UploadComplete || sent.SHA256 != sum || sent.Bytes != p.all {
		t.Errorf("sent: %+v, want %d bytes with %s", sent, p.all, sum)
	}
	if got := p.cuts.Load(); got != uploadCuts {
		t.Errorf("%d cuts, want %d", got, uploadCuts)
	}
	for i, top := range most() {
		t.Logf("node %d: RssAnon %d MiB before, %d MiB at most; %d MiB went through the proxy", i, before[i]>>20, top>>20, p.passed.Load()>>20)
		if top > before[i]+uploadMemory {
			t.Errorf("node %d: an upload of %d MiB cost %d MiB of memory, want %d at most", i, p.all>>20, (top-before[i])>>20, uploadMemory>>20)
		}
	}
	if waste := p.passed.Load() - p.all; waste > int64(uploadCuts+1)*(8<<20) {
		t.Errorf("%d bytes were sent again over %d cuts", waste, uploadCuts)
	}
	again := h.client("upload", path)
	if again.stdout != sent.Artifact+"\n" || p.passed.Load() > p.all+p.all/2 {
		t.Errorf("sent again: exit %d %s%s", again.code, again.stdout, again.stderr)
	}
}

// bigFile is a file that begins as a PNG does, and its SHA-256.
func bigFile(t *testing.T, dir string, size int64) (path, sum string) {
	t.Helper()
	path = filepath.Join(dir, "big.png")
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	hash := sha256.New()
	const head = "\x89PNG\r\n\x1a\n"
	body := io.MultiReader(strings.NewReader(head), io.LimitReader(rand.NewChaCha8([32]byte{}), size-int64(len(head))))
	if _, err := io.Copy(io.MultiWriter(f, hash), body); err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	return path, hex.EncodeToString(hash.Sum(nil))
}

// watch reads the nodes' memory now, and until most is called.
func (p *cutter) watch(t *testing.T) (before []int64, most func() []int64) {
	t.Helper()
	now := func() (all []int64) {
		for _, h := range p.hosts {
			all = append(all, anonymous(h))
		}
		return all
	}
	before = now()
	top, stop := now(), make(chan struct{})
	var watching sync.WaitGroup
	watching.Go(func() {
		for {
			select {
			case <-stop:
				return
			case <-time.After(10 * time.Millisecond):
			}
			for i, n := range now() {
				top[i] = max(top[i], n)
			}
		}
	})
	return before, func() []int64 { close(stop); watching.Wait(); return top }
}

// anonymous is the server's own memory in bytes, 0 if it can't be read.
func anonymous(h *host) int64 {
	raw, _ := os.ReadFile(fmt.Sprintf("/proc/%d/status", h.PID()))
	for line := range strings.Lines(string(raw)) {
		if text, ok := strings.CutPrefix(line, "RssAnon:"); ok {
			n, _ := strconv.ParseInt(strings.TrimSuffix(strings.TrimSpace(text), " kB"), 10, 64)
			return n << 10
		}
	}
	return 0
}

// cutter is a proxy that cuts connections when so much of a file has gone through, and gives each the next node.
type cutter struct {
	url    string
	all    int64
	hosts  []*host
	turns  []*atomic.Int64 // connections of each host
	passed atomic.Int64    // bytes to the nodes
	cuts   atomic.Int64
}

func newCutter(t *testing.T, all int64, hosts ...*host) *cutter {
	t.Helper()
	l, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	p := &cutter{url: "http://" + l.Addr().String(), all: all, hosts: hosts}
	for range hosts {
		p.turns = append(p.turns, &atomic.Int64{})
	}
	t.Cleanup(func() { _ = l.Close() })
	go func() {
		for i := 0; ; i++ {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			go p.serve(t, conn, i%len(hosts))
		}
	}()
	return p
}

func (p *cutter) serve(t *testing.T, from net.Conn, node int) {
	defer func() { _ = from.Close() }()
	to, err := (&net.Dialer{}).DialContext(t.Context(), "tcp", strings.TrimPrefix(p.hosts[node].Base, "http://"))
	if err != nil {
		return
	}
	defer func() { _ = to.Close() }()
	p.turns[node].Add(1)
	go func() {
		_, _ = io.Copy(from, to)
		_ = from.Close()
	}()
	_, _ = io.Copy(to, &cutReader{from, p})
}

var errCut = errors.New("cut")

// cutReader breaks off at the proxy's next cut.
type cutReader struct {
	net.Conn

	proxy *cutter
}

func (r *cutReader) Read(b []byte) (int, error) {
	n, err := r.Conn.Read(b)
	passed := r.proxy.passed.Add(int64(n))
	if cut := r.proxy.cuts.Load(); cut < uploadCuts && passed > (cut+1)*r.proxy.all/(uploadCuts+1) {
		r.proxy.cuts.Add(1)
		return n, errCut
	}
	return n, err
}

// TestUploadThroughKills: the server is killed twice while a file arrives, and the client goes on. What is left behind is
// the artifact.
func TestUploadThroughKills(t *testing.T) {
	const size = 48 << 20
	h := newHost(t)
	proxy := newCutter(t, size, h)
	proxy.cuts.Store(uploadCuts) // none
	h.Config = "base_url: " + proxy.url + "\n"
	h.start()
	path, _ := bigFile(t, h.Dir, size)
	ended := make(chan outcome, 1)
	go func() { ended <- h.client("upload", path, "--base-url", proxy.url) }()
	for kill := range 2 {
		h.Until(time.Minute, "a part has arrived", func() bool { return proxy.passed.Load() > int64(kill+1)*size/4 })
		h.Kill()
		h.start()
	}
	if got := <-ended; got.code != 0 || !strings.HasPrefix(got.stdout, "art_") {
		t.Fatalf("exit %d\n%s%s", got.code, got.stdout, got.stderr)
	}
	if waste := proxy.passed.Load() - size; waste > 2*(16<<20) {
		t.Errorf("%d bytes were sent again over 2 kills", waste)
	}
	pieces, err := filepath.Glob(filepath.Join(h.Data(), "artifacts", "in", "*", "in_*"))
	if err != nil || len(pieces) > 0 {
		t.Errorf("pieces are left: %q, %v", pieces, err)
	}
	if files, err := filepath.Glob(filepath.Join(h.Data(), "artifacts", "art", "*", "art_*")); err != nil || len(files) != 2 {
		t.Errorf("the artifact and its description are %q, %v", files, err)
	}
}
