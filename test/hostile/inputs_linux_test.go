package hostile_test

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"unitask/internal/account"
	"unitask/internal/api"
	"unitask/internal/task"
	"unitask/test/harness"
)

// dot is a picture of one pixel.
const dot = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="

// editor is the part of a supplier of edited pictures that takes its time. It says its address.
func editor(o order, say func(any), end <-chan struct{}) {
	upstream := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		time.Sleep(o.For)
		w.Header().Set("Content-Type", "application/json")
		_, _ = fmt.Fprintf(w, `{"created":1,"data":[{"b64_json":%q}]}`, dot)
	}))
	say(upstream.URL)
	<-end
}

// edited is the configuration of a server that has pictures edited.
const edited = `limits: {creates_per_minute: 0, reads_per_minute: 0, work_memory: 48MiB}
suppliers:
  - {name: paid, kind: openai, base_url: %q}
routes:
  image.edit:
    - {supplier: paid, model: one, price: {unit: image, output: "0.01"}}
`

// TestLargeInputs: tasks with large inputs, each of which is taken, cost the server no more memory the more of them are
// worked on at once, and others' tasks go on beside them.
func TestLargeInputs(t *testing.T) {
	o, takes := order{Times: 6}, 200*time.Millisecond
	if long(t) {
		o.Times, takes = 64, 500*time.Millisecond
	}
	s := harness.NewServer(t)
	supplier := begin(t, s, "supplier", last, order{For: takes})
	var address string
	supplier.hear(&address)
	s.Config = fmt.Sprintf(edited, address)
	s.Bootstrap = account.NewKeySecret(account.DefaultKeyPrefix, task.Live)
	s.Start()
	raw, err := base64.StdEncoding.DecodeString(dot)
	if err != nil {
		t.Fatal(err)
	}
	picture := base64.StdEncoding.EncodeToString(append(raw, make([]byte, 10<<20-len(raw))...))
	o.Keys = []string{s.Bootstrap}
	o.Bodies = []string{fmt.Sprintf(`{"capability":"image.edit","input":{"prompt":"a","images":[{"data":%q,"content_type":"image/png"}],"authorization":{"person":"none"}}}`, picture)}
	before, w := quiet(s), watch(s)
	var ids []string
	attack(t, s, "inputs", o, &ids)
	for _, id := range ids {
		mustEdit(t, s, id)
	}
	meanwhile := w.stop()
	t.Logf("%d tasks of 14 MB; VmHWM %d MB; quiet: %s; meanwhile: %s", o.Times, memory(s, "VmHWM")>>20, before, meanwhile)
	meanwhile.served(t)
	boundedMemory(t, s)
}

// mustEdit waits for the task's success.
func mustEdit(t *testing.T, s *harness.Server, id string) {
	t.Helper()
	if !strings.HasPrefix(id, task.PrefixTask) {
		t.Fatal(id)
	}
	s.Until(5*time.Minute, "a large task has ended", func() bool {
		got, err := s.Send(t.Context(), harness.Request{Method: http.MethodGet, Path: api.PathTasks + "/" + id, Key: s.Bootstrap})
		var seen api.Task
		if err != nil || json.Unmarshal(got.Body, &seen) != nil || !seen.State.Terminal() {
			return false
		}
		if seen.State != task.Succeeded {
			t.Errorf("a task is %s: %+v", seen.State, seen.Error)
		}
		return true
	})
}

// createAll creates so many tasks at once and returns their ids.
func createAll(o order) any {
	ids := make([]string, o.Times)
	var all sync.WaitGroup
	for n := range ids {
		all.Go(func() { ids[n] = create(o, n) })
	}
	all.Wait()
	return ids
}

// create makes a task, as often as it takes until there is room for its body, and returns its id, or the error.
func create(o order, n int) string {
	for {
		request, err := http.NewRequest(http.MethodPost, "http://"+o.Target+api.PathTasks, strings.NewReader(o.Bodies[0])) //nolint:noctx // the test ends the process
		if err != nil {
			return err.Error()
		}
		request.Header.Set("Authorization", "Bearer "+o.Keys[0])
		request.Header.Set("Content-Type", "application/json")
		request.Header.Set(api.HeaderIdempotencyKey, fmt.Sprintf("large-%06d", n))
		if resp, err := http.DefaultClient.Do(request); err == nil {
			var made api.Task
			raw, err := io.ReadAll(resp.Body)
			_ = resp.Body.Close()
			switch {
			case err == nil && resp.StatusCode < http.StatusBadRequest && json.Unmarshal(raw, &made) == nil:
				return made.ID
			case resp.StatusCode != http.StatusTooManyRequests && resp.StatusCode != http.StatusServiceUnavailable:
				return fmt.Sprintf("%d %s", resp.StatusCode, raw)
			}
		}
		time.Sleep(100 * time.Millisecond)
	}
}
