package e2e_test

import (
	"context"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/charmbracelet/x/ansi"

	"unitask/internal/api"
	"unitask/test/harness"
)

// terminal is the dashboard's own terminal: a tmux server on a private socket.
type terminal struct {
	host *host
	tmux string
	dir  string // short, for the socket's path
}

// newTerminal opens a terminal of the size with a program in it.
func (h *host) newTerminal(width, height int, program ...string) *terminal {
	h.T.Helper()
	dir, err := os.MkdirTemp("", "tmux-")
	if err != nil {
		h.T.Fatal(err)
	}
	p := &terminal{host: h, tmux: need(h.T, "tmux"), dir: dir}
	h.T.Cleanup(func() {
		_ = p.command("kill-server").Run()
		_ = os.RemoveAll(dir)
	})
	conf := filepath.Join(dir, "conf")
	if err := os.WriteFile(conf, []byte("set -g status off\nset -g remain-on-exit on\nset -g escape-time 0\nset -g set-clipboard on\n"), 0o600); err != nil {
		h.T.Fatal(err)
	}
	p.must(append([]string{
		"-f", conf, "new-session", "-d", "-x", strconv.Itoa(width), "-y", strconv.Itoa(height),
	}, program...)...)
	return p
}

// command is a tmux command in the environment of the host's clients.
func (p *terminal) command(args ...string) *exec.Cmd {
	cmd := exec.CommandContext(context.WithoutCancel(p.host.T.Context()), p.tmux, append([]string{"-L", "unitask"}, args...)...)
	cmd.Env = append(
		p.host.Environ(), "TMUX_TMPDIR="+p.dir, "TERM=xterm-256color", "LC_ALL=C.UTF-8", "SHELL=/bin/sh",
		"UNITASK_BASE_URL="+p.host.Base, "UNITASK_API_KEY="+p.host.key,
	)
	return cmd
}

func (p *terminal) must(args ...string) string {
	p.host.T.Helper()
	out, err := p.command(args...).CombinedOutput()
	if err != nil {
		p.host.T.Fatalf("tmux %s: %v\n%s", strings.Join(args, " "), err, out)
	}
	return string(out)
}

func (p *terminal) screen() string { return p.must("capture-pane", "-p") }

// keys presses keys by tmux's names for them, or types a text.
func (p *terminal) keys(names ...string) {
	p.host.T.Helper()
	p.must(append([]string{"send-keys", "--"}, names...)...)
}

// shows waits for texts on the screen.
func (p *terminal) shows(texts ...string) {
	p.host.T.Helper()
	deadline := time.Now().Add(2 * time.Minute)
	for {
		screen, lacking := p.screen(), ""
		for _, text := range texts {
			if !strings.Contains(screen, text) {
				lacking = text
			}
		}
		if lacking == "" {
			return
		}
		if time.Now().After(deadline) {
			p.host.T.Fatalf("the screen doesn't show %q:\n%s", lacking, screen)
		}
		<-time.After(50 * time.Millisecond)
	}
}

// hides waits until a text is gone from the screen.
func (p *terminal) hides(text string) {
	p.host.T.Helper()
	p.host.Until(2*time.Minute, text+" is gone from the screen", func() bool { return !strings.Contains(p.screen(), text) })
}

// TestDashboard drives the dashboard as a person does, through a whole task, a crash of the server,
// a cancellation and another size of the terminal.
func TestDashboard(t *testing.T) {
	t.Parallel()
	need(t, "tmux")
	h := newHost(t).start()
	p := h.newTerminal(80, 24, "sh", "-c", `"$0"; echo "code $?"; exec sleep 600`, harness.Binary()) // tmux may miss a status
	p.shows("▸ audio.speech", "image.generate", "? keys", "local, test: "+h.Base)

	p.keys("Down", "Down", "Down", "Down", "Enter")
	p.shows("› image.generate", "▸ prompt *", "[ Send ]")
	p.keys("a red fox 🦊 @slow:8s")
	p.keys("Tab", "Enter", "Tab", "Tab", "5")
	p.keys("C-s")
	p.shows("▸ n", "✗ must be 1 to 4")
	p.keys("BSpace", "2", "C-s")
	p.shows("Tasks (1 open)", "○ queued", "a red fox")
	p.keys("Enter")
	p.shows("● running", "asked        a red fox 🦊 @slow:8s")
	p.shows("✓ succeeded", "image/png, 1024×1024")
	p.keys("End")
	p.shows("2 images", "/artifacts/art_")

	p.keys("Escape")
	p.shows("✓ succeeded     image.generate")
	p.keys("Tab")
	p.shows("▸ image.generate")
	p.keys("Enter")
	p.shows("│ a red fox")
	p.keys("C-u")
	p.keys("stay @slow:10m", "C-s")
	p.shows("Tasks (1 open)", "stay @slow:10m")

	h.Kill()
	p.shows("✗ server away, retrying")
	h.start()
	p.shows("● running", "✓ the server is back")
	p.must("resize-window", "-x", "40", "-y", "10")
	p.shows("STATE           CAPABILITY      TIME\n", "● running       image.generate")
	p.keys("c")
	p.shows("Cancel image.generate? y yes, n no")
	p.keys("y")
	p.shows("- canceled")
	if strings.Contains(p.screen(), "away") {
		t.Errorf("the server is back, and the screen says:\n%s", p.screen())
	}

	p.keys("q")
	p.shows("code 0")
	if got := p.must("display-message", "-p", "#{alternate_on}"); got != "0\n" {
		t.Errorf("the screen isn't given back: %q", got)
	}
	if got := strings.Count(h.must("tasks", "list"), "image.generate"); got != 2 {
		t.Errorf("%d tasks, want 2", got)
	}
}

// TestDashboardResults goes through the uses of a result: seen, copied, saved, asked for again with edits, found
// among others, and shown in the terminal's own protocol once the screen is given back.
func TestDashboardResults(t *testing.T) {
	t.Parallel()
	need(t, "tmux")
	h := newHost(t).start()
	h.call(http.MethodPost, api.PathTasks, `{"capability":"text.chat","input":{"prompt":"say \u001b]0;owned\u0007\u001b[31mtwice"}}`,
		map[string]string{"Idempotency-Key": "steers-the-terminal"}, nil)
	p := h.newTerminal(80, 24, "sh", "-c", `cd "$1"; unset NO_COLOR; TERM=xterm-256color COLORTERM=truecolor UNITASK_IMAGES=kitty "$0"
		echo "code $?"; exec sleep 600`, harness.Binary(), h.Dir)
	raw := filepath.Join(h.Dir, "raw")
	p.must("pipe-pane", "-O", "exec cat >'"+raw+"'")
	p.keys("Tab")
	p.shows("▸ ✓ succeeded")
	p.keys("Enter")
	p.shows("› text.chat", "twice")
	p.keys("Escape")
	p.shows("▸ ✓ succeeded")
	p.keys("Tab")
	p.shows("▸ audio.speech")
	p.keys("Down", "Down", "Down", "Down", "Enter")
	p.keys("a red fox", "C-s")
	p.shows("image.generate accepted")
	p.keys("Enter")
	p.shows("✓ succeeded", "▀▀▀▀▀▀▀▀▀▀▀▀", "image/png, 1024×1024")
	if got := strings.Count(p.must("capture-pane", "-e", "-p"), "\x1b[48;2;"); got < 50 {
		t.Errorf("the picture has %d changes of colour:\n%s", got, p.screen())
	}
	p.keys("y")
	p.shows("copied the address")
	h.Until(2*time.Minute, "the clipboard has the address", func() bool {
		return strings.HasPrefix(p.must("show-buffer"), h.Base+api.PathArtifacts)
	})

	p.keys("s")
	p.shows("Save in ./")
	p.keys("pictures/", "Enter")
	p.shows("✓ saved pictures/task_")
	found, err := filepath.Glob(filepath.Join(h.Dir, "pictures", "*"))
	if err != nil || len(found) != 1 {
		t.Fatalf("pictures/*: %v %v", found, err)
	}
	wantPicture(t, found[0], 1024, 1024)
	if err := os.WriteFile(found[0], []byte("mine"), 0o600); err != nil {
		t.Fatal(err)
	}
	p.keys("s", "Enter")
	p.shows("Replace task_")
	p.keys("n")
	p.hides("Replace task_")
	if got, err := os.ReadFile(found[0]); err != nil || string(got) != "mine" {
		t.Errorf("a no replaced the file (%v)", err)
	}
	p.keys("s", "Enter")
	p.shows("Replace task_")
	p.keys("y")
	p.shows("✓ saved pictures/task_")
	wantPicture(t, found[0], 1024, 1024)

	p.keys("e")
	p.shows("› image.generate", "│ a red fox", "[ Send ]")
	p.keys(" at night", "C-s")
	p.shows("image.generate accepted", "a red fox at night")
	p.keys("e")
	p.shows("│ a red fox at night")
	p.keys("C-u", "@fail:CONTENT_POLICY_VIOLATION", "C-s")
	p.shows("✗ failed        image.generate", "CONTENT_POLICY")
	p.keys("/", "night")
	p.shows("/night")
	p.keys("Enter", "Enter")
	p.shows("asked        a red fox at night", "✓ succeeded", "▀▀▀▀▀▀▀▀▀▀▀▀")
	p.keys("i")
	p.shows("code 0")

	h.Until(2*time.Minute, "the picture is written", func() bool { return strings.Contains(read(t, raw), "code 0") })
	drawn, after, _ := strings.Cut(read(t, raw), ansi.ResetModeAltScreenSaveCursor)
	if strings.Contains(drawn, "\x1b_G") || !strings.HasPrefix(after[max(0, strings.Index(after, "\x1b_G")):], "\x1b_Ga=T,f=100,q=2") {
		t.Errorf("the picture isn't shown after the end: %.200q", after)
	}
	if strings.Contains(drawn, "owned") || strings.Contains(drawn, "\x1b]0;") || !strings.Contains(drawn, "\a") {
		t.Errorf("the title was set, or no bell rung:\n%s", p.screen())
	}
	if got := strings.Count(h.must("tasks", "list"), "image.generate"); got != 3 {
		t.Errorf("%d pictures were asked for, want 3", got)
	}
}

func read(t *testing.T, name string) string {
	t.Helper()
	raw, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return string(raw)
}

// TestNoDashboardOnADumbTerminal: it says that it needs another one and doesn't draw.
func TestNoDashboardOnADumbTerminal(t *testing.T) {
	need(t, "tmux")
	h := newHost(t)
	p := h.newTerminal(80, 24, "sh", "-c", `TERM=dumb "$0" tui; echo "code $?"; exec sleep 60`, harness.Binary())
	p.shows("unitask: the dashboard needs a terminal", "hint: ", "code 2")
}

// TestDashboardFiles asks about files that are picked from a folder, and sees what the client and the service refuse
// beside the fields.
func TestDashboardFiles(t *testing.T) {
	need(t, "tmux")
	h := newHost(t).start()
	photos := filepath.Join(h.Dir, "photos")
	if err := os.Mkdir(photos, 0o700); err != nil {
		t.Fatal(err)
	}
	h.must("run", "image.generate", "a red fox", "size=64x64", "-o", filepath.Join(photos, "fox.png"))
	for name, content := range map[string]string{"notes.md": "# notes\n", "moving.gif": "GIF89a\x01\x00\x01\x00\x00\x00\x00;", "all.zip": "PK\x03\x04"} {
		if err := os.WriteFile(filepath.Join(photos, name), []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	p := h.newTerminal(60, 14, "sh", "-c", `cd "$1"; exec "$0"`, harness.Binary(), h.Dir)
	p.shows("▸ audio.speech")
	p.keys("Down", "Down", "Down", "Down", "Down", "Down", "Enter")
	p.shows("› text.chat", "ctrl+o picks files")
	p.keys("What is on it?", "Tab", "C-o")
	p.shows("› files", "photos/")
	p.keys("photos", "Enter")
	p.shows("fox.png", "notes.md", "2 more files: no image, audio or document")
	p.keys("fox", "Tab")
	p.shows("✓")
	p.keys("C-u", "notes", "Enter")
	p.shows("│ @photos/fox.png", "│ @photos/notes.md")

	p.keys("Enter", "@photos/moving.gif", "C-s")
	p.shows("▸ files", "✗ line 3 must be one of image/png,")
	p.keys("C-u", "@photos/all.zip", "C-s")
	p.shows("✗ photos/all.zip is no image, audio")
	p.keys("C-u", "BSpace", "Tab", "Enter")
	for range 8 {
		p.keys("Tab")
	}
	p.shows("▸ tools")
	p.keys(`[{"name": "the weather"}`, "C-s")
	p.shows("▸ tools", "✗ must be JSON: it ends too early")
	p.keys("]", "C-s")
	p.shows("▸ tools", "✗ tools.0.name must be at most 64")
	p.keys("C-u", `[{"name": "weather"}]`, "C-s")
	p.shows("text.chat accepted", "✓ succeeded     text.chat")
	p.keys("Enter")
	p.shows("asked        What is on it?", "I see 1 image")
}
