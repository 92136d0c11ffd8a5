package gate_test

import (
	"errors"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"unitask/internal/account"
	"unitask/internal/catalog"
	"unitask/internal/fault"
	"unitask/internal/gate"
	"unitask/internal/store"
	"unitask/internal/store/memstore"
	"unitask/internal/task"
)

// door is a gate with one account, on a clock that the test turns.
type door struct {
	*gate.Gate
	t     *testing.T
	keys  *memstore.DB
	owner account.Account
	now   time.Time
}

func newDoor(t *testing.T, d gate.Defaults) *door {
	t.Helper()
	o := &door{t: t, now: time.Date(2026, 11, 21, 10, 0, 0, 0, time.UTC)}
	clock := func() time.Time { return o.now }
	o.keys = memstore.New(clock)
	o.owner = account.Account{ID: task.NewID(task.PrefixAccount, o.now), Name: "default", CreatedAt: o.now}
	if err := o.keys.PutAccount(t.Context(), o.owner); err != nil {
		t.Fatal(err)
	}
	var err error
	if o.Gate, err = gate.New(gate.Config{Keys: o.keys, Prefix: "svc", Defaults: d, Now: clock}); err != nil {
		t.Fatal(err)
	}
	return o
}

// issue records a key and returns its secret.
func (o *door) issue(mode task.Mode, change func(*account.Key)) (string, account.Key) {
	o.t.Helper()
	secret := account.NewKeySecret("svc", mode)
	k := account.Key{
		ID: task.NewID(task.PrefixKey, o.now), Account: o.owner.ID, Mode: mode, Hash: account.HashSecret(secret), CreatedAt: o.now,
	}
	if change != nil {
		change(&k)
	}
	if err := o.keys.PutKey(o.t.Context(), k); err != nil {
		o.t.Fatal(err)
	}
	return secret, k
}

func TestAuthenticate(t *testing.T) {
	o := newDoor(t, gate.Defaults{})
	good, key := o.issue(task.Live, nil)
	past, soon := o.now.Add(-time.Second), o.now.Add(time.Hour)
	revoked, _ := o.issue(task.Live, func(k *account.Key) { k.RevokedAt = &past })
	expired, _ := o.issue(task.Live, func(k *account.Key) { k.ExpiresAt = &past })
	expiring, _ := o.issue(task.Live, func(k *account.Key) { k.ExpiresAt = &soon })
	swapped, _ := o.issue(task.Live, func(k *account.Key) { k.Mode = task.Test })

	caller, err := o.Authenticate(t.Context(), "bearer  "+good)
	if diff := cmp.Diff(gate.Caller{Key: key, Account: o.owner}, caller); err != nil || diff != "" {
		t.Errorf("%v (-want +got):\n%s", err, diff)
	}
	if _, err := o.Authenticate(t.Context(), "Bearer "+expiring); err != nil {
		t.Errorf("a key that is still valid: %v", err)
	}
	_, want := o.Authenticate(t.Context(), "")
	for name, header := range map[string]string{
		"missing": "", "no scheme": good, "another scheme": "Basic " + good, "malformed": "Bearer x",
		"unknown": "Bearer " + account.NewKeySecret("svc", task.Live), "another prefix": "Bearer " + account.NewKeySecret("abc", task.Live),
		"bad checksum": "Bearer " + good[:len(good)-1] + "!", "revoked": "Bearer " + revoked, "expired": "Bearer " + expired,
		"mode of another kind": "Bearer " + swapped, "two keys": "Bearer " + good + " " + good,
	} {
		_, err := o.Authenticate(t.Context(), header)
		if fault.CodeOf(err) != fault.Unauthenticated || err.Error() != want.Error() {
			t.Errorf("%s: %v, want the one answer %v", name, err, want)
		}
	}
}

func TestSessionKey(t *testing.T) {
	o := newDoor(t, gate.Defaults{})
	secret := account.NewKeySecret("svc", task.Test)
	end := o.now.Add(time.Hour)
	o.AddSession(account.Key{ID: "key_session", Account: o.owner.ID, Mode: task.Test, Hash: account.HashSecret(secret), ExpiresAt: &end})
	caller, err := o.Authenticate(t.Context(), "Bearer "+secret)
	if err != nil || caller.Account.ID != o.owner.ID {
		t.Errorf("%+v %v", caller, err)
	}
	if err := o.FlushLastUsed(t.Context()); err != nil {
		t.Errorf("a session's last use: %v", err)
	}
	o.now = end
	if _, err := o.Authenticate(t.Context(), "Bearer "+secret); fault.CodeOf(err) != fault.Unauthenticated {
		t.Errorf("an expired session: %v", err)
	}
}

func TestLastUsed(t *testing.T) {
	o := newDoor(t, gate.Defaults{})
	secret, key := o.issue(task.Live, nil)
	if _, err := o.Authenticate(t.Context(), "Bearer "+secret); err != nil {
		t.Fatal(err)
	}
	if err := o.FlushLastUsed(t.Context()); err != nil {
		t.Fatal(err)
	}
	got, _, err := o.keys.KeyByHash(t.Context(), key.Hash)
	if err != nil || got.LastUsedAt == nil || !got.LastUsedAt.Equal(o.now) {
		t.Errorf("%+v %v", got, err)
	}
}

func TestRate(t *testing.T) {
	o := newDoor(t, gate.Defaults{CreatesPerMinute: 60, ReadsPerMinute: 120})
	_, key := o.issue(task.Live, func(k *account.Key) { k.Limits.CreatesPerMinute = 6 })
	c := gate.Caller{Key: key, Account: o.owner}
	for i := range 6 {
		q, err := o.Count(c, gate.Creates)
		if err != nil || q.Remaining != 5-i {
			t.Fatalf("request %d: %+v %v", i, q, err)
		}
	}
	q, err := o.Count(c, gate.Creates)
	e := fault.From(err)
	if e == nil || e.Code != fault.RateLimitExceeded || e.RetryAfter != 10*time.Second {
		t.Fatalf("the seventh: %v", err)
	}
	if q.Policy() != `"creates";q=6;w=60` || q.State() != `"creates";r=0;t=60` {
		t.Errorf("fields %s and %s", q.Policy(), q.State())
	}
	if _, err := o.Count(c, gate.Reads); err != nil {
		t.Errorf("reads share the creations' rate: %v", err)
	}
	o.now = o.now.Add(10 * time.Second)
	if _, err := o.Count(c, gate.Creates); err != nil {
		t.Errorf("after the pause: %v", err)
	}
	if _, err := o.Count(c, gate.Creates); err == nil {
		t.Error("one token let two requests through")
	}
	_, free := o.issue(task.Live, func(k *account.Key) { k.Limits.CreatesPerMinute = -1 })
	if q, err := o.Count(gate.Caller{Key: free}, gate.Creates); err != nil || q.State() != "" {
		t.Errorf("an unlimited key: %+v %v", q, err)
	}
	o.now = o.now.Add(time.Hour)
	if q, err := o.Count(c, gate.Creates); err != nil || q.Remaining != 5 {
		t.Errorf("after an hour: %+v %v", q, err)
	}
}

func TestHolds(t *testing.T) {
	o := newDoor(t, gate.Defaults{OpenTasks: 64, Queue: 100})
	_, plain := o.issue(task.Live, nil)
	_, bounded := o.issue(task.Live, func(k *account.Key) {
		k.Limits = account.Limits{OpenTasks: -1, Budget: 5 * task.USD, BudgetPeriod: account.Month}
	})
	for _, tt := range []struct {
		key  account.Key
		want []task.Hold
	}{
		{plain, []task.Hold{
			{Scope: "key:" + plain.ID, Kind: task.HoldOpen, Amount: 1, Limit: 64},
			{Scope: "queue", Kind: task.HoldQueue, Amount: 1, Limit: 100},
		}},
		{bounded, []task.Hold{
			{Scope: "key:" + bounded.ID, Kind: task.HoldOpen, Amount: 1},
			{Scope: "queue", Kind: task.HoldQueue, Amount: 1, Limit: 100},
			{Scope: "key:" + bounded.ID + ":2026-11", Kind: task.HoldBudget, Amount: int64(task.USD), Limit: int64(5 * task.USD), Lasts: account.Month.Left(o.now)},
		}},
	} {
		if diff := cmp.Diff(tt.want, o.Holds(gate.Caller{Key: tt.key, Account: o.owner}, task.USD)); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
	}
}

func TestRefusal(t *testing.T) {
	other := errors.New("other")
	if got := gate.Refusal(other); !errors.Is(got, other) {
		t.Errorf("another error becomes %v", got)
	}
	for kind, want := range map[task.HoldKind]fault.Code{
		task.HoldOpen: fault.RateLimitExceeded, task.HoldBudget: fault.RateLimitExceeded, task.HoldQueue: fault.CapacityExhausted,
	} {
		e := fault.From(gate.Refusal(&store.HoldError{Hold: task.Hold{Kind: kind, Limit: 1}}))
		if e.Code != want || e.RetryAfter <= 0 {
			t.Errorf("%s: %v after %s, want %s", kind, e, e.RetryAfter, want)
		}
	}
}

func TestScopes(t *testing.T) {
	c := gate.Caller{
		Key:     account.Key{Scopes: []string{"image.*", "text.chat"}},
		Account: account.Account{Capabilities: []string{"image.generate", "text.*"}},
	}
	for name, want := range map[string]bool{"image.generate": true, "image.edit": false, "text.chat": true, "text.embed": false} {
		if got := c.Opens(catalog.Name(name)); got != want {
			t.Errorf("%s: %v, want %v", name, got, want)
		}
	}
}

// TestRevocation: a key that was used a moment ago counts as it was for half a second at most, and
// not at all once the gate was told.
func TestRevocation(t *testing.T) {
	o := newDoor(t, gate.Defaults{})
	secret, key := o.issue(task.Live, nil)
	past := o.now.Add(-time.Second)
	enter := func() error { _, err := o.Authenticate(t.Context(), "Bearer "+secret); return err }
	revoke := func(at *time.Time) {
		if _, err := o.keys.UpdateKey(t.Context(), key.ID, func(k *account.Key) { k.RevokedAt = at }); err != nil {
			t.Fatal(err)
		}
	}
	if err := enter(); err != nil {
		t.Fatal(err)
	}
	revoke(&past)
	if o.now = o.now.Add(500 * time.Millisecond); enter() == nil {
		t.Error("a revoked key is still taken half a second later")
	}
	revoke(nil)
	o.Forget()
	if err := enter(); err != nil {
		t.Fatal(err)
	}
	revoke(&past)
	if o.Forget(); enter() == nil {
		t.Error("a revoked key is still taken although the gate was told")
	}
}
