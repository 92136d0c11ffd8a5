package operator_test

import (
	"context"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"unitask/internal/account"
	"unitask/internal/api"
	"unitask/internal/fault"
	"unitask/internal/operator"
	"unitask/internal/store"
	"unitask/internal/task"
	"unitask/test/fixture"
)

// refusal returns the message by which the gate refuses a key, "" if it lets it in.
func (o *testOperator) refusal(secret string) string {
	if _, err := o.gate.Authenticate(o.t.Context(), "Bearer "+secret); err != nil {
		return string(fault.CodeOf(err)) + " " + fault.From(err).Message
	}
	return ""
}

// TestSuspended: a suspended account's keys are refused with the next request, in words of their own, and its members
// sign in; resuming undoes it. Another account and operator keys go on.
func TestSuspended(t *testing.T) {
	o := newTestOperator(t)
	ctx := t.Context()
	key := fixture.Must(o.CreateKey(ctx, api.KeyCreate{Name: "k", Mode: task.Live, Account: "default"}))(t).Secret
	other := fixture.Must(o.CreateKey(ctx, api.KeyCreate{Name: "k", Mode: task.Live, Account: "other"}))(t).Secret
	owner := operator.Owner{Operator: o.Operator}
	ops := fixture.Must(owner.CreateKey(ctx, api.KeyCreate{Name: "ops", Mode: account.Operator}))(t).Secret
	session, _ := o.signedIn("default", "ann", "")
	if o.refusal(key) != "" {
		t.Fatal("the key is refused")
	}
	for range 2 {
		got := fixture.Must(o.SuspendAccount(ctx, "default"))(t)
		if got.State != "suspended" || got.StateAt == nil {
			t.Errorf("%+v", got)
		}
	}
	if got := o.refusal(key); !strings.HasPrefix(got, "UNAUTHENTICATED the key's account is suspended") {
		t.Errorf("the key of a suspended account: %q", got)
	}
	if o.refusal(other) != "" {
		t.Error("another account's key is refused")
	}
	if _, err := o.gate.AuthenticateOperator(ctx, "Bearer "+ops); err != nil {
		t.Errorf("an operator key: %v", err)
	}
	fixture.Must(o.Visit(ctx, session))(t)
	o.signedIn("default", "bob", "")
	got := fixture.Must(o.ResumeAccount(ctx, "default"))(t)
	if got.State != "active" || got.StateAt != nil || o.refusal(key) != "" {
		t.Errorf("resumed: %+v, %q", got, o.refusal(key))
	}
	_, err := o.SuspendAccount(ctx, "nobody")
	wantCode(t, "no such account", err, fault.NotFound)
}

// queued makes a waiting task of an account.
func (o *testOperator) queued(owner string) task.Task {
	o.t.Helper()
	id := task.NewID(task.PrefixTask, o.now())
	t := store.NewTask{
		ID: id, Scope: task.Scope{Account: owner, Mode: task.Live}, Capability: "image.generate", IdempotencyHash: account.HashSecret(id),
		Price: task.Price{Unit: task.PerImage}, Deadline: time.Hour,
	}
	return fixture.Must(o.db.CreateTask(o.t.Context(), t))(o.t).Task
}

// TestClosed: closing takes the name, and ends keys, sessions, links and queued tasks of that account alone. A resumed
// account has none of them again.
func TestClosed(t *testing.T) {
	o := newTestOperator(t)
	ctx := t.Context()
	key := fixture.Must(o.CreateKey(ctx, api.KeyCreate{Name: "k", Mode: task.Live, Account: "shop"}))(t)
	other := fixture.Must(o.CreateKey(ctx, api.KeyCreate{Name: "k", Mode: task.Live, Account: "other"}))(t)
	shop, beside := fixture.Must(o.GetAccount(ctx, "shop"))(t), fixture.Must(o.GetAccount(ctx, "other"))(t)
	session, _ := o.signedIn("shop", "ann", "admin")
	theirs, _ := o.signedIn("other", "ann", "")
	link := o.invited("shop", "bob", "")
	const waiting = store.MaxPage + 10 // more than a page
	for range waiting {
		o.queued(shop.ID)
	}
	left := o.queued(beside.ID)
	for _, name := range []string{"", "Shop", "other"} {
		_, err := o.CloseAccount(ctx, "shop", api.AccountClose{Name: name})
		wantCode(t, "closing by "+name, err, fault.InvalidRequest)
	}
	fixture.Must(o.SuspendAccount(ctx, "shop"))(t)
	done := fixture.Must(o.CloseAccount(ctx, shop.ID, api.AccountClose{Name: "shop"}))(t)
	if done.Account.State != "closed" || done.Keys != 1 || done.Sessions != 1 || done.Tasks != waiting {
		t.Errorf("%+v", done)
	}
	again := fixture.Must(o.CloseAccount(ctx, "shop", api.AccountClose{Name: "shop"}))(t)
	if again.Keys+again.Sessions+again.Tasks != 0 || *again.Account.StateAt != *done.Account.StateAt {
		t.Errorf("closed again: %+v", again)
	}
	if got := o.refusal(key.Secret); got != o.refusal(account.NewKeySecret("svc", task.Live)) {
		t.Errorf("the key of a closed account: %q", got)
	}
	_, err := o.Visit(ctx, session)
	wantCode(t, "its session", err, fault.Unauthenticated)
	_, _, err = o.SignIn(ctx, link, "")
	wantCode(t, "its link", err, fault.Unauthenticated)
	for name, try := range map[string]func() error{
		"a key": func() error {
			_, err := o.CreateKey(ctx, api.KeyCreate{Name: "k", Mode: task.Test, Account: "shop"})
			return err
		},
		"a rotation":   func() error { _, err := o.RotateKey(ctx, key.ID, api.KeyRotate{}); return err },
		"an invite":    func() error { _, err := o.Invite(ctx, "shop", api.Invite{Member: "zoe"}); return err },
		"a suspension": func() error { _, err := o.SuspendAccount(ctx, "shop"); return err },
	} {
		wantCode(t, name+" of a closed account", try(), fault.InvalidRequest)
	}
	if now := fixture.Must(o.db.GetTask(ctx, left.Scope, left.ID))(t); now.State != task.Queued || o.refusal(other.Secret) != "" {
		t.Errorf("another account's task is %s, its key %q", now.State, o.refusal(other.Secret))
	}
	fixture.Must(o.Visit(ctx, theirs))(t)
	fixture.Must(o.ResumeAccount(ctx, "shop"))(t)
	_, err = o.Visit(ctx, session)
	wantCode(t, "a session after the account is resumed", err, fault.Unauthenticated)
	if o.refusal(key.Secret) == "" {
		t.Error("a key of a closed account opens it again once it is resumed")
	}
	o.signedIn("shop", "ann", "admin")
}

// TestRename: an account is known by its new name, and keeps its id and keys.
func TestRename(t *testing.T) {
	o := newTestOperator(t)
	ctx := t.Context()
	key := fixture.Must(o.CreateKey(ctx, api.KeyCreate{Name: "k", Mode: task.Live, Account: "shop"}))(t)
	fixture.Must(o.CreateAccount(ctx, api.AccountCreate{Name: "other"}))(t)
	was := fixture.Must(o.GetAccount(ctx, "shop"))(t)
	for _, bad := range []string{"", "a/b", "..", "*", "other", was.ID, strings.Repeat("n", 101)} {
		_, err := o.UpdateAccount(ctx, "shop", api.AccountUpdate{Name: &bad})
		wantCode(t, "the name "+bad, err, fault.InvalidRequest)
	}
	got := fixture.Must(o.UpdateAccount(ctx, "shop", api.AccountUpdate{Name: new(" webshop ")}))(t)
	if got.ID != was.ID || got.Name != "webshop" || o.refusal(key.Secret) != "" {
		t.Errorf("%+v, key %q", got, o.refusal(key.Secret))
	}
	if keys := fixture.Must(o.ListKeys(ctx))(t); keys[0].Account != "webshop" {
		t.Errorf("the key is one of %s", keys[0].Account)
	}
	_, err := o.GetAccount(ctx, "shop")
	wantCode(t, "the old name", err, fault.NotFound)
}

// TestNamesOfNewAccounts: a key makes no account of a name that one can't be given.
func TestNamesOfNewAccounts(t *testing.T) {
	o := newTestOperator(t)
	for _, bad := range []string{"*", "a/b", "..", strings.Repeat("n", 101)} {
		_, err := o.CreateKey(t.Context(), api.KeyCreate{Name: "web", Mode: task.Test, Account: bad})
		wantCode(t, bad, err, fault.InvalidRequest)
	}
	if all := fixture.Must(o.ListAccounts(t.Context()))(t); len(all) > 0 {
		t.Errorf("made %+v", all)
	}
}

// TestOldLinksStayClosed: a link from before a closing opens no session once the account is resumed, nor does a role that
// is given again make it one; a new link does.
func TestOldLinksStayClosed(t *testing.T) {
	o := newTestOperator(t)
	ctx := t.Context()
	fixture.Must(o.CreateAccount(ctx, api.AccountCreate{Name: "shop"}))(t)
	o.signedIn("shop", "ann", "admin")
	old := []string{o.invited("shop", "ann", "admin"), o.invited("shop", "bob", ""), o.invited("shop", "ann", "admin")}
	fixture.Must(o.CloseAccount(ctx, "shop", api.AccountClose{Name: "shop"}))(t)
	fixture.Must(o.ResumeAccount(ctx, "shop"))(t)
	for i, link := range old[:2] {
		_, _, err := o.SignIn(ctx, link, "")
		wantCode(t, "an old link after the account is resumed", err, fault.Unauthenticated)
		o.signedIn("shop", []string{"ann", "bob"}[i], []string{"admin", ""}[i])
	}
	_, _, err := o.SignIn(ctx, old[2], "")
	wantCode(t, "an old link after a new one", err, fault.Unauthenticated)
}

// acceptsLate is a store in which another node, which hasn't heard of a closing yet, accepts tasks after each look at them.
type acceptsLate struct {
	store.Store
	accept func()
}

func (s acceptsLate) ListTasks(ctx context.Context, q store.ListQuery) (store.Page, error) {
	page, err := s.Store.ListTasks(ctx, q)
	s.accept()
	return page, err
}

// TestLateTasksOfAClosedAccount: tasks that are accepted just after the closing has looked at those that wait are canceled
// and counted too.
func TestLateTasksOfAClosedAccount(t *testing.T) {
	o := newTestOperator(t)
	shop := fixture.Must(o.CreateAccount(t.Context(), api.AccountCreate{Name: "shop"}))(t)
	o.queued(shop.ID)
	var late []task.Task
	o.Tasks = acceptsLate{o.db, func() {
		if len(late) < 2 { // one after the look at live tasks, one after that at test tasks
			late = append(late, o.queued(shop.ID))
		}
	}}
	done := fixture.Must(o.CloseAccount(t.Context(), "shop", api.AccountClose{Name: "shop"}))(t)
	if len(late) != 2 || done.Tasks != 3 {
		t.Errorf("%d late tasks, %d canceled", len(late), done.Tasks)
	}
	for _, l := range late {
		if now := fixture.Must(o.db.GetTask(t.Context(), l.Scope, l.ID))(t); now.State != task.Canceled {
			t.Errorf("a late task is %s", now.State)
		}
	}
}

// TestClosingGoesOn: a closing cancels by the server if one runs, goes on after a task that can't be canceled and without
// whoever asked for it, says that it must be done again, and is whole then.
func TestClosingGoesOn(t *testing.T) {
	o := newTestOperator(t)
	fixture.Must(o.CreateAccount(t.Context(), api.AccountCreate{Name: "shop"}))(t)
	shop := fixture.Must(o.GetAccount(t.Context(), "shop"))(t)
	const waiting = store.MaxPage + 10
	for range waiting {
		o.queued(shop.ID)
	}
	ctx, leave := context.WithCancel(t.Context())
	var calls atomic.Int64
	o.CancelFunc = func(ctx context.Context, s task.Scope, id string) (bool, error) {
		leave()
		if calls.Add(1) <= 3 {
			return false, store.ErrUnknown
		}
		_, err := o.db.RequestCancel(ctx, s, id)
		return err == nil, err
	}
	done, err := o.CloseAccount(ctx, "shop", api.AccountClose{Name: "shop"})
	if err == nil || !strings.Contains(fault.From(err).Message, "close it again") || done.Tasks != waiting-3 {
		t.Fatalf("closed with lost answers: %d tasks, %v", done.Tasks, err)
	}
	done = fixture.Must(o.CloseAccount(t.Context(), "shop", api.AccountClose{Name: "shop"}))(t)
	if done.Tasks != 3 || calls.Load() != waiting+3 {
		t.Errorf("closed again: %d tasks, %d calls in all", done.Tasks, calls.Load())
	}
}
