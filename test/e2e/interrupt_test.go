package e2e_test

import (
	"bufio"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"unitask/internal/api"
	"unitask/test/harness"
)

// TestInterrupt presses Ctrl-C in the middle of a run, and sends SIGTERM: the task goes on, the exit code says so,
// and the command that was printed gets the result.
func TestInterrupt(t *testing.T) {
	t.Parallel()
	t.Run("SIGINT", func(t *testing.T) { interrupt(t, os.Interrupt, 130) })
	t.Run("SIGTERM", func(t *testing.T) { interrupt(t, syscall.SIGTERM, 143) })
}

func interrupt(t *testing.T, by os.Signal, want int) {
	t.Helper()
	t.Parallel()
	h := newHost(t).start()
	cmd := exec.CommandContext(t.Context(), harness.Binary(), "run", "image.generate", "a fox @slow:3s", "size=64x64", "-o", "fox.png")
	cmd.Env = append(h.Environ(), "UNITASK_BASE_URL="+h.Base, "UNITASK_API_KEY="+h.key, "UNITASK_DATA_DIR="+h.Data())
	cmd.Dir = h.Dir
	stderr, err := cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	var said []string
	for lines := bufio.NewScanner(stderr); lines.Scan(); {
		if said = append(said, lines.Text()); len(said) == 1 { // it names the task
			if err := cmd.Process.Signal(by); err != nil {
				t.Fatal(err)
			}
		}
	}
	_ = cmd.Wait() // the exit code says it
	_, resume, ok := strings.Cut(strings.Join(said, "\n"), "hint: unitask ")
	if code := cmd.ProcessState.ExitCode(); code != want || !ok || !strings.HasPrefix(resume, "tasks resume task_") {
		t.Fatalf("exit %d, want %d, said:\n%s", code, want, strings.Join(said, "\n"))
	}
	h.must(strings.Fields(resume)...)
	if _, err := os.Stat(filepath.Join(h.Dir, "fox.png")); err != nil {
		t.Error(err)
	}
	var all api.TaskList
	if h.call("GET", api.PathTasks, "", nil, &all); len(all.Data) != 1 {
		t.Errorf("%d tasks, want the one", len(all.Data))
	}
}
