package upstream_test

import (
	"bufio"
	"bytes"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"io"
	"math/big"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"runtime"
	"testing"
	"time"

	"unitask/internal/supplier/upstream"
)

// TestTLS talks to a server whose certificate the system trusts: one connection, until the server closes
// it.
func TestTLS(t *testing.T) {
	if runtime.GOOS == "darwin" || runtime.GOOS == "windows" {
		t.Skip("the system's certificates can't be named here")
	}
	srv := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(w, r.Body)
	}))
	srv.TLS = &tls.Config{Certificates: []tls.Certificate{trusted}}
	srv.StartTLS()
	defer srv.Close()
	c, dials := counted(t, upstream.Config{BaseURL: srv.URL})
	for i, want := range []int64{1, 1, 1, 2, 2} {
		if i == 3 {
			srv.CloseClientConnections()
		}
		a, err := c.Do(t.Context(), upstream.Call{Path: "/", Body: []byte("hello")})
		if err != nil || string(a.Body) != "hello" || dials.Load() != want {
			t.Errorf("call %d: %q on connection %d, want the %d, %v", i, a.Body, dials.Load(), want, err)
		}
	}
}

// TestTransports checks the protocol of each transport with a server that speaks HTTP/2.
func TestTransports(t *testing.T) {
	if runtime.GOOS == "darwin" || runtime.GOOS == "windows" {
		t.Skip("the system's certificates can't be named here")
	}
	srv := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.WriteString(w, r.Proto)
	}))
	srv.TLS = &tls.Config{Certificates: []tls.Certificate{trusted}}
	srv.EnableHTTP2 = true
	srv.StartTLS()
	defer srv.Close()
	for standard, want := range map[bool]string{false: "HTTP/1.1", true: "HTTP/2.0"} {
		c, _ := counted(t, upstream.Config{BaseURL: srv.URL, Standard: standard})
		a, err := c.Do(t.Context(), upstream.Call{Path: "/", Body: []byte("{}")})
		if err != nil || string(a.Body) != want {
			t.Errorf("standard %t: got %q, want %q, %v", standard, a.Body, want, err)
		}
	}
}

// trusted is a certificate for 127.0.0.1 that TestMain has the system trust.
var trusted tls.Certificate

// trust makes the certificate and names it in the environment, which crypto/x509 reads once.
func trust(dir string) error {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return err
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}, IsCA: true, BasicConstraintsValid: true,
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		return err
	}
	trusted = tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}
	file := filepath.Join(dir, "roots.pem")
	if err := os.WriteFile(file, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}), 0o600); err != nil {
		return err
	}
	return os.Setenv("SSL_CERT_FILE", file)
}

// corked keeps written bytes until it is released.
type corked struct {
	net.Conn
	held bytes.Buffer
}

func (c *corked) Write(p []byte) (int, error) { return c.held.Write(p) }

func (c *corked) Read(p []byte) (int, error) {
	if _, err := c.held.WriteTo(c.Conn); err != nil {
		return 0, err
	}
	return c.Conn.Read(p)
}

// TestSaidTooMuch has a server say more than the answer: the next request must not take it for its answer.
func TestSaidTooMuch(t *testing.T) {
	encrypted := func(c net.Conn) net.Conn {
		return tls.Server(&corked{Conn: c}, &tls.Config{Certificates: []tls.Certificate{trusted}})
	}
	for _, tt := range []struct {
		name, scheme string
		shape        func(net.Conn) net.Conn
	}{
		{"in a record of its own that arrives with the answer's", "https", encrypted},
		{"with the answer", "http", func(c net.Conn) net.Conn { return &corked{Conn: c} }},
		{"after the answer", "http", func(c net.Conn) net.Conn { return c }},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if tt.scheme == "https" && (runtime.GOOS == "darwin" || runtime.GOOS == "windows") {
				t.Skip("the system's certificates can't be named here")
			}
			address, said := sayingTooMuch(t, tt.shape)
			c, dials := counted(t, upstream.Config{BaseURL: tt.scheme + "://" + address})
			for _, want := range []string{"one..", "two..", "three"} {
				a, err := c.Do(t.Context(), upstream.Call{Path: "/", Body: []byte(want)})
				if err != nil || string(a.Body) != want {
					t.Errorf("%q is answered with %q, %v", want, a.Body, err)
				}
				<-said
			}
			if got := dials.Load(); got != 3 {
				t.Errorf("%d connections, want 3", got)
			}
		})
	}
}

// sayingTooMuch returns the address of a server that answers each request with its own body and then with an
// unrequested one; said tells when it has.
func sayingTooMuch(t *testing.T, shape func(net.Conn) net.Conn) (address string, said <-chan struct{}) {
	t.Helper()
	l, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	done := make(chan struct{}, 100)
	go func() {
		for {
			plain, err := l.Accept()
			if err != nil {
				return
			}
			go func() {
				defer func() { _ = plain.Close() }()
				c := shape(plain)
				for in := bufio.NewReader(c); ; {
					r, err := http.ReadRequest(in)
					if err != nil {
						return
					}
					body, _ := io.ReadAll(r.Body)
					for _, text := range []string{string(body), "late."} {
						_, _ = io.WriteString(c, "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n"+text)
					}
					done <- struct{}{}
				}
			}()
		}
	}()
	return l.Addr().String(), done
}
