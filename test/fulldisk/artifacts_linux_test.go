package fulldisk_test

import (
	"fmt"
	"net/http"
	"path/filepath"
	"strings"
	"testing"

	"unitask/internal/api"
	"unitask/internal/task"
	"unitask/test/harness"
)

// TestArtifactDiskFull fills the disk of the artifacts alone: work that needs it is refused or waits, and the rest
// goes on.
func TestArtifactDiskFull(t *testing.T) {
	b := newSetup(t, "")
	folder := filepath.Join(b.Data(), "artifacts")
	mount(t, folder, 64*mib)
	b.Start()
	test := b.MustNewKey(task.Test)
	ballast := fill(t, folder, 0)
	if b.Ready() {
		t.Error("it is ready while large inputs are refused")
	}

	large := fmt.Sprintf(`{"capability":"text.chat","input":{"prompt":%q}}`, "chat-large "+strings.Repeat("x", 100_000))
	mustBeFull(t, b.create("chat-large", large, "0")) // its input is kept apart
	if !b.chat(10) {
		t.Error("a task that needs no file was refused")
	}
	b.awaitAll("without files")
	b.read("while the artifacts' disk is full")

	results := map[string]string{} // id by capability
	for capability, input := range map[string]string{
		"audio.speech": `{"text":"good morning"}`, "image.generate": `{"prompt":"a fox"}`,
	} {
		got := b.mustSend(harness.Request{
			Method: http.MethodPost, Path: api.PathTasks, Key: test,
			Body:   fmt.Sprintf(`{"capability":%q,"input":%s}`, capability, input),
			Header: map[string]string{api.HeaderIdempotencyKey: "wait-" + capability, "Prefer": "wait=2"},
		})
		results[capability] = mustTask(t, got).ID
	}
	for capability, id := range results {
		got := mustTask(t, b.mustSend(harness.Request{Method: http.MethodGet, Path: api.PathTasks + "/" + id, Key: test}))
		if got.State.Terminal() {
			t.Errorf("%s: %s, want a result that waits for room: %+v", capability, got.State, got.Error)
		}
	}
	remove(t, ballast)
	if !b.Ready() {
		t.Error("it isn't ready although there is room")
	}
	for capability, id := range results {
		b.Until(patience, capability+" has its result", func() bool {
			got := mustTask(t, b.mustSend(harness.Request{
				Method: http.MethodGet, Path: api.PathTasks + "/" + id, Key: test, Header: map[string]string{"Prefer": "wait=5"},
			}))
			return got.State == task.Succeeded && len(got.Output.Artifacts()) == 1
		})
	}
	got := b.create("chat-large", large, "5")
	if got.Status != http.StatusOK {
		t.Fatalf("the refused task, once there is room: %d %s", got.Status, got.Body)
	}
	b.accepted("chat-large", got)
	b.close()
}
