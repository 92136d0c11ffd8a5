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
func (p *process) cpu() time.Duration { return timesOf(p.command.Process.Pid).own }

// spent is the CPU time of a process, as the kernel knows it.
type spent struct {
	parent    int
	own, dead time.Duration // user and system, of itself and of its children that have ended
}

// timesOf returns a process's times; zero if the kernel doesn't say.
func timesOf(pid int) spent {
	raw, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	if err != nil {
		return spent{}
	}
	_, rest, _ := strings.Cut(string(raw), ") ") // the command's name may hold anything before
	fields := strings.Fields(rest)
	if len(fields) < 15 {
		return spent{}
	}
	var n [5]int
	for i, field := range []int{1, 11, 12, 13, 14} {
		n[i], _ = strconv.Atoi(fields[field])
	}
	return spent{parent: n[0], own: time.Duration(n[1]+n[2]) * clockTick, dead: time.Duration(n[3]+n[4]) * clockTick}
}

// familyCPU returns the time of a process and of its children.
func familyCPU(pid int) time.Duration {
	family := timesOf(pid)
	used := family.own + family.dead
	others, err := os.ReadDir("/proc")
	if err != nil {
		return 0
	}
	for _, other := range others {
		if id, err := strconv.Atoi(other.Name()); err == nil {
			if t := timesOf(id); t.parent == pid {
				used += t.own
			}
		}
	}
	return used
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
