package server_test

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/http"
	"testing"

	"github.com/google/go-cmp/cmp"

	"unitask/internal/api"
	"unitask/internal/catalog"
	"unitask/internal/fault"
	"unitask/internal/task"
	"unitask/test/fixture"
)

// structured replaces the chat by one whose output is data, which no supplier makes.
const structured = `capabilities:
  - name: text.chat
    title: Chat
    description: Answers with data.
    modality: text
    mode: sync
    deadline: 5m
    input: {type: object, additionalProperties: false, required: [prompt], properties: {prompt: {type: string}}}
    parameters: {type: object, additionalProperties: false}
    output: {type: object, additionalProperties: false, required: [data], properties: {data: {type: object}}}
    example: {capability: text.chat, input: {prompt: hello}}
`

// TestUnfitOutput has a supplier answer with a text though the directory promises data: the caller gets an error and
// no charge, and the ledger has the supplier's charge.
func TestUnfitOutput(t *testing.T) {
	w := newWorld(t, options{overlays: []string{structured}})
	got := w.post("unfit-output", chat("hello"), by(w.live))
	e := got.error(t)
	if got.StatusCode != http.StatusBadGateway || e.Error.Code != fault.ProviderUnavailable || !e.Error.Retryable {
		t.Fatalf("%d %s", got.StatusCode, got.body)
	}
	scope := task.Scope{Account: fixture.Must(w.db.ListAccounts(t.Context()))(t)[0].ID, Mode: task.Live}
	stored := fixture.Must(w.db.GetTask(t.Context(), scope, e.TaskID))(t)
	if len(stored.Attempts) != 1 {
		t.Fatalf("%d attempts", len(stored.Attempts))
	}
	a := stored.Attempts[0]
	type ledger struct {
		State   task.AttemptState
		Code    fault.Code
		Unknown bool
		Owed    bool
		Usage   task.Usage
		Charged task.Money
	}
	want := ledger{task.FailedAttempt, fault.ProviderUnavailable, false, true, task.Usage{InputTokens: 9, OutputTokens: 3}, 0}
	if diff := cmp.Diff(want, ledger{a.State, a.Code, a.CostUnknown, a.Cost > 0, *a.Usage, stored.Cost}); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// TestOutputsFitTheirSchemas makes one task of each sort and holds its output, as it is read, against the schema that
// the directory shows. The inspector holds it against the document.
func TestOutputsFitTheirSchemas(t *testing.T) {
	w := newWorld(t, options{})
	speech := w.post("a-speech", `{"capability":"audio.speech","input":{"text":"One two. Three four."}}`).task(t)
	recording := w.do(request{path: speech.Output.Audio.URL}).body
	film := w.post("a-video-1", `{"capability":"video.generate","input":{"prompt":"a fox"},"parameters":{"duration_seconds":1}}`, with("Prefer", "wait=30")).task(t)
	given := film.Output.Videos[0].ID
	const still = `{"image":{"content_type":"image/png",` +
		`"data":"iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAIAAACQd1PeAAAADElEQVR42mP4z8AAAAMBAQD3A0FDAAAAAElFTkSuQmCC"},"authorization":{"person":"none"}}`
	for i, body := range []string{
		chat("hello"), image("a fox"),
		`{"capability":"text.embed","input":{"texts":["a","b"]}}`,
		`{"capability":"text.moderate","input":{"texts":["a bee","I will kill you."]}}`,
		`{"capability":"text.rerank","input":{"query":"an owl","documents":["a bee","an owl"]},"parameters":{"top_n":1}}`,
		transcribe(recording, `{}`), transcribe(recording, `{"timestamps":"segment"}`), transcribe(recording, `{"timestamps":"word","format":"vtt"}`),
		`{"capability":"image.upscale","input":` + still + `,"parameters":{"factor":4}}`,
		`{"capability":"image.background_remove","input":` + still + `}`,
		`{"capability":"video.extend","input":{"video":{"artifact":"` + given + `"},"prompt":"On","authorization":{"person":"none"}},"parameters":{"duration_seconds":1}}`,
	} {
		got := w.post(fmt.Sprintf("fitting-%d", i), body, with("Prefer", "wait=30"))
		if done := got.task(t); done.State != task.Succeeded {
			t.Errorf("%.100s: %s", body, got.body)
		}
	}
	var list struct {
		Data []struct {
			Capability catalog.Name
			Output     json.RawMessage
		}
	}
	if err := json.Unmarshal(w.do(request{path: api.PathTasks, key: w.test}).body, &list); err != nil || len(list.Data) != 13 {
		t.Fatalf("%d tasks, %v", len(list.Data), err)
	}
	directory := fixture.Must(catalog.Default())(t)
	for _, done := range list.Data {
		if err := directory.ValidateOutput(done.Capability, done.Output); err != nil {
			t.Errorf("%s: %v: %.300s", done.Capability, err, done.Output)
		}
	}
}

func transcribe(recording []byte, parameters string) string {
	return `{"capability":"audio.transcribe","input":{"audio":{"content_type":"audio/wav","data":"` +
		base64.StdEncoding.EncodeToString(recording) + `"}},"parameters":` + parameters + `}`
}
