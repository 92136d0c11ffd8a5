package gateway_test

import (
	"encoding/base64"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"unitask/internal/fault"
	"unitask/internal/gateway"
	"unitask/internal/routing"
	"unitask/internal/supplier"
	"unitask/internal/task"
)

// counting is how many submissions are under way at once, and were at most.
type counting struct{ now, most atomic.Int64 }

func (c *counting) during(takes time.Duration, out supplier.Outcome) func(int, supplier.Request) (supplier.Outcome, error) {
	return func(int, supplier.Request) (supplier.Outcome, error) {
		n := c.now.Add(1)
		defer c.now.Add(-1)
		for {
			if most := c.most.Load(); n <= most || c.most.CompareAndSwap(most, n) {
				break
			}
		}
		time.Sleep(takes)
		return out, nil
	}
}

// large is a picture of which two, as base64 and three times over, fill a megabyte.
func large(t *testing.T) string {
	t.Helper()
	data := append(mustPNG(t), make([]byte, 120_000)...)
	return editOf(`{"content_type":"image/png","data":"` + base64.StdEncoding.EncodeToString(data) + `"}`)
}

// TestLargeInputsTakeTurns: tasks with large inputs are worked on as far as there is room for them, one after the other
// and all of them in the end; one with a small input doesn't wait for them.
func TestLargeInputsTakeTurns(t *testing.T) {
	var c counting
	edits := &script{submitFn: c.during(20*time.Second, picture(t))}
	paints := &script{submitFn: painted(t)}
	inWorldWith(t, gateway.Limits{WorkMemory: 2 << 20}, []routing.Route{route("image.edit", "a", 1, edits), route("image.generate", "a", 1, paints)}, func(w *world) {
		var ids []string
		for n := range 12 {
			ids = append(ids, w.create(fmt.Sprintf("large-%06d", n), large(t), 0).Task.ID)
		}
		time.Sleep(5 * time.Second)
		if got := w.create("small-000001", paint, 5*time.Second).Task.State; got != task.Succeeded {
			t.Errorf("a small task is %s", got)
		}
		for _, id := range ids {
			if got := w.end(id); got.State != task.Succeeded {
				t.Errorf("a large task is %s: %+v", got.State, got.Failure)
			}
		}
		if most := c.most.Load(); most != 2 { // half of the room is one account's
			t.Errorf("%d large inputs were worked on at once, want 2", most)
		}
		if n := len(edits.keys()); n != 12 {
			t.Errorf("%d submissions", n)
		}
	})
}

// TestLargeInputWithoutRoom: synchronous work whose large input finds no room fails as work that finds no route does;
// no request was sent, and a retry succeeds.
func TestLargeInputWithoutRoom(t *testing.T) {
	var c counting
	chats := &script{submitFn: c.during(20*time.Second, text("hello"))}
	inWorldWith(t, gateway.Limits{WorkMemory: 1 << 20}, []routing.Route{route("text.chat", "a", 1, chats)}, func(w *world) {
		prompt := fmt.Sprintf(`{"capability":"text.chat","input":{"prompt":%q}}`, strings.Repeat("x", 300_000))
		first := w.create("large-000001", prompt, 0).Task.ID
		synctest.Wait() // its worker has the room
		second := w.create("large-000002", prompt, 10*time.Second).Task
		if second.State != task.Failed || second.Failure.Code != fault.CapacityExhausted || len(chats.keys()) != 1 {
			t.Errorf("%s %+v after %d submissions", second.State, second.Failure, len(chats.keys()))
		}
		if got := w.end(first); got.State != task.Succeeded {
			t.Errorf("the first is %s", got.State)
		}
		if got := w.create("large-000002", prompt, time.Minute).Task; got.State != task.Succeeded {
			t.Errorf("the retry is %s: %+v", got.State, got.Failure)
		}
	})
}
