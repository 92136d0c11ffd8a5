package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// process is a server under measurement.
type process struct {
	address string
	started time.Time
	command *exec.Cmd
	exited  chan struct{}
}

// start runs a server in the folder's environment, its log discarded. Whoever starts it kills it.
func (b *testbed) start(ctx context.Context, address string, args ...string) (*process, error) {
	p := &process{address: address, exited: make(chan struct{})}
	p.command = exec.CommandContext(context.WithoutCancel(ctx), args[0], args[1:]...)
	p.command.Env = b.environment()
	p.started = time.Now()
	if err := p.command.Start(); err != nil {
		return nil, err
	}
	go func() {
		_ = p.command.Wait()
		close(p.exited)
	}()
	return p, nil
}

// kill ends the process as a power cut of its own would.
func (p *process) kill() {
	_ = p.command.Process.Kill()
	<-p.exited
}

// stop ends the process as an operator does.
func (p *process) stop() error {
	if err := p.command.Process.Signal(syscall.SIGTERM); err != nil {
		return err
	}
	select {
	case <-p.exited:
		return nil
	case <-time.After(time.Minute): // the grace and the drain of an idle server take far less
		p.kill()
		return fmt.Errorf("the server at %s didn't stop", p.address)
	}
}

// clockTick is the unit of the kernel's CPU times: USER_HZ, 100 a second on every platform of Linux.
const clockTick = 10 * time.Millisecond

// cpu returns the process's user and system time; 0 if the kernel doesn't say.
func (p *process) cpu() time.Duration {
	raw, err := os.ReadFile(p.proc("stat"))
	if err != nil {
		return 0
	}
	_, rest, _ := strings.Cut(string(raw), ") ") // the command's name may hold anything before
	fields := strings.Fields(rest)
	if len(fields) < 13 {
		return 0
	}
	user, _ := strconv.Atoi(fields[11])
	system, _ := strconv.Atoi(fields[12])
	return time.Duration(user+system) * clockTick
}

func (p *process) proc(name string) string {
	return "/proc/" + strconv.Itoa(p.command.Process.Pid) + "/" + name
}

// memory returns a line of the process's status in bytes: VmRSS counts the database's map, RssAnon only the process's
// own allocations. 0 if the kernel doesn't say.
func (p *process) memory(line string) float64 {
	raw, err := os.ReadFile(p.proc("status"))
	if err != nil {
		return 0
	}
	_, rest, _ := strings.Cut(string(raw), "\n"+line+":")
	number, _, _ := strings.Cut(strings.TrimSpace(rest), " ")
	kb, _ := strconv.ParseFloat(number, 64)
	return kb * 1024
}
