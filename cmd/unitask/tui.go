package main

import (
	"context"
	"errors"
	"io"
	"os"
	"slices"
	"time"

	"github.com/charmbracelet/x/ansi"
	"github.com/spf13/cobra"
	"golang.org/x/term"

	"unitask/internal/api"
	"unitask/internal/client"
	"unitask/internal/journal"
	"unitask/internal/picture"
	"unitask/internal/tui"
)

const (
	fallbackRows = 24            // if the terminal doesn't say
	dashboard    = "unitask tui" // the command, as hints are for it
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
		if len(args) > 0 || cmd.Flags().NFlag() > 0 || !t.fullScreen() {
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
	target, err := flags.target(ctx)
	if err != nil {
		return err
	}
	credential, err := flags.credential(ctx, t, target)
	if err != nil {
		return err
	}
	c, err := newClient(t, target, credential, quiet)
	if err != nil {
		return err
	}
	where := service{Client: c, target: target}
	if key, err := credential.Key(ctx); err == nil { // else the dashboard reports the error
		where.mode = modeOfKey(key.Reveal())
	}
	protocol := picture.Detect(os.Getenv)
	left, err := tui.Run(ctx, tui.Config{
		Service:  tuiService{c, target, flags.words(), credential},
		Files:    tuiFiles{c},
		NewKey:   client.NewIdempotencyKey,
		Copy:     func(text string) { t.send(ansi.SetSystemClipboard(text)) },
		Hint:     dashboardHint,
		Where:    where.String(),
		Style:    tui.NewStyle(t.out, os.Getenv("NO_COLOR") == ""),
		Ended:    func(words string) { t.send(announcement(words, os.Getenv)) },
		Pictures: protocol != "",
	}, t.in, t.out)
	if err != nil {
		return err
	}
	if left.Open > 0 {
		t.note("tasks that go on: %d; unitask tasks list shows them", left.Open)
	}
	for _, img := range left.Pictures {
		if err := protocol.Write(t.out, img, t.width(), t.rows()-2); err != nil {
			return err
		}
	}
	return nil
}

// dashboardHint is the next command to try, as every command prints it.
func dashboardHint(err error) string { return hintOf(dashboard, err) }

// send writes a sequence to the terminal in one piece, so that it stands between frames.
func (t *terminal) send(sequence string) { _, _ = io.WriteString(t.out, sequence) }

// rows is the terminal's height.
func (t *terminal) rows() int {
	if f, ok := t.out.(*os.File); ok {
		if _, h, err := term.GetSize(int(f.Fd())); err == nil && h > 0 {
			return h
		}
	}
	return fallbackRows
}

// announcement is a bell, and a notification in the terminals that have one.
func announcement(words string, getenv func(string) string) string {
	program, name := getenv("TERM_PROGRAM"), getenv("TERM")
	known := slices.Contains([]string{"iTerm.app", "WezTerm", "ghostty"}, program) || name == "xterm-kitty" || name == "xterm-ghostty"
	if !known || getenv("TMUX") != "" {
		return "\a"
	}
	return ansi.Notify("unitask: "+words) + "\a"
}

// tuiService is the client as the dashboard asks for it.
type tuiService struct {
	c          *client.Client
	target     client.Target
	flags      string // to write after a command so that it reaches the same service
	credential client.Credential
}

func (s tuiService) Capabilities(ctx context.Context) ([]api.Capability, error) {
	all, err := s.c.Capabilities(ctx)
	return all, tuiError(err)
}

// Create writes the submission to the journal first, as run does. Once the service has the task, the dashboard's list
// finds it again; until then tasks resume finds it.
func (s tuiService) Create(ctx context.Context, req api.CreateRequest, key string, wait time.Duration) (api.Task, error) {
	secret, err := s.credential.Key(ctx)
	if err != nil {
		return api.Task{}, tuiError(err)
	}
	sub, err := begin(service{s.c, s.target, modeOfKey(secret.Reveal())}, s.flags, journal.Submission{Key: key}, req, nil)
	if err != nil {
		return api.Task{}, tuiError(err)
	}
	created, err := s.c.Create(ctx, req, client.CreateOptions{
		IdempotencyKey: key, Wait: &wait, OnRetry: func(r client.Retry) { sub.doubt(r.Err) },
	})
	return created.Task, tuiError(sub.part(sub.left(ctx, created.Task, err)))
}

func (s tuiService) Get(ctx context.Context, id, etag string, wait time.Duration) (tui.Reading, error) {
	r, err := s.c.Get(ctx, id, client.GetOptions{ETag: etag, Wait: wait})
	return tui.Reading{Task: r.Task, NotModified: r.NotModified, ETag: r.ETag, RetryAfter: r.RetryAfter}, tuiError(err)
}

// Follow hears one stream. A channel hands its events on, so that the dashboard takes them when it can.
func (s tuiService) Follow(ctx context.Context, id string) <-chan tui.Event {
	events := make(chan tui.Event)
	tell := func(e tui.Event) {
		select {
		case events <- e:
		case <-ctx.Done():
		}
	}
	go func() {
		defer close(events)
		// An error ends it: the read that follows says whether the service is there.
		_ = s.c.Hear(ctx, id, func(t api.Task) { tell(tui.Event{Task: t}) }, func(piece string) { tell(tui.Event{Text: piece}) })
	}()
	return events
}

func (s tuiService) List(ctx context.Context, q tui.Query, cursor string, limit int) (tui.Page, error) {
	list, err := s.c.List(ctx, client.ListOptions{State: q.State, Capability: q.Capability, Limit: limit, Cursor: cursor})
	page := tui.Page{Tasks: list.Data}
	if list.NextCursor != nil {
		page.Next = *list.NextCursor
	}
	return page, tuiError(err)
}

func (s tuiService) Cancel(ctx context.Context, id string) (api.Task, error) {
	done, err := s.c.Cancel(ctx, id)
	return done, tuiError(err)
}

func (s tuiService) Timeline(ctx context.Context, id string) ([]api.Move, error) {
	moves, err := s.c.Timeline(ctx, id)
	return moves, tuiError(err)
}

// tuiError keeps the request id of an answer; that no answer came stays as it is.
func tuiError(err error) error {
	_, lost := errors.AsType[*client.UnreachableError](err)
	if err == nil || lost || errors.Is(err, context.Canceled) {
		return err
	}
	return &tui.Error{Err: err, RequestID: client.RequestID(err)}
}
