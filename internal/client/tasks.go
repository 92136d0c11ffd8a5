package client

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"unitask/internal/api"
	"unitask/internal/fault"
	"unitask/internal/task"
)

// Capabilities returns the directory that the key may call, sorted by name.
func (c *Client) Capabilities(ctx context.Context) ([]api.Capability, error) {
	a, err := send[api.CapabilityList](ctx, c, call{method: http.MethodGet, path: api.PathCapabilities, limit: callTimeout})
	if e, ok := errors.AsType[*Error](err); ok && e.Fault.Code == fault.NotFound {
		e.Foreign = true // every service has its directory
	}
	return a.value.Data, err
}

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
	a, err := send[api.Task](ctx, c, reading(id, o))
	if err != nil {
		return Reading{}, err
	}
	return readingOf(a), nil
}

// reading is the call that reads a task.
func reading(id string, o GetOptions) call {
	h := http.Header{}
	if o.ETag != "" {
		h.Set("If-None-Match", o.ETag)
	}
	if s := int(min(o.Wait, api.MaxWait) / time.Second); s > 0 {
		h.Set(api.HeaderPrefer, "wait="+strconv.Itoa(s))
	}
	return call{method: http.MethodGet, path: taskPath(id), header: h, limit: callTimeout + o.Wait}
}

func readingOf(a answer[api.Task]) Reading {
	return Reading{Task: a.value, NotModified: a.status == http.StatusNotModified, ETag: a.etag, RetryAfter: a.retryAfter}
}

// ListOptions select tasks; zero members select all.
type ListOptions struct {
	State      task.State
	Capability string
	Metadata   *task.Metadata // all of these pairs; a pointer, so that options can be compared
	Limit      int            // of one page, at most api.MaxListLimit
	Cursor     string         // of an earlier page
}

// List returns a page of the account's tasks, newest first.
func (c *Client) List(ctx context.Context, o ListOptions) (api.TaskList, error) {
	q := url.Values{}
	for name, value := range map[string]string{"state": string(o.State), "capability": o.Capability, "cursor": o.Cursor} {
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
	a, err := send[api.TaskList](ctx, c, call{method: http.MethodGet, path: api.PathTasks, query: q, limit: callTimeout})
	return a.value, err
}

// Cancel asks the service to stop a task; asking again is a no-op.
func (c *Client) Cancel(ctx context.Context, id string) (api.Task, error) {
	a, err := send[api.Task](ctx, c, call{method: http.MethodPost, path: taskPath(id) + "/cancel", limit: callTimeout})
	return a.value, err
}

// Timeline returns the recorded states of a task with their times.
func (c *Client) Timeline(ctx context.Context, id string) ([]api.Move, error) {
	a, err := send[api.Timeline](ctx, c, call{method: http.MethodGet, path: taskPath(id) + "/timeline", limit: callTimeout})
	return a.value.Data, err
}

func taskPath(id string) string { return api.PathTasks + "/" + url.PathEscape(id) }
