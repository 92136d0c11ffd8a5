// Package sweep lets one system call of the real server go wrong: the first that changes its data
// folder, then the second, and so on until the script has no more of them. The calls of all threads
// are counted, so each point is one moment of the script. After each, the data folder is opened
// again and compared with the acknowledgements.
package sweep_test

import (
	"context"
	"fmt"
	"os"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"unitask/internal/account"
	faults "unitask/internal/fault"
	"unitask/internal/task"
	"unitask/test/crash/invariant"
	"unitask/test/harness"
)

const (
	shortPoints = 8           // of each fault
	margin      = 12          // points beyond the last call of the counting run, for runs differ
	endTime     = time.Second // a server whose commit failed ends within it
)

func TestMain(m *testing.M) {
	if socket := os.Getenv(launchVariable); socket != "" {
		fmt.Fprintln(os.Stderr, "launch:", launch(socket, os.Args[1:]))
		os.Exit(1)
	}
	if info, err := os.Stat("/dev/shm"); err == nil && info.IsDir() {
		_ = os.Setenv("TMPDIR", "/dev/shm") // only the calls matter here, not the disk
	}
	os.Exit(harness.Main(m))
}

// TestSweep visits UNITASK_SWEEP_POINTS points of each fault, evenly; 0: all.
func TestSweep(t *testing.T) {
	points := int(harness.Setting(t, "UNITASK_SWEEP_POINTS", shortPoints))
	for _, f := range []fault{
		{name: "KILL", kill: true},
		{name: "EIO", errno: syscall.EIO},
		{name: "ENOSPC", errno: syscall.ENOSPC, skips: []string{"fsync", "fdatasync", "unlinkat", "utimensat"}},
	} {
		t.Run(f.name, func(t *testing.T) { sweep(t, f, points) })
	}
}

func sweep(t *testing.T, f fault, points int) {
	count := &point{t: t, fault: f}
	count.visit()
	if t.Failed() || t.Skipped() {
		return
	}
	_, last := count.injector.met()
	stride := 1
	if points > 0 {
		stride = max(1, last/points)
	}
	var visited, missed, ended, refused atomic.Int64
	t.Run("point", func(t *testing.T) {
		for n := 1 + (stride-1)/2; n <= last+margin; n += stride {
			t.Run(strconv.Itoa(n), func(t *testing.T) {
				t.Parallel()
				p := &point{t: t, fault: f, n: n}
				p.visit()
				if met, _ := p.injector.met(); met == nil {
					missed.Add(1)
					return
				}
				visited.Add(1)
				if p.ended {
					ended.Add(1)
				}
				if len(p.script.refused) > 0 {
					refused.Add(1)
				}
			})
		}
	})
	t.Logf("%s: %d points of about %d calls, and %d beyond the last call; at %d the server ended with an error, at %d a caller was refused",
		f.name, visited.Load(), last, missed.Load(), ended.Load(), refused.Load())
	if stride == 1 && missed.Load() == 0 {
		t.Error("the sweep didn't come to the script's end")
	}
}

// TestSweepFindsLies is the control: if the database's file takes a write and drops it, a violation must
// be found.
func TestSweepFindsLies(t *testing.T) {
	lie := fault{name: "lie", lie: true, only: []string{"pwrite64"}}
	for n := 20; n < 80; n += 3 {
		p := &point{t: t, fault: lie, n: n}
		if broken := p.run(); len(broken) > 0 {
			t.Logf("found at write %d, as it should be:\n%.600s", n, strings.Join(broken, "\n"))
			return
		}
	}
	t.Error("lost writes went unnoticed: the test proves nothing")
}

// point is one visit: a new data folder, the fault at the n-th call, and the judgement.
type point struct {
	t        *testing.T
	fault    fault
	n        int // 0: no fault, only a count
	server   *harness.Server
	injector *injector
	script   *script
	broken   []string
	ended    bool // the server of the fault ended by itself
}

func (p *point) visit() {
	p.t.Helper()
	for _, b := range p.run() {
		p.t.Error(b)
	}
}

func (p *point) add(format string, args ...any) {
	p.broken = append(p.broken, fmt.Sprintf(format, args...))
}

// run returns the violations.
func (p *point) run() []string {
	p.t.Helper()
	p.server = harness.NewServer(p.t)
	p.server.Bootstrap = account.NewKeySecret(account.DefaultKeyPrefix, task.Live)
	p.script = newScript(p.t, p.server, p.server.Bootstrap)
	p.injector = newInjector(p.t, p.fault, p.n, p.server.Data())
	p.server.Wrap = []string{os.Args[0]}
	p.server.Env = []string{launchVariable + "=" + p.injector.socket.Addr().String()}

	ctx, cancel := context.WithTimeout(p.t.Context(), scriptTime)
	defer cancel()
	p.server.Launch()
	if p.up() {
		err := p.script.play(ctx)
		p.judge(err)
		_ = syscall.Kill(p.server.PID(), syscall.SIGTERM)
	}
	select {
	case <-p.server.Exited():
	case <-ctx.Done():
		p.add("the server doesn't stop")
	}
	met, _ := p.injector.met()
	p.ended = p.server.ExitCode() > 0
	if output := p.server.Output(); strings.Contains(output, "panic") || (met == nil && p.server.ExitCode() != 0) {
		p.skipWithout(output)
		p.add("the server ended with %d: %s", p.server.ExitCode(), output)
	}
	p.again()
	if met != nil {
		for i := range p.broken {
			p.broken[i] = fmt.Sprintf("%s at call %d, %s: %s", p.fault.name, p.n, met, p.broken[i])
		}
	}
	return p.broken
}

// up waits until the server is ready; false: it ended before.
func (p *point) up() bool {
	for !p.server.Ready() {
		select {
		case <-p.server.Exited():
			return false
		case <-time.After(5 * time.Millisecond):
		}
	}
	return true
}

// skipWithout skips the test if the kernel doesn't hand system calls over.
func (p *point) skipWithout(output string) {
	if _, calls := p.injector.met(); calls == 0 && strings.Contains(output, "launch: ") {
		p.t.Skipf("not run: system calls can't be handed over here: %s", output)
	}
}

// judge looks at the server in which the fault has happened, or hasn't yet.
func (p *point) judge(err error) {
	met, _ := p.injector.met()
	switch {
	case met == nil || p.fault.kill:
		if met == nil && err != nil {
			p.add("without a fault: %v", err)
		}
	case p.fault.errno == syscall.EIO && met.database():
		select {
		case <-p.server.Exited():
		case <-time.After(time.Until(met.at.Add(endTime))):
			p.add("the server goes on %s after a failed commit", endTime)
		}
	case err != nil:
		p.add("the script doesn't go on: %v", err)
	case p.fault.errno == syscall.EIO:
		p.broken = append(p.broken, p.script.discarded()...)
	case p.fault.errno == syscall.ENOSPC:
		for _, code := range p.script.refused {
			if code != faults.CapacityExhausted {
				p.add("a caller was told %s", code)
			}
		}
	}
}

// again opens the data folder without a fault, plays the script to its end and compares everything with
// the acknowledgements.
func (p *point) again() {
	ctx, cancel := context.WithTimeout(p.t.Context(), scriptTime)
	defer cancel()
	p.server.Wrap, p.server.Env = nil, nil
	p.server.Launch()
	if !p.up() {
		p.add("the data folder can't be opened again: %s", p.server.Output())
		return
	}
	if err := p.script.play(ctx); err != nil {
		p.add("after a restart: %v", err)
	}
	o, err := p.script.observe(ctx)
	if err != nil {
		p.add("after a restart: %v", err)
	}
	for _, v := range invariant.Check(o) {
		p.add("%s", v)
	}
	p.broken = append(p.broken, p.script.broken...)
	p.server.Stop()
	if err := harness.CheckData(p.t.Context(), p.server.Data()); err != nil {
		p.add("the data folder: %v", err)
	}
}
