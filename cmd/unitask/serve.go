package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"unitask/internal/config"
	"unitask/internal/hint"
	"unitask/internal/node"
	"unitask/internal/secret"
)

// drain is how long answers may still be written once the listener is closed. It outlasts the grace of synchronous
// work, so that waiting callers aren't cut off.
const drain = 5 * time.Second

// bootstrapVariable holds a full key that is accepted from the first start on.
const bootstrapVariable = "UNITASK_BOOTSTRAP_KEY"

// serverFlags are those that say which settings hold.
type serverFlags struct {
	file                            string
	listen, dataDir, store, metrics string
	artifacts                       string
}

func (f *serverFlags) add(cmd *cobra.Command) {
	cmd.Flags().StringVar(&f.file, "config", "", "read the settings from this YAML `file` (UNITASK_CONFIG; default unitask.yaml in this folder, if it is there)")
	cmd.Flags().StringVar(&f.listen, "listen", "", "listen on this `address` (UNITASK_LISTEN; default 127.0.0.1:8420)")
	cmd.Flags().StringVar(&f.dataDir, "data-dir", "", "keep everything in this `folder` (UNITASK_DATA_DIR; default ./data)")
	cmd.Flags().StringVar(&f.metrics, "metrics-listen", "", "serve /metrics on this `address` (UNITASK_METRICS_LISTEN; default none)")
	cmd.Flags().StringVar(&f.store, "store", "", "keep tasks and keys in this `store` (UNITASK_STORE; default bolt, a file; or the address of a PostgreSQL database)")
	cmd.Flags().StringVar(&f.artifacts, "artifacts", "", "keep results here: file, or s3://`bucket`/prefix?region=REGION (UNITASK_ARTIFACTS; default file)")
}

// sources returns the sources of the settings, including the given flags.
func (f *serverFlags) sources(cmd *cobra.Command) config.Sources {
	s := node.FindSources(f.file)
	s.Flags = map[string]string{}
	for flag, value := range map[string]struct{ setting, text string }{
		"listen": {"listen", f.listen}, "data-dir": {"data_dir", f.dataDir}, "store": {"store", f.store},
		"metrics-listen": {"metrics_listen", f.metrics}, "artifacts": {"artifacts", f.artifacts},
	} {
		if cmd.Flags().Changed(flag) {
			s.Flags[value.setting] = value.text
		}
	}
	return s
}

func newServeCmd(t *terminal) *cobra.Command {
	var flags serverFlags
	cmd := &cobra.Command{
		Use:        "serve",
		SuggestFor: []string{"start", "server", "up"}, Short: "Run the service",
		Example: `  unitask serve
  unitask serve --config unitask.yaml --listen 127.0.0.1:8421 --data-dir /var/lib/unitask`,
		Long: "Run the whole service in this process. Without any settings it listens on this machine alone,\n" +
			"keeps its data in ./data, and serves test keys from the sandbox. Where neither --config nor\n" +
			"UNITASK_CONFIG names a file, unitask.yaml in this folder is read if it is there.",
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return serveRun(cmd.Context(), t, flags.sources(cmd))
		},
	}
	flags.add(cmd)
	return cmd
}

// serveRun serves until ctx ends, which the first signal does; a second one ends the process at once.
func serveRun(ctx context.Context, t *terminal, sources config.Sources) error {
	settings, directory, err := loadSettings(sources)
	if err != nil {
		return err
	}
	ln, err := listen(ctx, "--listen", settings.Listen)
	if err != nil {
		return err
	}
	defer func() { _ = ln.Close() }()
	var monitor net.Listener
	if settings.MetricsListen != "" {
		if monitor, err = listen(ctx, "--metrics-listen", settings.MetricsListen); err != nil {
			return err
		}
		defer func() { _ = monitor.Close() }()
	}
	node.TuneMemory()
	log, flush := node.NewLogger(t.err)
	if t.errTTY {
		log, flush = slog.New(newLineHandler(t)), func() {}
	}
	defer flush()
	n, err := node.Open(ctx, node.Config{
		Settings: settings, Directory: directory, Sources: sources, Build: readBuild().metrics(), Logger: log,
	})
	if err != nil {
		return err
	}
	n.ReloadOnHangup(ctx)
	// A stop meanwhile is one like any other.
	if err := welcome(ctx, t, n, settings, origin(sources)); err != nil && !errors.Is(err, context.Canceled) {
		return errors.Join(err, n.Close(ctx))
	}
	failed := n.Start(ln, monitor)
	select {
	case err = <-failed:
	case <-ctx.Done():
		signal.Reset(os.Interrupt, syscall.SIGTERM)
		log.Info("stopping: new work is refused, work under way is finished or kept for the next start")
	}
	return errors.Join(err, n.Stop(time.Duration(settings.Limits.ShutdownGrace)+drain))
}

// welcome makes the first keys and the local profile, and prints the banner.
func welcome(ctx context.Context, t *terminal, n *node.Node, settings config.Config, origin string) error {
	if text := os.Getenv(bootstrapVariable); text != "" {
		if err := n.Operator.Bootstrap(ctx, secret.New(text)); err != nil {
			return hint.With(
				fmt.Errorf("%s: %w", bootstrapVariable, err),
				"set it to a key that unitask keys create printed, or leave it out")
		}
	}
	watched := t.watched(inContainer("/", os.Getenv))
	first, err := firstKeys(ctx, n.Operator, watched)
	if err != nil {
		return err
	}
	b := banner{settings: settings, origin: origin, suppliers: n.Suppliers, dataDir: n.DataDir, keys: first, local: loopback(settings.Listen)}
	if watched {
		link, err := operatorLink(ctx, n.Operator)
		if err != nil {
			return err
		}
		b.link = link.URL
	}
	if b.local {
		b.profileErr = saveLocalProfile(ctx, settings.BaseURL, n.DataDir)
	}
	b.print(t)
	return nil
}

// listen opens the address, or says who has it; flag names another.
func listen(ctx context.Context, flag, address string) (net.Listener, error) {
	var config net.ListenConfig
	ln, err := config.Listen(ctx, "tcp", address)
	if err == nil {
		return ln, nil
	}
	if !errors.Is(err, syscall.EADDRINUSE) {
		return nil, fmt.Errorf("can't listen on %s: %w", address, err)
	}
	message := address + " is in use"
	if who := portHolder(address); who != "" {
		message += " by " + who
	}
	return nil, hint.With(errors.New(message), flag+" "+nextPort(address)+" in the same command takes the next port")
}
