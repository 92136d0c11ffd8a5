package pgstore_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"net"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"unitask/internal/account"
	"unitask/internal/store"
	"unitask/internal/task"
)

// TestLostAnswer: a commit whose answer is lost is ErrUnknown, and the same call again tells how it went.
func TestLostAnswer(t *testing.T) {
	db, c := mustOpen(t, mustServer(t), nil)
	p := mustProxy(t)
	c.URL = strings.Replace(c.URL, "host="+server.Dir(), "host="+p.dir, 1)
	far := mustAttach(t, c)
	if err := db.Renew(t.Context(), someNode, time.Hour); err != nil {
		t.Fatal(err)
	}
	n := newTask("key", task.Hold{Scope: "k", Kind: task.HoldOpen, Amount: 1, Limit: 1})
	n.First = &store.First{Node: someNode, Plans: []task.Plan{{Supplier: "s", Model: "m"}}}
	p.lose.Store(true)
	if _, err := far.CreateTask(t.Context(), n); !errors.Is(err, store.ErrUnknown) {
		t.Fatalf("CreateTask: %v, want ErrUnknown", err)
	}
	created, err := far.CreateTask(t.Context(), n)
	if err != nil || created.Admit != store.AdmitCreated || created.Lease == nil || created.Task.OpenAttempt() == nil {
		t.Fatalf("CreateTask again: %+v, %v", created, err)
	}
	ref := created.Lease.Ref
	ref.Write = 1
	s := store.Step{
		Close: &task.Closing{State: task.OK},
		Moves: []task.Transition{task.Transfer(), task.Succeed(task.Output{JSON: json.RawMessage(`{"text":"hi"}`)}, task.Usage{})},
	}
	p.lose.Store(true)
	if _, err := far.Advance(t.Context(), ref, s); !errors.Is(err, store.ErrUnknown) {
		t.Fatalf("Advance: %v, want ErrUnknown", err)
	}
	done, err := far.Advance(t.Context(), ref, s)
	if err != nil || done.State != task.Succeeded {
		t.Errorf("Advance again: %s, %v", done.State, err)
	}
}

// TestLostAnswerOfTheRegistry: a change of an account or a key whose answer is lost is made once.
func TestLostAnswerOfTheRegistry(t *testing.T) {
	db, c := mustOpen(t, mustServer(t), nil)
	p := mustProxy(t)
	c.URL = strings.Replace(c.URL, "host="+server.Dir(), "host="+p.dir, 1)
	far := mustAttach(t, c)
	p.lose.Store(true)
	if err := far.PutAccount(t.Context(), account.Account{ID: "acct_1", Name: "one"}); !errors.Is(err, store.ErrUnknown) {
		t.Errorf("PutAccount: %v, want ErrUnknown", err)
	}
	changes := 0
	p.lose.Store(true)
	if _, err := far.UpdateAccount(t.Context(), "acct_1", func(*account.Account) error { changes++; return nil }); !errors.Is(err, store.ErrUnknown) {
		t.Errorf("UpdateAccount: %v, want ErrUnknown", err)
	}
	if changes != 1 {
		t.Errorf("the account was changed %d times", changes)
	}
	if all, err := db.ListAccounts(t.Context()); err != nil || len(all) != 1 {
		t.Errorf("%d accounts, %v", len(all), err)
	}
}

// TestSilentConnections: a node whose connections fall silent, as when their server loses its power, hears of others'
// changes as soon as new ones are made.
func TestSilentConnections(t *testing.T) {
	db, c := mustOpen(t, mustServer(t), nil)
	p := mustProxy(t)
	c.URL = strings.Replace(c.URL, "host="+server.Dir(), "host="+p.dir, 1)
	far := mustAttach(t, c)
	t.Cleanup(p.cut) // or the engine waits for their ends when it closes
	if _, err := far.ListAccounts(t.Context()); err != nil {
		t.Fatal(err)
	}
	p.silent.Store(p.made.Load())
	before, start := far.Changes(), time.Now()
	if err := db.PutAccount(t.Context(), account.Account{ID: "acct_1", Name: "one"}); err != nil {
		t.Fatal(err)
	}
	for far.Changes() == before {
		if time.Since(start) > 15*time.Second { // a read's time, and no second one
			t.Fatal("the change isn't heard of")
		}
		time.Sleep(10 * time.Millisecond)
	}
}

// proxy stands before the server. lose: it cuts the next connection at the answer to a COMMIT. Connections up to the
// number silent have no answers any more.
type proxy struct {
	dir          string
	lose         atomic.Bool
	made, silent atomic.Int64

	mu   sync.Mutex
	cuts []func() // of all connections
}

// cut ends all connections.
func (p *proxy) cut() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, cut := range p.cuts {
		cut()
	}
}

func mustProxy(t *testing.T) *proxy {
	t.Helper()
	p := &proxy{dir: t.TempDir()}
	const socket = ".s.PGSQL.5432"
	ln, err := (&net.ListenConfig{}).Listen(t.Context(), "unix", filepath.Join(p.dir, socket))
	if err != nil {
		t.Fatal(err)
	}
	var all sync.WaitGroup
	t.Cleanup(func() {
		_ = ln.Close()
		all.Wait()
	})
	all.Go(func() {
		for {
			client, err := ln.Accept()
			if err != nil {
				return
			}
			far, err := (&net.Dialer{}).DialContext(t.Context(), "unix", filepath.Join(server.Dir(), socket))
			if err != nil {
				_ = client.Close()
				continue
			}
			cut := func() { _, _ = client.Close(), far.Close() }
			p.mu.Lock()
			p.cuts = append(p.cuts, cut)
			p.mu.Unlock()
			number := p.made.Add(1)
			all.Go(func() { p.copy(number, far, client, cut, false) })
			all.Go(func() { p.copy(number, client, far, cut, true) })
		}
	})
	return p
}

func (p *proxy) copy(number int64, to, from net.Conn, cut func(), answers bool) {
	defer cut()
	buf := make([]byte, 64<<10)
	for {
		n, err := from.Read(buf)
		if answers && bytes.Contains(buf[:n], []byte("COMMIT\x00")) && p.lose.CompareAndSwap(true, false) {
			return
		}
		if err == nil && number <= p.silent.Load() {
			continue
		}
		if _, writeErr := to.Write(buf[:n]); err != nil || writeErr != nil {
			return
		}
	}
}
