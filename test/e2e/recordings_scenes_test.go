package e2e_test

import (
	"path/filepath"
	"time"

	"unitask/test/harness"
)

// filmRun asks for single tasks: the price before, a picture in a file, a question about it, a pipe, and the list.
func filmRun(h *host) *film {
	h.T.Helper()
	mustWrite(h.T, filepath.Join(h.Dir, "animals.txt"), []byte("otter\nfox\nbadger\nheron\n"))
	f := h.newFilm("unitask run", 92, 29)
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
	f := h.newFilm("unitask chat", 92, 24)
	f.types("unitask chat")
	f.Keys("Enter")
	f.Shows("/help")
	f.lastLine("›")
	f.says("What is 12*7+1?", "12*7+1 = 85")
	f.says("say A long answer comes word by word, and a lost connection loses none of it.",
		"\nA long answer comes word by word, and a lost connection loses none of it.\n")
	f.types("What is 365*24? @slow:3s")
	f.Keys("Enter")
	h.oneRuns()
	harness.KillNoted(h.T, filepath.Join(h.Dir, "pid"))
	f.prompt()
	f.Shows("Killed")
	f.Hold(1500 * time.Millisecond)
	f.types("unitask chat continue")
	f.Keys("Enter")
	f.Shows("365*24 = 8760")
	f.lastLine("›")
	f.Hold(1500 * time.Millisecond)
	f.says("/cost", "tasks: 3")
	return f
}

// says sends a message of a conversation and waits until the next one is asked for.
func (f *film) says(text string, shown ...string) {
	f.host.T.Helper()
	f.types(text)
	f.Hold(400 * time.Millisecond)
	f.Keys("Enter")
	f.lastLine("›")
	f.Shows(shown...)
	f.Hold(1500 * time.Millisecond)
}

// filmDashboard goes through tasks with their previews, saves two of them together, and sends a new one that it finds in
// the menu.
func filmDashboard(h *host) *film {
	h.T.Helper()
	h.must("run", "text.embed", "otter", "--json")
	h.must("run", "audio.speech", "Good morning", "-o", filepath.Join(h.Dir, "morning.wav"))
	h.client("run", "image.generate", "@fail:CONTENT_POLICY_VIOLATION")
	h.must("run", "text.chat", "say The otter is asleep.")
	h.must("run", "text.chat", "say hello")
	h.must("run", "video.generate", "waves @slow:10m", "--no-wait")
	f := h.newFilm("unitask", 120, 28)
	f.types("unitask")
	f.Keys("Enter")
	f.Shows("▸ audio.speech")
	f.Hold(time.Second)
	f.Keys("Tab")
	f.Shows("▸ ● running", "CONTENT_POL")
	f.Hold(1500 * time.Millisecond)
	for _, shown := range []string{"│  Hello!", "│  The otter is asleep.", "▸ ✗ failed"} {
		f.Keys("Down")
		f.Shows(shown)
		f.Hold(time.Second)
	}
	f.Keys("Up", "Up", "Space") // which goes on to the next row
	f.Shows("1 marked")
	f.Hold(500 * time.Millisecond)
	f.Keys("Space")
	f.Shows("2 marked")
	f.Hold(time.Second)
	f.Keys("S")
	f.Shows("Save 2 tasks in ./")
	f.types("texts")
	f.Hold(500 * time.Millisecond)
	f.Keys("Enter")
	f.Shows("Save: 2 of 2 done")
	f.Hold(1500 * time.Millisecond)
	f.Keys("Escape")
	f.Hides("Save: 2 of 2")
	f.Keys("Escape")
	f.Hides("marked")
	f.Keys(":")
	f.Shows("Go to, or do")
	f.types("image.gen")
	f.Shows("Make images")
	f.Hold(time.Second)
	f.Keys("Enter")
	f.Shows("[ Send ]")
	f.types("a red fox")
	f.Hold(500 * time.Millisecond)
	f.Keys("C-s")
	f.Shows("Tasks (2 open)", "✓ succeeded     image.generate")
	f.Hold(time.Second)
	f.Keys("Enter")
	f.Shows("› image.generate", "▀▀▀▀▀▀")
	return f
}
