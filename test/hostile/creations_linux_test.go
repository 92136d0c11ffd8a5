package hostile_test

import (
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"unitask/internal/api"
	"unitask/internal/task"
	"unitask/test/harness"
)

// TestCreationsAtOnce: many creations at once, as large as still stand in the tasks' own records, cost a bounded part
// of the server's memory: not the mapped pages of the database's file.
func TestCreationsAtOnce(t *testing.T) {
	creations := 256
	if long(t) {
		creations = 1024
	}
	s := harness.NewServer(t)
	s.Config = "limits: {creates_per_minute: 0, open_tasks: 0}\n"
	s.Start()
	key := s.MustNewKey(task.Test)
	body := fmt.Sprintf(`{"capability":"text.chat","input":{"prompt":%q}}`, strings.Repeat("word ", 60_000/5))
	var mu sync.Mutex
	statuses := map[int]int{}
	var all sync.WaitGroup
	for n := range creations {
		all.Go(func() {
			got, err := s.Send(t.Context(), harness.Request{
				Method: http.MethodPost, Path: api.PathTasks, Key: key, Body: body,
				Header: map[string]string{api.HeaderIdempotencyKey: fmt.Sprintf("at-once-%06d", n)},
			})
			mu.Lock()
			defer mu.Unlock()
			if err != nil {
				t.Error(err)
			}
			statuses[got.Status]++
		})
	}
	ended := make(chan struct{})
	go func() { all.Wait(); close(ended) }()
	most := int64(0)
	for over := false; !over; {
		select {
		case <-ended:
			over = true
		case <-time.After(20 * time.Millisecond):
		}
		most = max(most, memory(s, "RssAnon"))
	}
	t.Logf("%d creations of %d bytes: %v; RssAnon %d MB at most, %d MB in the end", creations, len(body), statuses, most>>20, memory(s, "RssAnon")>>20)
	if statuses[http.StatusOK] < creations/2 {
		t.Errorf("%d creations ended with %v", creations, statuses)
	}
	for status := range statuses {
		switch status {
		case http.StatusOK, http.StatusTooManyRequests, http.StatusServiceUnavailable:
		default:
			t.Errorf("an answer with %d", status)
		}
	}
	if most > mostMemory {
		t.Errorf("the server took %d MB", most>>20)
	}
}
