package memstore

import (
	"bytes"
	"context"

	"unitask/internal/store"
)

// Shared is a DB as several nodes have it. It implements store.Fleet too.
type Shared struct{ *DB }

var _ store.Fleet = Shared{}

// Exchange implements store.Fleet.
func (s Shared) Exchange(ctx context.Context, name string, note []byte) (map[string][]byte, error) {
	if err := store.CheckNote(note); err != nil {
		return nil, err
	}
	if err := s.lock(ctx); err != nil {
		return nil, err
	}
	defer s.mu.Unlock()
	if !s.live(name) {
		return nil, store.ErrFenced
	}
	s.nodes[name].note = bytes.Clone(note)
	others := map[string][]byte{}
	for other, n := range s.nodes {
		if other != name && s.live(other) {
			others[other] = n.note
		}
	}
	return others, nil
}

// ListCanceled implements store.Fleet.
func (s Shared) ListCanceled(ctx context.Context, name string) (ids []string, _ error) {
	if err := s.lock(ctx); err != nil {
		return nil, err
	}
	defer s.mu.Unlock()
	for _, t := range s.all() {
		if t.CancelRequested && s.held(t.ID) && s.leases[t.ID].node == name {
			ids = append(ids, t.ID)
		}
	}
	return ids, nil
}

// Worker implements store.Fleet.
func (s Shared) Worker(ctx context.Context, id string) (string, error) {
	if err := s.lock(ctx); err != nil {
		return "", err
	}
	defer s.mu.Unlock()
	return s.leases[id].node, nil
}
