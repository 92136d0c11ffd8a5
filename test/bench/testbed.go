package main

import (
	"context"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"time"
)

// testbed is the servers that unitask stands between or is compared with, and the folder of a run.
type testbed struct {
	dir      string
	binary   string
	upstream *process
	proxy    *process
	run      string // makes idempotency keys of this run its own
	nodes    int    // started so far
	stored   *filled
	queued   *filled
	aged     *agedStore
	million  *million
	database *database // nil before its first use
	profile  string    // a file for profiles; "": no profile
}

// releaseProfile steers the compiler of releases; bench measures the released binary. It is run in the repository's
// root.
const releaseProfile = "cmd/unitask/release.pgo"

func newTestbed(ctx context.Context) (*testbed, error) {
	dir, err := os.MkdirTemp("", "unitask-bench-")
	if err != nil {
		return nil, err
	}
	b := &testbed{dir: dir, binary: filepath.Join(dir, "unitask"), run: strconv.FormatInt(time.Now().UnixNano(), 36)}
	if err := b.prepare(ctx); err != nil {
		b.close()
		return nil, err
	}
	return b, nil
}

func (b *testbed) prepare(ctx context.Context) error {
	self, err := os.Executable()
	if err != nil {
		return err
	}
	pgo, err := filepath.Abs(releaseProfile)
	if err != nil {
		return err
	}
	build := exec.CommandContext(ctx, "go", "build", "-trimpath", "-pgo="+pgo, "-o", b.binary, "unitask/cmd/unitask")
	if out, err := build.CombinedOutput(); err != nil {
		return fmt.Errorf("%w: %s", err, out)
	}
	if b.upstream, err = b.role(ctx, self, roleUpstream, ""); err != nil {
		return err
	}
	b.proxy, err = b.role(ctx, self, roleProxy, ",http://"+b.upstream.address)
	return err
}

// preload writes the data folders that rounds share, those that are wanted.
func (b *testbed) preload(ctx context.Context, p plan) (err error) {
	if p.only.MatchString("stored") {
		if b.stored, err = b.fill(ctx, p.stored, 0); err != nil {
			return err
		}
	}
	if p.only.MatchString("queued") {
		if b.queued, err = b.fill(ctx, 0, p.queued); err != nil {
			return err
		}
	}
	if p.only.MatchString("aged") {
		if b.aged, err = b.fillAged(ctx, p.aged, p.old); err != nil {
			return err
		}
	}
	if p.only.MatchString("pgmillion") {
		b.million, err = b.fillMillion(ctx, p.stored)
	}
	return err
}

// role starts one of the servers that this program itself can be.
func (b *testbed) role(ctx context.Context, self, role, more string) (*process, error) {
	address, err := freeAddress(ctx)
	if err != nil {
		return nil, err
	}
	p, err := b.start(ctx, address, self, role, address+more)
	if err != nil {
		return nil, err
	}
	return p, p.awaitListening(ctx)
}

func (b *testbed) close() {
	for _, p := range []*process{b.proxy, b.upstream} {
		if p != nil {
			p.kill()
		}
	}
	if b.database != nil {
		_ = b.database.Remove()
	}
	_ = os.RemoveAll(b.dir)
}

// environment keeps the commands away from the user's own profiles.
func (b *testbed) environment(more ...string) []string {
	return append(append(os.Environ(), "UNITASK_CONFIG_DIR="+filepath.Join(b.dir, "config")), more...)
}

func freeAddress(ctx context.Context) (string, error) {
	l, err := (&net.ListenConfig{}).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	return l.Addr().String(), l.Close()
}

// awaitListening waits until the process accepts connections.
func (p *process) awaitListening(ctx context.Context) error {
	for ctx.Err() == nil {
		c, err := (&net.Dialer{}).DialContext(ctx, "tcp", p.address)
		if err == nil {
			return c.Close()
		}
		select {
		case <-p.exited:
			return fmt.Errorf("it ended before it listened: %s", p.command)
		case <-time.After(time.Millisecond):
		}
	}
	return ctx.Err()
}
