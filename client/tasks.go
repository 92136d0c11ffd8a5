package client

import (
	"context"
	"encoding/json"
	"iter"
	"maps"
	"net/http"
	"net/url"
	"strconv"
	"time"
)

// Get reads a task once. Two reads of one task should start two to five seconds apart; Wait and Watch see to that.
func Get[Out any](ctx context.Context, c *Client, id string) (*Task[Out], error) {
	r := &revision{}
	err := c.again(ctx, minPoll, func() error {
		a, err := c.Do(ctx, reading(id, "", 0), r)
		r.take(a)
		return err
	})
	if err != nil {
		return nil, err
	}
	return taskOf[Out](r)
}

// Cancel asks the service to stop a task and returns the task as it is then; asking again is a no-op. A result that was
// there already is kept, so the task may have succeeded.
func (c *Client) Cancel(ctx context.Context, id string) (*Task[json.RawMessage], error) {
	r := &revision{}
	err := c.again(ctx, 0, func() error {
		_, err := c.Do(ctx, Call{Method: http.MethodPost, Path: taskPath(id) + "/cancel"}, r)
		return err
	})
	if err != nil {
		return nil, err
	}
	return taskOf[json.RawMessage](r)
}

// ListOptions select tasks; zero members select all.
type ListOptions struct {
	State      State
	Capability string
	Metadata   map[string]string // all of these pairs
	Key        string            // the id of the key that created them
	Code       Code              // of their error
	Since      time.Time         // the earliest creation
	Until      time.Time         // the first creation that is too late
}

// List yields the account's tasks, newest first, page by page as they are asked for. An error ends it.
func (c *Client) List(ctx context.Context, o ListOptions) iter.Seq2[*Task[json.RawMessage], error] {
	q := url.Values{"limit": {strconv.Itoa(pageSize)}}
	if o.State != "" {
		q.Set("state", string(o.State))
	}
	if o.Capability != "" {
		q.Set("capability", o.Capability)
	}
	for name, text := range o.Metadata {
		q.Set("metadata."+name, text)
	}
	o.set(q)
	return func(yield func(*Task[json.RawMessage], error) bool) {
		q := maps.Clone(q) // whose cursor is this loop's own
		for {
			page, err := c.page(ctx, q)
			if err != nil {
				yield(nil, err)
				return
			}
			for i := range page.Data {
				t, err := taskOf[json.RawMessage](&page.Data[i])
				if !yield(t, err) {
					return
				}
			}
			if page.NextCursor == "" {
				return
			}
			q.Set("cursor", page.NextCursor)
		}
	}
}

// set adds the parameters that narrow a list further.
func (o ListOptions) set(q url.Values) {
	if o.Key != "" {
		q.Set("key", o.Key)
	}
	if o.Code != "" {
		q.Set("code", string(o.Code))
	}
	if !o.Since.IsZero() {
		q.Set("created_after", o.Since.UTC().Format(time.RFC3339Nano))
	}
	if !o.Until.IsZero() {
		q.Set("created_before", o.Until.UTC().Format(time.RFC3339Nano))
	}
}

const pageSize = 100

type taskPage struct {
	Data       []revision `json:"data"`
	NextCursor string     `json:"next_cursor"`
}

func (c *Client) page(ctx context.Context, q url.Values) (page taskPage, err error) {
	err = c.again(ctx, 0, func() error {
		page = taskPage{}
		_, err := c.Do(ctx, Call{Path: pathTasks + "?" + q.Encode()}, &page)
		return err
	})
	return page, err
}

// Capability is one entry of the directory.
type Capability struct {
	Name             string          `json:"name"`
	Title            string          `json:"title"`
	Description      string          `json:"description"`
	Modality         string          `json:"modality"`
	Mode             string          `json:"mode"`         // "sync" or "async"
	InputSchema      json.RawMessage `json:"input_schema"` // JSON Schema 2020-12, as the other two
	ParametersSchema json.RawMessage `json:"parameters_schema"`
	OutputSchema     json.RawMessage `json:"output_schema"`
	Example          json.RawMessage `json:"example"` // a whole request: a Body that works
	Price            json.RawMessage `json:"price"`
}

// Capabilities returns the capabilities that the key may call now, sorted by name.
func (c *Client) Capabilities(ctx context.Context) ([]Capability, error) {
	var list struct {
		Data []Capability `json:"data"`
	}
	err := c.again(ctx, 0, func() error {
		_, err := c.Do(ctx, Call{Path: pathCapabilities}, &list)
		return err
	})
	return list.Data, err
}
