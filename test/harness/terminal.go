package harness

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"
)

// Terminal is a person's terminal: a tmux server on a private socket. It is used by one goroutine.
type Terminal struct {
	t       *testing.T
	tmux    string
	dir     string // short, for the socket's path
	environ []string
}

// terminalTime is how long a screen is waited for.
const terminalTime = 2 * time.Minute

// NewTerminal opens a terminal of the size with a program in it. Without tmux the test is skipped; in CI it fails.
func NewTerminal(t *testing.T, environ []string, width, height int, program ...string) *Terminal {
	t.Helper()
	tmux, err := exec.LookPath("tmux")
	if err != nil && os.Getenv("CI") == "true" {
		t.Fatal("tmux isn't there, and CI must run this test")
	} else if err != nil {
		t.Skip("not run: tmux isn't there")
	}
	dir, err := os.MkdirTemp("", "tmux-")
	if err != nil {
		t.Fatal(err)
	}
	p := &Terminal{t: t, tmux: tmux, dir: dir, environ: append(
		environ[:len(environ):len(environ)], "TMUX_TMPDIR="+dir, "TERM=xterm-256color", "LC_ALL=C.UTF-8", "SHELL=/bin/sh",
	)}
	t.Cleanup(func() {
		_ = p.command("kill-server").Run()
		_ = os.RemoveAll(dir)
	})
	conf := filepath.Join(dir, "conf")
	if err := os.WriteFile(conf, []byte("set -g status off\nset -g remain-on-exit on\nset -g escape-time 0\nset -g set-clipboard on\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	p.Must(append([]string{
		"-f", conf, "new-session", "-d", "-x", strconv.Itoa(width), "-y", strconv.Itoa(height),
	}, program...)...)
	return p
}

func (p *Terminal) command(args ...string) *exec.Cmd {
	cmd := exec.CommandContext(context.WithoutCancel(p.t.Context()), p.tmux, append([]string{"-L", "unitask"}, args...)...)
	cmd.Env = p.environ
	return cmd
}

// Must runs a command of tmux and returns its output.
func (p *Terminal) Must(args ...string) string {
	p.t.Helper()
	out, err := p.command(args...).CombinedOutput()
	if err != nil {
		p.t.Fatalf("tmux %s: %v\n%s", strings.Join(args, " "), err, out)
	}
	return string(out)
}

// Screen returns the text on the screen.
func (p *Terminal) Screen() string { return p.Must("capture-pane", "-p") }

// Modes returns the terminal's modes as "stty -a" says them, such as " icanon -echo ", with a space around each.
func (p *Terminal) Modes() string {
	p.t.Helper()
	stty := exec.CommandContext(p.t.Context(), "sh", "-c", `exec stty -a <"$0"`, strings.TrimSpace(p.Must("display-message", "-p", "#{pane_tty}")))
	out, err := stty.CombinedOutput()
	if err != nil {
		p.t.Fatalf("stty: %v\n%s", err, out)
	}
	return " " + strings.Join(strings.Fields(string(out)), " ") + " "
}

// Keys presses keys by tmux's names for them, or types a text.
func (p *Terminal) Keys(names ...string) {
	p.t.Helper()
	p.Must(append([]string{"send-keys", "--"}, names...)...)
}

// Shows waits for texts on the screen.
func (p *Terminal) Shows(texts ...string) {
	p.t.Helper()
	p.await(func(screen string) string {
		lacking := ""
		for _, text := range texts {
			if !strings.Contains(screen, text) {
				lacking = "show " + strconv.Quote(text)
			}
		}
		return lacking
	})
}

// Hides waits until a text is gone from the screen.
func (p *Terminal) Hides(text string) {
	p.t.Helper()
	p.await(func(screen string) string {
		if strings.Contains(screen, text) {
			return "hide " + strconv.Quote(text)
		}
		return ""
	})
}

// await waits until a screen lacks no more.
func (p *Terminal) await(lacks func(screen string) string) {
	p.t.Helper()
	for deadline := time.Now().Add(terminalTime); ; <-time.After(50 * time.Millisecond) {
		screen := p.Screen()
		lacking := lacks(screen)
		if lacking == "" {
			return
		}
		if time.Now().After(deadline) {
			p.t.Fatalf("the screen doesn't %s:\n%s", lacking, screen)
		}
	}
}

// KillNoted ends the process whose number stands in a file, as a crash would.
func KillNoted(t *testing.T, file string) {
	t.Helper()
	raw, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	number, err := strconv.Atoi(strings.TrimSpace(string(raw)))
	if err != nil {
		t.Fatal(err)
	}
	process, err := os.FindProcess(number)
	if err != nil {
		t.Fatal(err)
	}
	if err := process.Kill(); err != nil {
		t.Fatal(err)
	}
}
