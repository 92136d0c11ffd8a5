package server_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"unitask/internal/api"
	"unitask/internal/catalog"
	"unitask/internal/door/openai"
)

// TestOpenAIModels calls capabilities by other names: they are listed, answer as they are called, and may change while
// the server runs. A name means the capability of the path's kind alone.
func TestOpenAIModels(t *testing.T) {
	w := newWorld(t, options{openAI: true, models: map[catalog.Name][]string{"text.chat": {"gpt-5", "all"}, "text.embed": {"small", "all"}}})
	listed := func(key string) (ids []string) {
		for _, m := range decode[openai.Models](t, w.do(request{path: openai.PathModels, key: key})).Data {
			ids = append(ids, m.ID)
		}
		return ids
	}
	if diff := cmp.Diff([]string{"image.generate", "text.chat", "gpt-5", "all"}, listed(w.live)); diff != "" {
		t.Errorf("the models (-want +got):\n%s", diff)
	}
	for _, name := range []string{"text.chat", "gpt-5", "all"} {
		a := completionOf(t, w.complete(w.live, strings.Replace(completion("hello"), "text.chat", name, 1)))
		made := w.do(request{path: api.PathTasks + "/" + a.ID, key: w.live}).task(t)
		if a.Model != name || made.Capability != "text.chat" {
			t.Errorf("%s answers as %s, the task is of %s", name, a.Model, made.Capability)
		}
	}
	if r := w.complete(w.test, strings.Replace(completion("hello"), "text.chat", "small", 1)); r.StatusCode != http.StatusNotFound {
		t.Errorf("a model of another kind: %s", r.Status)
	}
	w.API.SetDoorModels(map[catalog.Name][]string{"text.chat": {"gpt-6"}})
	if diff := cmp.Diff([]string{"image.generate", "text.chat", "gpt-6"}, listed(w.live)); diff != "" {
		t.Errorf("the models after a change (-want +got):\n%s", diff)
	}
	if r := w.complete(w.live, strings.Replace(completion("hello"), "text.chat", "gpt-5", 1)); r.StatusCode != http.StatusNotFound || *r.openAIError(t).Code != "model_not_found" {
		t.Errorf("a name that was taken away: %s", r.Status)
	}
}
