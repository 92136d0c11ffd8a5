package main

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"math"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"time"

	"unitask/internal/api"
	"unitask/internal/artifact"
	"unitask/internal/backup"
	"unitask/internal/catalog"
	"unitask/internal/config"
	"unitask/internal/disk"
	"unitask/internal/gate"
	"unitask/internal/gateway"
	"unitask/internal/metrics"
	"unitask/internal/operator"
	"unitask/internal/requestlog"
	"unitask/internal/routing"
	"unitask/internal/server"
	"unitask/internal/store"
	"unitask/internal/store/boltstore"
)

// node is the whole service in one process.
type node struct {
	dataDir  string // absolute
	db       *boltstore.DB
	gate     *gate.Gate
	gateway  *gateway.Gateway
	operator *operator.Operator
	api      *server.Server
	admin    *server.Admin
	socket   *adminSocket
	metrics  *metrics.Metrics
	monitor  *server.Monitor
	requests *requestlog.Log // nil where none is kept
}

// The folders of the request log and of arriving bodies in the data folder.
const (
	requestsName = "requests"
	bodiesName   = "bodies"
)

// newNode opens the data folder and puts the service together; nothing is served yet.
func newNode(ctx context.Context, c config.Config, directory *catalog.Catalog, s supply, log *slog.Logger) (*node, error) {
	n := &node{metrics: metrics.New(readBuild().metrics())}
	n.monitor = server.NewMonitor(n.metrics.Handler(), log)
	var err error
	store := boltstore.Config{MaxSize: int64(c.Limits.Database), OnCommit: n.metrics.Commit, Logger: log}
	if n.db, n.dataDir, err = openData(c.DataDir, store); err != nil {
		return nil, err
	}
	if err = n.assemble(ctx, c, directory, s, log); err != nil {
		if n.requests != nil {
			err = errors.Join(err, n.requests.Close())
		}
		return nil, errors.Join(err, n.db.Close())
	}
	return n, nil
}

// openData opens the database of a data folder, making both where they don't exist; c is without a
// path.
func openData(dir string, c boltstore.Config) (db *boltstore.DB, abs string, err error) {
	if abs, err = filepath.Abs(dir); err != nil {
		return nil, "", err
	}
	if err = os.MkdirAll(abs, 0o700); err != nil {
		return nil, "", err
	}
	if err = disk.Own(abs); err != nil {
		return nil, "", err
	}
	c.Path, c.Now = filepath.Join(abs, backup.DatabaseName), wallClock
	db, err = boltstore.Open(c)
	return db, abs, err
}

func (n *node) assemble(ctx context.Context, c config.Config, directory *catalog.Catalog, s supply, log *slog.Logger) error {
	clock := store.NewClock(wallClock)
	folder, err := artifact.NewFolder(artifact.FolderConfig{Dir: filepath.Join(n.dataDir, backup.ArtifactsName), Now: clock.Stamp})
	if err != nil {
		return err
	}
	files := n.metrics.Artifacts(folder)
	signing, err := n.db.Secret(ctx, "artifact-urls", artifact.SecretSize)
	if err != nil {
		return err
	}
	signer, err := artifact.NewSigner(signing, time.Duration(c.Limits.URLTTL))
	if err != nil {
		return err
	}
	fetcher, err := artifact.NewFetcher(artifact.FetcherConfig{Allow: c.MediaAllow})
	if err != nil {
		return err
	}
	table, err := routing.NewTable(s.routes, s.prices)
	if err != nil {
		return err
	}
	n.gate, err = gate.New(gate.Config{Keys: n.db, Prefix: c.KeyPrefix, Now: wallClock, Defaults: gateDefaults(c.Limits)})
	if err != nil {
		return err
	}
	n.gateway, err = gateway.New(gateway.Config{
		Catalog: directory, Store: n.db, Gate: n.gate, Routes: table, Artifacts: files, Fetcher: fetcher,
		Policy: s.policy, Limits: gatewayLimits(c.Limits), Now: wallClock, Logger: log, Observer: n.metrics,
	})
	if err != nil {
		return err
	}
	n.metrics.Watch(n.db, n.gateway.Working)
	if err = n.openRequests(c.Limits, log); err != nil {
		return err
	}
	n.operator = &operator.Operator{
		Store: n.db, Tasks: n.db, Gate: n.gate, Prefix: c.KeyPrefix, Now: time.Now, RoutesFunc: n.gateway.Routes,
		BackupFunc: func(ctx context.Context, w io.Writer) error {
			_, err := backup.Write(ctx, w, backup.Source{Database: n.db, Files: folder, Program: readBuild().Version, Now: time.Now})
			return err
		},
		Server: api.Info{Version: readBuild().Version, BaseURL: c.BaseURL, PID: os.Getpid(), Suppliers: s.statuses},
	}
	if n.requests != nil {
		n.operator.Requests = n.requests
	}
	pages, err := n.newConsole(signer, c.BaseURL, log)
	if err != nil {
		return err
	}
	n.api, err = server.New(server.Config{
		Gateway: n.gateway, Gate: n.gate, Artifacts: files, Signer: signer, BaseURL: c.BaseURL, Now: clock.Past, Logger: log,
		Limits:     serverLimits(c.Limits),
		BodyFolder: filepath.Join(n.dataDir, bodiesName), TrustedProxies: c.Proxies(),
		OnRequest: n.answered,
		Console:   pages,
	})
	if err != nil {
		return err
	}
	n.admin = server.NewAdmin(n.operator, n.metrics.Handler(), log)
	n.socket, err = openAdminSocket(ctx, n.dataDir)
	return err
}

// openRequests begins the request log, where one is kept.
func (n *node) openRequests(l config.Limits, log *slog.Logger) (err error) {
	if l.RequestLog == 0 {
		return nil
	}
	n.requests, err = requestlog.Open(requestlog.Config{
		Dir: filepath.Join(n.dataDir, requestsName), Size: int64(l.RequestLog), Keep: time.Duration(l.RequestLogAge), Now: wallClock, Logger: log,
	})
	if err == nil {
		n.metrics.WatchRequests(n.requests.Lost)
	}
	return err
}

// answered hears of each request of the API.
func (n *node) answered(r server.Request) {
	n.metrics.Request(r)
	if n.requests == nil || (r.KeyID == "" && r.Status < http.StatusBadRequest) { // a probe of health, a signed address
		return
	}
	n.requests.Add(requestlog.Entry{
		ID: r.ID, At: r.At, Client: r.Client, KeyID: r.KeyID, Account: r.Account, TaskID: r.TaskID, Method: r.Method, Route: r.Route,
		Status: r.Status, Code: r.Code, Took: r.Took,
	})
}

func gateDefaults(l config.Limits) gate.Defaults {
	return gate.Defaults{
		CreatesPerMinute: l.CreatesPerMinute, ReadsPerMinute: l.ReadsPerMinute, OpenTasks: l.OpenTasks, Queue: l.Queue,
	}
}

func gatewayLimits(l config.Limits) gateway.Limits {
	return gateway.Limits{
		JSONDepth: someCount(l.JSONDepth), InlineMedia: someBytes(l.InlineMedia), WorkMemory: someBytes(l.WorkMemory),
		ArtifactBytes: someBytes(l.Artifact), ArtifactTTL: someTime(l.ArtifactTTL, forEver),
		SyncWait: someTime(l.SyncWait, atOnce), PlaceWait: someTime(l.PlaceWait, atOnce), Retention: someTime(l.Retention, forEver), Usage: someTime(l.Usage, forEver),
		Workers: someCount(l.Workers), Takeovers: someCount(l.Takeovers), Grace: someTime(l.ShutdownGrace, atOnce), LeaseTerm: oneNodeLease,
	}
}

const (
	// oneNodeLease outlasts any process: the lock on the bbolt file is the node's claim on every task,
	// so that not even a disk that stalls for minutes makes a worker doubt its lease.
	oneNodeLease = forEver
	forEver      = 100 * 365 * 24 * time.Hour
	atOnce       = time.Nanosecond
)

// someTime gives the settings' 0, for none, the meaning that it has there.
func someTime(d config.Duration, none time.Duration) time.Duration {
	if d == 0 {
		return none
	}
	return time.Duration(d)
}

// someBytes turns the settings' 0, for none, into a bound that nothing reaches.
func someBytes(n config.Size) int64 {
	if n == 0 {
		return math.MaxInt64
	}
	return int64(n)
}

// someCount is someBytes for counts.
func someCount(n int) int {
	if n == 0 {
		return math.MaxInt32 // an int on every machine
	}
	return n
}

// start serves the API on the listener, the operator on the socket and, where monitor isn't nil, the
// metrics on that. The channel receives what ends any of them before stop does.
func (n *node) start(ln, monitor net.Listener) <-chan error {
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

// stop refuses new work, lets work under way end within the grace, and closes everything. Until that
// work has ended the API goes on answering: tasks can be read, and who brings new ones is told to
// come again.
func (n *node) stop(grace time.Duration) error {
	ctx, cancel := context.WithTimeout(context.Background(), grace)
	defer cancel()
	return errors.Join(n.gateway.Shutdown(ctx), n.api.Shutdown(ctx), n.close(ctx))
}

// close frees what newNode opened.
func (n *node) close(ctx context.Context) error {
	err := errors.Join(n.monitor.Shutdown(ctx), n.admin.Shutdown(ctx), n.socket.remove())
	if n.requests != nil {
		err = errors.Join(err, n.requests.Close())
	}
	return errors.Join(err, n.db.Close())
}
