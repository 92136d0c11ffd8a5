package e2e_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"unitask/internal/api"
)

// doorModels has the names that OpenAI's models have, so that programs need no change.
const doorModels = `doors: [openai]
door_models:
  text.chat: [gpt-5]
  text.embed: [text-embedding-3-small]
  image.generate: [gpt-image-2]
  image.edit: [gpt-image-2]
  audio.speech: [tts-1]
  audio.transcribe: [whisper-1]
  text.moderate: [omni-moderation-latest]
`

// mediaByOpenAI is the output of openai_media.mjs.
type mediaByOpenAI struct {
	Models           []string
	Images           []string // the letters of their format
	Linked           string
	Task             string
	Edited, Combined int
	Spoken           string
	Transcript       string
	Subtitles        string
	Translation      string
	Verbose          struct {
		Language        string
		Segments, Words int
		Duration        float64
	}
	Judged   []bool
	Failures map[string]sdkFailure
	Late     struct {
		Requests, Images int
		Task, Replayed   string
	}
}

// TestOpenAILibraryMedia has OpenAI's own library make and edit images, speak, write down and judge, by the names of
// OpenAI's models. Its errors are of its own classes, and the retry of a form makes no second task.
func TestOpenAILibraryMedia(t *testing.T) {
	t.Parallel()
	h := newHost(t)
	h.Config = doorModels
	h.start()
	var got mediaByOpenAI
	h.openAI(&got, h.Base+"/openai/v1", "openai_media.mjs")

	if names := strings.Join(got.Models, " "); strings.Count(names, "gpt-image-2") != 1 || !strings.Contains(names, "whisper-1") {
		t.Errorf("the models are %q", got.Models)
	}
	var task api.Task
	if h.call("GET", api.PathTasks+"/"+got.Task, "", nil, &task); task.Capability != "image.generate" || len(task.Output.Images) != 2 {
		t.Errorf("the task is %+v", task)
	}
	if diff := cmp.Diff([]string{"PNG", "PNG"}, got.Images); diff != "" || got.Linked != "PNG" || got.Edited != 1 || got.Combined != 2 {
		t.Errorf("images %q, by its address %q, %d edited, %d combined", got.Images, got.Linked, got.Edited, got.Combined)
	}
	const said = "The train leaves at nine."
	if got.Spoken != "audio/wav" || got.Transcript != said || !strings.Contains(got.Subtitles, "--> 00:00:0") || got.Translation != "[en] "+said {
		t.Errorf("spoken as %s, heard %q and %q, translated %q", got.Spoken, got.Transcript, got.Subtitles, got.Translation)
	}
	if v := got.Verbose; v.Language != "en" || v.Segments != 1 || v.Words != 5 || v.Duration == 0 {
		t.Errorf("the long transcript is %+v", v)
	}
	if diff := cmp.Diff([]bool{false, true}, got.Judged); diff != "" {
		t.Errorf("judged (-want +got):\n%s", diff)
	}
	if l := got.Late; l.Requests < 2 || l.Replayed != "true" || l.Task == "" || l.Images != 1 {
		t.Errorf("the library's own retry: %+v", l)
	}
	want := map[string]sdkFailure{
		"authorization": {Name: "PermissionDeniedError", Status: 403, Param: new("authorization"), Service: "AUTHORIZATION_REQUIRED", Requests: 1},
		"stream":        {Name: "BadRequestError", Status: 400, Param: new("stream"), Service: "INVALID_REQUEST", Requests: 1},
		"model":         {Name: "NotFoundError", Status: 404, Code: new("model_not_found"), Param: new("model"), Service: "NOT_FOUND", Requests: 1},
		"policy":        {Name: "UnprocessableEntityError", Status: 422, Code: new("content_policy_violation"), Service: "CONTENT_POLICY_VIOLATION", Requests: 1},
	}
	if diff := cmp.Diff(want, got.Failures); diff != "" {
		t.Errorf("failures (-want +got):\n%s", diff)
	}

	h.write("unitask.yaml", strings.Replace(doorModels, "whisper-1", "whisper-2", 1))
	if o := h.client("config", "reload"); o.code != 0 || o.stderr != "changed: door_models\n" {
		t.Errorf("reload: exit %d\n%s", o.code, o.stderr)
	}
	for name, status := range map[string]int{"whisper-2": http.StatusOK, "whisper-1": http.StatusNotFound} {
		if r := h.call(http.MethodGet, "/openai/v1/models/"+name, "", nil, nil); r.status != status {
			t.Errorf("after a reload %s is answered with %d", name, r.status)
		}
	}
}
