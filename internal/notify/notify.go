// Package notify tells endpoints of the ends of tasks: it keeps the endpoints of accounts for those who enter, and
// sends the deliveries that the store's outbox holds.
//
// It doesn't decide which ends there are: a delivery is written in the commit that ends the task, and is sent until a
// receiver has answered 2xx, at least once. A request goes to public addresses alone, carries no input and no output, and
// is signed as Standard Webhooks 1.0 says. Endpoints' secrets are derived and never stored; no log line, no error and
// no record has one, nor a word of a receiver's answer.
package notify

import (
	"context"
	"log/slog"
	"net/url"
	"slices"
	"sync"
	"time"

	"unitask/internal/api"
	"unitask/internal/artifact"
	"unitask/internal/catalog"
	"unitask/internal/store"
	"unitask/internal/task"
	"unitask/internal/webhook"
)

// Store is the part of an engine that endpoints need.
type Store interface {
	store.Webhooks
	store.Counters
	Wake(topic string) (ch <-chan struct{}, stop func())
}

// Guard refuses foreign addresses: artifact.Fetcher.
type Guard interface {
	Refuses(u *url.URL) artifact.Refusal
}

// Config configures Endpoints. Store, Secret, Dial and Guard are required.
type Config struct {
	Store  Store
	Secret []byte // the service's, of webhook.ServiceSecretSize
	Dial   DialFunc
	Guard  Guard
	HTTP   bool // addresses may be http
	// DirectoryFunc returns the capabilities that patterns must match; nil: any.
	DirectoryFunc func() *catalog.Catalog
	Sender        *Sender // whose places and pace tests keep to; nil: they keep to none
	Node          string
	Version       string
	Now           func() time.Time // nil: time.Now
	Logger        *slog.Logger     // nil: discarded
}

// Endpoints are the actions on endpoints. They are safe for concurrent use.
type Endpoints struct {
	Config

	post  *poster
	bell  store.Bell    // by endpoint: a listener told an outcome
	ended chan struct{} // closed by Close
	once  sync.Once

	mu      sync.Mutex
	streams map[string]*context.CancelFunc // by listener: what ends its stream
}

// New returns the actions on the store's endpoints.
func New(c Config) *Endpoints {
	if c.Now == nil {
		c.Now = time.Now
	}
	if c.Logger == nil {
		c.Logger = slog.New(slog.DiscardHandler)
	}
	return &Endpoints{Config: c, post: newPoster(c.Dial, c.Version, c.HTTP), ended: make(chan struct{}), streams: map[string]*context.CancelFunc{}}
}

// Close ends the streams of listeners, which begin others elsewhere.
func (d *Endpoints) Close() {
	d.once.Do(func() { close(d.ended) })
	d.post.close()
}

// Holder is who acts: for a scope, and with a key whose own scopes bound the capabilities of the endpoints that it sees
// and makes.
type Holder struct {
	Scope  task.Scope
	KeyID  string   // "" of a person
	Scopes []string // of the key; empty, or webhooks alone: all capabilities
}

// patterns returns the holder's scopes of capabilities; empty: all.
func (h Holder) patterns() []string {
	return slices.DeleteFunc(slices.Clone(h.Scopes), func(p string) bool { return p == api.ScopeWebhooks })
}

// all reports whether the holder may call all capabilities.
func (h Holder) all() bool { return len(h.beyond(nil)) == 0 }

// sees reports whether the endpoint tells of no capability that the holder may not call, and not of the account's budgets
// unless the holder may call all.
func (h Holder) sees(e webhook.Endpoint) bool {
	return len(h.beyond(e.Capabilities)) == 0 && (!e.Budgets || h.all())
}

// find returns an endpoint of the holder's, or NOT_FOUND.
func (d *Endpoints) find(ctx context.Context, h Holder, id string) (webhook.Endpoint, error) {
	if !task.ValidID(PrefixEndpoint, id) {
		return webhook.Endpoint{}, errUnknown
	}
	e, err := d.Store.GetEndpoint(ctx, h.Scope, id)
	if err == nil && !h.sees(e) {
		err = store.ErrNotFound
	}
	return e, known(err)
}
