// Package gate decides whether this caller may do this now: key → account → scope → rate → holds.
//
// The API and every other entrance come here, so that they share their limits. The gate keeps request rates in memory
// (per node, approximate by nature) and computes the holds that the store takes exactly, in the commit that accepts a
// task. Callers that it has read are kept until a key or an account changes, which the store says without being read.
// It never sees a task's input.
package gate

import (
	"context"
	"errors"
	"maps"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"unitask/internal/account"
	"unitask/internal/catalog"
	"unitask/internal/fault"
	"unitask/internal/store"
	"unitask/internal/task"
)

// Defaults are the server's limits of every key, which may have lower ones of its own; 0 means no limit.
type Defaults struct {
	CreatesPerMinute int
	ReadsPerMinute   int
	OpenTasks        int
	Queue            int // tasks that wait, over all accounts
}

// Config configures a Gate. Keys and Prefix are required.
type Config struct {
	Keys     store.Callers
	Prefix   string // of keys, such as "svc"
	Defaults Defaults
	Now      func() time.Time // nil: time.Now
}

// Gate is safe for concurrent use.
type Gate struct {
	keys     store.Callers
	prefix   string
	defaults atomic.Pointer[Defaults]
	nodes    atomic.Int64 // that share the rates
	now      func() time.Time
	used     *lastUsed

	callers  callerCache
	mu       sync.Mutex
	sessions map[task.Hash]account.Key
	buckets  map[bucketKey]*bucket
	swept    time.Time
}

// New returns a Gate over the given keys.
func New(c Config) (*Gate, error) {
	if c.Keys == nil || !account.ValidKeyPrefix(c.Prefix) {
		return nil, errors.New("gate: Keys and a valid Prefix are required")
	}
	if c.Now == nil {
		c.Now = time.Now
	}
	g := &Gate{
		keys: c.Keys, prefix: c.Prefix, now: c.Now, used: &lastUsed{at: map[string]time.Time{}},
		sessions: map[task.Hash]account.Key{}, buckets: map[bucketKey]*bucket{},
	}
	g.SetDefaults(c.Defaults)
	g.SetNodes(1)
	return g, nil
}

// SetDefaults replaces the limits of every key, for every request from now on.
func (g *Gate) SetDefaults(d Defaults) { g.defaults.Store(&d) }

// Defaults returns the limits of every key.
func (g *Gate) Defaults() Defaults { return *g.defaults.Load() }

// Caller is who calls: proven, and still to be limited.
type Caller struct {
	Key     account.Key
	Account account.Account
}

// Scope returns the tenant boundary of everything the caller reads.
func (c Caller) Scope() task.Scope {
	return task.Scope{Account: c.Account.ID, Mode: c.Key.Mode}
}

// Opens reports whether the capability is open on the account and in the key's scope.
func (c Caller) Opens(name catalog.Name) bool {
	return account.Allows(c.Account.Capabilities, string(name)) && account.Allows(c.Key.Scopes, string(name))
}

// Authenticate returns who sent the given Authorization header, to be read only: requests share it.
// Missing, malformed, unknown, revoked and expired keys, and an operator's, get one and the same UNAUTHENTICATED; a
// valid key of a suspended account is told so.
func (g *Gate) Authenticate(ctx context.Context, header string) (*Caller, error) {
	caller, err := g.authenticate(ctx, header)
	switch {
	case err != nil:
	case caller.Key.Mode == account.Operator:
		err = errInvalidKey
	default:
		err = mustBeActive(caller.Account)
	}
	if err != nil {
		return nil, refusalOfKey(err)
	}
	return caller, nil
}

// refusalOfKey has the words of API keys' entrance for errInvalidKey.
func refusalOfKey(err error) error {
	if errors.Is(err, errInvalidKey) {
		return fault.New(fault.Unauthenticated, "a valid API key is required: Authorization: Bearer <API_KEY>")
	}
	return err
}

// AuthenticateOperator returns whose operator key the given Authorization header holds. The Caller has no account: an
// operator acts for none. Any other key gets one and the same UNAUTHENTICATED.
func (g *Gate) AuthenticateOperator(ctx context.Context, header string) (*Caller, error) {
	caller, err := g.authenticate(ctx, header)
	if err == nil && caller.Key.Mode != account.Operator {
		err = errInvalidKey
	}
	if errors.Is(err, errInvalidKey) {
		return nil, fault.New(fault.Unauthenticated, "a valid operator key is required: Authorization: Bearer <OPERATOR_KEY>")
	}
	if err != nil {
		return nil, err
	}
	return &Caller{Key: caller.Key}, nil
}

// errInvalidKey is the error of a key that opens nothing; each entrance has its own words for it.
var errInvalidKey = errors.New("gate: the key is not valid")

// authenticate returns whose key of any mode the header holds, or errInvalidKey.
func (g *Gate) authenticate(ctx context.Context, header string) (*Caller, error) {
	secret, ok := bearer(header)
	if !ok {
		return nil, errInvalidKey
	}
	hash := account.HashSecret(secret)
	changes := g.keys.Changes() // before the key is read: a change meanwhile invalidates the read
	caller, ok := g.callers.get(hash, changes)
	if !ok {
		var err error
		if caller, err = g.read(ctx, secret, hash); err != nil {
			return nil, err
		}
		g.callers.put(hash, caller, changes)
	}
	now := g.now()
	if !caller.Key.Usable(now) {
		return nil, errInvalidKey
	}
	if second := now.Unix(); caller.used.Load() != second && caller.used.Swap(second) != second {
		g.used.note(caller.Key.ID, now)
	}
	return &caller.Caller, nil
}

// AddSession admits a key that lives in this process's memory only, until it expires.
func (g *Gate) AddSession(k account.Key) {
	g.mu.Lock()
	defer g.mu.Unlock()
	for hash, old := range g.sessions {
		if !old.Usable(g.now()) {
			delete(g.sessions, hash)
		}
	}
	g.sessions[k.Hash] = k
}

// FlushLastUsed writes the times of last use gathered since the last call.
func (g *Gate) FlushLastUsed(ctx context.Context) error {
	return g.used.drain(func(part map[string]time.Time) error { return g.keys.MarkUsed(ctx, part) })
}

// read returns the caller behind a key that is well formed, of the mode that it says, and issued, or errInvalidKey.
func (g *Gate) read(ctx context.Context, secret string, hash task.Hash) (*cachedCaller, error) {
	mode, ok := account.ParseKeySecret(g.prefix, secret)
	if !ok {
		return nil, errInvalidKey
	}
	key, acct, err := g.lookup(ctx, hash)
	switch {
	case errors.Is(err, store.ErrNotFound), err == nil && key.Mode != mode:
		return nil, errInvalidKey
	case err != nil:
		return nil, fault.From(err)
	}
	return &cachedCaller{Caller: Caller{Key: key, Account: acct}}, nil
}

func (g *Gate) lookup(ctx context.Context, hash task.Hash) (account.Key, account.Account, error) {
	g.mu.Lock()
	session, ok := g.sessions[hash]
	g.mu.Unlock()
	if !ok {
		return g.keys.KeyByHash(ctx, hash)
	}
	owner, err := g.keys.GetAccount(ctx, session.Account)
	return session, owner, err
}

func bearer(header string) (string, bool) {
	scheme, rest, ok := strings.Cut(header, " ")
	if !ok || !strings.EqualFold(scheme, "Bearer") {
		return "", false
	}
	return strings.TrimLeft(rest, " "), true
}

// lastUsed gathers times of use in memory: a write a request would cost more than the fact is worth.
type lastUsed struct {
	mu sync.Mutex
	at map[string]time.Time
}

func (l *lastUsed) note(id string, now time.Time) {
	l.mu.Lock()
	l.at[id] = now
	l.mu.Unlock()
}

// usedRows is how many keys one commit notes: requests wait for it.
const usedRows = 1000

// drain hands the times over in parts. Those from the first one that fails on are kept for the next time.
func (l *lastUsed) drain(write func(map[string]time.Time) error) error {
	l.mu.Lock()
	rest := l.at
	l.at = map[string]time.Time{}
	l.mu.Unlock()
	for len(rest) > 0 {
		part := make(map[string]time.Time, min(len(rest), usedRows))
		for id, at := range rest {
			if part[id] = at; len(part) == usedRows {
				break
			}
		}
		if err := write(part); err != nil {
			l.keep(rest)
			return err
		}
		maps.DeleteFunc(rest, func(id string, _ time.Time) bool { _, done := part[id]; return done })
	}
	return nil
}

// keep puts back the times that couldn't be written, except those that are newer by now.
func (l *lastUsed) keep(rest map[string]time.Time) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for id, at := range rest {
		if _, newer := l.at[id]; !newer {
			l.at[id] = at
		}
	}
}
