package operator_test

import (
	"encoding/json"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"unitask/internal/account"
	"unitask/internal/api"
	"unitask/internal/fault"
	"unitask/internal/gate"
	"unitask/internal/operator"
	"unitask/internal/requestlog"
	"unitask/internal/store/memstore"
	"unitask/internal/task"
	"unitask/test/fixture"
)

// testOperator is an Operator on a store in memory, with the clock of the test and a request log.
type testOperator struct {
	*operator.Operator
	t    *testing.T
	db   *memstore.DB
	gate *gate.Gate
	log  *requestlog.Log
	mu   sync.Mutex
	at   time.Time
}

func newTestOperator(t *testing.T) *testOperator {
	t.Helper()
	o := &testOperator{t: t, at: time.Date(2026, 11, 21, 8, 0, 0, 0, time.UTC)}
	o.db = memstore.New(o.now)
	var err error
	if o.gate, err = gate.New(gate.Config{Keys: o.db, Prefix: "svc", Now: o.now}); err != nil {
		t.Fatal(err)
	}
	if o.log, err = requestlog.Open(requestlog.Config{Dir: t.TempDir(), Now: o.now}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := o.log.Close(); err != nil {
			t.Error(err)
		}
	})
	o.Operator = &operator.Operator{
		Store: o.db, Tasks: o.db, Requests: o.log, Prefix: "svc", Server: api.Info{BaseURL: "https://ai.example"}, Now: o.now,
	}
	return o
}

func (o *testOperator) now() time.Time {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.at
}

func (o *testOperator) advance(d time.Duration) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.at = o.at.Add(d)
}

// opens reports whether the gate lets a key in.
func (o *testOperator) opens(secret string) bool {
	_, err := o.gate.Authenticate(o.t.Context(), "Bearer "+secret)
	return err == nil
}

func wantCode(t *testing.T, what string, err error, want fault.Code) {
	t.Helper()
	if err == nil || fault.CodeOf(err) != want {
		t.Errorf("%s: %v, want %s", what, err, want)
	}
}

// invited returns the token of a member's link.
func (o *testOperator) invited(which, member, role string) string {
	o.t.Helper()
	link := fixture.Must(o.Invite(o.t.Context(), which, api.Invite{Member: member, Role: role}))(o.t)
	address, token, ok := strings.Cut(link.URL, "#")
	if !ok || address != "https://ai.example"+api.PathSignIn {
		o.t.Fatalf("the link is %s", link.URL)
	}
	return token
}

func TestRotate(t *testing.T) {
	o := newTestOperator(t)
	ctx := t.Context()
	old := fixture.Must(o.CreateKey(ctx, api.KeyCreate{
		Name: "shop", Mode: task.Live, Scopes: []string{"image.*"}, ExpiresInSeconds: 10 * 24 * 3600, Limits: api.Limits{OpenTasks: 3, Budget: "5", BudgetPeriod: "day"},
	}))(t)
	o.advance(time.Hour)
	next := fixture.Must(o.RotateKey(ctx, old.ID, api.KeyRotate{OverlapSeconds: 3600}))(t)
	want := old
	want.CreatedAt = api.Timestamp{Time: o.now()}
	want.ExpiresAt = &api.Timestamp{Time: o.now().Add(10 * 24 * time.Hour)}
	if diff := cmp.Diff(want, next, cmpopts.IgnoreFields(api.Key{}, "ID", "Secret", "Hint")); diff != "" || next.ID == old.ID || next.Secret == old.Secret {
		t.Errorf("the next key, %s (-want +got):\n%s", next.ID, diff)
	}
	if !o.opens(old.Secret) || !o.opens(next.Secret) {
		t.Error("within the overlap one of the keys is refused")
	}
	if o.advance(time.Hour); o.opens(old.Secret) || !o.opens(next.Secret) {
		t.Error("after the overlap the old key is taken, or the new one refused")
	}
	_, err := o.RotateKey(ctx, old.ID, api.KeyRotate{})
	wantCode(t, "a key that is closed", err, fault.InvalidRequest)
	_, err = o.RotateKey(ctx, "key_x", api.KeyRotate{})
	wantCode(t, "an unknown key", err, fault.NotFound)
	_, err = o.RotateKey(ctx, next.ID, api.KeyRotate{OverlapSeconds: -1})
	wantCode(t, "a negative overlap", err, fault.InvalidRequest)
	last := fixture.Must(o.RotateKey(ctx, next.ID, api.KeyRotate{}))(t)
	if o.opens(next.Secret) || !o.opens(last.Secret) {
		t.Error("without an overlap the old key is taken, or the new one refused")
	}
}

// TestUpdateKey: the named members change, all others stay, and a closed key stays closed.
func TestUpdateKey(t *testing.T) {
	o := newTestOperator(t)
	ctx := t.Context()
	k := fixture.Must(o.CreateKey(ctx, api.KeyCreate{
		Name: "shop", Mode: task.Live, Scopes: []string{"image.*"}, ExpiresInSeconds: 3600,
		Limits: api.Limits{CreatesPerMinute: 60, OpenTasks: 3, Budget: "5", BudgetPeriod: "day"},
	}))(t)
	secret := k.Secret
	k.Secret = ""
	for _, step := range []struct {
		name   string
		update api.KeyUpdate
		want   func(*api.Key)
	}{
		{"nothing", api.KeyUpdate{}, func(*api.Key) {}},
		{"a limit", api.KeyUpdate{Limits: &api.LimitsUpdate{OpenTasks: new(7)}}, func(k *api.Key) { k.OpenTasks = 7 }},
		{"no budget", api.KeyUpdate{Limits: &api.LimitsUpdate{Budget: new("")}}, func(k *api.Key) { k.Budget, k.BudgetPeriod = "", "" }},
		{"a scope", api.KeyUpdate{Scopes: &[]string{"text.chat"}}, func(k *api.Key) { k.Scopes = []string{"text.chat"} }},
		{"everything", api.KeyUpdate{Scopes: &[]string{"*"}}, func(k *api.Key) { k.Scopes = []string{"*"} }},
		{"a name", api.KeyUpdate{Name: new(" till ")}, func(k *api.Key) { k.Name = "till" }},
		{"no expiry", api.KeyUpdate{ExpiresInSeconds: new(int64(0))}, func(k *api.Key) { k.ExpiresAt = nil }},
		{"an expiry", api.KeyUpdate{ExpiresInSeconds: new(int64(3600))}, func(k *api.Key) {
			k.ExpiresAt = &api.Timestamp{Time: o.now().Add(time.Hour)}
		}},
	} {
		step.want(&k)
		if diff := cmp.Diff(k, fixture.Must(o.UpdateKey(ctx, k.ID, step.update))(t)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", step.name, diff)
		}
	}
	for name, bad := range map[string]api.KeyUpdate{
		"no name": {Name: new(" ")}, "no scope": {Scopes: &[]string{}}, "a bad pattern": {Scopes: &[]string{"image*"}},
		"half a budget": {Name: new("left alone"), Limits: &api.LimitsUpdate{Budget: new("5")}},
		"an account's":  {Name: new("left alone"), Limits: &api.LimitsUpdate{SupplierSpend: new("none")}},
		"a past expiry": {Name: new("left alone"), ExpiresInSeconds: new(int64(-1))},
		"a far expiry":  {Name: new("left alone"), ExpiresInSeconds: new(int64(1 << 62))},
	} {
		_, err := o.UpdateKey(ctx, k.ID, bad)
		wantCode(t, name, err, fault.InvalidRequest)
	}
	if all := fixture.Must(o.ListKeys(ctx))(t); len(all) != 1 || !cmp.Equal(all[0], k) || !o.opens(secret) {
		t.Errorf("after what was refused: %+v", all)
	}
	_, err := o.UpdateKey(ctx, "key_x", api.KeyUpdate{})
	wantCode(t, "an unknown key", err, fault.NotFound)
	o.advance(time.Hour)
	_, err = o.UpdateKey(ctx, k.ID, api.KeyUpdate{Name: new("late")})
	wantCode(t, "a key that is closed", err, fault.InvalidRequest)
}

func TestAccounts(t *testing.T) {
	o := newTestOperator(t)
	ctx := t.Context()
	made := fixture.Must(o.CreateAccount(ctx, api.AccountCreate{
		Name: " shop ", Capabilities: []string{"image.*"}, Limits: api.Limits{Budget: "5.50", BudgetPeriod: "month", ReadsPerMinute: 7},
	}))(t)
	want := api.Account{
		ID: made.ID, Name: "shop", Capabilities: []string{"image.*"}, Limits: api.Limits{Budget: "5.5", BudgetPeriod: "month", ReadsPerMinute: 7},
		Members: []api.Member{}, State: "active", CreatedAt: api.Timestamp{Time: o.now()},
	}
	if diff := cmp.Diff(want, made); diff != "" {
		t.Errorf("made (-want +got):\n%s", diff)
	}
	for name, bad := range map[string]api.AccountCreate{
		"no name": {}, "a name twice": {Name: "shop"}, "a path": {Name: "a/b"}, "a dot": {Name: ".."}, "all": {Name: " * "}, "an id": {Name: made.ID},
		"a long name": {Name: strings.Repeat("n", 101)}, "a bad pattern": {Name: "x", Capabilities: []string{"image*"}},
		"half a budget": {Name: "x", Limits: api.Limits{Budget: "5"}},
	} {
		_, err := o.CreateAccount(ctx, bad)
		wantCode(t, name, err, fault.InvalidRequest)
	}
	o.invited("shop", "ann", "")
	want.Members = []api.Member{{Name: "ann", Role: "member", JoinedAt: api.Timestamp{Time: o.now()}}}
	want.Limits = api.Limits{ReadsPerMinute: 7, OpenTasks: 2}
	want.Capabilities = []string{}
	got := fixture.Must(o.UpdateAccount(ctx, made.ID, api.AccountUpdate{
		Capabilities: new([]string{}), Limits: &api.LimitsUpdate{Budget: new(""), OpenTasks: new(2)},
	}))(t)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("updated (-want +got):\n%s", diff)
	}
	for name, bad := range map[string]api.AccountUpdate{
		"nobody": {RemoveMembers: []string{"zoe"}}, "a bad pattern": {Capabilities: new([]string{"x*"})},
		"half a budget":            {Limits: &api.LimitsUpdate{Budget: new("1")}},
		"a spend without a period": {Limits: &api.LimitsUpdate{SupplierSpend: new("1")}},
		"no amount":                {Limits: &api.LimitsUpdate{SupplierSpend: new("all"), BudgetPeriod: new("day")}},
	} {
		_, err := o.UpdateAccount(ctx, "shop", bad)
		wantCode(t, name, err, fault.InvalidRequest)
	}
	_, err := o.GetAccount(ctx, "nobody")
	wantCode(t, "an unknown account", err, fault.NotFound)
	if all := fixture.Must(o.ListAccounts(ctx))(t); len(all) != 1 || !cmp.Equal(all[0], want) {
		t.Errorf("the list: %+v", all)
	}
}

// TestSignIn: a link opens one session, once, in its time, for whom it was made; everything else gets one answer.
func TestSignIn(t *testing.T) {
	o := newTestOperator(t)
	ctx := t.Context()
	fixture.Must(o.CreateAccount(ctx, api.AccountCreate{Name: "shop"}))(t)
	link := o.invited("shop", "ann", "")
	token, visitor, err := o.SignIn(ctx, link, "")
	if err != nil || token == link || visitor.Account.Name != "shop" || visitor.Session.Member != "ann" || visitor.Session.Role != account.RoleMember {
		t.Fatalf("%+v, %v", visitor, err)
	}
	_, _, want := o.SignIn(ctx, link, "")
	wantCode(t, "a link that was used", want, fault.Unauthenticated)
	late := o.invited("shop", "ann", "")
	o.advance(account.LinkLife)
	for name, bad := range map[string]string{"expired": late, "unknown": account.NewToken(), "empty": "", "a session's": token} {
		if _, _, err := o.SignIn(ctx, bad, ""); err == nil || err.Error() != want.Error() {
			t.Errorf("%s: %v, want the one answer %v", name, err, want)
		}
	}
	o.advance(3 * time.Hour)
	got := fixture.Must(o.Visit(ctx, token))(t)
	if !got.Session.SeenAt.Equal(o.now()) {
		t.Errorf("seen at %s, want %s", got.Session.SeenAt, o.now())
	}
	for name, bad := range map[string]string{"a link's": link, "unknown": account.NewToken(), "empty": ""} {
		_, err := o.Visit(ctx, bad)
		wantCode(t, name, err, fault.Unauthenticated)
	}
	if o.opens(token) {
		t.Error("a session's token is taken for a key")
	}
	if err := o.SignOut(ctx, token); err != nil {
		t.Fatal(err)
	}
	_, err = o.Visit(ctx, token)
	wantCode(t, "after signing out", err, fault.Unauthenticated)
}

// TestMemberIsSignedOut: who is removed, has another role or stays too long has no session any more.
func TestMemberIsSignedOut(t *testing.T) {
	o := newTestOperator(t)
	ctx := t.Context()
	fixture.Must(o.CreateAccount(ctx, api.AccountCreate{Name: "shop"}))(t)
	for name, end := range map[string]func(){
		"removed": func() {
			fixture.Must(o.UpdateAccount(ctx, "shop", api.AccountUpdate{RemoveMembers: []string{"ann"}}))(t)
		},
		"another role": func() { o.invited("shop", "ann", "operator") },
		"too long":     func() { o.advance(account.SessionLife) },
	} {
		token, _, err := o.SignIn(ctx, o.invited("shop", "ann", "member"), "")
		if err != nil {
			t.Fatal(err)
		}
		end()
		_, err = o.Visit(ctx, token)
		wantCode(t, name, err, fault.Unauthenticated)
	}
}

// TestMemberSeesOneAccount asks as a member for another account's objects: it isn't there, as if it didn't exist.
func TestMemberSeesOneAccount(t *testing.T) {
	o := newTestOperator(t)
	ctx := t.Context()
	own := fixture.Must(o.CreateAccount(ctx, api.AccountCreate{Name: "shop"}))(t)
	fixture.Must(o.CreateAccount(ctx, api.AccountCreate{Name: "other"}))(t)
	theirs := fixture.Must(o.CreateKey(ctx, api.KeyCreate{Name: "theirs", Mode: task.Live, Account: "other"}))(t)
	_, visitor, err := o.SignIn(ctx, o.invited("shop", "ann", ""), "")
	if err != nil {
		t.Fatal(err)
	}
	m := o.Member(visitor)
	if m.Account().ID != own.ID {
		t.Errorf("the member's account is %s", m.Account().Name)
	}
	mine := fixture.Must(m.CreateKey(ctx, api.KeyCreate{Name: "mine", Mode: task.Test}))(t)
	if keys := fixture.Must(m.Keys(ctx))(t); len(keys) != 1 || keys[0].ID != mine.ID || keys[0].Account != "shop" || keys[0].Secret != "" {
		t.Errorf("keys %+v", keys)
	}
	_, unknown := m.RevokeKey(ctx, "key_x")
	_, revoke := m.RevokeKey(ctx, theirs.ID)
	_, rotate := m.RotateKey(ctx, theirs.ID, api.KeyRotate{})
	_, update := m.UpdateKey(ctx, theirs.ID, api.KeyUpdate{Limits: &api.LimitsUpdate{OpenTasks: new(1)}})
	for name, err := range map[string]error{"revoke": revoke, "rotate": rotate, "update": update} {
		if err == nil || err.Error() != unknown.Error() {
			t.Errorf("%s: %v, want what an unknown key gets, %v", name, err, unknown)
		}
	}
	_, err = m.CreateKey(ctx, api.KeyCreate{Name: "x", Mode: task.Test, Account: "other"})
	wantCode(t, "a key of another account", err, fault.NotFound)
	if !o.opens(theirs.Secret) {
		t.Error("the other account's key is closed")
	}

	now := o.now()
	foreign := requestlog.Entry{
		ID: task.NewID(task.PrefixRequest, now), At: now, KeyID: theirs.ID, Account: "acct_other", TaskID: task.NewID(task.PrefixTask, now), Status: 200,
	}
	o.log.Add(foreign)
	for _, id := range []string{foreign.ID, foreign.TaskID} {
		_, err := m.FindRequests(ctx, id)
		wantCode(t, "another account's request", err, fault.NotFound)
		if got := fixture.Must(o.FindRequests(ctx, id))(t); len(got.Data) != 1 || got.Data[0].KeyID != theirs.ID {
			t.Errorf("the operator finds %+v", got)
		}
	}
	fixture.Must(m.RevokeKey(ctx, mine.ID))(t)
	if o.opens(mine.Secret) {
		t.Error("the member's own key is still taken")
	}
}

// TestNothingIsToldTwice: a key's or a link's secret can't be had again from an Operator's results or store.
func TestNothingIsToldTwice(t *testing.T) {
	o := newTestOperator(t)
	ctx := t.Context()
	key := fixture.Must(o.CreateKey(ctx, api.KeyCreate{Name: "k", Mode: task.Live}))(t)
	token := o.invited("", "ann", "operator")
	keys := fixture.Must(o.db.ListKeys(ctx))(t)
	accounts := fixture.Must(o.ListAccounts(ctx))(t)
	listed := fixture.Must(o.ListKeys(ctx))(t)
	for _, told := range []any{keys, accounts, listed} {
		if text := fixture.Must(jsonOf(told))(t); strings.Contains(text, key.Secret) || strings.Contains(text, token) {
			t.Errorf("%s", text)
		}
	}
	_, _, err := o.SignIn(ctx, account.HashSecret(token).String(), "")
	wantCode(t, "the hash of a link's token", err, fault.Unauthenticated)
}

func jsonOf(v any) (string, error) {
	raw, err := json.Marshal(v)
	return string(raw), err
}

// TestSupplierSpend sets, changes and removes the limit on suppliers' charges for an account. Its members don't see
// it, and their keys have no such limit.
func TestSupplierSpend(t *testing.T) {
	o := newTestOperator(t)
	a, err := o.CreateAccount(t.Context(), api.AccountCreate{Name: "shop", Limits: api.Limits{SupplierSpend: "7", BudgetPeriod: "day"}})
	if err != nil || a.Limits != (api.Limits{SupplierSpend: "7", BudgetPeriod: "day"}) {
		t.Fatalf("%+v %v", a.Limits, err)
	}
	for _, tt := range []struct {
		update api.LimitsUpdate
		want   api.Limits
	}{
		{api.LimitsUpdate{Budget: new("2")}, api.Limits{Budget: "2", BudgetPeriod: "day", SupplierSpend: "7"}},
		{api.LimitsUpdate{SupplierSpend: new("none")}, api.Limits{Budget: "2", BudgetPeriod: "day", SupplierSpend: "none"}},
		{api.LimitsUpdate{SupplierSpend: new("")}, api.Limits{Budget: "2", BudgetPeriod: "day"}},
		{api.LimitsUpdate{SupplierSpend: new("9"), Budget: new("")}, api.Limits{BudgetPeriod: "day", SupplierSpend: "9"}},
		{api.LimitsUpdate{SupplierSpend: new("")}, api.Limits{}},
	} {
		got, err := o.UpdateAccount(t.Context(), a.ID, api.AccountUpdate{Limits: &tt.update})
		if err != nil || got.Limits != tt.want {
			t.Errorf("%+v %v, want %+v", got.Limits, err, tt.want)
		}
	}
	if _, err := o.CreateKey(t.Context(), api.KeyCreate{Name: "k", Mode: task.Live, Limits: api.Limits{SupplierSpend: "none"}}); fault.CodeOf(err) != fault.InvalidRequest {
		t.Errorf("a key's: %v", err)
	}
	m := o.Member(operator.Visitor{Account: account.Account{Name: "shop", Limits: account.Limits{OpenTasks: 3, SupplierSpend: task.USD, BudgetPeriod: account.Day}}})
	if got := m.Account().Limits; got.SupplierSpend != "" || got.OpenTasks != 3 {
		t.Errorf("a member sees %+v", got)
	}
}
