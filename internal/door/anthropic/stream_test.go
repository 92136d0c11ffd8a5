package anthropic_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"unitask/internal/api"
	"unitask/internal/door/anthropic"
	"unitask/internal/task"
)

// TestBlocksOneByOne: pieces that come across each other, as some servers send them, make blocks that end before the next
// begins.
func TestBlocksOneByOne(t *testing.T) {
	call := func(index int, arguments string) api.Delta {
		return api.Delta{ToolCall: &api.CallPiece{Index: index, ID: string(rune('a' + index)), Name: "f", Arguments: arguments}}
	}
	c, err := anthropic.Messages([]byte(message(`"Hi"`)))
	if err != nil {
		t.Fatal(err)
	}
	events, now := c.Events(), &task.Task{ID: "task_1", State: task.Running}
	b := events.Begin(nil, now)
	for _, d := range []api.Delta{{Text: "So"}, call(0, `{"a":`), call(1, `{"b":`), {Text: " it"}, call(0, `1}`), call(1, `2}`), {Text: " is"}} {
		b = events.Piece(b, now, d)
	}
	now.State, now.Output = task.Succeeded, &task.Output{JSON: []byte(`{"text":"So it is","finish_reason":"tool_calls"}`)}
	if b, err = events.End(b, now); err != nil {
		t.Fatal(err)
	}
	var got []string
	for line := range strings.Lines(string(b)) {
		if data, ok := strings.CutPrefix(line, "data: "); ok && strings.Contains(data, `"content_block_`) {
			kind, rest, _ := strings.Cut(strings.TrimPrefix(data, `{"type":"content_block_`), `","index":`)
			got = append(got, kind+" "+rest[:1])
			if _, text, ok := strings.Cut(rest, `"partial_json":`); ok {
				got[len(got)-1] += " " + strings.TrimSpace(strings.TrimSuffix(strings.TrimSpace(text), "}}"))
			}
		}
	}
	want := []string{
		"start 0", "delta 0", "stop 0", "start 1", `delta 1 "{\"a\":"`, `delta 1 "1}"`, "stop 1",
		"start 2", `delta 2 "{\"b\":2}"`, "stop 2", "start 3", "delta 3", "stop 3",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("events (-want +got):\n%s\n%s", diff, b)
	}
}
