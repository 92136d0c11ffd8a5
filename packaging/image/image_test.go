package main

import (
	"archive/tar"
	"bytes"
	"crypto/x509"
	"errors"
	"io"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestArchive checks that two runs make the same bytes, and the files that a program of an unprivileged user needs.
func TestArchive(t *testing.T) {
	var first, second bytes.Buffer
	if err := errors.Join(write(&first), write(&second)); err != nil || !bytes.Equal(first.Bytes(), second.Bytes()) {
		t.Errorf("%v, two runs write the same: %t", err, bytes.Equal(first.Bytes(), second.Bytes()))
	}
	got := map[string]tar.Header{}
	roots := x509.NewCertPool()
	var isrg bool
	for r := tar.NewReader(&first); ; {
		h, err := r.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		got[h.Name] = *h
		if h.Name == "etc/ssl/certs/ca-certificates.crt" {
			text, err := io.ReadAll(r)
			if err != nil || !roots.AppendCertsFromPEM(text) || strings.Count(string(text), "BEGIN CERTIFICATE") < 100 {
				t.Errorf("%v, %d certificates, want at least 100", err, strings.Count(string(text), "BEGIN CERTIFICATE"))
			}
			for _, subject := range roots.Subjects() { //nolint:staticcheck // of a pool that isn't the system's it is right
				isrg = isrg || bytes.Contains(subject, []byte("ISRG Root X1"))
			}
		}
	}
	if !isrg {
		t.Error("Let's Encrypt's authority isn't trusted")
	}
	if h := got["tmp/"]; h.Mode != 0o1777 {
		t.Errorf("/tmp has mode %o", h.Mode)
	}
	if h := got["home/nonroot/"]; h.Mode != 0o700 || h.Uid != user || h.Gid != user {
		t.Errorf("the volume's folder: mode %o of %d:%d", h.Mode, h.Uid, h.Gid)
	}
}

// TestDockerfile: the image stands on no other, whose content could change under its name, and runs as a user that
// is named by its number, which Kubernetes can tell from root.
func TestDockerfile(t *testing.T) {
	lines := dockerfile(t)
	if diff := cmp.Diff([]string{"scratch"}, lines["FROM"]); diff != "" {
		t.Errorf("base images (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{"65532:65532"}, lines["USER"]); diff != "" {
		t.Errorf("user (-want +got):\n%s", diff)
	}
	if len(lines["RUN"]) > 0 {
		t.Errorf("it runs %q, and has nothing to run", lines["RUN"])
	}
}

// dockerfile is the arguments of each instruction.
func dockerfile(t *testing.T) map[string][]string {
	t.Helper()
	text, err := os.ReadFile("../../Dockerfile")
	if err != nil {
		t.Fatal(err)
	}
	found := map[string][]string{}
	for line := range strings.Lines(string(text)) {
		if word, rest, ok := strings.Cut(strings.TrimSpace(line), " "); ok && word != "#" {
			found[word] = append(found[word], rest)
		}
	}
	return found
}
