package fleet_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"regexp"
	"strings"
	"testing"
	"time"

	"unitask/internal/api"
	"unitask/internal/sse"
	"unitask/internal/task"
	"unitask/test/harness"
)

// heard is the content of a stream so far.
type heard struct {
	pieces []string
	last   api.Task
	err    error // by which it broke off
}

// listen makes a request whose answer is a stream and reads it to its end. told is called with each piece.
func (f *fleet) listen(node int, r harness.Request, told func(heard)) (h heard) {
	request, err := http.NewRequestWithContext(f.Context(), r.Method, f.nodes[node].Base+r.Path, strings.NewReader(r.Body))
	if err != nil {
		return heard{err: err}
	}
	for name, value := range map[string]string{
		"Authorization": "Bearer " + f.key, "Accept": sse.ContentType, "Content-Type": "application/json", api.HeaderIdempotencyKey: r.Body[:min(len(r.Body), 100)],
	} {
		request.Header.Set(name, value)
	}
	answer, err := http.DefaultClient.Do(request)
	if err != nil {
		return heard{err: err}
	}
	defer func() { _ = answer.Body.Close() }()
	if answer.StatusCode != http.StatusOK {
		return heard{err: fmt.Errorf("answered with status %d", answer.StatusCode)}
	}
	for e, err := range sse.Read(answer.Body, 1<<20) {
		if err != nil {
			h.err = err
			return h
		}
		var d api.Delta
		switch {
		case e.Name == api.EventTask:
			h.last = api.Task{}
			h.err = json.Unmarshal([]byte(e.Data), &h.last)
		case json.Unmarshal([]byte(e.Data), &d) == nil:
			h.pieces = append(h.pieces, d.Text)
			told(h)
		}
	}
	return h
}

// begin has a node work on a text of so many words that a stream follows there, and returns the task's id.
func (f *fleet) begin(node, words int) string {
	f.Helper()
	id := make(chan string, 1)
	body := fmt.Sprintf(`{"capability":"text.chat","input":{"prompt":"repeat %d%s"}}`, words, strings.Repeat(" word", words))
	over := make(chan heard, 1)
	go func() {
		over <- f.listen(node, harness.Request{Method: http.MethodPost, Path: api.PathTasks, Body: body}, func(h heard) {
			if len(h.pieces) == 1 {
				id <- h.last.ID
			}
		})
	}()
	select {
	case begun := <-id:
		return begun
	case h := <-over:
		f.Fatalf("the text isn't streamed: %+v", h)
		return ""
	}
}

// known is the metric of nodes that have said what they run.
var known = regexp.MustCompile(`(?m)^unitask_nodes\{runs="[^"]+"\}`)

// TestStreamAcrossNodes: who joins a stream at another node than the one at work gets its pieces as they come, and if that
// one is killed in the middle, the rest after the takeover.
func TestStreamAcrossNodes(t *testing.T) {
	f := newFleet(t, 2)
	f.key = f.nodes[0].MustNewKey(task.Test)
	f.until(5*time.Second, "the other node knows the key", func() bool {
		reply, _ := f.send(1, harness.Request{Method: http.MethodGet, Path: api.PathTasks})
		return reply.Status == http.StatusOK
	})
	f.until(10*time.Second, "the nodes know each other", func() bool {
		reply, err := f.nodes[1].Operator(t.Context(), api.PathMetrics)
		return err == nil && len(known.FindAll(reply.Body, -1)) == 2 // their settings name different addresses
	})
	whole := func(h heard) bool {
		return h.err == nil && h.last.State == task.Succeeded && strings.Join(h.pieces, "") == *h.last.Output.Text
	}
	join := harness.Request{Method: http.MethodGet, Path: api.PathTasks + "/" + f.begin(0, 300)}
	if got := f.listen(1, join, func(heard) {}); !whole(got) || len(got.pieces) < 10 {
		t.Errorf("at the other node: %d pieces, then %s, %v", len(got.pieces), got.last.State, got.err)
	}

	join.Path = api.PathTasks + "/" + f.begin(0, 1000)
	start := time.Now()
	got := f.listen(1, join, func(h heard) {
		if len(h.pieces) == 1 {
			f.nodes[0].Kill()
		}
	})
	if !whole(got) || len(got.pieces) < 2 || len(got.pieces[0]) > len(*got.last.Output.Text)/2 {
		t.Errorf("with the node at work killed: %d pieces, then %s, %v", len(got.pieces), got.last.State, got.err)
	}
	if took := time.Since(start); took > lease+time.Minute {
		t.Errorf("it took %s", took)
	}
}
