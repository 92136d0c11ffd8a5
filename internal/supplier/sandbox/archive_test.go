package sandbox_test

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"

	"unitask/internal/supplier"
	"unitask/internal/supplier/sandbox"
)

// TestFindAfterARestart has a findable supplier remember another process's submissions in a folder.
func TestFindAfterARestart(t *testing.T) {
	t.Parallel()
	config := supplier.Config{
		Name: sandbox.Findable, Options: map[string]string{"class": sandbox.ClassFindable, "dir": t.TempDir()},
	}
	find := func(key string) (supplier.Job, bool) {
		a, err := sandbox.New(config)
		if err != nil {
			t.Fatal(err)
		}
		job, found, err := a.(supplier.Finder).Find(t.Context(), key)
		if err != nil {
			t.Fatal(err)
		}
		return job, found
	}
	a, err := sandbox.New(config)
	if err != nil {
		t.Fatal(err)
	}
	out, err := a.Submit(t.Context(), supplier.Request{
		Capability: "image.generate", Model: sandbox.Findable, SubmitKey: "task_1/1",
		Input: json.RawMessage(`{"prompt":"a fox @class:findable"}`), Parameters: json.RawMessage(`{}`),
	})
	if err != nil {
		t.Fatal(err)
	}
	got, found := find("task_1/1")
	if diff := cmp.Diff(*out.Job, got); !found || diff != "" {
		t.Errorf("found %v (-want +got):\n%s", found, diff)
	}
	if _, found := find("task_1/2"); found {
		t.Error("it found what nobody sent")
	}
}
