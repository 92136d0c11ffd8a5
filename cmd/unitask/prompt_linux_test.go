package main

import (
	"io"
	"os"
	"os/exec"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/creack/pty"
	"golang.org/x/sys/unix"
)

const testPassphrase = "four words without sense"

// asked is a program on a terminal, and its output so far.
type asked struct {
	t        *testing.T
	cmd      *exec.Cmd
	terminal *os.File
	over     chan struct{} // closed after its last output

	mu  sync.Mutex
	out []byte
	new chan struct{} // gets a value when there is more of it
}

func mustAsk(t *testing.T, env []string, program string, args ...string) *asked {
	t.Helper()
	a := &asked{t: t, cmd: exec.CommandContext(t.Context(), program, args...), over: make(chan struct{}), new: make(chan struct{}, 1)}
	a.cmd.Env = env
	var err error
	if a.terminal, err = pty.StartWithSize(a.cmd, &pty.Winsize{Rows: 24, Cols: 200}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = a.terminal.Close() })
	go func() {
		defer close(a.over)
		piece := make([]byte, 4096)
		for {
			n, err := a.terminal.Read(piece)
			a.mu.Lock()
			a.out = append(a.out, piece[:n]...)
			a.mu.Unlock()
			select {
			case a.new <- struct{}{}:
			default:
			}
			if err != nil { // EIO: the other side has closed
				return
			}
		}
	}()
	return a
}

func (a *asked) text() string {
	a.mu.Lock()
	defer a.mu.Unlock()
	return string(a.out)
}

// until waits for a text on the terminal.
func (a *asked) until(text string) {
	a.t.Helper()
	for !strings.Contains(a.text(), text) {
		select {
		case <-a.new:
		case <-a.over:
			if !strings.Contains(a.text(), text) {
				a.t.Fatalf("it ended without %q: %q", text, a.text())
			}
		}
	}
}

func (a *asked) keys(text string) {
	a.t.Helper()
	if _, err := io.WriteString(a.terminal, text); err != nil {
		a.t.Fatal(err)
	}
}

// code waits for the end and returns the exit code.
func (a *asked) code() int {
	<-a.over
	_ = a.cmd.Wait()
	return a.cmd.ProcessState.ExitCode()
}

// echoes reports whether the terminal shows typed characters.
func (a *asked) echoes() bool {
	a.t.Helper()
	state, err := unix.IoctlGetTermios(int(a.terminal.Fd()), unix.TCGETS)
	if err != nil {
		a.t.Fatal(err)
	}
	return state.Lflag&unix.ECHO != 0
}

// sealedProfile is the environment of somebody whose key is in an encrypted file.
func sealedProfile(t *testing.T, program, baseURL string) []string {
	t.Helper()
	env := []string{
		"PATH=" + os.Getenv("PATH"), "HOME=" + t.TempDir(), "TERM=xterm-256color", "NO_COLOR=1", "UNITASK_BASE_URL=" + baseURL,
		"UNITASK_CONFIG_DIR=" + t.TempDir(), "UNITASK_STATE_DIR=" + t.TempDir(), "DBUS_SESSION_BUS_ADDRESS=unix:path=/nonexistent",
	}
	login := exec.CommandContext(t.Context(), program, "login", "--storage=file", "--profile", "work")
	login.Env, login.Stdin = append(env, passphraseVariable+"="+testPassphrase), strings.NewReader(fakeKey)
	if out, err := login.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return env
}

// TestPrompt has a person at the terminal asked while a wait would redraw its line there.
func TestPrompt(t *testing.T) {
	program := mustBuild(t)
	service := newFake(t)
	t.Cleanup(service.Close)
	env := sealedProfile(t, program, service.URL)
	const question = "passphrase of the keys in "

	a := mustAsk(t, env, program, "run", "image.generate", "fox")
	a.until(question)
	time.Sleep(3 * frameTime) // in which the line would be drawn
	_, shown, _ := strings.Cut(a.text(), question)
	if strings.ContainsAny(shown, "\r\x1b") {
		t.Errorf("the question is followed by %q, want it left alone", shown)
	}
	a.keys(testPassphrase + "\n")
	if got := a.code(); got != exitOK || !strings.Contains(a.text(), "image.generate  queued") {
		t.Errorf("exit code %d, %q, want 0 after a line that is redrawn", got, a.text())
	}

	a = mustAsk(t, env, program, "run", "image.generate", "fox", "--dry-run")
	a.until(question)
	time.Sleep(shortWait + frameTime) // a person may take longer than a service
	a.keys(testPassphrase + "\n")
	if got := a.code(); got != exitOK || strings.Contains(a.text(), "not checked") {
		t.Errorf("exit code %d, %q, want the request, checked", got, a.text())
	}

	for _, tt := range []struct {
		question string
		args     []string
	}{
		{question, []string{"run", "image.generate", "fox"}},
		{question, []string{"run", "text.chat", "@prompt_linux_test.go", "--each"}},
		{question, []string{"tasks", "wait", "task_1"}},
		{question, []string{"tasks", "list"}},
		{"key for ", []string{"login", "--storage=file", "--profile", "other"}},
		{"[y/N] ", []string{"login"}},
	} {
		for _, end := range []struct {
			name string
			end  func(*asked)
			code int
		}{
			{"Ctrl-C", func(a *asked) { a.keys("\x03") }, exitInterrupted},
			{"SIGTERM", func(a *asked) { _ = a.cmd.Process.Signal(syscall.SIGTERM) }, exitTerminated},
		} {
			t.Run(strings.Join(tt.args, " ")+" "+end.name, func(t *testing.T) {
				t.Parallel()
				env := env
				if tt.question == "key for " {
					env = append(env[:len(env):len(env)], passphraseVariable+"="+testPassphrase)
				}
				a := mustAsk(t, env, program, tt.args...)
				a.until(tt.question)
				end.end(a)
				if got := a.code(); got != end.code {
					t.Errorf("exit code %d, want %d: %q", got, end.code, a.text())
				}
				if !a.echoes() {
					t.Error("the terminal doesn't show what is typed any more")
				}
			})
		}
	}
}

// TestStdinHearsSignals has commands read a silent pipe.
func TestStdinHearsSignals(t *testing.T) {
	program := mustBuild(t)
	service := newFake(t)
	t.Cleanup(service.Close)
	for _, args := range [][]string{
		{"run", "text.chat", "-"},
		{"run", "text.chat", "-", "--each"},
		{"run", "text.chat", "hello", "--api-key-file", "-"},
		{"login", "--storage=file"},
	} {
		for signal, code := range map[syscall.Signal]int{syscall.SIGINT: exitInterrupted, syscall.SIGTERM: exitTerminated} {
			t.Run(strings.Join(args, " ")+" "+signal.String(), func(t *testing.T) {
				t.Parallel()
				read, write, err := os.Pipe()
				if err != nil {
					t.Fatal(err)
				}
				defer func() { _, _ = read.Close(), write.Close() }()
				cmd := exec.CommandContext(t.Context(), program, args...)
				cmd.Stdin = read
				cmd.Env = []string{
					"HOME=" + t.TempDir(), "UNITASK_BASE_URL=" + service.URL, "UNITASK_API_KEY=" + fakeKey,
					"UNITASK_CONFIG_DIR=" + t.TempDir(), passphraseVariable + "=" + testPassphrase,
				}
				if err := cmd.Start(); err != nil {
					t.Fatal(err)
				}
				mustEmpty(t, write)
				if err := cmd.Process.Signal(signal); err != nil {
					t.Fatal(err)
				}
				if _ = cmd.Wait(); cmd.ProcessState.ExitCode() != code {
					t.Errorf("%v, want exit code %d", cmd.ProcessState, code)
				}
			})
		}
	}
}

// mustEmpty writes a byte into a pipe and waits until it was read.
func mustEmpty(t *testing.T, write *os.File) {
	t.Helper()
	if _, err := write.WriteString(" "); err != nil {
		t.Fatal(err)
	}
	for began := time.Now(); ; time.Sleep(time.Millisecond) {
		left, err := unix.IoctlGetInt(int(write.Fd()), unix.TIOCINQ)
		if err == nil && left == 0 {
			return
		}
		if err != nil || time.Since(began) > time.Minute {
			t.Fatalf("nothing reads the pipe: %d bytes left, %v", left, err)
		}
	}
}
