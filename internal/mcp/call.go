package mcp

import (
	"context"
	"errors"
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
		o, err := t.read(req.Params.Arguments)
		if err != nil {
			return s.refusal(err, ""), nil
		}
		ctx, cancel := context.WithTimeoutCause(ctx, s.Limit, errLimit)
		defer cancel()
		p := s.startProgress(ctx, req)
		defer p.stop()
		created, err := s.Client.Create(ctx, o.request, client.CreateOptions{IdempotencyKey: o.key, Wait: s.hold(t.entry.Mode)})
		switch {
		case err != nil && ctx.Err() != nil:
			return s.unanswered(o.key), nil
		case err != nil:
			return s.refusal(err, o.key), nil
		}
		return s.follow(ctx, created, p, o.key), nil
	}
}

// follow waits for a task's end within ctx; key is "" where it isn't known.
func (s *Server) follow(ctx context.Context, created client.Created, p *progress, key string) *sdk.CallToolResult {
	last, err := s.Client.FollowCreated(ctx, created, p.shown(ctx))
	if last.ID == "" { // not read again before the end
		last = created.Task
	}
	return s.outcome(ctx, last, err, key)
}

// hold is how long the service may hold the answer to a synchronous capability's submission: less
// than the call lasts, so that the task's id is known before its end.
func (s *Server) hold(mode catalog.Mode) *time.Duration {
	if mode != catalog.Sync {
		return nil
	}
	return new(min(s.Limit*4/5, api.MaxWait).Truncate(time.Second))
}

// outcome answers what became of a task.
func (s *Server) outcome(ctx context.Context, last api.Task, err error, key string) *sdk.CallToolResult {
	switch {
	case err != nil && ctx.Err() != nil:
		return handedOver(last)
	case err != nil:
		return s.refusal(err, key)
	case last.State != task.Succeeded:
		return s.failure(last, key)
	default:
		return s.result(context.WithoutCancel(ctx), last)
	}
}
