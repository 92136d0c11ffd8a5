package harness

import (
	"context"
	"errors"
	"io"
	"os/exec"
	"strconv"
	"strings"
	"syscall"

	"github.com/creack/pty"
	"github.com/rogpeppe/go-internal/testscript"
)

// Exits is the script command "exits CODE PROGRAM ARG...": it runs a program and checks its exit code.
// The output is for the script's next stdout and stderr.
func Exits(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: exits CODE PROGRAM ARG...")
	}
	want, err := strconv.Atoi(args[0])
	ts.Check(err)
	got := 0
	if err := ts.Exec(args[1], args[2:]...); err != nil {
		ended, ok := err.(*exec.ExitError) //nolint:errorlint // testscript returns it as it is
		if !ok {
			ts.Fatalf("%v", err)
		}
		got = ended.ExitCode()
	}
	if got != want {
		ts.Fatalf("exit code %d, want %d", got, want)
	}
}

// onTerminal names the variables of a script's environment for a program on a terminal.
var onTerminal = []string{
	"HOME", "NO_COLOR", "PATH", "TERM", "UNITASK_API_KEY", "UNITASK_BASE_URL", "UNITASK_CONFIG_DIR", "UNITASK_DATA_DIR", "UNITASK_IMAGES",
	"UNITASK_OPERATOR_KEY", "UNITASK_PASSPHRASE", "UNITASK_PROFILE", "UNITASK_STATE_DIR",
}

// OnTerminal is the script command "terminal CODE KEYS PROGRAM ARG...": it runs a program on a terminal
// of 80 by 24 that answers no query, types KEYS there (\n ends a line) and checks the exit code. All that was written to
// the terminal is for the script's next stdout.
func OnTerminal(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 3 {
		ts.Fatalf("usage: terminal CODE KEYS PROGRAM ARG...")
	}
	cmd := exec.CommandContext(context.Background(), "sh", append([]string{"-c", `exec "$@"`, "sh"}, args[2:]...)...) // which looks in the script's PATH
	cmd.Dir = ts.MkAbs(".")
	for _, name := range onTerminal {
		if value := ts.Getenv(name); value != "" {
			cmd.Env = append(cmd.Env, name+"="+value)
		}
	}
	screen, err := pty.StartWithSize(cmd, &pty.Winsize{Rows: 24, Cols: 80})
	ts.Check(err)
	defer func() { _ = screen.Close() }()
	_, err = io.WriteString(screen, strings.ReplaceAll(args[1], `\n`, "\n"))
	ts.Check(err)
	shown, err := io.ReadAll(screen)
	if err != nil && !errors.Is(err, syscall.EIO) { // how Linux says that the other side has closed
		ts.Check(err)
	}
	_ = cmd.Wait() // the exit code says it
	_, err = ts.Stdout().Write(shown)
	ts.Check(err)
	if got := strconv.Itoa(cmd.ProcessState.ExitCode()); got != args[0] {
		ts.Fatalf("exit code %s, want %s; on the terminal:\n%s", got, args[0], shown)
	}
}
