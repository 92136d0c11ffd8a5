// Package server is the HTTP side of the API: it decodes requests, encodes responses and keeps the
// order of checks, and leaves every decision about a task to the gateway.
//
// Invariants: everything that reaches the handler is answered with an X-Request-Id, and every JSON
// body has the same value as request_id; every error has the one shape; no response names a
// supplier; no log line has a key, a query string or a body. The API takes no cookie and sends no
// CORS header. Tools answer in their own protocol, but for a refusal before it is spoken.
package server

import (
	"context"
	"errors"
	"log/slog"
	"math"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"strings"
	"sync/atomic"
	"time"

	"unitask/internal/artifact"
	"unitask/internal/catalog"
	"unitask/internal/door"
	"unitask/internal/fault"
	"unitask/internal/gate"
	"unitask/internal/gateway"
	"unitask/internal/notify"
	"unitask/internal/operator"
	"unitask/internal/room"
	"unitask/internal/upload"
)

// Limits are the transport's settings; New fills zero values with the defaults noted here.
type Limits struct {
	Body        int64         // bytes of a request body: 16 MiB
	BodyMemory  int64         // of bodies that are judged at once: 16 MiB
	BodyDisk    int64         // of bodies that are arriving: 256 MiB
	Connections int           // open at once: 4096
	PerAddress  int           // of them from one address: 1024
	RefusedKeys int           // refusals of one address a minute before it is slowed down: 30; negative: any number
	BodyTime    time.Duration // for a request body to arrive: 60 s
	WriteTime   time.Duration // for the client to take one piece of a response: 30 s
	IdleTime    time.Duration // of a connection between requests: 2 min
}

// Config configures a Server. Gateway, Gate, Artifacts, Signer and BaseURL are required.
type Config struct {
	Gateway   *gateway.Gateway
	Gate      *gate.Gate
	Artifacts artifact.Store
	Signer    *artifact.Signer
	BaseURL   string // the address that callers use; artifacts' URLs begin with it
	Limits    Limits
	// BodyFolder is only for large bodies as they arrive; "": the system's folder of such files.
	BodyFolder string
	Now        func() time.Time // nil: time.Now
	Logger     *slog.Logger     // nil: discarded
	// TrustedProxies are the networks of proxies that are believed in who calls through them.
	TrustedProxies []netip.Prefix
	// Console is the pages for people; nil: no console.
	Console Console
	// Operator's actions are open to operator keys; nil: they aren't served.
	Operator *operator.Operator
	// Tools answers clients of the Model Context Protocol; nil: they aren't served.
	Tools Tools
	// OpenAI opens the door for programs that were written for OpenAI's interface.
	OpenAI bool
	// Anthropic opens the door for programs that were written for Anthropic's interface.
	Anthropic bool
	// DoorModels are other names of capabilities as models at the doors.
	DoorModels map[catalog.Name][]string
	// Uploads takes files ahead of tasks; nil: they aren't taken.
	Uploads *upload.Keeper
	// Webhooks are the endpoints that are told of the ends of tasks; nil: they aren't served.
	Webhooks *notify.Endpoints
	// OnRequest hears of each request once it is answered. It must be quick. nil: no hook.
	OnRequest func(Request)
}

// Request is an answered request, as monitoring counts it and the request log keeps it: it contains no text of
// callers.
type Request struct {
	ID      string
	At      time.Time // of its arrival
	Route   string    // the pattern that took it
	Method  string    // "other" for one that no route knows
	Status  int
	Took    time.Duration
	Client  string // its address; "" over a Unix socket
	KeyID   string // "" without a valid key
	Account string // its id
	TaskID  string // "" if it concerned no task
	Code    fault.Code
}

// Server is an http.Handler and the listener's settings around it. It is safe for concurrent use.
type Server struct {
	*common
	gateway    *gateway.Gateway
	gate       *gate.Gate
	artifacts  artifact.Store
	signer     *artifact.Signer
	base       *url.URL
	document   document
	console    Console
	operator   *operator.Operator // nil: its actions aren't served
	tools      Tools              // nil: they aren't served
	toolRoom   *room.Room         // of bodies and files of tools' requests under way
	openAI     *openAI            // nil: it isn't served
	anthropic  *anthropicDoor     // nil: it isn't served
	models     atomic.Pointer[doorModels]
	uploads    *upload.Keeper    // nil: they aren't served
	paces      *paces            // of uploads' signed addresses
	webhooks   *notify.Endpoints // nil: they aren't served
	bodies     *bodies
	conns      *connTable
	inProgress *room.Room // requests of each account
	refused    *refusedClients
	http       *http.Server
	nodes      *http.Client // of other nodes
}

// New returns a Server that doesn't listen yet.
func New(c Config) (*Server, error) {
	if c.Gateway == nil || c.Gate == nil || c.Artifacts == nil || c.Signer == nil {
		return nil, errors.New("server: Gateway, Gate, Artifacts and Signer are required")
	}
	base, err := url.Parse(strings.TrimSuffix(c.BaseURL, "/"))
	if err != nil || base.Host == "" || (base.Scheme != "http" && base.Scheme != "https") {
		return nil, errors.New("server: BaseURL must be an http or https address")
	}
	doc, err := loadDocument()
	if err != nil {
		return nil, err
	}
	s := &Server{
		common:  newCommon(c.Limits, c.Now, c.Logger),
		gateway: c.Gateway, gate: c.Gate, artifacts: c.Artifacts, signer: c.Signer, base: base, document: doc,
	}
	if s.bodies, err = newBodies(c.BodyFolder, s.limits); err != nil {
		return nil, err
	}
	s.onRequest, s.console, s.operator, s.tools = c.OnRequest, c.Console, c.Operator, c.Tools
	s.uploads, s.paces, s.webhooks = c.Uploads, newPaces(s.now), c.Webhooks
	way := &doorway{s, door.NewUndelivered(s.now)}
	first, second := &openAI{way}, &anthropicDoor{way}
	s.foreign = append(s.foreign, first.failForeign, second.failForeign) // a closed door's errors have its shape too
	if c.OpenAI {
		s.openAI = first
	}
	if c.Anthropic {
		s.anthropic = second
	}
	s.SetDoorModels(c.DoorModels)
	s.route()
	s.toolRoom = room.New(toolMemory, toolMemory/2)
	s.inProgress = room.New(math.MaxInt64, int64(s.limits.Connections)/2)
	s.conns = newConnTable(s.limits.Connections, s.limits.PerAddress, c.TrustedProxies)
	s.proxies, s.refused = c.TrustedProxies, newRefusedClients(s.limits.RefusedKeys, s.now)
	s.nodes = newNodeClient()
	s.http = newHTTPServer(s, s.limits.IdleTime, s.log)
	s.http.ConnState, s.http.ConnContext = s.conns.watch, withConn
	return s, nil
}

// newHTTPServer returns the settings that both listeners share. There is no ReadTimeout and no
// WriteTimeout: an answer may be held for 60 s, so exchange sets deadlines of its own.
func newHTTPServer(h http.Handler, idle time.Duration, log *slog.Logger) *http.Server {
	return &http.Server{
		Handler:                      h,
		ReadHeaderTimeout:            5 * time.Second, // a client that sends one byte at a time is cut off
		MaxHeaderBytes:               16 << 10,
		IdleTimeout:                  idle,
		DisableGeneralOptionsHandler: true, // "OPTIONS *" gets our 404 with its request id
		ErrorLog:                     slog.NewLogLogger(log.Handler(), slog.LevelDebug),
	}
}

// Serve answers on the listener until Shutdown; it returns nil then. Connections past the limits take the place of
// those that wait for a request.
func (s *Server) Serve(ln net.Listener) error {
	err := s.http.Serve(cappedListener{ln, s.conns})
	if errors.Is(err, http.ErrServerClosed) {
		return nil
	}
	return err
}

// Shutdown stops listening and waits for the requests under way until ctx ends; open ones are cut off then.
func (s *Server) Shutdown(ctx context.Context) error {
	if err := s.http.Shutdown(ctx); err != nil {
		return errors.Join(err, s.http.Close())
	}
	return nil
}

func (l Limits) withDefaults() Limits {
	if l.Body == 0 {
		l.Body = 16 << 20
	}
	if l.BodyMemory == 0 {
		l.BodyMemory = 16 << 20
	}
	if l.BodyDisk == 0 {
		l.BodyDisk = 256 << 20
	}
	if l.Connections == 0 {
		l.Connections = 4096
	}
	if l.PerAddress == 0 {
		l.PerAddress = 1024
	}
	if l.RefusedKeys == 0 {
		l.RefusedKeys = 30
	}
	if l.BodyTime == 0 {
		l.BodyTime = time.Minute
	}
	if l.WriteTime == 0 {
		l.WriteTime = 30 * time.Second
	}
	if l.IdleTime == 0 {
		l.IdleTime = 2 * time.Minute
	}
	return l
}
