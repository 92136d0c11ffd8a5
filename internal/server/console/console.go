// Package console is the pages for people: an account's keys, tasks, usage and webhooks, and for operators every
// account, the suppliers and the lookup of requests.
//
// Pages are html/template; scripts only add to them. Whoever signed in is known by a cookie that no script reads, and
// each request is judged anew: session, role and account. An operator sees no input, output or file of an account
// that isn't their own. No page holds a key but one that is shown once, after the form that made it. The console has
// no limits of its own and no way to a task but the API's: Caller gives the API's own handlers who signed in, in the
// place of a key.
package console

import (
	"errors"
	"log/slog"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"

	"unitask/internal/artifact"
	"unitask/internal/gateway"
	"unitask/internal/notify"
	"unitask/internal/operator"
)

// Root is the path below which the console answers.
const Root = "/console"

// Config configures a Console. All but Endpoints, Now and Logger are required.
type Config struct {
	Operator  *operator.Operator
	Gateway   *gateway.Gateway
	Signer    *artifact.Signer
	Endpoints *notify.Endpoints // nil: there are no webhooks
	BaseURL   string            // the address that people use
	Now       func() time.Time  // nil: time.Now
	Logger    *slog.Logger      // nil: discarded
}

// Console is an http.Handler for everything below Root. It is safe for concurrent use.
type Console struct {
	operator  *operator.Operator
	gateway   *gateway.Gateway
	signer    *artifact.Signer
	endpoints *notify.Endpoints
	now       func() time.Time
	log       *slog.Logger
	base      *url.URL
	guard     *http.CrossOriginProtection
	pages     pages
	files     files
	once      once
	exports   chan struct{} // holds an element for each that is being written
	exporting sync.Map      // of true, by the id of the account that one is written for
	mux       *http.ServeMux
}

// New returns a Console.
func New(c Config) (*Console, error) {
	if c.Operator == nil || c.Gateway == nil || c.Signer == nil {
		return nil, errors.New("console: Operator, Gateway and Signer are required")
	}
	base, err := url.Parse(strings.TrimSuffix(c.BaseURL, "/"))
	if err != nil || base.Host == "" {
		return nil, errors.New("console: BaseURL must be an http or https address")
	}
	out := &Console{
		operator: c.Operator, gateway: c.Gateway, signer: c.Signer, endpoints: c.Endpoints, now: c.Now, log: c.Logger, base: base,
		mux: http.NewServeMux(), exports: make(chan struct{}, mostExports),
	}
	if out.now == nil {
		out.now = time.Now
	}
	if out.log == nil {
		out.log = slog.New(slog.DiscardHandler)
	}
	if out.guard, err = newGuard(base); err != nil {
		return nil, err
	}
	if out.files, err = loadFiles(); err != nil {
		return nil, err
	}
	out.pages.words = functions(out.files, base.Path, out.now)
	out.route()
	return out, nil
}

// ServeHTTP answers one request.
func (c *Console) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	secure(w.Header())
	if err := c.admit(r); err != nil {
		c.refuse(w, r, nil, err)
		return
	}
	c.mux.ServeHTTP(w, r)
}

// path returns the address of a page, as a browser sees it.
func (c *Console) path(below string) string { return c.base.Path + Root + below }
