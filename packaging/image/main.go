// Command image writes, as a tar archive, all that an image holds beside the program. That is a user, a folder for
// temporary files, the folder that a volume is mounted at, and the certificates of the authorities that TLS trusts:
// Mozilla's, in the version that go.mod pins. Two runs write the same bytes.
package main

import (
	"archive/tar"
	"bytes"
	"encoding/pem"
	"fmt"
	"io"
	"os"

	"golang.org/x/crypto/x509roots/fallback/bundle"
)

// user is the number of the user and the group; images without a shell commonly call it nonroot.
const user = 65532

func main() {
	if err := write(os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "image:", err)
		os.Exit(1)
	}
}

func write(out io.Writer) error {
	w := tar.NewWriter(out)
	files := []struct {
		name string
		mode int64
		own  int
		data string
	}{
		{"etc/", 0o755, 0, ""},
		{"etc/group", 0o644, 0, "root:x:0:\nnonroot:x:65532:\n"},
		{"etc/passwd", 0o644, 0, "root:x:0:0:root:/root:/sbin/nologin\nnonroot:x:65532:65532:nonroot:/home/nonroot:/sbin/nologin\n"},
		{"etc/ssl/", 0o755, 0, ""},
		{"etc/ssl/certs/", 0o755, 0, ""},
		{"etc/ssl/certs/ca-certificates.crt", 0o644, 0, authorities()},
		{"home/", 0o755, 0, ""},
		{"home/nonroot/", 0o700, user, ""},
		{"tmp/", 0o1777, 0, ""},
		{"usr/", 0o755, 0, ""},
		{"usr/bin/", 0o755, 0, ""},
	}
	for _, f := range files {
		h := &tar.Header{Typeflag: tar.TypeReg, Name: f.name, Mode: f.mode, Uid: f.own, Gid: f.own, Size: int64(len(f.data)), Format: tar.FormatUSTAR}
		if f.data == "" {
			h.Typeflag = tar.TypeDir
		}
		if err := w.WriteHeader(h); err != nil {
			return err
		}
		if _, err := io.WriteString(w, f.data); err != nil {
			return err
		}
	}
	return w.Close()
}

// authorities are the certificates in PEM. Those that are trusted under a condition alone are left out, for a file
// can't hold the condition.
func authorities() string {
	var text bytes.Buffer
	for root := range bundle.Roots() {
		if root.Constraint == nil {
			_ = pem.Encode(&text, &pem.Block{Type: "CERTIFICATE", Bytes: root.Certificate}) // a buffer takes all
		}
	}
	return text.String()
}
