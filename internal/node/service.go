package node

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"net/http"
	"net/netip"
	"os"
	"time"

	"unitask/internal/api"
	"unitask/internal/artifact"
	"unitask/internal/catalog"
	"unitask/internal/gate"
	"unitask/internal/gateway"
	"unitask/internal/hours"
	"unitask/internal/inquiry"
	"unitask/internal/mcp"
	"unitask/internal/metrics"
	"unitask/internal/notify"
	"unitask/internal/operator"
	"unitask/internal/routing"
	"unitask/internal/server"
	"unitask/internal/server/console"
	"unitask/internal/store"
	"unitask/internal/tail"
	"unitask/internal/upload"
)

// Parts are the parts of a gateway. Open makes them from the settings, tests as they need them. Optional ones say so.
type Parts struct {
	Catalog   *catalog.Catalog
	Store     store.Store
	Keys      store.Callers
	Suppliers Suppliers // with the content policy
	Artifacts artifact.Store
	Fetcher   gateway.Fetcher
	Limits    Limits
	KeyPrefix string
	Now       func() time.Time // nil: time.Now
	Logger    *slog.Logger     // nil: discarded
	Observer  gateway.Observer // nil: no observer
	Runs      string           // program and settings, for the other nodes on the store
	Desk      *inquiry.Desk    // of questions between the nodes on the store; nil: they are asked and answer nothing
	Address   string           // the base URL at which they reach this one; "": they don't

	StateSecret []byte // see gateway.Config
}

// Webhooks are the settings of telling endpoints of the ends of tasks.
type Webhooks struct {
	Fetcher *artifact.Fetcher // whose guard holds for their addresses; nil: there are no webhooks
	HTTP    bool              // addresses may be http
}

// NewGateway returns a gateway that is idle until its Start, and its gate.
func NewGateway(p Parts) (*gate.Gate, *gateway.Gateway, error) {
	table, err := routing.NewTable(p.Suppliers.Routes, p.Suppliers.Prices)
	if err != nil {
		return nil, nil, err
	}
	keeper, err := gate.New(gate.Config{Keys: p.Keys, Prefix: p.KeyPrefix, Now: p.Now, Defaults: p.Limits.Gate})
	if err != nil {
		return nil, nil, err
	}
	g, err := gateway.New(gateway.Config{
		Catalog: p.Catalog, Store: p.Store, Gate: keeper, Routes: table, Artifacts: p.Artifacts, Fetcher: p.Fetcher,
		Policy: p.Suppliers.Policy, Limits: p.Limits.Gateway, Now: p.Now, Logger: p.Logger, Observer: p.Observer, Runs: p.Runs, Desk: p.Desk,
		Address: p.Address, StateSecret: p.StateSecret,
	})
	return keeper, g, err
}

// Engine is a store with all that a service keeps in one.
type Engine interface {
	store.Store
	store.Registry
	store.Secrets
}

// ServiceConfig configures a Service. Its Parts come without a store, keys and an observer.
type ServiceConfig struct {
	Parts

	Metrics        *metrics.Metrics // nil: new ones
	Version        string           // of the program
	BaseURL        string
	BodyFolder     string
	TrustedProxies []netip.Prefix
	OnRequest      func(server.Request) // nil: no hook
	OperatorAPI    bool                 // operator keys open the operator's actions on the API's listener
	MCP            bool                 // the capabilities are tools of the Model Context Protocol on the API's listener
	OpenAI         bool                 // programs that were written for OpenAI's interface may call
	Anthropic      bool                 // or for Anthropic's
	DoorModels     map[catalog.Name][]string
	Webhooks       Webhooks
}

// Service is everything above a store: the gateway with its gate, the API, the console and the operator. It is a Node
// without a data folder.
type Service struct {
	Gate     *gate.Gate
	Gateway  *gateway.Gateway
	Signer   *artifact.Signer // of the addresses of results
	Operator *operator.Operator
	API      *server.Server
	Admin    *server.Admin
	uploads  *upload.Keeper // nil: they aren't taken
	endTools func()

	endpoints *notify.Endpoints // nil: there are no webhooks
	sender    *notify.Sender    // nil without endpoints
}

// NewService assembles a service that doesn't listen yet and whose gateway is idle until its Start.
func NewService(ctx context.Context, db Engine, c ServiceConfig) (*Service, error) {
	if c.Now == nil {
		c.Now = time.Now
	}
	if c.Metrics == nil {
		c.Metrics = metrics.New(metrics.Build{Version: c.Version})
	}
	shares, _ := c.Artifacts.(artifact.Shares)
	counted, latest := hours.New(c.Now), tail.New(c.Now)
	c.Store, c.Keys, c.Observer, c.Artifacts = db, db, observers{c.Metrics, counted, latest}, c.Metrics.Artifacts(c.Artifacts)
	var err error
	if c.StateSecret, err = db.Secret(ctx, "chat-states", gateway.StateSecretSize); err != nil {
		return nil, err
	}
	keeper, g, err := NewGateway(c.Parts)
	if err != nil {
		return nil, err
	}
	secret, err := db.Secret(ctx, "artifact-urls", artifact.SecretSize)
	if err != nil {
		return nil, err
	}
	signer, err := artifact.NewSigner(secret, cmp.Or(c.Limits.URLs, time.Hour))
	if err != nil {
		return nil, err
	}
	s := &Service{Gate: keeper, Gateway: g, Signer: signer, endTools: func() {}}
	s.Operator = newOperator(db, c, keeper, g)
	s.Operator.Hours, s.Operator.Tail = counted, latest
	tools, err := s.newTools(c)
	if err = errors.Join(err, s.newWebhooks(ctx, db, c)); err != nil {
		return nil, err
	}
	pages, err := console.New(console.Config{
		Operator: s.Operator, Gateway: g, Signer: signer, Endpoints: s.endpoints, BaseURL: c.BaseURL, Now: c.Now, Logger: c.Logger,
	})
	if err != nil {
		return nil, err
	}
	s.Admin = server.NewAdmin(s.Operator, c.Metrics.Handler(), c.Logger)
	var remote *operator.Operator
	if c.OperatorAPI {
		remote = s.Operator
	}
	if shares != nil {
		uploads := upload.Config{Artifacts: c.Artifacts, Shares: shares, Limits: uploadLimits(c.Limits, g), Now: store.ClockOf(db, c.Now).Stamp}
		s.uploads, err = upload.New(uploads)
	}
	if err != nil {
		return nil, err
	}
	s.API, err = server.New(server.Config{
		Operator: remote, Gateway: g, Gate: keeper, Artifacts: c.Artifacts, Signer: signer, BaseURL: c.BaseURL, Now: store.ClockOf(db, c.Now).Past,
		Logger: c.Logger, Limits: c.Limits.Server, BodyFolder: c.BodyFolder, TrustedProxies: c.TrustedProxies,
		OnRequest: func(r server.Request) { c.onRequest(r, latest) }, Console: pages, Tools: tools, OpenAI: c.OpenAI, Anthropic: c.Anthropic, DoorModels: c.DoorModels, Uploads: s.uploads, Webhooks: s.endpoints,
	})
	return s, err
}

func newOperator(db Engine, c ServiceConfig, keeper *gate.Gate, g *gateway.Gateway) *operator.Operator {
	return &operator.Operator{
		Store: db, Tasks: db, Gate: keeper, Prefix: c.KeyPrefix, Now: c.Now, RoutesFunc: g.Routes, DirectoryFunc: g.Directory, ReadyFunc: g.Ready,
		PausesFunc: g.ReadPauses, ResetFunc: g.Reset, ReachFunc: g.Reach, CancelFunc: g.CancelQueued,
		Server: api.Info{Version: c.Version, BaseURL: c.BaseURL, PID: os.Getpid(), Suppliers: c.Suppliers.Statuses},
	}
}

// uploadLimits bound uploads to those that a task can use.
func uploadLimits(l Limits, g *gateway.Gateway) upload.Limits {
	l.Uploads.Task = g.MostMedia()
	return l.Uploads
}

// newTools returns nil unless the settings want tools.
func (s *Service) newTools(c ServiceConfig) (server.Tools, error) {
	if !c.MCP {
		return nil, nil
	}
	h, err := mcp.NewHTTP(mcp.HTTPConfig{BaseURL: c.BaseURL, Version: c.Version, Logger: c.Logger})
	if err != nil {
		return nil, err
	}
	s.endTools = h.Close
	return func(w http.ResponseWriter, r *http.Request, v server.ToolsVisit) { h.Serve(w, r, mcp.Visit(v)) }, nil
}

// onRequest counts an answered request of the API, has those see it who follow, and calls the hook.
func (c ServiceConfig) onRequest(r server.Request, latest *tail.Tail) {
	c.Metrics.Request(r)
	tellRequest(latest, r)
	if c.OnRequest != nil {
		c.OnRequest(r)
	}
}

// Apply puts settings that may change while the service runs into effect. runs is as in Parts.
func (s *Service) Apply(directory *catalog.Catalog, found Suppliers, l Limits, runs string) error {
	table, err := routing.NewTable(found.Routes, found.Prices)
	if err != nil {
		return err
	}
	s.Gateway.Apply(gateway.Settings{Catalog: directory, Routes: table, Policy: found.Policy, Limits: l.Gateway, Runs: runs})
	s.Gate.SetDefaults(l.Gate)
	s.API.SetBody(l.Server.Body)
	if s.uploads != nil {
		s.uploads.SetLimits(uploadLimits(l, s.Gateway))
	}
	s.Operator.SetSuppliers(found.Statuses)
	return nil
}

// Start begins to work on tasks and to send their ends.
func (s *Service) Start() {
	s.Gateway.Start()
	if s.sender != nil {
		s.sender.Start()
	}
}

// Shutdown refuses new work, waits for the work and the requests under way until ctx ends, and stops the gateway, the
// sending of webhooks and the API. Calls of tools that still wait then are answered by the ids of their tasks.
func (s *Service) Shutdown(ctx context.Context) error {
	err := s.Gateway.Shutdown(ctx)
	s.endTools()
	if s.sender != nil {
		s.endpoints.Close()
		s.sender.Shutdown(ctx)
	}
	return errors.Join(err, s.API.Shutdown(ctx))
}
