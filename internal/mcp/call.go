package mcp

import (
	"context"
	"errors"
	"fmt"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"unitask/internal/api"
	"unitask/internal/catalog"
	"unitask/internal/client"
	"unitask/internal/task"
)

// errLimit ends a call's wait; its task goes on.
var errLimit = errors.New("the call's time is over")

// capabilityHandler submits a task under a key of its own and waits for it within the limit. The
// answer is never an error of the protocol: a model couldn't read one.
func (s *Server) capabilityHandler(t *tool) sdk.ToolHandler {
	return func(ctx context.Context, req *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
		o, err := t.read(req.Params.Arguments, s.Metadata)
		if err != nil {
			return s.refusal(err, ""), nil
		}
		ctx, cancel := context.WithTimeoutCause(ctx, s.Limit, errLimit)
		defer cancel()
		p := s.startProgress(ctx, req)
		defer p.stop()
		return s.submit(ctx, o, s.hold(t.entry.Mode), p.shown(ctx)), nil
	}
}

// submit sees a task through as far as ctx allows. A submission whose answer names a task leaves the journal.
func (s *Server) submit(ctx context.Context, o order, hold *time.Duration, show func(api.Task)) *sdk.CallToolResult {
	var last api.Task
	var trouble error // of the last try
	sub, err := s.Begin(ctx, o.key, o.body, func(now api.Task) {
		last, trouble = now, nil
		show(now)
	})
	if err != nil {
		return s.refusal(err, "")
	}
	done, err := sub.Finish(ctx, client.CreateOptions{Wait: hold, OnRetry: func(r client.Retry) { trouble = r.Err }})
	if last.ID != "" && errors.Is(context.Cause(ctx), errLimit) {
		_ = sub.Erase()
	} else {
		_ = sub.SettleAlone(err)
	}
	switch {
	case ctx.Err() == nil && err == nil:
		last = done
	case ctx.Err() == nil:
		return s.refusal(err, o.key)
	case trouble != nil:
		return s.refusal(trouble, o.key)
	case last.ID == "":
		ended := "the call was ended before the service answered"
		if errors.Is(context.Cause(ctx), errLimit) {
			ended = fmt.Sprintf("the service didn't answer within %d s", api.Seconds(s.Limit))
		}
		return broken(nil, fmt.Sprintf(
			"%s; the task may have been accepted\nhint: the same arguments with %s %q get the same task", ended, argKey, o.key))
	}
	return s.outcome(ctx, last, o.key)
}

// hold is how long the service may hold the answer to a synchronous capability's submission: less
// than the call lasts, so that the task's id is known before its end.
func (s *Server) hold(mode catalog.Mode) *time.Duration {
	if mode != catalog.Sync {
		return nil
	}
	return new(min(s.Limit*4/5, api.MaxWait).Truncate(time.Second))
}

// outcome answers a task as it is; key is the one it was submitted under, "" if unknown.
func (s *Server) outcome(ctx context.Context, now api.Task, key string) *sdk.CallToolResult {
	switch {
	case !now.State.Terminal():
		return answered(now, fmt.Sprintf(
			`%s is still %s. It goes on: call %s with {"id":"%s"} for its result, or %s to stop it.`,
			now.ID, stateOf(now), toolGet, now.ID, toolCancel))
	case now.State == task.Succeeded:
		return s.result(context.WithoutCancel(ctx), now)
	default:
		return s.failure(now, key)
	}
}
