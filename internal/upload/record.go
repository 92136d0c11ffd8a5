package upload

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"

	"unitask/internal/artifact"
	"unitask/internal/fault"
	"unitask/internal/task"
)

// recordID is the object that holds an upload's record.
func recordID(id string) string { return task.DeriveID(task.PrefixInput, id, "upload") }

func (k *Keeper) record(ctx context.Context, u Upload) error {
	raw, err := json.Marshal(u)
	if err != nil {
		return err
	}
	_, err = k.artifacts.Put(ctx, k.piece(u, recordID(u.ID), bytes.NewReader(raw), int64(len(raw))))
	return err
}

// piece is the request to keep a part of an upload.
func (k *Keeper) piece(u Upload, id string, body io.Reader, limit int64) artifact.PutRequest {
	return artifact.PutRequest{
		ID: id, Owner: u.Owner, Body: body, Limit: limit, Raw: true,
		TTL: max(u.ExpiresAt.Sub(k.now()), 0) + margin, Source: artifact.FromCaller("body"),
	}
}

// mostRecord bounds a record.
const mostRecord = 4 << 10

// find returns an upload that hasn't expired, without how much of it has arrived; NOT_FOUND for any other id.
func (k *Keeper) find(ctx context.Context, id string) (Upload, error) {
	if !task.ValidID(task.PrefixArtifact, id) {
		return Upload{}, notFound()
	}
	u, err := k.artifactOf(ctx, id)
	if fault.CodeOf(err) != fault.NotFound {
		return u, err
	}
	u, err = k.recorded(ctx, id)
	switch {
	case fault.CodeOf(err) == fault.NotFound: // it may have been completed in between
		return k.artifactOf(ctx, id)
	case err == nil && !k.now().Before(u.ExpiresAt):
		return Upload{}, notFound()
	default:
		return u, err
	}
}

// artifactOf returns a complete upload.
func (k *Keeper) artifactOf(ctx context.Context, id string) (Upload, error) {
	m, err := k.artifacts.Stat(ctx, id)
	switch {
	case err == nil && m.Upload && !m.Expired(k.now()):
		return complete(m), nil
	case err == nil, fault.CodeOf(err) == fault.NotFound:
		return Upload{}, notFound()
	default:
		return Upload{}, err
	}
}

// recorded returns the upload of a record, NOT_FOUND if there is none.
func (k *Keeper) recorded(ctx context.Context, id string) (Upload, error) {
	_, r, err := k.artifacts.Open(ctx, recordID(id))
	if fault.CodeOf(err) == fault.NotFound {
		return Upload{}, notFound()
	}
	if err != nil {
		return Upload{}, err
	}
	defer func() { _ = r.Close() }()
	raw, err := io.ReadAll(io.LimitReader(r, mostRecord))
	if err != nil {
		if _, gone := k.artifacts.Stat(ctx, recordID(id)); fault.CodeOf(gone) == fault.NotFound { // deleted meanwhile
			err = notFound()
		}
		return Upload{}, err
	}
	var u Upload
	if err := json.Unmarshal(raw, &u); err != nil {
		return Upload{}, fmt.Errorf("%w: %w", artifact.ErrDamaged, err)
	}
	if u.ID != id {
		return Upload{}, notFound()
	}
	return u, nil
}

func complete(m artifact.Meta) Upload {
	return Upload{
		ID: m.ID, Owner: m.Owner, Announcement: Announcement{ContentType: m.ContentType, Bytes: m.Bytes, SHA256: m.SHA256},
		CreatedAt: m.CreatedAt, ExpiresAt: m.ExpiresAt, Received: m.Bytes, Complete: true,
	}
}

func notFound() error { return fault.New(fault.NotFound, "there is no such upload") }
