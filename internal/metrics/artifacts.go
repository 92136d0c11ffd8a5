package metrics

import (
	"context"
	"strings"

	"unitask/internal/artifact"
	"unitask/internal/task"
)

// Artifacts returns the store with its objects counted.
func (m *Metrics) Artifacts(s artifact.Store) artifact.Store { return counted{s, m} }

type counted struct {
	artifact.Store
	metrics *Metrics
}

// Put implements artifact.Store.
func (c counted) Put(ctx context.Context, r artifact.PutRequest) (artifact.Meta, error) {
	kept, err := c.Store.Put(ctx, r)
	if err == nil {
		c.metrics.kept.of(strings.HasPrefix(kept.ID, task.PrefixInput)).Add(float64(kept.Bytes))
	}
	return kept, err
}
