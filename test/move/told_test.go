package move_test

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"os/exec"
	"slices"
	"sync"
	"testing"
	"time"

	"unitask/internal/account"
	"unitask/internal/api"
	"unitask/internal/client"
	"unitask/internal/store/pgstore/pgtest"
	"unitask/internal/task"
	"unitask/test/fixture"
	"unitask/test/harness"
)

// TestToldOnce: `unitask webhooks listen --budgets` hears of a key's budget at 80 % and at 100 %, and of neither again from
// a server that was killed, nor under the id of the key that replaces this one, nor after a copy into PostgreSQL. It goes
// on listening meanwhile, and is told of the next amount.
func TestToldOnce(t *testing.T) {
	harness.NeedsBolt(t)
	database, s := pgtest.Start(t, pgtest.Config{}), harness.NewServer(t)
	s.Config = harness.NewSupplier(t).Config()
	s.Start()
	admin := fixture.Must(client.NewAdmin(s.Data()))(t)
	key := fixture.Must(admin.CreateKey(t.Context(), api.KeyCreate{Name: "till", Mode: task.Live, Limits: api.Limits{Budget: "10", BudgetPeriod: string(account.Month)}}))(t)
	m := &moved{T: t, key: key.Secret}
	if reply, made := m.create(s, "done"); made.State != task.Succeeded {
		t.Fatalf("created: %d %s", reply.Status, reply.Body)
	}
	limit := func(id, budget string) {
		t.Helper()
		fixture.Must(admin.UpdateKey(t.Context(), id, api.KeyUpdate{Limits: &api.LimitsUpdate{Budget: &budget}}))(t)
	}
	limit(key.ID, "0.00003") // the task's cost
	h := listen(t, s, key.Secret)
	again := func(why string, want ...int) {
		t.Helper()
		s.Start() // which looks at once
		s.Until(30*time.Second, "what is told of "+why, func() bool { return len(h.parts()) >= len(want) })
		time.Sleep(2 * time.Second)
		if got := h.parts(); !slices.Equal(got, want) {
			t.Errorf("%s: told of %v, want %v", why, got, want)
		}
	}
	s.Kill()
	again("a budget that is spent", 80, 100)
	s.Kill()
	again("a kill", 80, 100)
	next := fixture.Must(admin.RotateKey(t.Context(), key.ID, api.KeyRotate{OverlapSeconds: 3600}))(t)
	s.Stop()
	again("a rotation", 80, 100)
	s.Stop()
	if out, err := exec.CommandContext(t.Context(), harness.Binary(), "store", "copy", "--from", s.Data(), "--to", database.URL()).CombinedOutput(); err != nil {
		t.Fatalf("the copy: %v\n%s", err, out)
	}
	s.Env = []string{"UNITASK_STORE=" + database.URL()}
	again("a copy", 80, 100)
	limit(next.ID, "0.000035")
	s.Stop()
	again("another amount", 80, 80, 100)
}

// hearer is the program that a listener passes events on to.
type hearer struct {
	mu   sync.Mutex
	told []int
}

// listen starts `unitask webhooks listen` and waits until it listens; it ends with the test.
func listen(t *testing.T, s *harness.Server, key string) *hearer {
	t.Helper()
	h := &hearer{}
	program := httptest.NewServer(h)
	t.Cleanup(program.Close)
	cmd := exec.CommandContext(t.Context(), harness.Binary(), "webhooks", "listen", "--budgets", "--forward", program.URL, "--base-url", s.Base)
	cmd.Env = append(s.Environ(), "UNITASK_API_KEY="+key)
	out := fixture.Must(cmd.StdoutPipe())(t)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = cmd.Wait() }) // it was killed
	if n, err := out.Read(make([]byte, 64)); n == 0 {
		t.Fatal("it says no secret: ", err)
	}
	return h
}

// ServeHTTP takes an event.
func (h *hearer) ServeHTTP(_ http.ResponseWriter, r *http.Request) {
	var event struct {
		Data struct{ Threshold int }
	}
	_ = json.NewDecoder(r.Body).Decode(&event)
	h.mu.Lock()
	defer h.mu.Unlock()
	h.told = append(h.told, event.Data.Threshold) // 0 for another event
}

// parts returns those that it was told of, the smallest first.
func (h *hearer) parts() []int {
	h.mu.Lock()
	defer h.mu.Unlock()
	return slices.Sorted(slices.Values(h.told))
}
