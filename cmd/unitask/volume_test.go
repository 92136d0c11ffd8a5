//go:build unix

package main

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// TestVolumeOfAGroup serves from a volume as Kubernetes mounts it under an fsGroup, as a user without rights over it
// if this test may become one: the root is refused with the folder to name instead, a folder within it is made and
// private, and if every start opens that to the group too, the setting that keeps it private is named.
func TestVolumeOfAGroup(t *testing.T) {
	const user, group = 65532, 20000
	home, err := os.MkdirTemp("", "volume")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(home) })
	p := pod{program: filepath.Join(home, "unitask"), home: home}
	self, err := os.ReadFile(os.Args[0]) // which TestMain makes the program under its name
	if err == nil {
		err = os.WriteFile(p.program, self, 0o755)
	}
	if err != nil {
		t.Fatal(err)
	}
	volume := filepath.Join(home, "data")
	if err := errors.Join(os.Mkdir(volume, 0o700), os.Chmod(home, 0o755)); err != nil {
		t.Fatal(err)
	}
	if os.Getuid() == 0 {
		p.user = &syscall.Credential{Uid: user, Gid: user, Groups: []uint32{group}}
		if err := os.Chown(volume, 0, group); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Chmod(volume, fs.ModeSetgid|0o775); err != nil {
		t.Fatal(err)
	}

	folder := filepath.Join(volume, "unitask")
	p.mustRefuse(t, volume, "hint: --data-dir "+folder+" names a folder within it", "fsGroupChangePolicy: OnRootMismatch")
	p.mustServe(t, folder)
	info, err := os.Stat(folder)
	if err != nil || info.Mode().Perm() != 0o700 {
		t.Errorf("the folder: %v, %v, want 0700", info.Mode(), err)
	}
	p.mustServe(t, folder) // a second start under OnRootMismatch

	err = filepath.WalkDir(volume, func(path string, d fs.DirEntry, err error) error { // and under Always
		if err != nil {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		mode := info.Mode() | 0o660
		if d.IsDir() {
			mode |= fs.ModeSetgid | 0o110
		}
		return os.Chmod(path, mode)
	})
	if err != nil {
		t.Fatal(err)
	}
	p.mustRefuse(t, folder, "hint: chmod -R go-w "+folder+" once", "fsGroupChangePolicy: OnRootMismatch")
}

// pod runs the program as the user of a container.
type pod struct {
	program, home string
	user          *syscall.Credential // nil: whoever runs the test
}

func (p pod) mustRefuse(t *testing.T, dir string, want ...string) {
	t.Helper()
	said, err := p.serve(t, dir)
	for _, w := range want {
		if err == nil || !strings.Contains(said, w) {
			t.Errorf("serving from %s: %v, %q, want a refusal with %q", dir, err, said, w)
		}
	}
}

func (p pod) mustServe(t *testing.T, dir string) {
	t.Helper()
	if said, err := p.serve(t, dir); err != nil {
		t.Fatalf("serving from %s: %v\n%s", dir, err, said)
	}
}

// serve serves until the operator's socket is there, and ends.
func (p pod) serve(t *testing.T, dir string) (said string, err error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, p.program, "serve", "--listen", "127.0.0.1:0", "--data-dir", dir)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	cmd.Env = []string{"HOME=" + p.home, "UNITASK_CONFIG_DIR=" + filepath.Join(p.home, "none")}
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: p.user}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	socket := filepath.Join(dir, "admin.sock") // gone without a server
	poll := time.NewTicker(20 * time.Millisecond)
	defer poll.Stop()
	for {
		select {
		case err := <-ended:
			return stderr.String(), err
		case <-poll.C:
			if _, err := os.Stat(socket); err == nil {
				_ = cmd.Process.Signal(syscall.SIGTERM)
				poll.Stop() // a second signal would cut it off
			}
		}
	}
}
