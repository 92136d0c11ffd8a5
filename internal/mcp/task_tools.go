package mcp

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"unitask/internal/api"
	"unitask/internal/client"
	"unitask/internal/fault"
)

const (
	toolGet    = "task_get"
	toolCancel = "task_cancel"
)

const (
	argID   = "id"
	argWait = "wait_seconds"
)

const idSchema = `{"type":"string","minLength":1,"maxLength":200,"description":"The task's id, such as task_06gztwr81bcb6csfsxswat9e1m."}`

func (s *Server) addTaskTools() {
	wait := fmt.Sprintf(`{"type":"integer","minimum":0,"maximum":%d,"description":"How long to wait for the end; without it as long as a call may last."}`, api.Seconds(s.Limit))
	s.protocol.AddTool(&sdk.Tool{
		Name: toolGet, Title: "Get a task",
		Description: "Wait for a task that was handed over by its id, and answer its result; where it still runs, its state.",
		InputSchema: json.RawMessage(`{"type":"object","properties":{"id":` + idSchema + `,"wait_seconds":` + wait + `},"required":["id"],"additionalProperties":false}`),
		Annotations: &sdk.ToolAnnotations{Title: "Get a task", ReadOnlyHint: true, OpenWorldHint: new(false)},
	}, s.taskGet)
	s.protocol.AddTool(&sdk.Tool{
		Name: toolCancel, Title: "Cancel a task",
		Description: "Stop a task as soon as its work can be stopped. A task that has ended stays as it is.",
		InputSchema: json.RawMessage(`{"type":"object","properties":{"id":` + idSchema + `},"required":["id"],"additionalProperties":false}`),
		Annotations: &sdk.ToolAnnotations{Title: "Cancel a task", DestructiveHint: new(true), IdempotentHint: true, OpenWorldHint: new(false)},
	}, s.taskCancel)
}

func (s *Server) taskGet(ctx context.Context, req *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
	id, wait, err := s.readGet(req.Params.Arguments)
	if err != nil {
		return s.refusal(err, ""), nil
	}
	first, err := s.Client.Get(ctx, id, client.GetOptions{})
	switch {
	case err != nil:
		return s.refusal(err, ""), nil
	case wait == 0 || first.Task.State.Terminal():
		return s.outcome(ctx, first.Task, ""), nil
	}
	ctx, cancel := context.WithTimeoutCause(ctx, wait, errLimit)
	defer cancel()
	p := s.startProgress(ctx, req)
	defer p.stop()
	last, show := first.Task, p.shown(ctx)
	_, err = s.Client.FollowCreated(ctx, client.Created{Task: last, RetryAfter: first.RetryAfter}, func(now api.Task) {
		last = now
		show(now)
	})
	if err != nil && ctx.Err() == nil {
		return s.refusal(err, ""), nil
	}
	return s.outcome(ctx, last, ""), nil
}

func (s *Server) readGet(arguments []byte) (id string, wait time.Duration, err error) {
	given, err := readArguments(arguments, argID, argWait)
	if err != nil {
		return "", 0, err
	}
	if id, err = readID(given); err != nil {
		return "", 0, err
	}
	wait = s.Limit
	if raw := given.get(argWait); raw != nil {
		var seconds int
		if json.Unmarshal(raw, &seconds) != nil || seconds < 0 {
			return "", 0, fault.Invalid(argWait, "must be a whole number of seconds")
		}
		wait = min(wait, time.Duration(min(seconds, 3600))*time.Second)
	}
	return id, wait, nil
}

func (s *Server) taskCancel(ctx context.Context, req *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
	given, err := readArguments(req.Params.Arguments, argID)
	if err != nil {
		return s.refusal(err, ""), nil
	}
	id, err := readID(given)
	if err != nil {
		return s.refusal(err, ""), nil
	}
	now, err := s.Client.Cancel(ctx, id)
	if err != nil {
		return s.refusal(err, ""), nil
	}
	text := fmt.Sprintf("%s is %s", now.ID, now.State)
	if !now.State.Terminal() {
		text += "; it stops as soon as its work can be stopped"
	}
	return answered(now, text), nil
}

func readID(given object) (string, error) {
	var id string
	if json.Unmarshal(given.get(argID), &id) != nil || id == "" {
		return "", fault.Invalid(argID, "is required: a task's id")
	}
	return id, nil
}
