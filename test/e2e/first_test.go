package e2e_test

import (
	"encoding/json"
	"image"
	_ "image/png" // the sandbox's pictures
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"unitask/internal/api"
	"unitask/internal/task"
)

var wholeLife = []task.State{task.Queued, task.Running, task.Transferring, task.Succeeded}

// TestFirstUse is the README's first five minutes: a text, a picture that opens, a video that plays.
func TestFirstUse(t *testing.T) {
	t.Parallel()
	ffprobe := need(t, "ffprobe")
	h := newHost(t).start()

	text := h.must("run", "text.chat", "Say hello")
	if !strings.Contains(strings.ToLower(text), "hello") {
		t.Errorf("text.chat answered %q", text)
	}

	picture := h.client("run", "image.generate", "a red fox", "size=640x480", "-o", "fox.png")
	if picture.code != 0 {
		t.Fatalf("image.generate: exit %d\n%s", picture.code, picture.stderr)
	}
	wantPicture(t, filepath.Join(h.Dir, "fox.png"), 640, 480)

	video := h.client("run", "video.generate", "waves", "-o", "waves.*")
	if video.code != 0 {
		t.Fatalf("video.generate: exit %d\n%s", video.code, video.stderr)
	}
	if shown := shownStates(video.stderr); len(shown) < 3 || !inOrder(shown, wholeLife) {
		t.Errorf("the client showed %v of the states its polls met:\n%s", shown, video.stderr)
	}
	found, err := filepath.Glob(filepath.Join(h.Dir, "waves.*"))
	if err != nil || len(found) != 1 {
		t.Fatalf("waves.*: %v %v", found, err)
	}
	out, err := exec.CommandContext(t.Context(), ffprobe, "-v", "error", "-show_entries", "stream=codec_name", "-of", "csv=p=0", found[0]).CombinedOutput()
	if err != nil || !strings.HasPrefix(string(out), "h264") {
		t.Errorf("ffprobe: %s %v", out, err)
	}

	var list []api.Task
	if err := json.Unmarshal([]byte(h.must("tasks", "list", "--json")), &list); err != nil {
		t.Fatal(err)
	}
	if len(list) != 3 {
		t.Fatalf("%d tasks are listed, want 3", len(list))
	}
	for _, one := range list {
		if diff := cmp.Diff(wholeLife, h.states(one.ID)); diff != "" {
			t.Errorf("%s %s: timeline (-want +got):\n%s", one.Capability, one.ID, diff)
		}
	}
}

// wantPicture fails the test if a file isn't a PNG of the size.
func wantPicture(t *testing.T, name string, width, height int) {
	t.Helper()
	file, err := os.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = file.Close() }()
	config, format, err := image.DecodeConfig(file)
	if err != nil || format != "png" || config.Width != width || config.Height != height {
		t.Errorf("%s is a %s of %dx%d (%v)", filepath.Base(name), format, config.Width, config.Height, err)
	}
}

// shownStates returns the states that the client's progress lines name.
func shownStates(stderr string) []task.State {
	var shown []task.State
	for line := range strings.Lines(stderr) {
		word, _, _ := strings.Cut(strings.TrimSpace(line), " ")
		if s := task.State(word); s.Valid() {
			shown = append(shown, s)
		}
	}
	return shown
}

// inOrder reports whether got is a subsequence of whole.
func inOrder(got, whole []task.State) bool {
	for _, s := range whole {
		if len(got) > 0 && got[0] == s {
			got = got[1:]
		}
	}
	return len(got) == 0
}

// TestCrash kills the server in the middle of an asynchronous task.
func TestCrash(t *testing.T) {
	h := newHost(t).start()
	var created api.Task
	body := `{"capability":"video.generate","input":{"prompt":"waves"},"parameters":{"duration_seconds":4}}`
	response := h.call(http.MethodPost, api.PathTasks, body, map[string]string{"Idempotency-Key": "crash-in-the-middle"}, &created)
	if response.status != http.StatusAccepted {
		t.Fatalf("status %d", response.status)
	}
	h.Until(time.Minute, "the task runs", func() bool { return slices.Contains(h.states(created.ID), task.Running) })
	h.Kill()
	h.start()
	var now api.Task
	h.Until(time.Minute, "the task ends", func() bool {
		h.call(http.MethodGet, api.PathTasks+"/"+created.ID, "", nil, &now)
		return now.State.Terminal()
	})
	if now.State != task.Succeeded || now.ID != created.ID {
		t.Errorf("after the crash: %+v", now)
	}
	if diff := cmp.Diff(wholeLife, h.states(created.ID)); diff != "" {
		t.Errorf("timeline (-want +got):\n%s", diff)
	}
	var again api.Task
	response = h.call(http.MethodPost, api.PathTasks, body, map[string]string{"Idempotency-Key": "crash-in-the-middle"}, &again)
	if again.ID != created.ID || response.header.Get(api.HeaderIdempotentReplay) != "true" {
		t.Errorf("the same key gave %s (replayed %q)", again.ID, response.header.Get(api.HeaderIdempotentReplay))
	}
}

// TestNothingSecretWithoutTerminal reads serve's output without a terminal.
func TestNothingSecretWithoutTerminal(t *testing.T) {
	h := newHost(t).start()
	h.Stop()
	printed := h.Output()
	for _, secret := range []string{"svc_live_", "svc_test_", "#"} {
		if strings.Contains(printed, secret) {
			t.Errorf("serve printed %q without a terminal:\n%s", secret, printed)
		}
	}
	for _, command := range []string{"keys create", "unitask open"} {
		if !strings.Contains(printed, command) {
			t.Errorf("the banner doesn't name %q:\n%s", command, printed)
		}
	}
}

// TestStopKeepsTheTask ends the server by SIGTERM and lets the next one finish.
func TestStopKeepsTheTask(t *testing.T) {
	h := newHost(t).start()
	var created api.Task
	h.call(http.MethodPost, api.PathTasks, `{"capability":"image.generate","input":{"prompt":"a boat"}}`,
		map[string]string{"Idempotency-Key": "stop-in-the-middle"}, &created)
	h.Stop()
	h.start()
	if out := h.must("tasks", "wait", created.ID); !strings.Contains(out, created.ID) && !strings.Contains(out, "image/png") {
		t.Errorf("tasks wait printed %q", out)
	}
	if diff := cmp.Diff(wholeLife, h.states(created.ID)); diff != "" {
		t.Errorf("timeline (-want +got):\n%s", diff)
	}
}
