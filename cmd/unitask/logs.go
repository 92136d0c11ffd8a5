package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"unitask/internal/account"
	"unitask/internal/api"
	"unitask/internal/client"
	"unitask/internal/fault"
	"unitask/internal/hint"
)

const (
	logsEvery = 500 * time.Millisecond // between two looks
	logsAgain = 2 * time.Second        // after one that failed
)

type logsOptions struct {
	remoteFlags
	logFilter
}

func newLogsCmd(t *terminal) *cobra.Command {
	var o logsOptions
	cmd := &cobra.Command{
		Use:   "logs",
		Short: "Follow requests and the ends of tasks as they come, as an operator",
		Long: `Follow requests and the ends of tasks as they come, until Ctrl-C: a line each. On a terminal polls that are the same are
folded into one line a minute; a pipe gets every event, with tabs between: time, kind, status or state, code, milliseconds,
method and route or capability, key, account, task, request or supplier, cost.

Events name no input and no output. Those of several servers behind one address come as the address passes the questions
on to each of them. "unitask requests get" finds earlier requests.

` + remoteOperator,
		Example: `  unitask logs
  unitask logs --errors
  unitask logs --account shop --status 4xx
  unitask logs --capability 'image.*' --json`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return logsRun(cmd.Context(), t, &o) },
	}
	f := cmd.Flags()
	f.BoolVar(&o.errors, "errors", false, "refused requests and failed tasks alone")
	f.StringVar(&o.account, "account", "", "of this account, its `name` or id, alone")
	f.StringVar(&o.key, "key", "", "of this key's `id` alone")
	f.StringVar(&o.code, "code", "", "with this error `code` alone")
	f.StringVar(&o.status, "status", "", "requests with this `status` alone: 429, or 4xx")
	f.StringSliceVar(&o.capabilities, "capability", nil, "ends of tasks of these `patterns` alone")
	cmd.MarkFlagsMutuallyExclusive("status", "capability")
	o.add(cmd)
	return cmd
}

func logsRun(ctx context.Context, t *terminal, o *logsOptions) error {
	if err := o.check(); err != nil {
		return err
	}
	return o.with(ctx, t, func(op operatorAPI) error {
		if o.account != "" {
			owner, err := op.GetAccount(ctx, o.account)
			if err != nil {
				return err
			}
			o.account = owner.ID
		}
		page, err := op.Log(ctx, "")
		if fault.CodeOf(err) == fault.InvalidRequest {
			return hint.With(err, "unitask serve starts a server; unitask requests get finds earlier requests without one")
		}
		if err != nil {
			return err
		}
		if t.outTTY {
			t.note("%s", t.errStyle.faint.Render("following requests and the ends of tasks; Ctrl-C ends it"))
		}
		f := follower{t: t, filter: &o.logFilter, asJSON: o.asJSON, polls: newFolds()}
		return f.run(ctx, op, page.Next)
	})
}

// follower prints the events that pass its filter.
type follower struct {
	t      *terminal
	filter *logFilter
	asJSON bool
	polls  *folds
}

// run asks for new events until the context ends, through restarts of the server.
func (f *follower) run(ctx context.Context, op operatorAPI, cursor string) error {
	wait, lost := logsEvery, false
	for {
		select {
		case <-ctx.Done():
			return nil // Ctrl-C is how it ends
		case <-time.After(wait):
		}
		page, err := op.Log(ctx, cursor)
		_, away := errors.AsType[*client.UnreachableError](err)
		switch {
		case ctx.Err() != nil:
			return nil //nolint:nilerr // Ctrl-C is how it ends
		case err != nil && !away && !fault.CodeOf(err).Retryable():
			return err
		case err != nil:
			if !lost {
				f.t.note("the server can't be reached; trying again")
			}
			wait, lost = logsAgain, true
			continue
		case lost:
			f.t.note("following again")
		}
		wait, lost, cursor = logsEvery, false, page.Next
		if err := f.print(page); err != nil {
			return err
		}
	}
}

func (f *follower) print(page api.LogPage) error {
	if page.Missed > 0 {
		f.t.note("%d events came too fast to be shown", page.Missed)
	}
	for _, e := range page.Data {
		if !f.filter.takes(e) {
			continue
		}
		var err error
		switch {
		case f.asJSON:
			err = f.t.json(e)
		case !f.t.outTTY:
			_, err = fmt.Fprintln(f.t.out, f.t.safe(strings.Join(plainEvent(e), "\t")))
		default:
			err = f.line(e)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// line prints an event for a person.
func (f *follower) line(e api.LogEvent) error {
	s, text, width := f.t.style, "", f.t.width()-clockWidth
	if e.Request != nil {
		text = f.polls.request(s, width, *e.Request)
	} else {
		text = taskLine(s, width, *e.Task)
	}
	if text == "" {
		return nil
	}
	_, err := fmt.Fprintf(f.t.out, "%s %s\n", s.faint.Render(e.At.Local().Format(time.TimeOnly)), text)
	return err
}

// taskLine says how a task ended, in so many columns if that is possible.
func taskLine(s styles, width int, e api.TaskEnd) string {
	attempts := ""
	if e.Attempts > 1 {
		attempts = fmt.Sprintf("%d attempts", e.Attempts)
	}
	words := []string{
		s.state(e.State).Render(string(e.State)), answeredIn(e.DurationMS), s.bold.Render(oneLine(e.Capability)), oneLine(e.ID), string(e.Mode),
		oneLine(string(e.Code)), oneLine(e.Supplier), oneLine(e.KeyID), attempts, "$" + oneLine(e.Cost),
	}
	return fitted(width, words, 7, 4, 8, 6)
}

// plainEvent are the columns of a pipe.
func plainEvent(e api.LogEvent) []string {
	at := e.At.UTC().Format(time.RFC3339Nano)
	millis := func(ms float64) string { return strconv.FormatFloat(ms, 'f', -1, 64) }
	if r := e.Request; r != nil {
		route := r.Method + " " + strings.TrimPrefix(r.Route, r.Method+" ")
		return []string{at, "request", strconv.Itoa(r.Status), string(r.Code), millis(r.DurationMS), route, r.KeyID, r.Account, r.TaskID, r.ID, ""}
	}
	return []string{
		at, "task", string(e.Task.State), string(e.Task.Code), millis(e.Task.DurationMS), e.Task.Capability, e.Task.KeyID, e.Task.Account, e.Task.ID,
		e.Task.Supplier, e.Task.Cost,
	}
}

// logFilter chooses among events. All that is given must fit.
type logFilter struct {
	errors             bool
	account, key, code string
	status             string // "429", or "4xx" for its class
	capabilities       []string
}

func (f *logFilter) check() error {
	digits, class := strings.CutSuffix(strings.ToLower(f.status), "xx")
	number, err := strconv.Atoi(digits)
	switch {
	case f.status == "":
	case err != nil, class && (number < 1 || number > 5), !class && http.StatusText(number) == "":
		return &hint.UsageError{Message: "--status takes a status such as 429, or a class such as 4xx"}
	}
	if f.code != "" && !fault.Code(f.code).Valid() {
		return &hint.UsageError{Message: fmt.Sprintf("--code takes a code of errors, and %q is none", f.code), Hint: "unitask help exit-codes"}
	}
	return nil
}

// takes reports whether an event passes.
func (f *logFilter) takes(e api.LogEvent) bool {
	r, end := cmp.Or(e.Request, &api.RequestRecord{}), cmp.Or(e.Task, &api.TaskEnd{})
	if e.Request != nil {
		end = &api.TaskEnd{Account: r.Account, KeyID: r.KeyID, Code: r.Code}
	}
	return (f.account == "" || f.account == end.Account) &&
		(f.key == "" || f.key == end.KeyID) &&
		(f.code == "" || f.code == string(end.Code)) &&
		(!f.errors || end.Code != "" || r.Status >= http.StatusBadRequest) &&
		(f.status == "" || f.hasStatus(r.Status)) &&
		(len(f.capabilities) == 0 || e.Task != nil && account.Allows(f.capabilities, end.Capability))
}

func (f *logFilter) hasStatus(n int) bool {
	if class, ok := strings.CutSuffix(strings.ToLower(f.status), "xx"); ok {
		return strconv.Itoa(n/100) == class
	}
	return strconv.Itoa(n) == f.status
}
