package main

import (
	"context"
	"encoding/json"
	"slices"
	"sync"
	"time"

	"unitask/internal/task"
)

// woken measures how long after a task's end the reader who waits for it has the answer. The end is the
// task's own updated_at, taken before its commit and cut to the millisecond, so the figures are up to
// 1 ms too high.
func (b *testbed) woken(ctx context.Context, d time.Duration) (figures, error) {
	n, err := b.newNode(ctx, nodeOptions{mode: task.Live, slow: true, catalog: asyncChat})
	if err != nil {
		return nil, err
	}
	defer n.remove()
	var mu sync.Mutex
	var took []time.Duration
	t := n.tasks("text.chat", hello, "Prefer: wait=60\r\n", 200)
	t.read = func(body []byte) error {
		at := time.Now()
		var ended struct {
			UpdatedAt time.Time `json:"updated_at"`
		}
		if err := json.Unmarshal(body, &ended); err != nil {
			return err
		}
		mu.Lock()
		defer mu.Unlock()
		took = append(took, at.Sub(ended.UpdatedAt))
		return nil
	}
	if _, err := pace(ctx, t, wakeRate, d); err != nil {
		return nil, err
	}
	slices.Sort(took)
	return figures{p50: quantile(took, 0.5), p99: quantile(took, 0.99)}, nil
}

// wakeRate is how many tasks a second end while others wait.
const wakeRate = 200
