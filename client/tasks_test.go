package client_test

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"unitask/internal/client/clienttest"

	"github.com/google/go-cmp/cmp"

	"unitask/client"
	"unitask/internal/api"
)

// TestListPages goes on over an empty page, and asks for no page more than it needs.
func TestListPages(t *testing.T) {
	pages := map[string]api.TaskList{
		"":  {Data: []api.Task{{ID: "task_3"}, {ID: "task_2"}}, NextCursor: new("a")},
		"a": {Data: []api.Task{}, NextCursor: new("b")},
		"b": {Data: []api.Task{{ID: "task_1"}}},
	}
	var asked []string
	c := overHandler(t, func(w http.ResponseWriter, r *http.Request) {
		q := r.URL.Query()
		asked = append(asked, q.Get("cursor"))
		if q.Get("state") != "failed" || q.Get("metadata.team") != "a & b" || q.Get("capability") != "text.chat" ||
			q.Get("key") != "key_1" || q.Get("code") != "INTERNAL" || q.Get("created_after") != "2026-11-21T08:00:00.5Z" ||
			q.Get("created_before") != "2026-11-22T08:00:00.5Z" {
			t.Errorf("asked %s", r.URL.RawQuery)
		}
		clienttest.WriteJSON(w, http.StatusOK, pages[q.Get("cursor")])
	})
	since := time.Date(2026, 11, 21, 8, 0, 0, 5e8, time.UTC)
	o := client.ListOptions{
		State: client.Failed, Capability: "text.chat", Metadata: map[string]string{"team": "a & b"},
		Key: "key_1", Code: client.CodeInternal, Since: since, Until: since.AddDate(0, 0, 1),
	}
	all := c.List(t.Context(), o)
	var ids []string
	for task, err := range all {
		if err != nil {
			t.Fatal(err)
		}
		ids = append(ids, task.ID)
	}
	if diff := cmp.Diff([]string{"task_3", "task_2", "task_1"}, ids); diff != "" || strings.Join(asked, ",") != ",a,b" {
		t.Errorf("asked for pages %q, got (-want +got):\n%s", asked, diff)
	}
	asked = nil
	for range all {
		break
	}
	if strings.Join(asked, ",") != "" || len(asked) != 1 {
		t.Errorf("a second loop that was left asked for pages %q", asked)
	}
}
