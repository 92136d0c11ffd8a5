package console_test

import (
	"context"
	"regexp"
	"strings"
	"testing"
	"time"

	"unitask/internal/account"
	"unitask/internal/requestlog"
	"unitask/internal/store"
	"unitask/internal/task"
	"unitask/test/fixture"
)

// TestRarerUnits: the page of usage tells of seconds, pages, searches and requests that there were, one in the singular.
func TestRarerUnits(t *testing.T) {
	w := newWorld(t)
	b := w.member("acme", "member")
	owner := fixture.Must(w.operator.GetAccount(t.Context(), "acme"))(t).ID
	for _, step := range []struct {
		used task.Usage
		want string
	}{
		{task.Usage{Images: 1}, ``},
		{task.Usage{Milliseconds: 2000}, `<dt>Images</dt><dd>1</dd><dd class="note">and 2 s of video and sound</dd></div>`},
		{task.Usage{Searches: 1}, `<dt>Searches</dt><dd>1</dd></div>`},
		{task.Usage{Requests: 1}, `<dt>Searches</dt><dd>1</dd><dd class="note">and 1 request priced as such</dd></div>`},
		{task.Usage{Pages: 1200, Searches: 1}, `<dt>Pages</dt><dd>1,200</dd><dd class="note">and 2 searches, 1 request priced as such</dd></div>`},
	} {
		w.use(owner, step.used)
		got := b.get("/usage").body
		if !strings.Contains(got, step.want) || step.want == "" && regexp.MustCompile(`<dt>(Pages|Searches|Requests)|of video`).MatchString(got) {
			t.Errorf("%+v: no %s in %s", step.used, step.want, got)
		}
	}
}

// use has a task end that used something.
func (w *world) use(owner string, u task.Usage) {
	w.t.Helper()
	id := task.NewID(task.PrefixTask, w.now())
	if err := w.store.Renew(w.t.Context(), id, time.Hour); err != nil {
		w.t.Fatal(err)
	}
	made := fixture.Must(w.store.CreateTask(w.t.Context(), store.NewTask{
		ID: id, Scope: task.Scope{Account: owner, Mode: task.Live}, KeyID: "key_a", Capability: "text.chat", IdempotencyHash: account.HashSecret(id),
		Deadline: time.Hour, First: &store.First{Node: id, Plans: []task.Plan{{Supplier: "s", Model: "m"}}},
	}))(w.t)
	fixture.Must(w.store.Advance(w.t.Context(), made.Lease.Ref, store.Step{
		Close: &task.Closing{State: task.OK}, Moves: []task.Transition{task.Transfer(), task.Succeed(task.Output{}, u)},
	}))(w.t)
}

// logged is a log that has the same entry for every id.
type logged struct{ requestlog.Entry }

func (l logged) Find(context.Context, string) ([]requestlog.Entry, error) {
	return []requestlog.Entry{l.Entry}, nil
}

// TestLookupTimes: a request's time is written as on other pages.
func TestLookupTimes(t *testing.T) {
	w := newWorld(t)
	ops := w.member("ops", "operator")
	for took, want := range map[time.Duration]string{1809200 * time.Microsecond: "1.8 s", 12900 * time.Microsecond: "12 ms"} {
		w.operator.Requests = logged{requestlog.Entry{Took: took}}
		if got := ops.get("/lookup?id=" + task.NewID(task.PrefixRequest, w.now())).body; !strings.Contains(got, `<td class="number">`+want+`</td>`) {
			t.Errorf("%s isn't written as %s: %s", took, want, got)
		}
	}
}
