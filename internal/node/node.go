package node

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"unitask/internal/artifact"
	"unitask/internal/backup"
	"unitask/internal/catalog"
	"unitask/internal/config"
	"unitask/internal/fault"
	"unitask/internal/inquiry"
	"unitask/internal/metrics"
	"unitask/internal/requestlog"
	"unitask/internal/server"
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
	*Service

	Suppliers Suppliers // found by Open
	DataDir   string    // absolute

	db       Database
	lock     io.Closer // of the data folder
	socket   *adminSocket
	monitor  *server.Monitor
	requests *requestlog.Log // nil without a request log
	desk     *inquiry.Desk
	log      *slog.Logger
	version  string // of the program

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
	counts := metrics.New(c.Build)
	n := &Node{
		Suppliers: found, monitor: server.NewMonitor(counts.Handler(), c.Logger), log: c.Logger,
		version: c.Build.Version, sources: c.Sources, sandboxes: boxes, settings: c.Settings,
	}
	if n.db, n.DataDir, err = OpenStore(ctx, StoreConfig{Settings: c.Settings, OnCommit: counts.Commit, Logger: n.log}); err != nil {
		return nil, err
	}
	if n.lock, err = lockData(c.Settings.OneNode(), n.DataDir); err == nil {
		err = n.assemble(ctx, c, counts)
	}
	if err != nil {
		if n.requests != nil {
			err = errors.Join(err, n.requests.Close())
		}
		return nil, errors.Join(err, n.lock.Close(), n.db.Close())
	}
	return n, nil
}

// assemble makes everything above the database.
func (n *Node) assemble(ctx context.Context, c Config, counts *metrics.Metrics) error {
	set := c.Settings
	files, folder, err := n.openArtifacts(ctx, set)
	if err != nil {
		return err
	}
	fetcher, err := artifact.NewFetcher(artifact.FetcherConfig{Allow: set.MediaAllow})
	if err != nil {
		return err
	}
	hooks := Webhooks{HTTP: set.WebhookHTTP}
	if set.Webhooks {
		if hooks.Fetcher, err = artifact.NewFetcher(artifact.FetcherConfig{Allow: set.WebhookAllow}); err != nil {
			return err
		}
	}
	if err = n.openRequests(set.Limits, counts); err != nil {
		return err
	}
	n.desk = inquiry.New(inquiry.Config{Name: nameOf(set.Listen), AnswerFunc: n.answerRequests})
	runs, err := n.runs(set, c.Directory)
	if err != nil {
		return err
	}
	n.Service, err = NewService(ctx, n.db, ServiceConfig{
		Parts: Parts{
			Catalog: c.Directory, Suppliers: n.Suppliers, Artifacts: files, Fetcher: fetcher, Limits: limitsOf(set),
			KeyPrefix: set.KeyPrefix, Now: ClockOf(n.db), Logger: n.log, Runs: runs, Desk: n.desk,
			Address: strings.TrimSuffix(set.NodeURL, "/"),
		},
		Metrics: counts, Version: c.Build.Version, BaseURL: set.BaseURL, BodyFolder: filepath.Join(n.DataDir, bodiesName),
		TrustedProxies: set.Proxies(), OnRequest: n.recordRequest, OperatorAPI: set.OperatorAPI, MCP: set.MCPHTTP,
		OpenAI: slices.Contains(set.Doors, config.DoorOpenAI), Anthropic: slices.Contains(set.Doors, config.DoorAnthropic),
		DoorModels: set.DoorModels, Webhooks: hooks,
	})
	if err != nil {
		return err
	}
	counts.Watch(n.db, n.Gateway.Working)
	counts.WatchFleet(n.Gateway.Fleet)
	counts.WatchBudgets(n.Operator.CountBudgets)
	image, _ := n.db.(backup.Database) // nil for PostgreSQL
	n.equipOperator(backup.Source{Database: image, Files: folder, Program: c.Build.Version, Now: time.Now}, set)
	n.socket, err = openAdminSocket(ctx, n.DataDir)
	return err
}

// runs says what this node runs, for the others on its store.
func (n *Node) runs(set config.Config, directory *catalog.Catalog) (string, error) {
	settings, err := set.Fingerprint(directory)
	return n.version + " " + settings, err
}

// errBackup is that the data folder lacks the tasks.
var errBackup = fault.New(fault.InvalidRequest, "the tasks and keys are in PostgreSQL, not in the data folder: back the database up with its own tools, such as pg_dump")

// equipOperator adds the actions that concern the data folder and the settings.
func (n *Node) equipOperator(source backup.Source, set config.Config) {
	if bucket, ok := set.Bucket(); ok {
		source.Elsewhere = bucket.String()
	}
	n.Operator.ReloadFunc = n.reload
	n.Operator.BackupFunc = func(ctx context.Context, w io.Writer) error {
		if source.Database == nil {
			return errBackup
		}
		_, err := backup.Write(ctx, w, source)
		return err
	}
	n.Operator.AskFunc = n.askRequests
	if n.requests != nil {
		n.Operator.Requests = n.requests
	}
}

// Start serves the API on the listener, the operator on the socket and, unless monitor is nil, the metrics on monitor.
// The channel receives the errors that end one of them before Stop does.
func (n *Node) Start(ln, monitor net.Listener) <-chan error {
	n.Service.Start()
	services := []func() error{
		func() error { return n.API.Serve(ln) },
		func() error { return n.Admin.Serve(n.socket.listener) },
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
	return errors.Join(n.Shutdown(ctx), n.Close(ctx))
}

// Close releases a node that Open made and Start wasn't called for.
func (n *Node) Close(ctx context.Context) error {
	err := errors.Join(n.monitor.Shutdown(ctx), n.Admin.Shutdown(ctx), n.socket.remove())
	if n.requests != nil {
		err = errors.Join(err, n.requests.Close())
	}
	return errors.Join(err, n.lock.Close(), n.db.Close())
}
