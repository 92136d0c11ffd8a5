package main

import (
	"context"
	"encoding/json"
	"fmt"
)

// estimateRun prints the most that the task would be charged, and makes none. Large files go ahead as they do for the
// task, which then has no need to send them.
func (o *runOptions) estimateRun(ctx context.Context, t *terminal) error {
	p := startProgress(t, o.capability)
	defer p.stop()
	c, err := o.connect(ctx, t, p.retry)
	if err != nil {
		return err
	}
	entry, err := entryOf(ctx, c, o.capability)
	if err != nil {
		return err
	}
	req, _, err := o.request(ctx, t, entry, &ahead{ctx: ctx, client: c, progress: p})
	if err != nil {
		return err
	}
	body, err := json.Marshal(req)
	if err != nil {
		return err
	}
	e, err := c.Estimate(ctx, body)
	if err != nil {
		return err
	}
	if o.asJSON {
		return t.json(e)
	}
	text := e.AtMost.Amount
	if t.outTTY {
		text = fmt.Sprintf("at most $%s, by a %s key", e.AtMost.Amount, e.Mode)
	}
	t.above(func() { _, err = fmt.Fprintln(t.out, t.safe(text)) })
	return err
}
