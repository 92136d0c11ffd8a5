package operator_test

import (
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"unitask/internal/account"
	"unitask/internal/api"
	"unitask/internal/fault"
	"unitask/internal/gate"
	"unitask/internal/operator"
	"unitask/internal/store"
	"unitask/internal/task"
	"unitask/test/fixture"
)

// TestUsageOfSessions: keys that aren't stored, a new one for each command of the local client, are one row; who uses
// the console has one by name.
func TestUsageOfSessions(t *testing.T) {
	o := newTestOperator(t)
	ctx := t.Context()
	owner := fixture.Must(o.CreateAccount(ctx, api.AccountCreate{Name: "shop"}))(t).ID
	kept := fixture.Must(o.CreateKey(ctx, api.KeyCreate{Name: "till", Mode: task.Live, Account: "shop"}))(t).ID
	_, ann, err := o.SignIn(ctx, o.invited("shop", "ann", ""), "")
	if err != nil {
		t.Fatal(err)
	}
	console := ann.Key(task.Live).ID
	for _, key := range []string{kept, "key_a", "key_b", "key_a", console} {
		o.run(owner, key, task.Usage{Images: 1})
	}
	want := []api.UsageRow{
		{Group: kept, Name: "till", Mode: task.Live, Succeeded: 1, Work: api.Work{Images: 1}, Cost: "0.1"},
		{Group: "session", Name: "the local client, and members who left", Mode: task.Live, Succeeded: 3, Work: api.Work{Images: 3}, Cost: "0.3"},
		{Group: console, Name: "ann in the console", Mode: task.Live, Succeeded: 1, Work: api.Work{Images: 1}, Cost: "0.1"},
	}
	slices.SortFunc(want, func(a, b api.UsageRow) int { return strings.Compare(a.Group, b.Group) })
	if diff := cmp.Diff(want, fixture.Must(o.Usage(ctx, api.UsageQuery{By: api.ByKey}))(t).Data); diff != "" {
		t.Errorf("by key (-want +got):\n%s", diff)
	}
}

// TestUsageByMetadata: the rows of a name's texts, and of what has none, add up to all there was.
func TestUsageByMetadata(t *testing.T) {
	o := newTestOperator(t)
	ctx := t.Context()
	owner := fixture.Must(o.CreateAccount(ctx, api.AccountCreate{Name: "shop"}))(t).ID
	for i, team := range []string{"search", "ads", "search", "", strings.TrimPrefix(task.OtherTexts, "=")} {
		m := task.Metadata{"team": team}
		if i == 3 {
			m = nil
		}
		o.runWith(owner, "key_a", m, task.Usage{Images: int64(i + 1)})
	}
	row := func(group, name string, succeeded, images int64, cost string) api.UsageRow {
		return api.UsageRow{Group: group, Name: name, Mode: task.Live, Succeeded: succeeded, Work: api.Work{Images: images}, Cost: cost}
	}
	want := []api.UsageRow{row("", "without team", 1, 4, "0.4"), row("", "other texts", 1, 5, "0.5"), row("ads", "", 1, 2, "0.2"), row("search", "", 2, 4, "0.4")}
	if diff := cmp.Diff(want, fixture.Must(o.Usage(ctx, api.UsageQuery{By: "metadata.team", Account: "shop"}))(t).Data); diff != "" {
		t.Errorf("by team (-want +got):\n%s", diff)
	}
	want = []api.UsageRow{row("", "without user", 5, 15, "1.5")}
	if diff := cmp.Diff(want, fixture.Must(o.Usage(ctx, api.UsageQuery{By: "metadata.user"}))(t).Data); diff != "" {
		t.Errorf("by a name that nobody gives (-want +got):\n%s", diff)
	}
	if _, err := o.Usage(ctx, api.UsageQuery{By: "metadata."}); fault.From(err).Message != "by metadata. must have a name of 1 to 64 characters" {
		t.Error(err)
	}
	if _, err := o.Usage(ctx, api.UsageQuery{By: "metadata.te am"}); fault.From(err).Code != fault.InvalidRequest {
		t.Errorf("by a name that can't be: %v", err)
	}
}

// TestUsageGroups adds up two keys of two accounts over two days.
func TestUsageGroups(t *testing.T) {
	o := newTestOperator(t)
	ctx := t.Context()
	var ids []string
	var keys []api.Key
	for _, name := range []string{"shop", "other"} {
		ids = append(ids, fixture.Must(o.CreateAccount(ctx, api.AccountCreate{Name: name}))(t).ID)
		o.advance(time.Millisecond)
		keys = append(keys, fixture.Must(o.CreateKey(ctx, api.KeyCreate{Name: "key of " + name, Mode: task.Live, Account: name}))(t))
	}
	for i := range 4 {
		o.run(ids[i%2], keys[i%2].ID, task.Usage{Images: int64(i + 1)})
		o.advance(12 * time.Hour)
	}
	row := func(group, name string, succeeded, images int64, cost string) api.UsageRow {
		return api.UsageRow{Group: group, Name: name, Mode: task.Live, Succeeded: succeeded, Work: api.Work{Images: images}, Cost: cost}
	}
	for _, tt := range []struct {
		q    api.UsageQuery
		want []api.UsageRow
	}{
		{api.UsageQuery{}, []api.UsageRow{row(ids[0], "shop", 2, 4, "0.4"), row(ids[1], "other", 2, 6, "0.6")}},
		{api.UsageQuery{By: api.ByKey, Account: "other"}, []api.UsageRow{row(keys[1].ID, "key of other", 2, 6, "0.6")}},
		{api.UsageQuery{By: api.ByCapability}, []api.UsageRow{row("image.generate", "", 4, 10, "1")}},
		{api.UsageQuery{By: api.ByDay}, []api.UsageRow{row("2026-11-21", "", 2, 3, "0.3"), row("2026-11-22", "", 2, 7, "0.7")}},
		{api.UsageQuery{By: api.ByDay, Since: "2026-11-22", Account: ids[0]}, []api.UsageRow{row("2026-11-22", "", 1, 3, "0.3")}},
		{api.UsageQuery{By: api.ByDay, Until: "2026-11-20"}, []api.UsageRow{}},
	} {
		got := fixture.Must(o.Usage(ctx, tt.q))(t)
		if diff := cmp.Diff(tt.want, got.Data); diff != "" {
			t.Errorf("%+v (-want +got):\n%s", tt.q, diff)
		}
	}
	spent := fixture.Must(o.Usage(ctx, api.UsageQuery{By: api.BySupplier}))(t)
	want := []api.SupplierUsage{{Supplier: "s", Mode: task.Live, OK: 4, Cost: "0.000000028", SavedCost: "0", MeanMillis: 0}}
	if diff := cmp.Diff(want, spent.Suppliers); diff != "" {
		t.Errorf("by supplier (-want +got):\n%s", diff)
	}
	for name, bad := range map[string]api.UsageQuery{
		"a group": {By: "week"}, "a day": {Since: "yesterday"}, "a supplier of an account": {By: api.BySupplier, Account: "shop"},
	} {
		_, err := o.Usage(ctx, bad)
		wantCode(t, name, err, fault.InvalidRequest)
	}
}

// TestUsageGroupsAtOnce: one walk brings the rows that the report has by each group, those that cost the most first.
func TestUsageGroupsAtOnce(t *testing.T) {
	o := newTestOperator(t)
	ctx := t.Context()
	shop := fixture.Must(o.CreateAccount(ctx, api.AccountCreate{Name: "shop"}))(t).ID
	o.advance(time.Millisecond)
	other := fixture.Must(o.CreateAccount(ctx, api.AccountCreate{Name: "other"}))(t).ID
	key := fixture.Must(o.CreateKey(ctx, api.KeyCreate{Name: "till", Mode: task.Live, Account: "other"}))(t).ID
	first := account.DateOf(o.now())
	o.runWith(shop, "gone", task.Metadata{"team": "search", "user": "ann"}, task.Usage{Images: 2})
	o.advance(48 * time.Hour)
	o.runWith(other, key, task.Metadata{"team": "ads"}, task.Usage{Images: 3})
	o.runWith(other, "gone too", nil, task.Usage{Images: 4})
	row := func(group, name string, succeeded, images int64, cost string) api.UsageRow {
		return api.UsageRow{Group: group, Name: name, Succeeded: succeeded, Work: api.Work{Images: images}, Cost: cost}
	}
	want := operator.UsageGroups{
		Days:         []api.UsageRow{row("2026-11-21", "", 1, 2, "0.2"), row("2026-11-22", "", 0, 0, "0"), row("2026-11-23", "", 2, 7, "0.7")},
		Capabilities: []api.UsageRow{row("image.generate", "", 3, 9, "0.9")},
		Keys:         []api.UsageRow{row(api.BySession, "", 2, 6, "0.6"), row(key, "", 1, 3, "0.3")},
		Accounts:     []api.UsageRow{row(other, "", 2, 7, "0.7"), row(shop, "", 1, 2, "0.2")},
		Costs:        [][]task.Money{{0, 0, 7 * task.USD / 10}, {task.USD / 5, 0, 0}},
		Metadata: [][]api.UsageRow{
			{row("", "without user", 2, 7, "0.7"), row("ann", "", 1, 2, "0.2")},
			{row("", "without team", 1, 4, "0.4"), row("ads", "", 1, 3, "0.3"), row("search", "", 1, 2, "0.2")},
		},
	}
	q := operator.SumsQuery{First: first, Last: first + 2, Metadata: []string{"user", "team"}}
	names := fixture.Must(o.KeyNames(ctx))(t)
	if diff := cmp.Diff(want, fixture.Must(o.UsageGroups(ctx, q, names))(t)); diff != "" {
		t.Errorf("of all accounts (-want +got):\n%s", diff)
	}
	q.Mode, q.Metadata = task.Test, nil
	none := fixture.Must(o.UsageGroups(ctx, q, names))(t)
	if len(none.Days) != 3 || len(none.Keys)+len(none.Accounts)+len(none.Capabilities)+len(none.Metadata) != 0 {
		t.Errorf("of the other mode: %+v", none)
	}
}

// run ends a task of a key at ten cents a picture.
func (o *testOperator) run(owner, key string, u task.Usage) {
	o.t.Helper()
	o.runWith(owner, key, nil, u)
}

// runWith is run with metadata, by all of whose pairs the usage is summed.
func (o *testOperator) runWith(owner, key string, m task.Metadata, u task.Usage) {
	o.t.Helper()
	now := o.now()
	id := task.NewID(task.PrefixTask, now)
	if err := o.db.Renew(o.t.Context(), id, time.Hour); err != nil {
		o.t.Fatal(err)
	}
	holds := o.gate.Holds(o.callerOf(owner, key), task.Money(u.Images)*task.USD/10, 0)
	made, err := o.db.CreateTask(o.t.Context(), store.NewTask{
		ID: id, Scope: task.Scope{Account: owner, Mode: task.Live}, KeyID: key, Capability: "image.generate",
		Metadata: m, UsageBy: slices.Sorted(maps.Keys(m)),
		IdempotencyHash: account.HashSecret(id), Deadline: time.Hour, Price: task.Price{Unit: task.PerImage, Output: task.USD / 10}, Reserved: 10 * task.USD,
		Holds: holds, First: &store.First{Node: id, Plans: []task.Plan{{Supplier: "s", Model: "m"}}},
	})
	if err == nil {
		_, err = o.db.Advance(o.t.Context(), made.Lease.Ref, store.Step{
			Close: &task.Closing{State: task.OK, Cost: 7}, Moves: []task.Transition{task.Transfer(), task.Succeed(task.Output{}, u)},
		})
	}
	if err != nil {
		o.t.Fatal(err)
	}
}

// callerOf returns the caller of ids; those that the store doesn't have have no limits.
func (o *testOperator) callerOf(owner, key string) gate.Caller {
	o.t.Helper()
	c := gate.Caller{Key: account.Key{ID: key, Account: owner, Mode: task.Live}, Account: account.Account{ID: owner}}
	for _, a := range fixture.Must(o.db.ListAccounts(o.t.Context()))(o.t) {
		if a.ID == owner {
			c.Account = a
		}
	}
	for _, k := range fixture.Must(o.db.ListKeys(o.t.Context()))(o.t) {
		if k.ID == key {
			c.Key = k
		}
	}
	return c
}
