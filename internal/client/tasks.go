package client

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/url"
	"strconv"
	"time"

	library "unitask/client"
	"unitask/internal/api"
	"unitask/internal/fault"
	"unitask/internal/task"
)

// Capabilities returns the directory that the key may call, sorted by name.
func (c *Client) Capabilities(ctx context.Context) ([]api.Capability, error) {
	list, _, err := do[api.CapabilityList](ctx, c.library, library.Call{Path: api.PathCapabilities})
	if e, ok := errors.AsType[*Error](err); ok && e.Fault.Code == fault.NotFound {
		e.Foreign = true // every service has its directory
	}
	return list.Data, err
}

// readLimit is how long the answer to a read may take, beside the wait that it asks for.
const readLimit = 30 * time.Second

// GetOptions make a read conditional.
type GetOptions struct {
	ETag string        // of an earlier Reading; "": first
	Wait time.Duration // hold the answer until the task changes; whole seconds, at most api.MaxWait
}

// Reading is the answer to one GET of a task.
type Reading struct {
	Task        api.Task // zero if NotModified
	NotModified bool     // the task is as it was at GetOptions.ETag
	ETag        string
	RetryAfter  time.Duration // 0: no advice, as for a task that has ended
}

// Get reads a task once.
func (c *Client) Get(ctx context.Context, id string, o GetOptions) (Reading, error) {
	h := http.Header{}
	if o.ETag != "" {
		h.Set("If-None-Match", o.ETag)
	}
	if s := int(min(o.Wait, api.MaxWait) / time.Second); s > 0 {
		h.Set(api.HeaderPrefer, "wait="+strconv.Itoa(s))
	}
	now, a, err := do[api.Task](ctx, c.library, library.Call{Path: taskPath(id), Header: h, Limit: readLimit + o.Wait})
	if err != nil {
		return Reading{}, err
	}
	return Reading{Task: now, NotModified: a.Status == http.StatusNotModified, ETag: a.Header.Get("ETag"), RetryAfter: a.RetryAfter()}, nil
}

// ListOptions select tasks; zero members select all.
type ListOptions struct {
	State      task.State
	Capability string
	Key        string         // the id of the key that created them
	Code       fault.Code     // of their error
	Since      time.Time      // the earliest creation
	Until      time.Time      // the first creation that is too late
	Metadata   *task.Metadata // all of these pairs; a pointer, so that options can be compared
	Limit      int            // of one page, at most api.MaxListLimit
	Cursor     string         // of an earlier page
}

// List returns a page of the account's tasks, newest first.
func (c *Client) List(ctx context.Context, o ListOptions) (api.TaskList, error) {
	q := url.Values{}
	for name, value := range map[string]string{
		"state": string(o.State), "capability": o.Capability, "key": o.Key, "code": string(o.Code),
		"created_after": parameterTime(o.Since), "created_before": parameterTime(o.Until), "cursor": o.Cursor,
	} {
		if value != "" {
			q.Set(name, value)
		}
	}
	if o.Metadata != nil {
		for name, text := range *o.Metadata {
			q.Set("metadata."+name, text)
		}
	}
	if o.Limit > 0 {
		q.Set("limit", strconv.Itoa(o.Limit))
	}
	path := api.PathTasks
	if len(q) > 0 {
		path += "?" + q.Encode()
	}
	page, _, err := do[api.TaskList](ctx, c.library, library.Call{Path: path})
	return page, err
}

// parameterTime writes a time of a query, and the zero time as an empty text.
func parameterTime(at time.Time) string {
	if at.IsZero() {
		return ""
	}
	return at.UTC().Format(time.RFC3339Nano)
}

// Estimate returns the most that a request's task would be charged; no task is made.
func (c *Client) Estimate(ctx context.Context, body []byte) (api.Estimate, error) {
	e, _, err := do[api.Estimate](ctx, c.library, library.Call{Method: http.MethodPost, Path: api.PathEstimates, Body: json.RawMessage(body)})
	return e, err
}

// Cancel asks the service to stop a task; asking again is a no-op.
func (c *Client) Cancel(ctx context.Context, id string) (api.Task, error) {
	now, _, err := do[api.Task](ctx, c.library, library.Call{Method: http.MethodPost, Path: taskPath(id) + "/cancel"})
	return now, err
}

// Timeline returns the recorded states of a task with their times.
func (c *Client) Timeline(ctx context.Context, id string) ([]api.Move, error) {
	all, _, err := do[api.Timeline](ctx, c.library, library.Call{Path: taskPath(id) + "/timeline"})
	return all.Data, err
}

// Input returns the request of a task, if its account keeps them.
func (c *Client) Input(ctx context.Context, id string) (api.TaskInput, error) {
	kept, _, err := do[api.TaskInput](ctx, c.library, library.Call{Path: taskPath(id) + "/input"})
	return kept, err
}

func taskPath(id string) string { return api.PathTasks + "/" + url.PathEscape(id) }
