package crash_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"testing"
	"time"

	"unitask/internal/account"
	"unitask/internal/api"
	"unitask/internal/client"
	"unitask/internal/task"
	"unitask/test/harness"
)

// TestCancelingSpendsTheBudget is an attack: a caller with a budget of a cent sends paid work and cancels it
// a moment later, twelve times. The supplier has charged by then.
func TestCancelingSpendsTheBudget(t *testing.T) {
	if left := account.Month.Left(time.Now()); left < 5*time.Minute {
		t.Skipf("the month, and the budget's period with it, ends in %s", left)
	}
	const budget = task.USD / 100
	paid := harness.NewSupplier(t)
	defer paid.Hold()()
	s := harness.NewServer(t)
	s.Config = paid.Config()
	s.Start()
	admin, err := client.NewAdmin(s.Data())
	if err != nil {
		t.Fatal(err)
	}
	key, err := admin.CreateKey(t.Context(), api.KeyCreate{
		Name: "a cent", Mode: task.Live, Limits: api.Limits{Budget: budget.String(), BudgetPeriod: string(account.Month)},
	})
	if err != nil {
		t.Fatal(err)
	}
	a := attacker{s, key.Secret}
	var spent task.Money
	accepted := 0
	for i := range 12 {
		id := a.create(i)
		if id == "" {
			continue
		}
		accepted++
		s.Until(time.Minute, "the supplier has the submission", func() bool { return len(paid.Sent()) == accepted })
		spent += a.cancel(id)
	}
	// A task reserves 1,000 tokens of output at 2 USD a million and its input's bytes: four have room.
	if sent := len(paid.Sent()); accepted != 4 || sent != accepted || spent > budget || spent < budget*3/4 {
		t.Errorf("%d tasks accepted and %d submissions for a budget of %s, of which %s was spent", accepted, sent, budget, spent)
	}
}

// attacker sends and cancels.
type attacker struct {
	*harness.Server
	key string
}

// create sends a chat and returns the task's id, "" if the budget refused it.
func (a attacker) create(n int) string {
	a.T.Helper()
	reply, err := a.Send(a.T.Context(), harness.Request{
		Method: http.MethodPost, Path: api.PathTasks, Key: a.key,
		Body:   fmt.Sprintf(`{"capability":"text.chat","input":{"prompt":"word%d"},"parameters":{"max_output_tokens":1000}}`, n),
		Header: map[string]string{api.HeaderIdempotencyKey: fmt.Sprintf("attack-%04d", n), api.HeaderPrefer: "wait=0"},
	})
	if err != nil {
		a.T.Fatal(err)
	}
	var got api.Task
	if err := json.Unmarshal(reply.Body, &got); err != nil || !slices.Contains([]int{http.StatusAccepted, http.StatusTooManyRequests}, reply.Status) {
		a.T.Fatalf("%d %s %v", reply.Status, reply.Body, err)
	}
	return got.ID
}

// cancel ends the task and returns its cost.
func (a attacker) cancel(id string) task.Money {
	a.T.Helper()
	var got api.Task
	a.Until(time.Minute, id+" is canceled", func() bool {
		reply, err := a.Send(a.T.Context(), harness.Request{Method: http.MethodPost, Path: api.PathTasks + "/" + id + "/cancel", Key: a.key})
		return err == nil && json.Unmarshal(reply.Body, &got) == nil && got.State == task.Canceled
	})
	if got.Usage == nil {
		a.T.Fatalf("%s is canceled and costs nothing", id)
	}
	cost, err := task.ParseMoney(got.Usage.Cost.Amount)
	if err != nil {
		a.T.Fatal(err)
	}
	return cost
}
