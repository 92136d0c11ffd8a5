package pgstore_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"unitask/internal/account"
	"unitask/internal/store"
	"unitask/internal/store/storetest"
	"unitask/internal/task"
)

// mustDo fails the test at an error.
func mustDo(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// eachWay runs a test on a copy from each kind of place to each.
func eachWay(t *testing.T, test func(t *testing.T, clock *storetest.Clock, from, to kept)) {
	url := mustServer(t)
	for _, postgres := range []bool{true, false} {
		t.Run(fmt.Sprintf("to postgres %t", postgres), func(t *testing.T) {
			clock := storetest.NewClock()
			test(t, clock, newKept(t, url, !postgres, clock.Now), newKept(t, url, postgres, clock.Now))
		})
	}
}

// callers are the accounts, keys and all that belongs to them, as the engine answers about them.
type callers struct {
	Accounts []account.Account
	Keys     []account.Key
	Session  account.Session
	Link     string // its member
	Secret   []byte
}

var linkHash, sessionHash = task.Hash{7}, task.Hash{9}

func fillCallers(t *testing.T, e storetest.Engine, now time.Time) {
	t.Helper()
	ctx := t.Context()
	for i, name := range []string{"default", "other"} {
		a := account.Account{ID: fmt.Sprint("acct_", i), Name: name, CreatedAt: now, Capabilities: []string{"text.*"}}
		mustDo(t, e.Registry.PutAccount(ctx, a.WithMember(account.Member{Name: "ann", Role: account.RoleOperator, JoinedAt: now})))
		for n := range 3 {
			k := account.Key{ID: fmt.Sprintf("key_%d_%d", i, n), Account: a.ID, Name: "shop", Mode: task.Live, Hash: task.Hash{byte(i + 1), byte(n)}, CreatedAt: now}
			mustDo(t, e.Registry.PutKey(ctx, k))
		}
	}
	mustDo(t, e.Registry.MarkUsed(ctx, map[string]time.Time{"key_0_1": now.Add(1234567)})) // to the nanosecond
	_, err := e.Registry.UpdateKey(ctx, "key_1_1", func(k *account.Key) error {
		k.RevokedAt, k.Limits.OpenTasks = &now, 3
		return nil
	})
	mustDo(t, err)
	mustDo(t, e.Registry.PutLink(ctx, account.Link{Hash: linkHash, Account: "acct_0", Member: "ann", ExpiresAt: now.Add(time.Hour)}))
	mustDo(t, e.Registry.PutLink(ctx, account.Link{Hash: task.Hash{8}, Account: "acct_1", Member: "ben"}))
	mustDo(t, e.Registry.RedeemLink(ctx, task.Hash{8}, func(l account.Link) (account.Session, error) {
		return account.Session{Hash: sessionHash, Account: l.Account, Member: l.Member, SeenAt: now}, nil
	}))
}

func readCallers(t *testing.T, e storetest.Engine) (c callers) {
	t.Helper()
	var err [4]error
	c.Accounts, err[0] = e.Registry.ListAccounts(t.Context())
	c.Keys, err[1] = e.Registry.ListKeys(t.Context())
	c.Session, _, err[2] = e.Registry.GetSession(t.Context(), sessionHash)
	c.Secret, err[3] = e.Secrets.Secret(t.Context(), "signing", 32)
	mustDo(t, errors.Join(err[:]...))
	errSeen := errors.New("seen")
	if err := e.Registry.RedeemLink(t.Context(), linkHash, func(l account.Link) (account.Session, error) {
		c.Link = l.Member
		return account.Session{}, errSeen
	}); !errors.Is(err, errSeen) {
		t.Fatalf("RedeemLink: %v", err)
	}
	for i := range c.Keys {
		if at := c.Keys[i].LastUsedAt; at != nil {
			c.Keys[i].LastUsedAt = new(at.Truncate(time.Microsecond)) // as the database keeps times
		}
	}
	return c
}

// TestCopyCallers: accounts, keys, links, sessions and secrets are the same in the copy, and found in every way.
func TestCopyCallers(t *testing.T) {
	eachWay(t, func(t *testing.T, clock *storetest.Clock, from, to kept) {
		e := mustEngine(t, from)
		fillCallers(t, e, clock.Now())
		want := readCallers(t, e)
		mustDo(t, e.Store.Close())
		tally := mustCopy(t, from, to)
		counts := map[string]int64{}
		for _, s := range tally {
			counts[s.Kind] = s.Count
		}
		if diff := cmp.Diff(map[string]int64{
			"accounts": 2, "keys": 6, "links": 1, "sessions": 1, "secrets": 1, "usage": 0, "spend": 0, "counters": 0, "open tasks": 0, "ended tasks": 0,
		}, counts); diff != "" {
			t.Errorf("tally (-want +got):\n%s", diff)
		}
		copied := mustEngine(t, to)
		if diff := cmp.Diff(want, readCallers(t, copied)); diff != "" {
			t.Errorf("callers (-want +got):\n%s", diff)
		}
		for _, k := range want.Keys {
			if got, _, err := copied.Registry.KeyByHash(t.Context(), k.Hash); err != nil || got.ID != k.ID {
				t.Errorf("KeyByHash of %s: %s, %v", k.ID, got.ID, err)
			}
		}
		if _, err := copied.Registry.FindAccount(t.Context(), "other"); err != nil {
			t.Errorf("FindAccount: %v", err)
		}
	})
}

// endedTask makes a task and cancels it.
func endedTask(t *testing.T, e storetest.Engine, clock *storetest.Clock, key byte) task.Task {
	t.Helper()
	n := nextTask(clock, key)
	_, err := e.Store.CreateTask(t.Context(), n)
	mustDo(t, err)
	ended, err := e.Store.RequestCancel(t.Context(), n.Scope, n.ID)
	mustDo(t, err)
	return ended
}

func nextTask(clock *storetest.Clock, key byte) store.NewTask {
	clock.Advance(time.Millisecond)
	return store.NewTask{
		ID: task.NewID(task.PrefixTask, clock.Now()), Scope: task.Scope{Account: "acct_0", Mode: task.Live}, Capability: "text.chat",
		IdempotencyHash: task.Hash{key}, Fingerprint: task.Hash{1}, Input: json.RawMessage(`{"prompt":"hi"}`), Deadline: time.Hour,
	}
}

// TestCopyKeepsAges: a task is removed at its age, not at that of the copy.
func TestCopyKeepsAges(t *testing.T) {
	const day, retention, days = 24 * time.Hour, 10 * 24 * time.Hour, 9
	eachWay(t, func(t *testing.T, clock *storetest.Clock, from, to kept) {
		e := mustEngine(t, from)
		var all []task.Task
		for i := range days {
			all = append(all, endedTask(t, e, clock, byte(i)))
			clock.Advance(day)
		}
		mustDo(t, e.Store.Close())
		mustCopy(t, from, to)
		copied := mustEngine(t, to)
		for age := range 2 * days {
			for {
				swept, err := copied.Store.Sweep(t.Context(), store.SweepRequest{Retention: retention, Limit: 100})
				mustDo(t, err)
				if swept.Removed == 0 {
					break
				}
			}
			for _, ended := range all {
				_, err := copied.Store.GetTask(t.Context(), ended.Scope, ended.ID)
				since := clock.Now().Sub(ended.UpdatedAt)
				switch {
				case since < retention && err != nil:
					t.Errorf("after %d days: a task of the age %s: %v", age, since, err)
				case since > retention+2*day && !errors.Is(err, store.ErrNotFound): // a part is as wide as an eighth of nine days
					t.Errorf("after %d days: a task of the age %s is still there: %v", age, since, err)
				}
			}
			clock.Advance(day)
		}
	})
}

// cutTarget is cut off after some commits, or changes what it is given.
type cutTarget struct {
	store.Target
	commits int // that are made before
	spoil   func(*task.Task)
}

var errCut = errors.New("cut off")

func (c *cutTarget) PutTasks(ctx context.Context, tasks []task.Task) error {
	if c.spoil != nil {
		c.spoil(&tasks[0])
	}
	for i := range tasks { // small commits
		if c.commits--; c.commits < 0 {
			return errCut
		}
		if err := c.Target.PutTasks(ctx, tasks[i:i+1]); err != nil {
			return err
		}
	}
	return nil
}

func fillTasks(t *testing.T, from kept, clock *storetest.Clock, n int) []task.Task {
	t.Helper()
	e := mustEngine(t, from)
	fillCallers(t, e, clock.Now())
	var all []task.Task
	for i := range n {
		all = append(all, endedTask(t, e, clock, byte(i)))
	}
	mustDo(t, e.Store.Close())
	return all
}

func mustSource(t *testing.T, at kept) store.Source {
	t.Helper()
	from, err := at.source()
	mustDo(t, err)
	t.Cleanup(func() { mustClose(t, from) })
	return from
}

func wantErr(t *testing.T, what string, got, want error) {
	t.Helper()
	if !errors.Is(got, want) {
		t.Errorf("%s: %v, want %v", what, got, want)
	}
}

// TestCopyResumes: a copy that was cut off keeps its target closed, goes on there, and refuses another source.
func TestCopyResumes(t *testing.T) {
	quiet := func(store.Phase, int64) {}
	eachWay(t, func(t *testing.T, clock *storetest.Clock, from, to kept) {
		all := fillTasks(t, from, clock, 20)
		source := mustSource(t, from)
		for _, commits := range []int{0, 5, 5} {
			into := mustTarget(t, source, to)
			_, err := store.Copy(t.Context(), source, &cutTarget{Target: into, commits: commits}, quiet)
			wantErr(t, "Copy", err, errCut)
			mustClose(t, into)
			if _, err := to.engine(); !isUnfinished(err) {
				t.Fatalf("Open of a half copy: %v", err)
			}
			if half, err := to.source(); err == nil {
				_, err = half.Identity(t.Context())
				if !isUnfinished(err) {
					t.Errorf("a half copy as a source: %v", err)
				}
				mustClose(t, half)
			}
		}
		_, err := to.target(store.CopyOf{From: "elsewhere", Identity: "another"})
		wantErr(t, "a copy of another store", err, store.ErrOccupied)
		into := mustTarget(t, source, to)
		if last, begun, err := into.Last(t.Context()); err != nil || !begun || last != all[9].ID {
			t.Errorf("Last: %s, %t, %v, want %s", last, begun, err, all[9].ID)
		}
		mustClose(t, into)
		mustCopy(t, from, to)
		e := mustEngine(t, to)
		for _, want := range all {
			got, err := e.Store.FindTask(t.Context(), want.Scope, want.IdempotencyHash)
			if diff := cmp.Diff(want, got); err != nil || diff != "" {
				t.Errorf("FindTask: %v (-want +got):\n%s", err, diff)
			}
		}
		mustDo(t, e.Store.Close())
		id, err := source.Identity(t.Context())
		mustDo(t, err)
		_, err = to.target(store.CopyOf{From: "test", Identity: id})
		wantErr(t, "a copy into a finished one", err, store.ErrOccupied)
	})
}

func isUnfinished(err error) bool {
	_, ok := errors.AsType[*store.UnfinishedError](err)
	return ok
}

// spoiledSource is changed while it is read, or lacks a task.
type spoiledSource struct {
	store.Source
	reads   int
	changed bool
	lacks   int // the number of a task that the first read doesn't have
}

func (s *spoiledSource) Identity(ctx context.Context) (string, error) {
	id, err := s.Source.Identity(ctx)
	if s.changed && s.reads > 0 {
		id += " later"
	}
	return id, err
}

func (s *spoiledSource) Tasks(ctx context.Context, after string) iter.Seq2[task.Task, error] {
	s.reads++
	if s.reads > 1 || s.lacks == 0 {
		return s.Source.Tasks(ctx, after)
	}
	return func(yield func(task.Task, error) bool) {
		n := 0
		for one, err := range s.Source.Tasks(ctx, after) {
			if n++; n != s.lacks && !yield(one, err) {
				return
			}
		}
	}
}

// TestCopyIsVerified: a copy with one other task, without one, and of a source that was changed isn't opened for work.
func TestCopyIsVerified(t *testing.T) {
	for name, c := range map[string]struct {
		source spoiledSource
		spoil  func(*task.Task)
		want   error
	}{
		"another task":  {spoil: func(one *task.Task) { one.Cost++ }, want: store.ErrDiffers},
		"another state": {spoil: func(one *task.Task) { one.State = task.Failed }, want: store.ErrDiffers},
		"a task less":   {source: spoiledSource{lacks: 7}, want: store.ErrDiffers},
		"changed":       {source: spoiledSource{changed: true}, want: store.ErrChanged},
	} {
		t.Run(name, func(t *testing.T) {
			eachWay(t, func(t *testing.T, clock *storetest.Clock, from, to kept) {
				fillTasks(t, from, clock, 10)
				source := c.source
				source.Source = mustSource(t, from)
				into := mustTarget(t, source.Source, to)
				defer mustClose(t, into)
				_, err := store.Copy(t.Context(), &source, &cutTarget{Target: into, commits: 100, spoil: c.spoil}, func(store.Phase, int64) {})
				wantErr(t, "Copy", err, c.want)
				if _, err := to.engine(); err == nil {
					t.Error("the copy can be opened")
				}
			})
		})
	}
}

// TestCopyNeedsRest: a database with a node's session is no source, and neither place with a store is a target.
func TestCopyNeedsRest(t *testing.T) {
	eachWay(t, func(t *testing.T, clock *storetest.Clock, from, to kept) {
		e := mustEngine(t, to)
		mustDo(t, e.Store.Renew(t.Context(), "node", time.Minute))
		_, err := e.Secrets.Secret(t.Context(), "signing", 32)
		mustDo(t, err)
		if k, ok := to.(keptSchema); ok {
			_, err := k.offline()
			if in, ok := errors.AsType[*store.InUseError](err); !ok || len(in.Nodes) != 1 {
				t.Errorf("a database with a session: %v", err)
			}
		}
		mustDo(t, e.Store.Close())
		_, err = to.target(store.CopyOf{From: "test", Identity: "one"})
		wantErr(t, "a target with a store", err, store.ErrOccupied)
	})
}
