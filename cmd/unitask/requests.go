package main

import (
	"cmp"
	"context"
	"errors"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"unitask/internal/api"
	"unitask/internal/fault"
	"unitask/internal/hint"
	"unitask/internal/task"
)

func newRequestsCmd(t *terminal) *cobra.Command {
	return group("requests", "Find answered requests, as an operator", newRequestsGetCmd(t))
}

type requestsGetOptions struct {
	remoteFlags
	id string
}

func newRequestsGetCmd(t *terminal) *cobra.Command {
	var o requestsGetOptions
	cmd := &cobra.Command{
		Use:   "get ID",
		Short: "Show a request by its id, or the requests of a task by the task's",
		Long: `Show a request by its id, or the requests of a task by the task's: key, account, task, code, duration and the caller's address. The log
holds no key, no input and no output. Each node has a log of its own; a running server asks the other nodes too, which takes seconds.

` + remoteOperator,
		Example: `  unitask requests get req_06gztwr81bcb6csfsxswat9e1m
  unitask requests get task_06gztwr81bcb6csfsxswat9e1m --json`,
		Args:              exactly(&o.id),
		ValidArgsFunction: completeTask(t, &clientFlags{}, task.States()...),
		RunE:              func(cmd *cobra.Command, _ []string) error { return requestsGetRun(cmd.Context(), t, &o) },
	}
	o.add(cmd)
	return cmd
}

func requestsGetRun(ctx context.Context, t *terminal, o *requestsGetOptions) error {
	return operated(ctx, t, &o.remoteFlags, func(op operatorAPI) (api.RequestList, error) {
		list, err := op.FindRequests(ctx, o.id)
		if f, ok := errors.AsType[*fault.Error](err); ok && f.Code == fault.NotFound {
			err = hint.With(err, "limits.request_log and limits.request_log_age say how much is kept")
		}
		return list, err
	}, func(list api.RequestList) error {
		if len(list.Incomplete) > 0 {
			t.note("note: there may be more: no full answer came from %s", strings.Join(list.Incomplete, ", "))
		}
		return listRequests(t, list.Data)
	})
}

func listRequests(t *terminal, found []api.RequestRecord) error {
	b := table{
		header: []string{"REQUEST", "AT", "METHOD", "ROUTE", "STATUS", "CODE", "TOOK", "KEY", "ACCOUNT", "TASK", "CLIENT"},
		spare:  []string{"METHOD", "ACCOUNT", "ROUTE", "CLIENT"},
	}
	for _, r := range found {
		took := time.Duration(r.DurationMS * float64(time.Millisecond))
		b.row(same(r.ID), same(stamp(&r.At)), same(r.Method), same(r.Route), same(strconv.Itoa(r.Status)), same(string(r.Code)),
			cell{human: took.Round(time.Millisecond).String(), plain: strconv.FormatFloat(r.DurationMS, 'f', -1, 64)},
			cell{human: cmp.Or(r.KeyID, "–"), plain: r.KeyID}, same(r.Account), cell{human: cmp.Or(r.TaskID, "–"), plain: r.TaskID}, same(r.Client))
	}
	return b.write(t)
}
