//go:build unix

package deploy_test

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"io"
	"math/big"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"unitask/test/harness"
)

// standIn takes the place of a node behind the proxy.
type standIn struct {
	*httptest.Server
	ready    atomic.Bool
	breaks   atomic.Bool // off in the middle of a request
	requests atomic.Int64
	release  chan struct{} // ends a stream
}

func newStandIn(t *testing.T) *standIn {
	n := &standIn{release: make(chan struct{})}
	n.ready.Store(true)
	n.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/readyz" {
			if !n.ready.Load() {
				w.WriteHeader(http.StatusServiceUnavailable)
			}
			return
		}
		n.requests.Add(1)
		body, _ := io.ReadAll(r.Body)
		switch {
		case n.breaks.Load():
			panic(http.ErrAbortHandler)
		case r.URL.Path == "/api/stream":
			w.Header().Set("X-Accel-Buffering", "no")
			_, _ = io.WriteString(w, "data: first\n\n")
			_ = http.NewResponseController(w).Flush()
			<-n.release
			_, _ = io.WriteString(w, "data: last\n\n")
		default:
			h := r.Header
			_, _ = fmt.Fprintf(w, "%s|%s|%s|%s|%d", r.Host, h.Get("X-Forwarded-For"), h.Get("Forwarded"), h.Get("X-Forwarded-Proto"), len(body))
		}
	}))
	t.Cleanup(n.Close)
	return n
}

// proxy is nginx before three stand-ins.
type proxy struct {
	*testing.T
	*harness.Proxy
	nodes  []*standIn
	client *http.Client
}

func newProxy(t *testing.T) *proxy {
	t.Helper()
	p := &proxy{T: t, nodes: []*standIn{newStandIn(t), newStandIn(t), newStandIn(t)}}
	dir := t.TempDir()
	p.client = &http.Client{Timeout: time.Minute, Transport: &http.Transport{
		TLSClientConfig: &tls.Config{RootCAs: certificate(t, dir)}, ForceAttemptHTTP2: true,
	}}
	var addresses []string
	for _, n := range p.nodes {
		addresses = append(addresses, n.Listener.Addr().String())
	}
	p.Proxy = harness.NewProxy(t, harness.ProxyConfig{Folder: "compose/proxy", Nodes: addresses, Work: dir})
	return p
}

// certificate writes a certificate for loopback and its key, and returns a pool that trusts it.
func certificate(t *testing.T, dir string) *x509.CertPool {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	c := &x509.Certificate{
		SerialNumber: big.NewInt(1), IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}, NotAfter: time.Now().Add(time.Hour),
		IsCA: true, BasicConstraintsValid: true,
	}
	cert, err := x509.CreateCertificate(rand.Reader, c, c, key.Public(), key)
	if err != nil {
		t.Fatal(err)
	}
	private, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	pool := x509.NewCertPool()
	for name, block := range map[string]*pem.Block{
		"certificate.pem": {Type: "CERTIFICATE", Bytes: cert}, "key.pem": {Type: "PRIVATE KEY", Bytes: private},
	} {
		text := pem.EncodeToMemory(block)
		pool.AppendCertsFromPEM(text)
		if err := os.WriteFile(filepath.Join(dir, name), text, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return pool
}

func (p *proxy) until(what string, ok func() bool) {
	p.Helper()
	for end := time.Now().Add(15 * time.Second); !ok(); time.Sleep(20 * time.Millisecond) {
		if time.Now().After(end) {
			p.Fatalf("not within 15 s: %s", what)
		}
	}
}

// reply is an answer of the proxy.
type reply struct {
	status int
	proto  string
	header http.Header
	body   string
}

// send makes a request that says it comes from elsewhere.
func (p *proxy) send(method, address, body string) reply {
	p.Helper()
	r, err := http.NewRequestWithContext(p.Context(), method, address, strings.NewReader(body))
	if err != nil {
		p.Fatal(err)
	}
	r.Header.Set("X-Forwarded-For", "203.0.113.9")
	r.Header.Set("Forwarded", "for=203.0.113.9")
	r.Header.Set("X-Forwarded-Proto", "gopher")
	answer, err := p.client.Do(r)
	if err != nil {
		p.Fatal(err)
	}
	defer func() { _ = answer.Body.Close() }()
	text, err := io.ReadAll(answer.Body)
	if err != nil {
		p.Fatal(err)
	}
	return reply{answer.StatusCode, answer.Proto, answer.Header, string(text)}
}

// count returns how many requests each node has had since the last call.
func (p *proxy) count() (n [3]int64) {
	for i, node := range p.nodes {
		n[i] = node.requests.Swap(0)
	}
	return n
}

// TestProxy runs nginx and its loop of health in front of three stand-ins, until they are gone.
func TestProxy(t *testing.T) {
	p := newProxy(t)
	host := strings.TrimPrefix(p.URL, "http://")
	if got := p.send(http.MethodPost, p.URL+"/api/x", "12345"); got.body != host+"|127.0.0.1||http|5" {
		t.Errorf("a node saw %q, want the caller's own address and scheme", got.body)
	}
	large := strings.Repeat("x", 16<<20)
	if got := p.send(http.MethodPost, p.Secure+"/api/x", large); !strings.HasSuffix(got.body, "|https|16777216") || got.proto != "HTTP/2.0" {
		t.Errorf("by TLS: %s %s", got.proto, got.body)
	}
	if got := p.send(http.MethodPost, p.URL+"/api/x", large+large); got.status != http.StatusRequestEntityTooLarge {
		t.Errorf("32 MiB: %d", got.status)
	}
	if got := p.send(http.MethodPut, p.URL+"/uploads/x", large+large); !strings.HasSuffix(got.body, "|33554432") {
		t.Errorf("32 MiB of an upload: %d %s", got.status, got.body)
	}
	p.streams()
	p.leavesOutWhoIsNotReady()
	p.sendsAgain()

	for _, n := range p.nodes {
		n.Close()
	}
	got := p.send(http.MethodPost, p.URL+"/api/x", "")
	var away struct {
		Error struct {
			Code      string
			Retryable bool
		}
	}
	err := json.Unmarshal([]byte(got.body), &away)
	if got.status != http.StatusServiceUnavailable || got.header.Get("Retry-After") != "1" || err != nil || away.Error.Code != "CAPACITY_EXHAUSTED" {
		t.Errorf("without nodes: %d, %v, %s", got.status, err, got.body)
	}
	if err := p.Command.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	p.client.CloseIdleConnections()
	if err := p.Command.Wait(); err != nil {
		t.Errorf("after SIGTERM: %v", err)
	}
}

// streams: a piece arrives before the next one is written.
func (p *proxy) streams() {
	p.Helper()
	r, err := http.NewRequestWithContext(p.Context(), http.MethodGet, p.URL+"/api/stream", nil)
	if err != nil {
		p.Fatal(err)
	}
	answer, err := p.client.Do(r)
	if err != nil {
		p.Fatal(err)
	}
	defer func() { _ = answer.Body.Close() }()
	first := make([]byte, len("data: first\n\n"))
	if _, err := io.ReadFull(answer.Body, first); err != nil || string(first) != "data: first\n\n" {
		p.Errorf("%q, %v", first, err)
	}
	for _, n := range p.nodes {
		close(n.release)
	}
	if rest, err := io.ReadAll(answer.Body); err != nil || string(rest) != "data: last\n\n" {
		p.Errorf("%q, %v", rest, err)
	}
}

// leavesOutWhoIsNotReady: a node whose /readyz fails gets no requests until it is ready again.
func (p *proxy) leavesOutWhoIsNotReady() {
	p.Helper()
	twelve := func() [3]int64 {
		p.count()
		for range 12 {
			p.send(http.MethodGet, p.URL+"/", "")
		}
		return p.count()
	}
	p.nodes[0].ready.Store(false)
	p.until("a node is out of turn", func() bool { n := twelve(); return n[0] == 0 && n[1] > 0 && n[2] > 0 })
	p.nodes[0].ready.Store(true)
	p.until("it is in turn again", func() bool { return twelve()[0] > 0 })
	for _, n := range p.nodes {
		n.ready.Store(false)
	}
	time.Sleep(2500 * time.Millisecond) // two rounds of the loop
	if n := twelve(); n[0]+n[1]+n[2] != 12 {
		p.Errorf("%v: no node is ready, and all should be in turn", n)
	}
	for _, n := range p.nodes {
		n.ready.Store(true)
	}
}

// sendsAgain: a POST to the API goes to another node if one breaks off, one to a page doesn't.
func (p *proxy) sendsAgain() {
	p.Helper()
	p.nodes[1].breaks.Store(true)
	for range 12 {
		if got := p.send(http.MethodPost, p.URL+"/api/x", "1"); got.status != http.StatusOK {
			p.Errorf("%d %s", got.status, got.body)
		}
	}
	for _, n := range p.nodes {
		n.breaks.Store(true)
	}
	p.count()
	got := p.send(http.MethodPost, p.URL+"/console/keys", "1")
	if n := p.count(); n[0]+n[1]+n[2] != 1 || got.status != http.StatusServiceUnavailable {
		p.Errorf("%d %s, sent %v times, want once", got.status, got.body, n)
	}
	for _, n := range p.nodes {
		n.breaks.Store(false)
	}
}
