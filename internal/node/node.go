package node

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"sync"
	"time"

	"unitask/internal/api"
	"unitask/internal/artifact"
	"unitask/internal/backup"
	"unitask/internal/catalog"
	"unitask/internal/config"
	"unitask/internal/gate"
	"unitask/internal/gateway"
	"unitask/internal/metrics"
	"unitask/internal/operator"
	"unitask/internal/requestlog"
	"unitask/internal/routing"
	"unitask/internal/server"
	"unitask/internal/server/console"
	"unitask/internal/store"
	"unitask/internal/store/boltstore"
)

// Names in the data folder.
const (
	RequestsName = "requests" // the request log
	bodiesName   = "bodies"   // arriving bodies
)

// Config configures a Node. Settings, Directory and Logger are required.
type Config struct {
	Settings  config.Config
	Directory *catalog.Catalog
	Sources   config.Sources // of the settings, read again by Reload
	Build     metrics.Build
	Logger    *slog.Logger
}

// Node is the whole service in one process.
type Node struct {
	Operator  *operator.Operator
	Suppliers Suppliers // found by Open
	DataDir   string    // absolute

	db       *boltstore.DB
	gate     *gate.Gate
	gateway  *gateway.Gateway
	api      *server.Server
	admin    *server.Admin
	socket   *adminSocket
	metrics  *metrics.Metrics
	monitor  *server.Monitor
	requests *requestlog.Log // nil without a request log
	log      *slog.Logger

	sources   config.Sources
	sandboxes Sandboxes
	reloading sync.Mutex
	settings  config.Config // in effect; guarded by reloading
}

// Open finds the suppliers, opens the data folder and assembles the service; it doesn't listen yet.
func Open(ctx context.Context, c Config) (*Node, error) {
	boxes, err := NewSandboxes(c.Settings.DataDir)
	if err != nil {
		return nil, err
	}
	found, err := FindSuppliers(ctx, c.Settings, c.Directory, boxes, os.Getenv)
	if err != nil {
		return nil, err
	}
	n := &Node{
		Suppliers: found, metrics: metrics.New(c.Build), log: c.Logger, sources: c.Sources, sandboxes: boxes, settings: c.Settings,
	}
	n.monitor = server.NewMonitor(n.metrics.Handler(), n.log)
	db := boltstore.Config{MaxSize: int64(c.Settings.Limits.Database), OnCommit: n.metrics.Commit, Logger: n.log}
	if n.db, n.DataDir, err = OpenData(c.Settings.DataDir, db); err != nil {
		return nil, err
	}
	if err = n.assemble(ctx, c); err != nil {
		if n.requests != nil {
			err = errors.Join(err, n.requests.Close())
		}
		return nil, errors.Join(err, n.db.Close())
	}
	return n, nil
}

// assemble makes everything above the database.
func (n *Node) assemble(ctx context.Context, c Config) error {
	clock := store.NewClock(wallClock)
	folder, signer, err := n.openArtifacts(ctx, clock, time.Duration(c.Settings.Limits.URLTTL))
	if err != nil {
		return err
	}
	files := n.metrics.Artifacts(folder)
	if err = n.newGateway(c, files); err != nil {
		return err
	}
	n.metrics.Watch(n.db, n.gateway.Working)
	if err = n.openRequests(c.Settings.Limits); err != nil {
		return err
	}
	n.Operator = n.newOperator(c, folder)
	pages, err := console.New(console.Config{
		Operator: n.Operator, Gateway: n.gateway, Signer: signer, BaseURL: c.Settings.BaseURL, Now: wallClock, Logger: n.log,
	})
	if err != nil {
		return err
	}
	n.api, err = server.New(server.Config{
		Gateway: n.gateway, Gate: n.gate, Artifacts: files, Signer: signer, BaseURL: c.Settings.BaseURL, Now: clock.Past, Logger: n.log,
		Limits: serverLimits(c.Settings.Limits), BodyFolder: filepath.Join(n.DataDir, bodiesName), TrustedProxies: c.Settings.Proxies(),
		OnRequest: n.recordRequest, Console: pages,
	})
	if err != nil {
		return err
	}
	n.admin = server.NewAdmin(n.Operator, n.metrics.Handler(), n.log)
	n.socket, err = openAdminSocket(ctx, n.DataDir)
	return err
}

// openArtifacts opens the folder of results and the signer of their addresses.
func (n *Node) openArtifacts(ctx context.Context, clock store.Clock, ttl time.Duration) (*artifact.Folder, *artifact.Signer, error) {
	folder, err := artifact.NewFolder(artifact.FolderConfig{Dir: filepath.Join(n.DataDir, backup.ArtifactsName), Now: clock.Stamp})
	if err != nil {
		return nil, nil, err
	}
	secret, err := n.db.Secret(ctx, "artifact-urls", artifact.SecretSize)
	if err != nil {
		return nil, nil, err
	}
	signer, err := artifact.NewSigner(secret, ttl)
	return folder, signer, err
}

func (n *Node) newGateway(c Config, files artifact.Store) error {
	fetcher, err := artifact.NewFetcher(artifact.FetcherConfig{Allow: c.Settings.MediaAllow})
	if err != nil {
		return err
	}
	table, err := routing.NewTable(n.Suppliers.Routes, n.Suppliers.Prices)
	if err != nil {
		return err
	}
	n.gate, err = gate.New(gate.Config{Keys: n.db, Prefix: c.Settings.KeyPrefix, Now: wallClock, Defaults: gateDefaults(c.Settings.Limits)})
	if err != nil {
		return err
	}
	n.gateway, err = gateway.New(gateway.Config{
		Catalog: c.Directory, Store: n.db, Gate: n.gate, Routes: table, Artifacts: files, Fetcher: fetcher,
		Policy: n.Suppliers.Policy, Limits: gatewayLimits(c.Settings.Limits), Now: wallClock, Logger: n.log, Observer: n.metrics,
	})
	return err
}

func (n *Node) newOperator(c Config, folder *artifact.Folder) *operator.Operator {
	o := &operator.Operator{
		Store: n.db, Tasks: n.db, Gate: n.gate, Prefix: c.Settings.KeyPrefix, Now: time.Now,
		RoutesFunc: n.gateway.Routes, ReloadFunc: n.reload,
		BackupFunc: func(ctx context.Context, w io.Writer) error {
			_, err := backup.Write(ctx, w, backup.Source{Database: n.db, Files: folder, Program: c.Build.Version, Now: time.Now})
			return err
		},
		Server: api.Info{Version: c.Build.Version, BaseURL: c.Settings.BaseURL, PID: os.Getpid(), Suppliers: n.Suppliers.Statuses},
	}
	if n.requests != nil {
		o.Requests = n.requests
	}
	return o
}

// openRequests opens the request log, unless the settings turn it off.
func (n *Node) openRequests(l config.Limits) (err error) {
	if l.RequestLog == 0 {
		return nil
	}
	n.requests, err = requestlog.Open(requestlog.Config{
		Dir: filepath.Join(n.DataDir, RequestsName), Size: int64(l.RequestLog), Keep: time.Duration(l.RequestLogAge), Now: wallClock, Logger: n.log,
	})
	if err == nil {
		n.metrics.WatchRequests(n.requests.Lost)
	}
	return err
}

// recordRequest counts an answered request of the API and logs it, except for successful ones without a key, such as
// probes of health.
func (n *Node) recordRequest(r server.Request) {
	n.metrics.Request(r)
	if n.requests == nil || (r.KeyID == "" && r.Status < http.StatusBadRequest) {
		return
	}
	n.requests.Add(requestlog.Entry{
		ID: r.ID, At: r.At, Client: r.Client, KeyID: r.KeyID, Account: r.Account, TaskID: r.TaskID, Method: r.Method, Route: r.Route,
		Status: r.Status, Code: r.Code, Took: r.Took,
	})
}

// Start serves the API on the listener, the operator on the socket and, unless monitor is nil, the metrics on monitor.
// The channel receives the errors that end one of them before Stop does.
func (n *Node) Start(ln, monitor net.Listener) <-chan error {
	n.gateway.Start()
	services := []func() error{
		func() error { return n.api.Serve(ln) },
		func() error { return n.admin.Serve(n.socket.listener) },
	}
	if monitor != nil {
		services = append(services, func() error { return n.monitor.Serve(monitor) })
	}
	failed := make(chan error, len(services))
	for _, serve := range services {
		go func() {
			if err := serve(); err != nil {
				failed <- err
			}
		}()
	}
	return failed
}

// Stop refuses new work, lets running work end within the grace, and closes the node. Until then the API goes on
// answering: tasks can be read, and new ones are refused with CAPACITY_EXHAUSTED.
func (n *Node) Stop(grace time.Duration) error {
	ctx, cancel := context.WithTimeout(context.Background(), grace)
	defer cancel()
	return errors.Join(n.gateway.Shutdown(ctx), n.api.Shutdown(ctx), n.Close(ctx))
}

// Close releases a node that Open made and Start wasn't called for.
func (n *Node) Close(ctx context.Context) error {
	err := errors.Join(n.monitor.Shutdown(ctx), n.admin.Shutdown(ctx), n.socket.remove())
	if n.requests != nil {
		err = errors.Join(err, n.requests.Close())
	}
	return errors.Join(err, n.db.Close())
}
