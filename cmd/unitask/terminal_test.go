//go:build unix

package main

import (
	"bytes"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"

	"github.com/creack/pty"
	"github.com/google/go-cmp/cmp"
)

// mustBuild builds the program as it is released: the order in which packages start is another one
// in a test's binary.
func mustBuild(t *testing.T) string {
	t.Helper()
	program := filepath.Join(t.TempDir(), "unitask")
	if out, err := exec.CommandContext(t.Context(), "go", "build", "-o", program, ".").CombinedOutput(); err != nil {
		t.Fatalf("go build: %v\n%s", err, out)
	}
	return program
}

// onTerminal runs a program on a terminal that answers no query, and returns its output there.
func onTerminal(t *testing.T, env []string, stdout io.Writer, program string, args ...string) string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), program, args...)
	cmd.Env = append([]string{"PATH=" + os.Getenv("PATH"), "HOME=" + t.TempDir(), "UNITASK_CONFIG_DIR=" + t.TempDir()}, env...)
	if stdout != nil {
		cmd.Stdout = stdout
	}
	terminal, err := pty.StartWithSize(cmd, &pty.Winsize{Rows: 24, Cols: 80})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = terminal.Close() }()
	out, err := io.ReadAll(terminal)
	if err != nil && !errors.Is(err, syscall.EIO) { // how Linux says that the other side has closed
		t.Fatal(err)
	}
	_ = cmd.Wait()
	return strings.ReplaceAll(string(out), "\r\n", "\n")
}

func TestOnTerminal(t *testing.T) {
	program := mustBuild(t)
	service := newFake(t)
	t.Cleanup(service.Close)
	env := func(more ...string) []string {
		return append([]string{"UNITASK_BASE_URL=" + service.URL, "UNITASK_API_KEY=" + fakeKey}, more...)
	}

	t.Run("version asks a silent terminal nothing", func(t *testing.T) {
		out := onTerminal(t, env("TERM=xterm-256color"), nil, program, "version")
		if !strings.HasPrefix(out, "unitask ") || strings.Contains(out, "\x1b") { // with which each query begins
			t.Errorf("%q, want a version without an escape", out)
		}
	})

	t.Run("a table, in colour", func(t *testing.T) {
		t.Parallel()
		out := onTerminal(t, env("TERM=xterm-256color"), nil, program, "capabilities")
		if want := "\x1b[2mtest: " + service.URL + "\x1b[0m\n\x1b[2mNAME\x1b[0m "; !strings.HasPrefix(out, want) {
			t.Errorf("%q, want a table that begins with %q", out, want)
		}
	})

	for _, plainly := range []string{"NO_COLOR=1", "TERM=dumb"} {
		t.Run("a table without colour by "+plainly, func(t *testing.T) {
			t.Parallel()
			out := onTerminal(t, env("TERM=xterm-256color", plainly), nil, program, "capabilities")
			if !strings.HasPrefix(strings.TrimPrefix(out, "test: "+service.URL+"\n"), "NAME ") || strings.Contains(out, "\x1b") {
				t.Errorf("%q, want a table without an escape", out)
			}
		})
	}

	t.Run("the progress line goes to stderr and is gone at the end", func(t *testing.T) {
		t.Parallel()
		var stdout bytes.Buffer
		out := onTerminal(t, env("TERM=xterm-256color", "NO_COLOR=1"), &stdout, program, "run", "image.generate", "fox")
		states := regexp.MustCompile(`image\.generate  (\w+)  `).FindAllStringSubmatch(out, -1)
		var met []string
		for _, s := range states {
			if len(met) == 0 || met[len(met)-1] != s[1] {
				met = append(met, s[1])
			}
		}
		if diff := cmp.Diff([]string{"queued", "running", "transferring"}, met); diff != "" {
			t.Errorf("states shown (-want +got):\n%s\nin %q", diff, out)
		}
		if want := regexp.MustCompile(`\r\x1b\[Kimage\.generate succeeded in \S+s, \$0\.01\n$`); !want.MatchString(out) {
			t.Errorf("stderr ends %q, want the line cleared and a summary", out[max(0, len(out)-120):])
		}
		if want := "image/png\t1024\t"; !strings.HasPrefix(stdout.String(), want) || strings.Contains(stdout.String(), "\x1b") {
			t.Errorf("stdout %q, want the data alone", stdout.String())
		}
	})

	t.Run("a dumb terminal gets lines", func(t *testing.T) {
		t.Parallel()
		out := onTerminal(t, env("TERM=dumb"), nil, program, "run", "image.generate", "fox", "-o", t.TempDir()+"/")
		if strings.Contains(out, "\r") || strings.Contains(out, "\x1b") || !strings.Contains(out, "\nrunning\ntransferring\nsucceeded\n") {
			t.Errorf("%q, want one line a state", out)
		}
	})

	const away = "no answer from URL: EOF; trying again\n"
	for name, tt := range map[string]struct{ prompt, want string }{
		"as it comes":                    {"@words: one two", "you said: @words: one two\n"},
		"to its end by another way":      {"@cut: one two three four", "you said: @cut: one two three four\n"},
		"anew after an absence":          {"@away: one two three four", "you said: @away: \n" + away + "you said: @away: one two three four\n"},
		"anew where it was another":      {"@other: one", "something else\nyou said: @other: one\n"},
		"without what steers the screen": {"@words: a\x1b[2J b\u009b1A", "you said: @words: a[2J b1A\n"},
	} {
		t.Run("a text is printed "+name, func(t *testing.T) {
			t.Parallel()
			out := onTerminal(t, env("TERM=dumb"), nil, program, "run", "text.chat", "@"+tt.prompt)
			_, out, _ = strings.Cut(out, "\n") // the task's id
			if out = strings.ReplaceAll(out, service.URL, "URL"); out != tt.want {
				t.Errorf("%q, want %q", out, tt.want)
			}
		})
	}

	for prompt, want := range map[string]string{
		"words: one two":            "you said: @words: one two\n",
		"cut: one two three four":   "you said: @cut: one two three four\n",
		"away: one two three four":  "you said: @away: one two three four\n",
		"words: a\x1b[2J, as it is": "you said: @words: a\x1b[2J, as it is\n",
		"other: one":                "something else\n",
	} {
		t.Run("a program gets a text as it comes, and only once: "+prompt[:5], func(t *testing.T) {
			t.Parallel()
			var stdout bytes.Buffer
			errs := onTerminal(t, env("TERM=dumb"), &stdout, program, "run", "text.chat", "@@"+prompt)
			if stdout.String() != want {
				t.Errorf("%q, want %q", stdout.String(), want)
			}
			const reworded = "the text began again in other words"
			if strings.Contains(errs, reworded) != (want == "something else\n") {
				t.Errorf("stderr: %q", errs)
			}
		})
	}

	t.Run("a file and JSON want no stream", func(t *testing.T) {
		t.Parallel()
		var stdout bytes.Buffer
		for _, flags := range [][]string{{"--json", "--jq", ".output.text"}, {"-o", "-"}} {
			stdout.Reset()
			_ = onTerminal(t, env("TERM=dumb"), &stdout, program, append([]string{"run", "text.chat", "@@other: one"}, flags...)...)
			if got := strings.Trim(stdout.String(), "\"\n"); got != "you said: @other: one" {
				t.Errorf("%v: %q", flags, got)
			}
		}
	})

	t.Run("a text can't steer the terminal", func(t *testing.T) {
		t.Parallel()
		out := onTerminal(t, env("TERM=dumb"), nil, program, "run", "text.chat", "a\x1b[2Jb")
		if want := "you said: a[2Jb\n"; out != want {
			t.Errorf("%q, want %q", out, want)
		}
	})
}

func TestLink(t *testing.T) {
	t.Setenv("TERM", "xterm-256color")
	const address = "https://example.com/a?b"
	if got := (&terminal{outTTY: true}).link(address + "\x1b]0;x\x07\n"); got != "\x1b]8;;"+address+"]0;x\x07"+address+"]0;x\x1b]8;;\x07" {
		t.Errorf("on a terminal: %q", got)
	}
	if got := (&terminal{}).link(address); got != address {
		t.Errorf("in a pipe: %q", got)
	}
	t.Setenv("TERM", "linux")
	if got := (&terminal{outTTY: true}).link(address); got != address {
		t.Errorf("on a console: %q", got)
	}
}
