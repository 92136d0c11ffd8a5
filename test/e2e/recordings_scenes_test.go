package e2e_test

import (
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

// filmRun asks for single tasks: the price before, a picture in a file, a question about it, a pipe, and the list.
func filmRun(h *host) *film {
	h.T.Helper()
	mustWrite(h.T, filepath.Join(h.Dir, "animals.txt"), []byte("otter\nfox\nbadger\nheron\n"))
	f := h.newFilm("unitask run", 92, 27)
	f.runs(`unitask run image.generate "a red fox" size=640x480 --estimate`, "at most $0")
	f.runs(`unitask run image.generate "a red fox" size=640x480 -o fox.png`, "saved fox.png")
	f.runs(`unitask run text.chat "What is this?" @fox.png`, "I see 1 image")
	f.runs(`cat animals.txt | unitask run text.chat "sort"`, "badger fox heron otter")
	f.runs(`unitask tasks list --format csv`, "id,capability,state", "image.generate,succeeded")
	return f
}

// filmChat has a conversation whose client is killed in the middle of an answer, and goes on with it.
func filmChat(h *host) *film {
	h.T.Helper()
	f := h.newFilm("unitask chat", 92, 27)
	f.types("unitask chat")
	f.Keys("Enter")
	f.shows("/help")
	f.lastLine("›")
	f.says("What is 12*7+1?", "12*7+1 = 85")
	f.says("say A long answer comes word by word, and a lost connection loses none of it.", "loses none of it.\n")
	f.types("What is 365*24? @slow:3s")
	f.Keys("Enter")
	h.oneRuns()
	f.host.killClients(f)
	f.prompt()
	f.shows("Killed")
	f.Hold(1500 * time.Millisecond)
	f.types("unitask chat continue")
	f.Keys("Enter")
	f.shows("365*24 = 8760")
	f.lastLine("›")
	f.Hold(1500 * time.Millisecond)
	f.says("/cost", "tasks: 3")
	return f
}

// killClients kills the program that runs in the shell.
func (h *host) killClients(f *film) {
	h.T.Helper()
	shell := strings.TrimSpace(f.Must("display-message", "-p", "#{pane_pid}"))
	if out, err := exec.CommandContext(h.T.Context(), "pkill", "-KILL", "-P", shell).CombinedOutput(); err != nil {
		h.T.Fatalf("%v: %s", err, out)
	}
}

// says sends a message of a conversation and waits until the next one is asked for.
func (f *film) says(text string, shown ...string) {
	f.host.T.Helper()
	f.types(text)
	f.Hold(400 * time.Millisecond)
	f.Keys("Enter")
	f.lastLine("›")
	f.shows(shown...)
	f.Hold(1500 * time.Millisecond)
}

// filmDashboard goes through tasks with their previews, marks some, and finds an action in the menu.
func filmDashboard(h *host) *film {
	h.T.Helper()
	h.must("run", "image.generate", "a red fox", "size=640x480", "-o", filepath.Join(h.Dir, "fox.png"))
	h.must("run", "text.chat", "say hello")
	h.must("run", "audio.speech", "Good morning", "-o", filepath.Join(h.Dir, "morning.wav"))
	h.must("run", "image.generate", "a green boat on a lake", "size=640x480", "-o", filepath.Join(h.Dir, "boat.png"))
	f := h.newFilm("unitask", 120, 30)
	f.types("unitask")
	f.Keys("Enter")
	f.shows("▸ audio.speech")
	f.Hold(time.Second)
	f.Keys("Tab")
	f.shows("▸ ✓ succeeded", "image/png, 640×480")
	f.Hold(1500 * time.Millisecond)
	f.Keys("Down")
	f.shows("audio/wav")
	f.Hold(time.Second)
	f.Keys("Down")
	f.shows("Hello!")
	f.Hold(time.Second)
	f.Keys("Space")
	f.shows("1 marked")
	f.Keys("Down", "Space")
	f.shows("2 marked")
	f.Hold(time.Second)
	f.Keys("Escape")
	f.until("no mark", func(screen string) bool { return !strings.Contains(screen, "marked") })
	f.Keys("Enter")
	f.shows("› image.generate", "▀▀▀▀▀▀")
	f.Hold(2 * time.Second)
	f.Keys("Escape")
	f.shows("▸ ✓ succeeded")
	f.Keys(":")
	f.shows("Go to, or do")
	f.Hold(time.Second)
	f.types("image.gen")
	f.Hold(time.Second)
	f.Keys("Enter")
	f.shows("[ Send ]")
	f.types("a blue whale @slow:3s")
	f.Keys("C-s")
	f.shows("Tasks (1 open)", "● running")
	f.shows("✓ succeeded     image.generate  4")
	f.Hold(time.Second)
	return f
}
