// Package operator implements the actions of an operator, and of a member of an account, beside calling the API:
// accounts, keys, sign-in, usage, the request log and how suppliers stand.
//
// The admin socket, the console and the commands on a store without a server all come here. An Operator sees every
// account, but no input and no output; a Member sees one account, and another's objects are NOT_FOUND. Only the
// answer that makes a key or a link holds its secret.
package operator

import (
	"context"
	"errors"
	"io"
	"sync/atomic"
	"time"

	"unitask/internal/account"
	"unitask/internal/api"
	"unitask/internal/catalog"
	"unitask/internal/fault"
	"unitask/internal/gate"
	"unitask/internal/hours"
	"unitask/internal/requestlog"
	"unitask/internal/routing"
	"unitask/internal/secret"
	"unitask/internal/store"
	"unitask/internal/tail"
	"unitask/internal/task"
)

const (
	defaultAccount = "default"        // the default account of keys
	sessionLife    = 15 * time.Minute // of a session key: the client renews it by itself
	maxName        = 100              // bytes of the name of a key, an account or a member
)

// Operator is the operations of the owner of the data folder. The admin socket serves it; without a running server it
// works on the store itself. It is safe for concurrent use.
type Operator struct {
	Store    store.Registry
	Tasks    store.Store      // nil: no tasks are shown
	Requests Requests         // nil: no requests are shown
	Gate     *gate.Gate       // nil without a running server: no session keys
	Prefix   string           // of keys
	Server   api.Info         // its state at the start
	Now      func() time.Time // required
	// DirectoryFunc returns the capabilities that scopes must match; nil: any.
	DirectoryFunc func() *catalog.Catalog
	// RoutesFunc tells how the routes stand; nil without a running server.
	RoutesFunc func() []routing.State
	// PausesFunc puts the pauses of suppliers into effect here, ResetFunc forgets the failures of one; nil without a running
	// server.
	PausesFunc func(ctx context.Context) error
	ResetFunc  func(supplier string)
	// ReachFunc asks a supplier from here, without cost: whether its key was sent, how long it took, and the error of
	// supplier.Reach; nil without a running server.
	ReachFunc func(ctx context.Context, supplier string) (keyed bool, took time.Duration, err error)
	// CancelFunc cancels a task that waits and reports whether it did; nil without a running server.
	CancelFunc func(ctx context.Context, s task.Scope, id string) (bool, error)
	// Hours is the counts of this node by the hour; nil without a running server.
	Hours *hours.Counter
	// Tail remembers the latest requests and ends of tasks of this node; nil without a running server.
	Tail *tail.Tail
	// ReadyFunc returns why new tasks are refused; nil without a running server.
	ReadyFunc func(ctx context.Context) error
	// AskFunc finds an id's requests in the other nodes' logs, or with one the first that a node has, and names the nodes
	// whose part is missing or cut; nil without a running server.
	AskFunc func(ctx context.Context, id string, one bool) (found []requestlog.Entry, incomplete []string)
	// BackupFunc writes an archive of the data folder; nil without a running server.
	BackupFunc func(ctx context.Context, w io.Writer) error
	// ReloadFunc reads the settings again; nil without a running server.
	ReloadFunc func(ctx context.Context) (api.Reload, error)

	suppliers atomic.Pointer[[]api.SupplierStatus] // since a reload
	holders   atomic.Pointer[budgetHolders]
	budgets   kept[struct{}, []nearBudget]
	reports   kept[figuresOf, Report]
	spenders  kept[figuresOf, []api.UsageRow]
	tests     supplierTests
}

// SessionKey makes a test key of the default account that lives in the server's memory only.
func (o *Operator) SessionKey(ctx context.Context) (api.Key, error) {
	if o.Gate == nil {
		return api.Key{}, fault.New(fault.InvalidRequest, "session keys are made by a running server")
	}
	owner, err := o.account(ctx, "")
	if err != nil {
		return api.Key{}, err
	}
	now := o.Now().UTC()
	k := account.Key{
		ID: task.NewID(task.PrefixKey, now), Account: owner.ID, Name: "session", Mode: task.Test,
		CreatedAt: now, ExpiresAt: new(now.Add(sessionLife)),
	}
	full := o.mint(&k)
	o.Gate.AddSession(k)
	out := keyOf(k, owner.Name)
	out.Secret = full
	return out, nil
}

// Defaults returns the server's limits of every key; empty without a running server.
func (o *Operator) Defaults() gate.Defaults {
	if o.Gate == nil {
		return gate.Defaults{}
	}
	return o.Gate.Defaults()
}

// Info describes the running server.
func (o *Operator) Info(ctx context.Context) (api.Info, error) {
	info := o.Server
	if store, ok := o.Tasks.(store.Gauger); ok {
		g, err := store.Gauges(ctx)
		if err != nil {
			return info, err
		}
		info.Quarantined = g.Quarantined
	}
	if now := o.suppliers.Load(); now != nil {
		info.Suppliers = *now
	}
	return info, nil
}

// SetSuppliers replaces the suppliers in Info, and forgets the tests of those before.
func (o *Operator) SetSuppliers(s []api.SupplierStatus) {
	o.suppliers.Store(&s)
	o.tests.forget()
}

// Bootstrap admits a full key that the operator chose, from the first start on. A key that is known
// already stays as it is, revoked ones included.
func (o *Operator) Bootstrap(ctx context.Context, full secret.Value) error {
	text := full.Reveal()
	mode, ok := account.ParseKeySecret(o.Prefix, text)
	if !ok || mode == account.Operator {
		return fault.New(fault.InvalidRequest, "the bootstrap key is malformed: it is "+account.KeyForm(o.Prefix))
	}
	owner, err := o.account(ctx, "")
	if err != nil {
		return err
	}
	now := o.Now().UTC()
	err = o.Store.PutKey(ctx, account.Key{
		ID: task.NewID(task.PrefixKey, now), Account: owner.ID, Name: "bootstrap", Mode: mode,
		Hash: account.HashSecret(text), Hint: account.Hint(text), CreatedAt: now,
	})
	if errors.Is(err, store.ErrExists) {
		return nil
	}
	return err
}

// Task returns the history of a task of any account, without its input and output.
func (o *Operator) Task(ctx context.Context, id string) (api.AdminTask, error) {
	unknown := fault.New(fault.NotFound, "there is no such task")
	if o.Tasks == nil || !task.ValidID(task.PrefixTask, id) {
		return api.AdminTask{}, unknown
	}
	accounts, err := o.Store.ListAccounts(ctx)
	if err != nil {
		return api.AdminTask{}, err
	}
	for _, a := range accounts {
		for _, mode := range []task.Mode{task.Live, task.Test} {
			t, err := o.Tasks.GetTask(ctx, task.Scope{Account: a.ID, Mode: mode}, id)
			if err == nil {
				return api.AdminTaskOf(t, a.Name), nil
			}
			if !errors.Is(err, store.ErrNotFound) {
				return api.AdminTask{}, err
			}
		}
	}
	return api.AdminTask{}, unknown
}
