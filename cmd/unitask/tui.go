package main

import (
	"context"
	"errors"
	"os"
	"time"

	"github.com/spf13/cobra"

	"unitask/internal/api"
	"unitask/internal/client"
	"unitask/internal/fault"
	"unitask/internal/tui"
)

func newTUICmd(t *terminal) *cobra.Command {
	var flags clientFlags
	cmd := &cobra.Command{
		Use:   "tui",
		Short: "Open the dashboard: capabilities, forms and live tasks (as a bare unitask does)",
		Example: `  unitask tui
  unitask tui --profile work`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return tuiRun(cmd.Context(), t, &flags) },
	}
	flags.add(cmd)
	return cmd
}

// dashboardOrHelp is unitask without a command: the dashboard on a terminal, once there is a key for
// it, else the help.
func dashboardOrHelp(t *terminal) func(*cobra.Command, []string) error {
	return func(cmd *cobra.Command, args []string) error {
		if len(args) > 0 || !t.fullScreen() {
			return helpOrUnknown(cmd, args)
		}
		err := tuiRun(cmd.Context(), t, &clientFlags{})
		if _, ok := errors.AsType[*client.NoKeyError](err); ok {
			return cmd.Help()
		}
		return err
	}
}

// fullScreen reports whether the terminal can show the dashboard.
func (t *terminal) fullScreen() bool {
	return t.inTTY && t.outTTY && os.Getenv("TERM") != "dumb"
}

func tuiRun(ctx context.Context, t *terminal, flags *clientFlags) error {
	if !t.fullScreen() {
		return &usageError{
			message: "the dashboard needs a terminal that can move its cursor",
			hint:    "unitask capabilities and unitask run work everywhere",
		}
	}
	quiet := func(client.Retry) {} // the dashboard says itself that the server is away
	c, err := flags.connect(ctx, t, quiet)
	if err != nil {
		return err
	}
	open, err := tui.Run(ctx, tui.Config{
		Service: tuiService{c},
		NewKey:  client.NewIdempotencyKey,
		Where:   c.BaseURL(),
		Style:   tui.NewStyle(t.out, os.Getenv("NO_COLOR") == ""),
		Bell:    func() { _, _ = t.out.Write([]byte("\a")) },
	}, t.in, t.out)
	if err == nil && open > 0 {
		t.note("tasks that go on: %d; unitask tasks list shows them", open)
	}
	return err
}

// tuiService is the client as the dashboard asks for it.
type tuiService struct{ c *client.Client }

func (s tuiService) Capabilities(ctx context.Context) ([]api.Capability, error) {
	all, err := s.c.Capabilities(ctx)
	return all, tuiError(err)
}

func (s tuiService) Create(ctx context.Context, req api.CreateRequest, key string, wait time.Duration) (api.Task, error) {
	created, err := s.c.Create(ctx, req, client.CreateOptions{IdempotencyKey: key, Wait: &wait})
	return created.Task, tuiError(err)
}

func (s tuiService) Get(ctx context.Context, id, etag string, wait time.Duration) (tui.Reading, error) {
	r, err := s.c.Get(ctx, id, client.GetOptions{ETag: etag, Wait: wait})
	return tui.Reading{Task: r.Task, NotModified: r.NotModified, ETag: r.ETag, RetryAfter: r.RetryAfter}, tuiError(err)
}

func (s tuiService) List(ctx context.Context, limit int) ([]api.Task, error) {
	list, err := s.c.List(ctx, client.ListOptions{Limit: limit})
	return list.Data, tuiError(err)
}

func (s tuiService) Cancel(ctx context.Context, id string) (api.Task, error) {
	done, err := s.c.Cancel(ctx, id)
	return done, tuiError(err)
}

func (s tuiService) Timeline(ctx context.Context, id string) ([]api.Move, error) {
	moves, err := s.c.Timeline(ctx, id)
	return moves, tuiError(err)
}

// tuiError keeps the request id of an answer; what is no answer stays as it is.
func tuiError(err error) error {
	if f, ok := errors.AsType[*fault.Error](err); ok {
		return &tui.Error{Fault: f, RequestID: client.RequestID(err)}
	}
	return err
}
