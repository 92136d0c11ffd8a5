package gate_test

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
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

// testGate is a gate with one account, on a clock that the test turns.
type testGate struct {
	*gate.Gate
	t     *testing.T
	keys  *memstore.DB
	owner account.Account
	now   time.Time
}

func newTestGate(t *testing.T, d gate.Defaults) *testGate {
	t.Helper()
	o := &testGate{t: t, now: time.Date(2026, 11, 21, 10, 0, 0, 0, time.UTC)}
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
func (o *testGate) issue(mode task.Mode, change func(*account.Key)) (string, account.Key) {
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
	o := newTestGate(t, gate.Defaults{})
	good, key := o.issue(task.Live, nil)
	past, soon := o.now.Add(-time.Second), o.now.Add(time.Hour)
	revoked, _ := o.issue(task.Live, func(k *account.Key) { k.RevokedAt = &past })
	expired, _ := o.issue(task.Live, func(k *account.Key) { k.ExpiresAt = &past })
	expiring, _ := o.issue(task.Live, func(k *account.Key) { k.ExpiresAt = &soon })
	swapped, _ := o.issue(task.Live, func(k *account.Key) { k.Mode = task.Test })

	caller, err := o.Authenticate(t.Context(), "bearer  "+good)
	if diff := cmp.Diff(&gate.Caller{Key: key, Account: o.owner}, caller); err != nil || diff != "" {
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
	o := newTestGate(t, gate.Defaults{})
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
	o := newTestGate(t, gate.Defaults{})
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

func TestHolds(t *testing.T) {
	o := newTestGate(t, gate.Defaults{OpenTasks: 64, Queue: 100})
	_, plain := o.issue(task.Live, nil)
	_, bounded := o.issue(task.Live, func(k *account.Key) {
		k.Limits = account.Limits{OpenTasks: -1, Budget: 5 * task.USD, BudgetPeriod: account.Month}
	})
	limited := o.owner
	limited.Limits = account.Limits{OpenTasks: 7, Budget: 9 * task.USD, BudgetPeriod: account.Day}
	spending, unbounded := o.owner, o.owner
	spending.Limits = account.Limits{SupplierSpend: 4 * task.USD, BudgetPeriod: account.Month}
	unbounded.Limits = account.Limits{Budget: task.USD, BudgetPeriod: account.Day, SupplierSpend: -1}
	_, play := o.issue(task.Test, nil)
	for _, tt := range []struct {
		key   account.Key
		owner account.Account
		want  []task.Hold
	}{
		{plain, limited, []task.Hold{
			{Scope: "key:" + plain.ID, Kind: task.HoldOpen, Amount: 1, Limit: 64},
			{Scope: "queue", Kind: task.HoldQueue, Amount: 1, Limit: 100},
			{Scope: "account:" + limited.ID + ":live", Kind: task.HoldOpen, Amount: 1, Limit: 7},
			{
				Scope: "account:" + limited.ID + ":live:2026-11-21", Kind: task.HoldBudget, Amount: int64(task.USD), Limit: int64(9 * task.USD),
				Lasts: account.Day.Left(o.now),
			},
			{
				Scope: "account:" + limited.ID + ":live:2026-11-21", Kind: task.HoldSpend, Amount: int64(3 * task.USD), Limit: int64(18 * task.USD),
				Lasts: account.Day.Left(o.now),
			},
		}},
		{play, limited, []task.Hold{
			{Scope: "key:" + play.ID, Kind: task.HoldOpen, Amount: 1, Limit: 64},
			{Scope: "queue", Kind: task.HoldQueue, Amount: 1, Limit: 100},
			{Scope: "account:" + limited.ID + ":test", Kind: task.HoldOpen, Amount: 1, Limit: 7},
			{
				Scope: "account:" + limited.ID + ":test:2026-11-21", Kind: task.HoldBudget, Amount: int64(task.USD), Limit: int64(9 * task.USD),
				Lasts: account.Day.Left(o.now),
			},
		}},
		{plain, spending, []task.Hold{
			{Scope: "key:" + plain.ID, Kind: task.HoldOpen, Amount: 1, Limit: 64},
			{Scope: "queue", Kind: task.HoldQueue, Amount: 1, Limit: 100},
			{
				Scope: "account:" + limited.ID + ":live:2026-11", Kind: task.HoldSpend, Amount: int64(3 * task.USD), Limit: int64(4 * task.USD),
				Lasts: account.Month.Left(o.now),
			},
		}},
		{plain, unbounded, []task.Hold{
			{Scope: "key:" + plain.ID, Kind: task.HoldOpen, Amount: 1, Limit: 64},
			{Scope: "queue", Kind: task.HoldQueue, Amount: 1, Limit: 100},
			{
				Scope: "account:" + limited.ID + ":live:2026-11-21", Kind: task.HoldBudget, Amount: int64(task.USD), Limit: int64(task.USD),
				Lasts: account.Day.Left(o.now),
			},
		}},
		{plain, o.owner, []task.Hold{
			{Scope: "key:" + plain.ID, Kind: task.HoldOpen, Amount: 1, Limit: 64},
			{Scope: "queue", Kind: task.HoldQueue, Amount: 1, Limit: 100},
		}},
		{bounded, o.owner, []task.Hold{
			{Scope: "key:" + bounded.ID, Kind: task.HoldOpen, Amount: 1, Limit: 64},
			{Scope: "queue", Kind: task.HoldQueue, Amount: 1, Limit: 100},
			{Scope: "key:" + bounded.ID + ":2026-11", Kind: task.HoldBudget, Amount: int64(task.USD), Limit: int64(5 * task.USD), Lasts: account.Month.Left(o.now)},
		}},
	} {
		if diff := cmp.Diff(tt.want, o.Holds(gate.Caller{Key: tt.key, Account: tt.owner}, task.USD, 3*task.USD)); diff != "" {
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
		task.HoldOpen: fault.RateLimitExceeded, task.HoldBudget: fault.RateLimitExceeded, task.HoldSpend: fault.RateLimitExceeded, task.HoldQueue: fault.CapacityExhausted,
	} {
		e := fault.From(gate.Refusal(&store.HoldError{Hold: task.Hold{Kind: kind, Limit: 1}}))
		if e.Code != want || e.RetryAfter <= 0 {
			t.Errorf("%s: %v after %s, want %s", kind, e, e.RetryAfter, want)
		}
	}
	for left, want := range map[time.Duration]time.Duration{time.Minute: time.Minute, 20 * time.Hour: time.Hour, 0: time.Second} {
		e := fault.From(gate.Refusal(&store.HoldError{Hold: task.Hold{Scope: "account:1:live", Kind: task.HoldBudget, Lasts: left}}))
		if e.RetryAfter != want || e.Message != "the account's budget for this period doesn't cover the request" {
			t.Errorf("with %s of the period left: %q after %s, want %s", left, e.Message, e.RetryAfter, want)
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

// TestRevocation: a key that was used a moment ago is refused as soon as the store says that it changed,
// and one that was let in again is taken.
func TestRevocation(t *testing.T) {
	o := newTestGate(t, gate.Defaults{})
	secret, key := o.issue(task.Live, nil)
	past := o.now.Add(-time.Second)
	enter := func() error { _, err := o.Authenticate(t.Context(), "Bearer "+secret); return err }
	revoke := func(at *time.Time) {
		if _, err := o.keys.UpdateKey(t.Context(), key.ID, func(k *account.Key) error { k.RevokedAt = at; return nil }); err != nil {
			t.Fatal(err)
		}
	}
	for range 2 {
		if err := enter(); err != nil {
			t.Fatal(err)
		}
		if revoke(&past); enter() == nil {
			t.Error("a revoked key is still taken")
		}
		revoke(nil)
	}
}

// TestSharedCaller: requests of one key share its cached record, which isn't changed; once a change of the key's
// limits is recorded, every request that comes has the new ones, and those under way keep theirs.
func TestSharedCaller(t *testing.T) {
	const callers, changes = 4, 50
	o := newTestGate(t, gate.Defaults{CreatesPerMinute: 60, OpenTasks: 8})
	secret, key := o.issue(task.Live, nil)
	var limit atomic.Int64 // that is recorded for sure
	end := make(chan struct{})
	var all sync.WaitGroup
	defer all.Wait()
	defer close(end)
	for range callers {
		all.Go(func() {
			for {
				select {
				case <-end:
					return
				default:
				}
				recorded := limit.Load()
				c, err := o.Authenticate(t.Context(), "Bearer "+secret)
				if err != nil {
					t.Error(err)
					return
				}
				before := *c
				_, _ = o.Count(c, gate.Reads)
				_ = o.Holds(*c, 1, 1)
				if got := int64(c.Key.Limits.OpenTasks); got < recorded || got != int64(before.Key.Limits.OpenTasks) {
					t.Errorf("a limit of %d, before %d; %d was recorded", got, before.Key.Limits.OpenTasks, recorded)
					return
				}
			}
		})
	}
	for n := range changes {
		if _, err := o.keys.UpdateKey(t.Context(), key.ID, func(k *account.Key) error { k.Limits.OpenTasks = n + 1; return nil }); err != nil {
			t.Fatal(err)
		}
		limit.Store(int64(n + 1))
		c, err := o.Authenticate(t.Context(), "Bearer "+secret)
		if err != nil || c.Key.Limits.OpenTasks != n+1 {
			t.Fatalf("after change %d: %+v %v", n, c, err)
		}
	}
}

// TestKeepsCallers: a caller that was read isn't read again until a key or an account changes, and a key
// that doesn't exist is looked for each time.
func TestKeepsCallers(t *testing.T) {
	o := newTestGate(t, gate.Defaults{})
	counted := &reads{Callers: o.keys}
	g, err := gate.New(gate.Config{Keys: counted, Prefix: "svc"})
	if err != nil {
		t.Fatal(err)
	}
	secret, _ := o.issue(task.Live, nil)
	enter := func(want int) {
		t.Helper()
		for range 3 {
			if _, err := g.Authenticate(t.Context(), "Bearer "+secret); err != nil {
				t.Fatal(err)
			}
		}
		if counted.n != want {
			t.Errorf("read %d times, want %d", counted.n, want)
		}
	}
	enter(1)
	if _, err := o.keys.UpdateAccount(t.Context(), o.owner.ID, func(*account.Account) error { return nil }); err != nil {
		t.Fatal(err)
	}
	enter(2)
	if err := o.keys.MarkUsed(t.Context(), map[string]time.Time{"key_1": o.now}); err != nil {
		t.Fatal(err)
	}
	enter(2)
	unknown := account.NewKeySecret("svc", task.Live)
	for range 2 {
		if _, err := g.Authenticate(t.Context(), "Bearer "+unknown); err == nil {
			t.Fatal("an unknown key is taken")
		}
	}
	enter(4)
}

// reads counts how often a key is read.
type reads struct {
	store.Callers
	n int
}

func (r *reads) KeyByHash(ctx context.Context, h task.Hash) (account.Key, account.Account, error) {
	r.n++
	return r.Callers.KeyByHash(ctx, h)
}

// TestLastUsedIsKept: a time that couldn't be written is written the next time.
func TestLastUsedIsKept(t *testing.T) {
	o := newTestGate(t, gate.Defaults{})
	broken := &unmarked{Callers: o.keys, err: store.ErrFull}
	g, err := gate.New(gate.Config{Keys: broken, Prefix: "svc", Now: func() time.Time { return o.now }})
	if err != nil {
		t.Fatal(err)
	}
	secret, key := o.issue(task.Live, nil)
	if _, err := g.Authenticate(t.Context(), "Bearer "+secret); err != nil {
		t.Fatal(err)
	}
	if err := g.FlushLastUsed(t.Context()); !errors.Is(err, store.ErrFull) {
		t.Errorf("a full disk: %v", err)
	}
	broken.err = nil
	if err := g.FlushLastUsed(t.Context()); err != nil {
		t.Fatal(err)
	}
	got, _, err := o.keys.KeyByHash(t.Context(), key.Hash)
	if err != nil || got.LastUsedAt == nil || !got.LastUsedAt.Equal(o.now) {
		t.Errorf("last used %v, %v", got.LastUsedAt, err)
	}
}

// unmarked fails to note uses.
type unmarked struct {
	store.Callers
	err error
}

func (u *unmarked) MarkUsed(ctx context.Context, at map[string]time.Time) error {
	if u.err != nil {
		return u.err
	}
	return u.Callers.MarkUsed(ctx, at)
}
