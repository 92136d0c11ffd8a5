// Package s3test runs a real S3 server, versitygw, on loopback for tests, and a proxy before it that fails on demand.
package s3test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"
)

// The server's one bucket, and the credentials that it takes.
const (
	Bucket    = "artifacts"
	accessKey = "AKIDTEST"
	secretKey = "not-a-secret-at-all"
)

const tool = "versitygw"

// Environ is the environment in which AWS's libraries find the credentials, and no others.
func Environ() []string {
	return []string{
		"AWS_ACCESS_KEY_ID=" + accessKey, "AWS_SECRET_ACCESS_KEY=" + secretKey, "AWS_REGION=us-east-1",
		"AWS_CONFIG_FILE=/dev/null", "AWS_SHARED_CREDENTIALS_FILE=/dev/null", "AWS_EC2_METADATA_DISABLED=true",
	}
}

// Server is a process of versitygw on one folder and one port through all its lives.
type Server struct {
	t       testing.TB
	binary  string
	dir     string
	address string
	command *exec.Cmd
	output  *bytes.Buffer
}

// Start runs a server with an empty bucket until the test ends. Without the program the test fails in CI and is
// skipped elsewhere.
func Start(t testing.TB) *Server {
	t.Helper()
	binary, err := exec.LookPath(tool)
	if err != nil {
		if os.Getenv("CI") == "true" {
			t.Fatalf("%s is not installed, and CI must run this test", tool)
		}
		t.Skipf("%s is not installed (.ci/run tools): the object store isn't tested here", tool)
	}
	s := &Server{t: t, binary: binary, dir: t.TempDir()}
	if err := os.Mkdir(filepath.Join(s.dir, Bucket), 0o700); err != nil {
		t.Fatal(err)
	}
	l, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s.address = l.Addr().String()
	_ = l.Close()
	t.Cleanup(s.Kill)
	s.Run()
	return s
}

// Endpoint returns the server's address.
func (s *Server) Endpoint() string { return "http://" + s.address }

// Run starts the server and waits until it answers.
func (s *Server) Run() {
	s.t.Helper()
	s.output = &bytes.Buffer{}
	s.command = exec.CommandContext(context.Background(), s.binary,
		"--port", s.address, "--quiet", "--noacl", "--keep-alive", "--health", "/health", "posix", s.dir)
	s.command.Env = append(os.Environ(), "ROOT_ACCESS_KEY="+accessKey, "ROOT_SECRET_KEY="+secretKey)
	s.command.Stdout, s.command.Stderr = s.output, s.output
	if err := s.command.Start(); err != nil {
		s.t.Fatal(err)
	}
	for end := time.Now().Add(30 * time.Second); ; time.Sleep(10 * time.Millisecond) {
		if err := s.healthy(); err == nil {
			return
		} else if time.Now().After(end) {
			s.t.Fatalf("%s doesn't answer: %v\n%s", tool, err, s.output)
		}
	}
}

func (s *Server) healthy() error {
	request, err := http.NewRequestWithContext(s.t.Context(), http.MethodGet, s.Endpoint()+"/health", nil)
	if err != nil {
		return err
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return err
	}
	defer func() { _ = response.Body.Close() }()
	if _, err := io.Copy(io.Discard, response.Body); err != nil || response.StatusCode != http.StatusOK {
		return fmt.Errorf("%d, %w", response.StatusCode, err)
	}
	return nil
}

// Kill ends the server at once. It keeps its files.
func (s *Server) Kill() {
	if s.command.ProcessState == nil {
		_ = s.command.Process.Kill()
		_ = s.command.Wait()
	}
}

// Objects returns the files in the bucket: the objects' keys and, below the server's own names, the parts of uploads
// that have neither been completed nor aborted.
func (s *Server) Objects() (keys, parts []string) {
	s.t.Helper()
	root := s.Folder()
	err := filepath.WalkDir(root, func(path string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		name, err := filepath.Rel(root, path)
		if own := filepath.ToSlash(name); len(own) > 4 && own[:4] == ".sgw" {
			parts = append(parts, own)
		} else {
			keys = append(keys, own)
		}
		return err
	})
	if err != nil {
		s.t.Fatal(err)
	}
	return keys, parts
}

// Folder returns the folder that is the bucket.
func (s *Server) Folder() string { return filepath.Join(s.dir, Bucket) }
