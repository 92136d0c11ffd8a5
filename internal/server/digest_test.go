package server_test

import (
	"bufio"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"unitask/internal/api"
	"unitask/internal/fault"
	"unitask/internal/server"
	"unitask/test/fixture"
)

// digest is the Content-Digest of a body.
func digest(body string) string {
	sum := sha256.Sum256([]byte(body))
	return "sha-256=:" + base64.StdEncoding.EncodeToString(sum[:]) + ":"
}

func TestDigest(t *testing.T) {
	good := digest("hello")
	const (
		sum  = "2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824"
		form = "Content-Digest must be of the form sha-256=:BASE64:"
		size = "Content-Digest must have 32 bytes in base64 as sha-256"
	)
	for _, tt := range []struct {
		name      string
		lines     []string
		want, err string
	}{
		{"none", nil, "", ""},
		{"empty", []string{""}, "", ""},
		{"one", []string{good}, sum, ""},
		{"another algorithm", []string{"sha-512=:AAAA:"}, "", ""},
		{"an unknown one without bytes", []string{"x=::"}, "", ""},
		{"both", []string{"sha-512=:AAAA:, \t" + good + " "}, sum, ""},
		{"both in two lines", []string{good, "*old.1=:AA==:"}, sum, ""},
		{"twice", []string{good + "," + good}, "", "Content-Digest must have one sha-256"},
		{"no bytes", []string{"sha-256=::"}, "", size},
		{"few bytes", []string{"sha-256=:AAAA:"}, "", size},
		{"no padding", []string{strings.ReplaceAll(good, "=:", ":")}, "", form},
		{"padding left out", []string{strings.TrimSuffix(good, "=:") + ":"}, "", size},
		{"bits beyond", []string{strings.TrimSuffix(good, "Q=:") + "R=:"}, "", size},
		{"another form of base64", []string{strings.ReplaceAll(good, "/", "_") + "-"}, "", form},
		{"hexadecimal", []string{"sha-256=" + sum}, "", form},
		{"the older field's value", []string{"SHA-256=" + strings.Trim(good, ":")}, "", form},
		{"a key alone", []string{"sha-256"}, "", form},
		{"a parameter", []string{good + ";a=1"}, "", form},
		{"no end", []string{good[:len(good)-1]}, "", form},
		{"an empty member", []string{good + ","}, "", form},
		{"an empty first member", []string{"," + good}, "", form},
		{"text behind", []string{good + " x=::"}, "", form},
		{"an unknown one of another type", []string{"x=1"}, "", form},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got, err := server.DigestOf(tt.lines)
			if text := fault.From(err); got != tt.want || (text == nil) != (tt.err == "") || text != nil && text.Message != tt.err {
				t.Errorf("%q, %v, want %q, %s", got, err, tt.want, tt.err)
			}
		})
	}
}

// FuzzDigest: every field is refused or read as it would be written again.
func FuzzDigest(f *testing.F) {
	for _, s := range []string{"", digest("x"), "a=:AA==:, " + digest("y"), "sha-256=:A:", digest("z") + ";p", "a=::,"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, line string) {
		sum, err := server.DigestOf([]string{line})
		raw, malformed := hex.DecodeString(sum)
		switch {
		case err != nil:
			if fault.CodeOf(err) != fault.InvalidRequest || sum != "" {
				t.Errorf("%q: %q, %v", line, sum, err)
			}
		case malformed != nil, sum != "" && !strings.Contains(line, "sha-256=:"+base64.StdEncoding.EncodeToString(raw)+":"):
			t.Errorf("%q is read as %q", line, sum)
		case sum == "" && strings.HasPrefix(line, "sha-256="):
			t.Errorf("%q is ignored", line)
		}
	})
}

// TestUploadPartDiffers sends a file in two parts with their digests, the second of them damaged at first.
func TestUploadPartDiffers(t *testing.T) {
	w := newWorld(t, options{})
	body := picture(t)
	u := w.upload(w.test, "image/png", body)
	put := func(at, end int, sent, says string) response {
		t.Helper()
		return w.do(request{method: http.MethodPut, path: u.URL, body: sent, header: map[string]string{
			"Content-Range": fmt.Sprintf("bytes %d-%d/%d", at, end-1, len(body)), "Content-Digest": says,
		}})
	}
	const half = 70_000
	if got := put(0, half, body[:half], "sha-256=1"); got.StatusCode != http.StatusBadRequest || got.error(t).Error.Details[0].Field != "Content-Digest" {
		t.Errorf("a malformed field: %d %s", got.StatusCode, got.body)
	}
	wrong := put(0, half, "\xff\xd8\xff"+body[3:half], digest(body[:half])) // as a JPEG begins
	wantDiffers(t, wrong, "0")
	if got := decode[api.UploadResponse](t, put(0, half, body[:half], digest(body[:half]))).Upload; got.Received != half {
		t.Fatalf("the first part: %+v", got)
	}
	wantDiffers(t, put(half, len(body), body[half:len(body)-1]+"!", digest(body[half:])), "70000")
	if now := decode[api.UploadResponse](t, w.do(request{path: u.URL})).Upload; now.Received != half || now.State != api.UploadOpen {
		t.Errorf("after it: %+v", now)
	}
	sent := decode[api.UploadResponse](t, put(half, len(body), body[half:], "unknown=:AAAA:, "+digest(body[half:]))).Upload
	if sent.State != api.UploadComplete {
		t.Errorf("as it was sent: %+v", sent)
	}
}

func wantDiffers(t *testing.T, got response, received string) {
	t.Helper()
	want := []fault.Detail{
		{Field: "Content-Digest", Message: "isn't that of the bytes that arrived: send them again from " + received}, {Field: "received", Message: received},
	}
	e := got.error(t).Error
	if diff := cmp.Diff(want, e.Details); got.StatusCode != http.StatusConflict || e.Code != fault.InvalidRequest || diff != "" {
		t.Errorf("%d %s\n%s", got.StatusCode, got.body, diff)
	}
}

// TestUploadLargeDigest refuses the digest of bytes that more than one piece holds.
func TestUploadLargeDigest(t *testing.T) {
	w := newWorld(t, options{})
	large := strings.Replace(announcement("image/png", ""), `"bytes":0`, `"bytes":20000000`, 1)
	u := decode[api.UploadResponse](t, w.announce(w.test, large)).Upload
	target := fixture.Must(url.Parse(u.URL))(t)
	conn := fixture.Must((&net.Dialer{}).DialContext(t.Context(), "tcp", target.Host))(t)
	defer func() { _ = conn.Close() }()
	_, _ = fmt.Fprintf(conn, "PUT %s HTTP/1.1\r\nHost: x\r\nContent-Length: 8388609\r\nContent-Range: bytes 0-8388608/20000000\r\n"+
		"Content-Digest: %s\r\nExpect: 100-continue\r\n\r\n", target.RequestURI(), digest("x"))
	answer, err := http.ReadResponse(bufio.NewReader(conn), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = answer.Body.Close() }()
	got := string(fixture.Must(io.ReadAll(answer.Body))(t))
	const want = "Content-Digest must be of a part that ends at 8388608 or before, which is the next multiple of 8 MiB"
	if answer.StatusCode != http.StatusBadRequest || !strings.Contains(got, want) {
		t.Errorf("%d %s", answer.StatusCode, got)
	}
}
