package e2e_test

import (
	"bytes"
	"encoding/json"
	"encoding/xml"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/user"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"unitask/test/harness"
	"unitask/test/recording"
)

var update = flag.Bool("update", false, "write docs/recordings anew")

// film is a terminal that is recorded.
type film struct {
	*harness.Terminal
	recording.Recording
	host    *host
	awaited []string // in the order in which they were seen
}

// newFilm opens a recorded terminal with a shell in it, whose folder is the host's and whose prompt is "$". The program
// notes its process, so that it can be killed. The shell is one that people type into: it sets the terminal right after
// a kill, which dash doesn't.
func (h *host) newFilm(title string, width, height int) *film {
	h.T.Helper()
	f := &film{
		Terminal: h.newTerminal(width, height, "sh", "-c", `cd "$0"; mkdir -p bin
			printf '#!/bin/sh\necho $$ >"%s"\nexec "%s" "$@"\n' "$0/pid" "$1" >bin/unitask; chmod +x bin/unitask
			unset NO_COLOR UNITASK_API_KEY; export COLORTERM=truecolor PATH="$PWD/bin:$PATH" UNITASK_DATA_DIR="$0/data" HISTFILE= PS1="$2"; exec bash --norc`,
			h.Dir, harness.Binary(), `\n\[\e[1;32m\]$\[\e[0m\] `),
		Recording: recording.Recording{Title: title, Width: width, Height: height},
		host:      h,
	}
	f.prompt()
	return f
}

// look records the screen as it is and returns its words.
func (f *film) look() string {
	f.host.T.Helper()
	out := f.Must("capture-pane", "-e", "-p", "-N", ";", "display-message", "-p", "#{cursor_x} #{cursor_y} #{cursor_flag}")
	at := time.Now()
	out = strings.TrimSuffix(out, "\n")
	end := strings.LastIndexByte(out, '\n')
	s := recording.Screen{Rows: f.published(out[:end])}
	var pointer int
	if _, err := fmt.Sscan(out[end:], &s.X, &s.Y, &pointer); err != nil {
		f.host.T.Fatalf("the cursor %q: %v", out[end:], err)
	}
	s.Pointer = pointer == 1
	f.Add(s, at)
	return s.Text()
}

// published shows the server at the port that it has by default.
func (f *film) published(rows string) string {
	return strings.ReplaceAll(rows, f.host.Base, "http://127.0.0.1:8420")
}

// until records until the screen is as awaited.
func (f *film) until(what string, ok func(screen string) bool) {
	f.host.T.Helper()
	for deadline := time.Now().Add(time.Minute); !ok(f.look()); <-time.After(20 * time.Millisecond) {
		if time.Now().After(deadline) {
			f.host.T.Fatalf("the screen doesn't show %s:\n%s", what, f.Screen())
		}
	}
}

// Shows records until the texts are on the screen.
func (f *film) Shows(texts ...string) {
	f.host.T.Helper()
	for _, text := range texts {
		f.until(text, func(screen string) bool { return strings.Contains(screen, text) })
	}
	f.awaited = append(f.awaited, texts...)
}

// Hides records until a text is gone from the screen.
func (f *film) Hides(text string) {
	f.host.T.Helper()
	f.until("a screen without "+text, func(screen string) bool { return !strings.Contains(screen, text) })
}

// prompt waits until the shell's prompt is the last line, and nothing behind it.
func (f *film) prompt() { f.lastLine("$") }

func (f *film) lastLine(want string) {
	f.host.T.Helper()
	f.until("the last line "+want, func(screen string) bool { return screen[strings.LastIndexByte(screen, '\n')+1:] == want })
}

// types enters a text, letter by letter, and waits for each to be shown.
func (f *film) types(text string) {
	f.host.T.Helper()
	for _, letter := range text {
		before := len(f.Frames())
		f.Keys(string(letter))
		f.until("another letter of "+text, func(string) bool { return len(f.Frames()) > before })
	}
}

// runs enters a command and waits for its end.
func (f *film) runs(command string, shown ...string) {
	f.host.T.Helper()
	f.types(command)
	f.Hold(400 * time.Millisecond)
	f.Keys("Enter")
	f.prompt()
	f.Shows(shown...)
	f.Hold(1500 * time.Millisecond)
}

// TestRecordings records sessions in a real terminal, judges what they show, and writes them with -update.
func TestRecordings(t *testing.T) {
	for name, scene := range map[string]func(h *host) *film{"run": filmRun, "chat": filmChat, "dashboard": filmDashboard} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := scene(newHost(t).start())
			cast, err := f.Cast()
			if err != nil {
				t.Fatal(err)
			}
			svg := f.SVG()
			judgeFilm(t, f, cast, svg)
			if *update && !t.Failed() {
				mustWrite(t, filepath.Join("..", "..", "docs", "recordings", name+".cast"), cast)
				mustWrite(t, filepath.Join("..", "..", "docs", "recordings", name+".svg"), svg)
			}
		})
	}
}

// largestRecording is how many bytes one may have: they are in every clone.
const largestRecording = 150 << 10

// judgeFilm: what was awaited is in the frames in its order, the cast plays and ends with the last frame, and the picture
// is XML. Neither holds a word about the machine or a key.
func judgeFilm(t *testing.T, f *film, cast, svg []byte) {
	t.Helper()
	frames, at := f.Frames(), 0
	for _, text := range f.awaited {
		for at < len(frames) && !strings.Contains(frames[at].Text(), text) {
			at++
		}
		if at == len(frames) {
			t.Fatalf("no frame shows %q, or only one before what was awaited before it", text)
		}
	}
	if length := f.Length(); length > time.Minute {
		t.Errorf("it takes %s, too long to watch", length)
	}
	secrets := []string{f.host.key, f.host.Dir, f.host.Base, os.TempDir(), filepath.Dir(harness.Binary())}
	for name, raw := range map[string][]byte{"cast": cast, "picture": svg} {
		for _, secret := range secrets {
			if bytes.Contains(raw, []byte(secret)) {
				t.Errorf("the %s holds %q", name, secret)
			}
		}
		for _, word := range namesIn(raw, machineNames()) {
			t.Errorf("the %s names the machine or its user: %q", name, word)
		}
		if len(raw) > largestRecording {
			t.Errorf("the %s has %d bytes, more than %d", name, len(raw), largestRecording)
		}
	}
	judgeXML(t, svg)
	if got, want := f.host.play(t, f, cast), frames[len(frames)-1].Text(); got != want {
		t.Errorf("the cast ends with\n%s\nand the session with\n%s", got, want)
	}
	t.Logf("%d frames, %s, %d and %d bytes", len(frames), f.Length(), len(cast), len(svg))
}

// machineNames are those of the machine, of the user, and of the user's home, as far as they are known.
func machineNames() []string {
	var names []string
	if host, err := os.Hostname(); err == nil {
		names = append(names, host)
	}
	if who, err := user.Current(); err == nil { // which a user without an entry isn't
		names = append(names, who.Username)
	}
	if home, err := os.UserHomeDir(); err == nil {
		names = append(names, home)
	}
	return names
}

var (
	// notWords are ids and signatures of addresses, which can hold any short name, and the colours' codes, whose last
	// letter would be the first of the word behind it.
	notWords = regexp.MustCompile(`\\u001b\[[0-9;?]*[A-Za-z]|\w+_[0-9a-z]{20,}|[?&]\w+=[\w%.-]{20,}`)
	// commonNames are words that a recording shows on any machine.
	commonNames = []string{"animals", "audio", "chat", "image", "local", "localhost", "sandbox", "task", "test", "text", "unitask", "user", "video"}
)

// namesIn returns the names that a recording holds as whole words. Short and common ones tell nothing.
func namesIn(raw []byte, names []string) (found []string) {
	raw = notWords.ReplaceAll(raw, []byte(" "))
	for _, name := range names {
		if len(name) < 4 || slices.Contains(commonNames, strings.ToLower(name)) {
			continue
		}
		if regexp.MustCompile(`(^|\W)` + regexp.QuoteMeta(name) + `(\W|$)`).Match(raw) {
			found = append(found, name)
		}
	}
	return found
}

// TestNamesInRecordings: a name counts as a word of its own, but not within an id, and not when any recording holds it.
func TestNamesInRecordings(t *testing.T) {
	raw := []byte(`$ cat /home/anna/x on \u001b[1;32mbuilder-7\u001b[m, task_06h1hhpcekrootn9wztbjzptfec, ` +
		`image.generate, /v1/files?sig=abcdefghij-root-klmnopqrst, roots`)
	names := []string{"anna", "/home/anna", "builder-7", "root", "image", "cat", "/", ""}
	if got, want := namesIn(raw, names), []string{"anna", "/home/anna", "builder-7"}; !slices.Equal(got, want) {
		t.Errorf("found %q, not %q", got, want)
	}
}

func judgeXML(t *testing.T, svg []byte) {
	t.Helper()
	tokens := xml.NewDecoder(bytes.NewReader(svg))
	for {
		token, err := tokens.Token()
		if errors.Is(err, io.EOF) {
			return
		}
		if err != nil {
			t.Fatal(err)
		}
		if e, ok := token.(xml.StartElement); ok && !slices.Contains([]string{"svg", "title", "style", "g", "rect", "circle", "path", "text"}, e.Name.Local) {
			t.Errorf("the picture has an element %s, which may not be shown", e.Name.Local)
		}
	}
}

// play reads a cast, and shows it in another terminal to its end.
func (h *host) play(t *testing.T, f *film, cast []byte) (screen string) {
	t.Helper()
	lines := bytes.Split(bytes.TrimSpace(cast), []byte("\n"))
	var header struct{ Version, Width, Height int }
	if err := json.Unmarshal(lines[0], &header); err != nil || header.Version != 2 || len(lines) != len(f.Frames())+2 {
		t.Fatalf("%d lines for %d frames, the first %s: %v", len(lines), len(f.Frames()), lines[0], err)
	}
	var all strings.Builder
	last := 0.0
	for _, line := range lines[1:] {
		var at float64
		var kind, data string
		if err := json.Unmarshal(line, &[]any{&at, &kind, &data}); err != nil || kind != "o" || at < last {
			t.Fatalf("after %v s: %s: %v", last, line, err)
		}
		last = at
		all.WriteString(data)
	}
	name := filepath.Join(h.Dir, "played")
	mustWrite(t, name, []byte(all.String()))
	p := h.newTerminal(header.Width, header.Height, "sh", "-c", `cat "$0"; tmux wait-for -S played; exec sleep 600`, name)
	p.Must("wait-for", "played")
	return recording.Screen{Rows: f.published(p.Must("capture-pane", "-p", "-N"))}.Text()
}

func mustWrite(t *testing.T, name string, content []byte) {
	t.Helper()
	if err := os.WriteFile(name, content, 0o600); err != nil {
		t.Fatal(err)
	}
}
