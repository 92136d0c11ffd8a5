package operator_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"unitask/internal/api"
	"unitask/internal/fault"
	"unitask/internal/requestlog"
	"unitask/internal/task"
	"unitask/test/fixture"
)

// TestRequestsOfOtherNodes has the other nodes asked for what this one's log can't tell: their records are put between
// its own, and those who gave no full answer are named to operators alone.
func TestRequestsOfOtherNodes(t *testing.T) {
	o := newTestOperator(t)
	ctx := t.Context()
	own := fixture.Must(o.CreateAccount(ctx, api.AccountCreate{Name: "shop"}))(t)
	_, visitor, err := o.SignIn(ctx, o.invited("shop", "ann", ""), "")
	if err != nil {
		t.Fatal(err)
	}
	m := o.Member(visitor)
	now := o.now()
	id := task.NewID(task.PrefixTask, now)
	entry := func(after time.Duration, account string) requestlog.Entry {
		return requestlog.Entry{ID: task.NewID(task.PrefixRequest, now), At: now.Add(after), Account: account, TaskID: id, Status: 200}
	}
	first, second, third, foreign := entry(0, own.ID), entry(time.Second, own.ID), entry(2*time.Second, own.ID), entry(3*time.Second, "acct_other")
	o.log.Add(first)
	o.log.Add(third)
	asked, askedOne := 0, false
	var elsewhere []requestlog.Entry
	var silent []string
	o.AskFunc = func(_ context.Context, _ string, one bool) ([]requestlog.Entry, []string) {
		asked++
		askedOne = one
		return elsewhere, silent
	}
	ids := func(list api.RequestList) (ids []string) {
		for _, r := range list.Data {
			ids = append(ids, r.ID)
		}
		return ids
	}
	wantIDs := func(what string, list api.RequestList, want ...requestlog.Entry) {
		t.Helper()
		var names []string
		for _, e := range want {
			names = append(names, e.ID)
		}
		if diff := cmp.Diff(names, ids(list)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", what, diff)
		}
	}

	wantIDs("a request of this node", fixture.Must(o.FindRequests(ctx, first.ID))(t), first)
	if asked > 0 {
		t.Error("the other nodes are asked for a request that this one answered")
	}
	elsewhere, silent = []requestlog.Entry{foreign, second}, []string{"host:1", "host:2"}
	list := fixture.Must(o.FindRequests(ctx, id))(t)
	wantIDs("of all nodes", list, first, second, third, foreign)
	if askedOne {
		t.Error("one answer is taken for all requests of a task")
	}
	if diff := cmp.Diff(silent, list.Incomplete); diff != "" {
		t.Errorf("incomplete (-want +got):\n%s", diff)
	}
	list = fixture.Must(m.FindRequests(ctx, id))(t)
	wantIDs("of the member's account", list, first, second, third)
	if len(list.Incomplete) != 1 || strings.Contains(list.Incomplete[0], "host") {
		t.Errorf("a member hears of %v", list.Incomplete)
	}

	elsewhere = nil
	unknown := task.NewID(task.PrefixRequest, now)
	_, err = o.FindRequests(ctx, unknown)
	wantCode(t, "not found", err, fault.NotFound)
	if !askedOne {
		t.Error("more answers are waited for when one has the request")
	}
	if !strings.Contains(err.Error(), "host:1, host:2") {
		t.Errorf("the operator hears %v", err)
	}
	_, err = m.FindRequests(ctx, unknown)
	wantCode(t, "not found for the member", err, fault.NotFound)
	if strings.Contains(err.Error(), "host") {
		t.Errorf("the member hears %v", err)
	}
}
