package crash_test

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"image"
	"image/png"
	"net/http"
	"net/http/httptest"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"unitask/internal/account"
	"unitask/internal/api"
	"unitask/internal/client"
	"unitask/internal/task"
	"unitask/test/harness"
)

const (
	budgetCallers = 64
	budgetTasks   = 100
	budgetKills   = 2
)

// TestBudget lets many callers spend a budget for a hundred pictures at a fixed price, through kills of the server: a
// hundred succeed, no more and no fewer, and they cost the budget.
func TestBudget(t *testing.T) {
	if left := account.Month.Left(time.Now()); left < 5*time.Minute {
		t.Skipf("the month, and the budget's period with it, ends in %s", left)
	}
	p := newImageSupplier(t)
	s := harness.NewServer(t)
	s.Config = p.config()
	s.Start()
	b := &budget{server: s, key: mustBudgetKey(t, s)}
	ctx, stop := context.WithTimeout(t.Context(), 2*time.Minute)
	defer stop()
	var all sync.WaitGroup
	for i := range budgetCallers {
		all.Go(func() { b.spend(ctx, i) })
	}
	for kill := range budgetKills {
		s.Until(time.Minute, "some of the budget is spent", func() bool { return b.done.Load() >= int64(budgetTasks*(kill+1)/(budgetKills+1)) })
		s.Kill()
		s.Start()
	}
	all.Wait()
	b.judge(t, p)
}

// imageSupplier is a paid server that draws one picture for each submission.
type imageSupplier struct {
	base  string
	drawn atomic.Int64
}

func newImageSupplier(t *testing.T) *imageSupplier {
	t.Helper()
	var picture bytes.Buffer
	if err := png.Encode(&picture, image.NewGray(image.Rect(0, 0, 8, 8))); err != nil {
		t.Fatal(err)
	}
	answer := fmt.Sprintf(`{"data":[{"b64_json":%q}]}`, base64.StdEncoding.EncodeToString(picture.Bytes()))
	p := &imageSupplier{}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		p.drawn.Add(1)
		w.Header().Set("Content-Type", "application/json")
		_, _ = fmt.Fprint(w, answer)
	}))
	t.Cleanup(server.Close)
	p.base = server.URL
	return p
}

// config takes a cent a picture.
func (p *imageSupplier) config() string {
	return fmt.Sprintf(`limits: {creates_per_minute: 0, reads_per_minute: 0, open_tasks: 0}
suppliers:
  - {name: painter, kind: openai, base_url: %q}
routes:
  image.generate:
    - {supplier: painter, model: brush, price: {unit: image, output: "0.01"}}
`, p.base)
}

// mustBudgetKey makes a live key whose budget is that of the pictures.
func mustBudgetKey(t *testing.T, s *harness.Server) string {
	t.Helper()
	admin, err := client.NewAdmin(s.Data())
	if err != nil {
		t.Fatal(err)
	}
	key, err := admin.CreateKey(t.Context(), api.KeyCreate{
		Name: "budget", Mode: task.Live,
		Limits: api.Limits{Budget: "1", BudgetPeriod: string(account.Month)},
	})
	if err != nil {
		t.Fatal(err)
	}
	return key.Secret
}

// budget is the shared state of callers that spend one budget.
type budget struct {
	server *harness.Server
	key    string
	done   atomic.Int64 // pictures that were seen to be done
}

// spend asks for pictures, one after the other, until all are there and one more is refused.
func (b *budget) spend(ctx context.Context, caller int) {
	for n := 0; ctx.Err() == nil && b.done.Load() <= budgetTasks; n++ {
		key := fmt.Sprintf("picture-%d-%d", caller, n)
		for {
			last := b.done.Load() >= budgetTasks
			status, state := b.ask(ctx, key)
			switch {
			case status == http.StatusTooManyRequests && last, ctx.Err() != nil:
				return
			case state == task.Succeeded:
				b.done.Add(1)
			default: // refused while others' pictures may yet fail, cut off, or failed: the same again
				rest(ctx, 20*time.Millisecond)
				continue
			}
			break
		}
	}
}

func (b *budget) ask(ctx context.Context, key string) (status int, state task.State) {
	reply, err := b.server.Send(ctx, harness.Request{
		Method: http.MethodPost, Path: api.PathTasks, Key: b.key, Body: `{"capability":"image.generate","input":{"prompt":"a fox"}}`,
		Header: map[string]string{api.HeaderIdempotencyKey: key, api.HeaderPrefer: "wait=10"},
	})
	if err != nil {
		return 0, ""
	}
	var got api.Task
	_ = json.Unmarshal(reply.Body, &got) // an error has no state
	return reply.Status, got.State
}

// judge compares the tasks with the budget.
func (b *budget) judge(t *testing.T, p *imageSupplier) {
	t.Helper()
	ids, err := b.server.List(t.Context(), b.key)
	if err != nil {
		t.Fatal(err)
	}
	states := map[task.State]int{}
	var cost task.Money
	for _, id := range ids {
		got, err := b.server.AdminTask(t.Context(), id)
		if err != nil {
			t.Fatal(err)
		}
		paid, err := task.ParseMoney(got.Cost)
		if err != nil {
			t.Fatal(err)
		}
		states[got.State]++
		cost = cost.Add(paid)
	}
	t.Logf("%d pictures drawn, %v, cost %s", p.drawn.Load(), states, cost)
	b.judgeUsage(t, states)
	if b.done.Load() != budgetTasks || states[task.Succeeded] != budgetTasks || cost != task.USD {
		t.Errorf("%d seen done, %v, cost %s; want %d succeeded for 1\n%s", b.done.Load(), states, cost, budgetTasks, b.server.Warnings())
	}
}

// judgeUsage compares the sums, which were kept through the kills, with the tasks.
func (b *budget) judgeUsage(t *testing.T, states map[task.State]int) {
	t.Helper()
	admin, err := client.NewAdmin(b.server.Data())
	if err != nil {
		t.Fatal(err)
	}
	report, err := admin.Usage(t.Context(), api.UsageQuery{By: api.ByCapability})
	if err != nil {
		t.Fatal(err)
	}
	want := []api.UsageRow{{
		Group: "image.generate", Mode: task.Live, Succeeded: budgetTasks, Failed: int64(states[task.Failed]), Work: api.Work{Images: budgetTasks}, Cost: "1",
	}}
	if diff := cmp.Diff(want, report.Data, cmpopts.IgnoreFields(api.Work{}, "InputTokens")); diff != "" {
		t.Errorf("usage (-want +got):\n%s", diff)
	}
}
