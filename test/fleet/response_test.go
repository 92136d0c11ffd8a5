package fleet_test

import (
	"encoding/json"
	"net/http"
	"testing"
	"time"

	"unitask/internal/door/openai"
	"unitask/test/harness"
)

// TestBackgroundResponse: a response in the background is queued at one node, and is read and canceled at another.
func TestBackgroundResponse(t *testing.T) {
	f := makeFleet(t, 2, lease)
	for _, s := range f.nodes {
		s.Config = "doors: [openai]\n" + s.Config
	}
	f.launch()
	release := f.paid.Hold()
	defer release()
	type response struct{ ID, Status string }
	ask := func(node int, method, path, body string) (one response) {
		t.Helper()
		reply, _ := f.send(node, harness.Request{Method: method, Path: openai.PathResponses + path, Body: body})
		if err := json.Unmarshal(reply.Body, &one); err != nil || reply.Status != http.StatusOK {
			t.Fatalf("%s %s at node %d: %d %s", method, path, node, reply.Status, reply.Body)
		}
		return one
	}
	create := func(word string) response {
		t.Helper()
		made := ask(0, http.MethodPost, "", `{"model":"text.chat","input":"`+word+`","background":true}`)
		if made.Status != "queued" {
			t.Errorf("created it is %+v", made)
		}
		return made
	}
	status := func(node int, made response, want string) {
		t.Helper()
		f.until(20*time.Second, "a response is "+want, func() bool { return ask(node, http.MethodGet, "/"+made.ID, "").Status == want })
	}

	ends := create("ends")
	status(1, ends, "in_progress")
	ask(1, http.MethodPost, "/"+ends.ID+"/cancel", "")
	status(0, ends, "cancelled")

	done := create("done")
	f.until(20*time.Second, "the supplier has the submission", func() bool { return len(f.paid.Sent()) == 2 })
	release()
	status(1, done, "completed")
}
