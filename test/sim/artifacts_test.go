package sim_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"io"
	"math"
	"sync"
	"time"

	"unitask/internal/artifact"
	"unitask/internal/fault"
)

// memArtifacts keeps artifacts in memory, under the contract of artifact.Store. Most runs use it: a folder
// would take most of their time.
type memArtifacts struct {
	mu   sync.Mutex
	kept map[string]storedArtifact
}

type storedArtifact struct {
	meta artifact.Meta
	raw  []byte
}

var _ artifact.Store = (*memArtifacts)(nil)

func newMemArtifacts() *memArtifacts { return &memArtifacts{kept: map[string]storedArtifact{}} }

func (p *memArtifacts) Put(ctx context.Context, r artifact.PutRequest) (artifact.Meta, error) {
	raw, err := io.ReadAll(io.LimitReader(r.Body, r.Limit))
	kind := artifact.Sniff(raw)
	switch {
	case ctx.Err() != nil:
		return artifact.Meta{}, ctx.Err()
	case err != nil || kind == "":
		return artifact.Meta{}, fault.New(fault.ProviderUnavailable, "the result could not be retrieved")
	}
	sum := sha256.Sum256(raw)
	m := artifact.Meta{
		ID: r.ID, Owner: r.Owner, Capability: r.Capability, ContentType: kind, Bytes: int64(len(raw)), SHA256: hex.EncodeToString(sum[:]),
		CreatedAt: time.Now().UTC(), ExpiresAt: time.Now().UTC().Add(r.TTL),
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if first, ok := p.kept[r.ID]; ok {
		if first.meta.SHA256 != m.SHA256 {
			return first.meta, artifact.ErrExists
		}
		return first.meta, nil
	}
	p.kept[r.ID] = storedArtifact{m, raw}
	return m, nil
}

func (p *memArtifacts) Open(_ context.Context, id string) (artifact.Meta, io.ReadSeekCloser, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	k, ok := p.kept[id]
	if !ok {
		return artifact.Meta{}, nil, fault.New(fault.NotFound, "there is no such artifact")
	}
	return k.meta, readSeekCloser{bytes.NewReader(k.raw)}, nil
}

func (p *memArtifacts) Stat(ctx context.Context, id string) (artifact.Meta, error) {
	m, _, err := p.Open(ctx, id)
	return m, err
}

func (p *memArtifacts) Delete(_ context.Context, id string) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.kept, id)
	return nil
}

func (p *memArtifacts) Sweep(_ context.Context, now time.Time, limit int) (int, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	n := 0
	for id, k := range p.kept {
		if n < limit && k.meta.Expired(now) {
			delete(p.kept, id)
			n++
		}
	}
	return n, nil
}

func (p *memArtifacts) Room() (int64, error) { return math.MaxInt64, nil }

func (p *memArtifacts) Close() error { return nil }

type readSeekCloser struct{ io.ReadSeeker }

func (readSeekCloser) Close() error { return nil }
