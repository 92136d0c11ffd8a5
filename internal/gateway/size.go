package gateway

import (
	"context"

	"unitask/internal/gate"
	"unitask/internal/task"
)

// Size checks the body of a creation as Create does, and returns an upper bound of the work that its task would be, as
// is reserved for: bytes count as tokens. It makes no task and costs no money.
func (g *Gateway) Size(ctx context.Context, c gate.Caller, body []byte) (task.Usage, error) {
	req, _, refused := g.decode(body)
	if refused != nil {
		return task.Usage{}, refused
	}
	checked, err := g.check(ctx, c, &req, false)
	if err != nil {
		return task.Usage{}, err
	}
	size := estimate(checked.entry, len(checked.media), req.Input, checked.entry.FillDefaults(req.Parameters))
	return g.routes.Load().Bound(c.Key.Mode, req.Capability, size), nil
}
