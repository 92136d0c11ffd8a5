package mcp

import (
	"context"

	"unitask/internal/api"
	"unitask/internal/client"
)

// Submission is a request from before its first byte is sent. One goroutine uses it.
type Submission interface {
	// Finish sends the request under its key and follows the task to its end, or as far as ctx allows.
	Finish(ctx context.Context, o client.CreateOptions) (api.Task, error)
	// Erase ends the submission's record: an answer names its task.
	Erase() error
	// SettleAlone ends the record unless err leaves open whether there is a task.
	SettleAlone(err error) error
}

// BeginFunc records a submission under an Idempotency-Key. body is the JSON of an api.CreateRequest; onTask hears of
// each revision of the task.
type BeginFunc func(ctx context.Context, key string, body []byte, onTask func(api.Task)) (Submission, error)

// unrecorded is a submission whose record is the service's alone.
type unrecorded struct {
	client *client.Client
	key    string
	body   []byte
	onTask func(api.Task)
}

func (c Config) unrecorded(_ context.Context, key string, body []byte, onTask func(api.Task)) (Submission, error) {
	return unrecorded{c.Client, key, body, onTask}, nil
}

func (u unrecorded) Finish(ctx context.Context, o client.CreateOptions) (api.Task, error) {
	o.IdempotencyKey = u.key
	return u.client.Finish(ctx, u.body, o, u.onTask)
}

func (unrecorded) Erase() error                { return nil }
func (unrecorded) SettleAlone(err error) error { return err }
