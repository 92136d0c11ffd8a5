package sandbox_test

import (
	"encoding/json"
	"strings"
	"testing"

	"unitask/internal/supplier"
	"unitask/internal/supplier/sandbox"
)

// TestAddedCapability has the sandbox serve capabilities that it was not written for.
func TestAddedCapability(t *testing.T) {
	a := mustNew(t, sandbox.Cheap, instant)
	for capability, want := range map[string]string{
		"text.summarize": "", "notes.sort": "", "image.enhance": "image/png", "video.loop": "video/mp4", "audio.clean": "audio/wav",
	} {
		r := supplier.Request{
			Capability: capability, Model: sandbox.Cheap, SubmitKey: capability + "/1",
			Input: json.RawMessage(`{"level":3,"note":"short","article":"the longest words of all"}`), Parameters: json.RawMessage(`{"x":1}`),
		}
		if why := sandbox.Kind().Refuses(r); why != "" {
			t.Errorf("%s is refused: %s", capability, why)
		}
		out, err := a.Submit(t.Context(), r)
		if err == nil && out.Job != nil {
			out, err = a.(supplier.Poller).Poll(t.Context(), *out.Job)
		}
		switch {
		case err != nil || out.Result == nil:
			t.Errorf("%s: %+v %v", capability, out, err)
		case want == "" && (out.Result.Text == nil || !strings.Contains(*out.Result.Text, "longest words")):
			t.Errorf("%s: %+v", capability, out.Result)
		case want != "" && (len(out.Result.Files) != 1 || out.Result.Files[0].ContentType != want):
			t.Errorf("%s: %+v", capability, out.Result)
		}
	}
}

// TestAddedCapabilityFails holds that magic inputs work there too.
func TestAddedCapabilityFails(t *testing.T) {
	_, err := mustNew(t, sandbox.Cheap, instant).Submit(t.Context(), supplier.Request{
		Capability: "text.summarize", Model: sandbox.Cheap, SubmitKey: "t/1",
		Input: json.RawMessage(`{"article":"@fail:PROVIDER_TIMEOUT"}`), Parameters: json.RawMessage(`{}`),
	})
	if err == nil {
		t.Error("a magic input is not seen")
	}
}
