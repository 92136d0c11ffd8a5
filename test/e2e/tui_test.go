package e2e_test

import (
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/charmbracelet/x/ansi"

	"unitask/internal/api"
	"unitask/test/harness"
)

// newTerminal opens a terminal of the size with a program in it, in the environment of the host's clients.
func (h *host) newTerminal(width, height int, program ...string) *harness.Terminal {
	h.T.Helper()
	return harness.NewTerminal(h.T, append(h.Environ(), "UNITASK_BASE_URL="+h.Base, "UNITASK_API_KEY="+h.key), width, height, program...)
}

// TestDashboard drives the dashboard as a person does, through a whole task, a crash of the server,
// a cancellation and another size of the terminal.
func TestDashboard(t *testing.T) {
	t.Parallel()
	h := newHost(t).start()
	p := h.newTerminal(80, 24, "sh", "-c", `"$0"; echo "code $?"; exec sleep 600`, harness.Binary()) // tmux may miss a status
	p.Shows("▸ audio.speech", "image.generate", "? keys", "local, test: "+h.Base)

	p.Keys("Down", "Down", "Down", "Down", "Enter")
	p.Shows("› image.generate", "▸ prompt *", "[ Send ]")
	p.Keys("a red fox 🦊 @slow:8s")
	p.Keys("Tab", "Enter", "Tab", "Tab", "5")
	p.Keys("C-s")
	p.Shows("▸ n", "✗ must be 1 to 4")
	p.Keys("BSpace", "2", "C-s")
	p.Shows("Tasks (1 open)", "○ queued", "a red fox")
	p.Keys("Enter")
	p.Shows("● running", "asked        a red fox 🦊 @slow:8s")
	p.Shows("✓ succeeded", "image/png, 1024×1024")
	p.Keys("End")
	p.Shows("2 images", "/artifacts/art_")

	p.Keys("Escape")
	p.Shows("✓ succeeded     image.generate")
	p.Keys("Tab")
	p.Shows("▸ image.generate")
	p.Keys("Enter")
	p.Shows("│ a red fox")
	p.Keys("C-u")
	p.Keys("stay @slow:10m", "C-s")
	p.Shows("Tasks (1 open)", "stay @slow:10m")

	h.Kill()
	p.Shows("✗ server away, retrying")
	h.start()
	p.Shows("● running", "✓ the server is back")
	p.Must("resize-window", "-x", "40", "-y", "10")
	p.Shows("STATE           CAPABILITY      TIME\n", "● running       image.generate")
	p.Keys("c")
	p.Shows("Cancel image.generate? y yes, n no")
	p.Keys("y")
	p.Shows("- canceled")
	if strings.Contains(p.Screen(), "away") {
		t.Errorf("the server is back, and the screen says:\n%s", p.Screen())
	}

	p.Keys("q")
	p.Shows("code 0")
	if got := p.Must("display-message", "-p", "#{alternate_on}"); got != "0\n" {
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
	h := newHost(t).start()
	h.call(http.MethodPost, api.PathTasks, `{"capability":"text.chat","input":{"prompt":"say \u001b]0;owned\u0007\u001b[31mtwice"}}`,
		map[string]string{"Idempotency-Key": "steers-the-terminal"}, nil)
	p := h.newTerminal(80, 24, "sh", "-c", `cd "$1"; unset NO_COLOR; TERM=xterm-256color COLORTERM=truecolor UNITASK_IMAGES=kitty "$0"
		echo "code $?"; exec sleep 600`, harness.Binary(), h.Dir)
	raw := filepath.Join(h.Dir, "raw")
	p.Must("pipe-pane", "-O", "exec cat >'"+raw+"'")
	p.Keys("Tab")
	p.Shows("▸ ✓ succeeded")
	p.Keys("Enter")
	p.Shows("› text.chat", "twice")
	p.Keys("Escape")
	p.Shows("▸ ✓ succeeded")
	p.Keys("Tab")
	p.Shows("▸ audio.speech")
	p.Keys("Down", "Down", "Down", "Down", "Enter")
	p.Keys("a red fox", "C-s")
	p.Shows("image.generate accepted")
	p.Keys("Enter")
	p.Shows("✓ succeeded", "▀▀▀▀▀▀▀▀▀▀▀▀", "image/png, 1024×1024")
	if got := strings.Count(p.Must("capture-pane", "-e", "-p"), "\x1b[48;2;"); got < 50 {
		t.Errorf("the picture has %d changes of colour:\n%s", got, p.Screen())
	}
	p.Keys("y")
	p.Shows("copied the address")
	h.Until(2*time.Minute, "the clipboard has the address", func() bool {
		return strings.HasPrefix(p.Must("show-buffer"), h.Base+api.PathArtifacts)
	})

	p.Keys("s")
	p.Shows("Save in ./")
	p.Keys("pictures/", "Enter")
	p.Shows("✓ saved pictures/task_")
	found, err := filepath.Glob(filepath.Join(h.Dir, "pictures", "*"))
	if err != nil || len(found) != 1 {
		t.Fatalf("pictures/*: %v %v", found, err)
	}
	wantPicture(t, found[0], 1024, 1024)
	if err := os.WriteFile(found[0], []byte("mine"), 0o600); err != nil {
		t.Fatal(err)
	}
	p.Keys("s", "Enter")
	p.Shows("Replace task_")
	p.Keys("n")
	p.Hides("Replace task_")
	if got, err := os.ReadFile(found[0]); err != nil || string(got) != "mine" {
		t.Errorf("a no replaced the file (%v)", err)
	}
	p.Keys("s", "Enter")
	p.Shows("Replace task_")
	p.Keys("y")
	p.Shows("✓ saved pictures/task_")
	wantPicture(t, found[0], 1024, 1024)

	p.Keys("e")
	p.Shows("› image.generate", "│ a red fox", "[ Send ]")
	p.Keys(" at night", "C-s")
	p.Shows("image.generate accepted", "a red fox at night")
	p.Keys("e")
	p.Shows("│ a red fox at night")
	p.Keys("C-u", "@fail:CONTENT_POLICY_VIOLATION", "C-s")
	p.Shows("✗ failed        image.generate", "CONTENT_POLICY")
	p.Keys("/", "night")
	p.Shows("/night")
	p.Keys("Enter", "Enter")
	p.Shows("asked        a red fox at night", "✓ succeeded", "▀▀▀▀▀▀▀▀▀▀▀▀")
	p.Keys("i")
	p.Shows("code 0")

	h.Until(2*time.Minute, "the picture is written", func() bool { return strings.Contains(read(t, raw), "code 0") })
	drawn, after, _ := strings.Cut(read(t, raw), ansi.ResetModeAltScreenSaveCursor)
	if strings.Contains(drawn, "\x1b_G") || !strings.HasPrefix(after[max(0, strings.Index(after, "\x1b_G")):], "\x1b_Ga=T,f=100,q=2") {
		t.Errorf("the picture isn't shown after the end: %.200q", after)
	}
	if strings.Contains(drawn, "owned") || strings.Contains(drawn, "\x1b]0;") || !strings.Contains(drawn, "\a") {
		t.Errorf("the title was set, or no bell rung:\n%s", p.Screen())
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
	h := newHost(t)
	p := h.newTerminal(80, 24, "sh", "-c", `TERM=dumb "$0" tui; echo "code $?"; exec sleep 60`, harness.Binary())
	p.Shows("unitask: the dashboard needs a terminal", "hint: ", "code 2")
}

// TestDashboardFiles asks about files that are picked from a folder, and sees what the client and the service refuse
// beside the fields.
func TestDashboardFiles(t *testing.T) {
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
	p.Shows("▸ audio.speech")
	p.Keys("Down", "Down", "Down", "Down", "Down", "Down", "Enter")
	p.Shows("› text.chat", "ctrl+o picks files")
	p.Keys("What is on it?", "Tab", "C-o")
	p.Shows("› files", "photos/")
	p.Keys("photos", "Enter")
	p.Shows("fox.png", "notes.md", "2 more files: no image, audio or document")
	p.Keys("fox", "Tab")
	p.Shows("✓")
	p.Keys("C-u", "notes", "Enter")
	p.Shows("│ @photos/fox.png", "│ @photos/notes.md")

	p.Keys("Enter", "@photos/moving.gif", "C-s")
	p.Shows("▸ files", "✗ line 3 must be one of image/png,")
	p.Keys("C-u", "@photos/all.zip", "C-s")
	p.Shows("✗ photos/all.zip is no image, audio")
	p.Keys("C-u", "BSpace", "Tab", "Enter")
	for range 8 {
		p.Keys("Tab")
	}
	p.Shows("▸ tools")
	p.Keys(`[{"name": "the weather"}`, "C-s")
	p.Shows("▸ tools", "✗ must be JSON: it ends too early")
	p.Keys("]", "C-s")
	p.Shows("▸ tools", "✗ tools.0.name must be at most 64")
	p.Keys("C-u", `[{"name": "weather"}]`, "C-s")
	p.Shows("text.chat accepted", "✓ succeeded     text.chat")
	p.Keys("Enter")
	p.Shows("asked        What is on it?", "I see 1 image")
}
