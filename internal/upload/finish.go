package upload

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"runtime/debug"
	"slices"
	"time"

	"unitask/internal/artifact"
	"unitask/internal/fault"
)

// finishTime is how long the store has for the bytes of a whole upload, whoever waits for it.
const finishTime = 15 * time.Minute

// finish makes the artifact of an upload whose bytes are all here. Bytes that aren't the announced ones are dropped, and
// the upload begins anew.
func (k *Keeper) finish(ctx context.Context, u Upload) (Upload, error) {
	done := k.finishing.DoChan(u.ID, func() (now any, err error) {
		defer func() {
			if v := recover(); v != nil { // in a goroutine of its own, in which it would end the process
				now, err = u, fault.Wrap(fault.Internal, fmt.Errorf("panic: %v\n%s", v, debug.Stack()), "the upload could not be completed")
			}
		}()
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), finishTime)
		defer cancel()
		return k.assemble(ctx, u)
	})
	select {
	case <-ctx.Done():
		return u, ctx.Err()
	case result := <-done:
		if now, ok := result.Val.(Upload); ok {
			u = now
		}
		return u, result.Err
	}
}

func (k *Keeper) assemble(ctx context.Context, u Upload) (Upload, error) {
	m, err := k.artifacts.Stat(ctx, u.ID)
	switch {
	case err == nil && !m.Expired(k.now()): // another request was first
		return k.settle(ctx, u, m)
	case err == nil:
		err = k.artifacts.Delete(ctx, u.ID)
	case fault.CodeOf(err) == fault.NotFound:
		err = nil
	}
	var problem string
	if err == nil {
		problem, err = k.misfit(ctx, u)
	}
	if err == nil && problem == "" {
		m, err = k.join(ctx, u)
	}
	switch {
	case errors.Is(err, artifact.ErrHash):
		return k.again(ctx, u, conflict("sha256", "isn't that of the bytes that arrived: send them again from the first", 0))
	case problem != "":
		return k.again(ctx, u, conflict("content_type", "doesn't fit the bytes: the file "+problem, 0))
	case err != nil:
		return u, err
	}
	return k.settle(ctx, u, m)
}

// join makes the artifact of the pieces. Its share is there before it is, so that a crash leaves no artifact without one,
// and is taken while the upload has its record, so that a deletion that comes later finds it.
func (k *Keeper) join(ctx context.Context, u Upload) (artifact.Meta, error) {
	long := artifact.Share{ID: u.ID, Bytes: u.Bytes, Until: k.now().UTC().Truncate(time.Millisecond).Add(k.limits.Load().TTL)}
	if err := k.shares.TakeShare(ctx, u.Owner, long); err != nil {
		return artifact.Meta{}, err
	}
	_, err := k.recorded(ctx, u.ID)
	if err == nil {
		body := k.open(ctx, u)
		defer body.close()
		var m artifact.Meta
		m, err = k.artifacts.Put(ctx, artifact.PutRequest{
			ID: u.ID, Owner: u.Owner, Body: body, ContentType: u.ContentType, Limit: u.Bytes, ExpiresAt: long.Until,
			Source: artifact.FromCaller("body"), Upload: true, SHA256: u.SHA256,
		})
		if err == nil || errors.Is(err, artifact.ErrExists) {
			return m, nil
		}
	}
	if m, missing := k.artifacts.Stat(ctx, u.ID); missing == nil { // another node was first, and has removed the pieces
		return m, nil
	}
	return artifact.Meta{}, errors.Join(err, k.shares.GiveShare(context.WithoutCancel(ctx), u.Owner, long))
}

// misfit returns what is wrong with bytes whose head isn't all that their type asks for: texts and PDFs.
func (k *Keeper) misfit(ctx context.Context, u Upload) (problem string, _ error) {
	head := make([]byte, min(artifact.SniffLen, u.Bytes))
	body := k.open(ctx, u)
	_, err := io.ReadFull(body, head)
	body.close()
	if err != nil {
		return "", err
	}
	if problem = artifact.Belies(u.ContentType, head); problem != "" || artifact.Sniff(head) != "" {
		return problem, nil
	}
	body = k.open(ctx, u)
	defer body.close()
	_, err = artifact.ReadDocument(body, u.ContentType, artifact.FromCaller("it"))
	if f := fault.From(err); f != nil && f.Code == fault.InvalidRequest {
		return f.Details[0].Message, nil
	}
	return "", err
}

// again drops all bytes, and returns the upload as it is then. It is one of another generation, so that no piece that
// comes late is one of it.
func (k *Keeper) again(ctx context.Context, u Upload, why error) (Upload, error) {
	now, err := k.find(ctx, u.ID)
	if err == nil && now.Generation == u.Generation && !now.Complete {
		now.Generation = rand.Text()
		if err = k.artifacts.Delete(ctx, recordID(u.ID)); err == nil {
			err = k.record(ctx, now)
		}
	}
	if err = errors.Join(err, k.drop(ctx, u)); err != nil {
		return u, err
	}
	return now, why
}

// settle is what follows an artifact: its share holds as long as it does, and what it was made of goes. A crash in
// between leaves objects that expire. The artifact of an upload that was deleted meanwhile, which took its shares and its
// record, goes too.
func (k *Keeper) settle(ctx context.Context, u Upload, m artifact.Meta) (Upload, error) {
	share := artifact.Share{ID: u.ID, Bytes: u.Bytes, Until: m.ExpiresAt}
	all, err := k.shares.SharesOf(ctx, u.Owner)
	if err != nil {
		return u, err
	}
	if !slices.ContainsFunc(all, func(s artifact.Share) bool { return s.Name() == share.Name() }) {
		_, err := k.recorded(ctx, u.ID)
		if fault.CodeOf(err) == fault.NotFound {
			return u, errors.Join(k.giveShares(ctx, u, time.Time{}), k.drop(ctx, u), k.artifacts.Delete(ctx, u.ID), notFound())
		}
		if err == nil {
			err = k.shares.TakeShare(ctx, u.Owner, share)
		}
		if err != nil {
			return u, err
		}
	}
	_ = k.giveShares(ctx, u, share.Until)
	_ = k.drop(ctx, u)
	_ = k.artifacts.Delete(ctx, recordID(u.ID))
	return complete(m), nil
}

// drop deletes the pieces, the last first: what is left is a beginning at every moment.
func (k *Keeper) drop(ctx context.Context, u Upload) error {
	var all []string
	for at := int64(0); ; {
		n, err := k.sizeAt(ctx, u, at)
		if errors.Is(err, artifact.ErrDamaged) { // those behind it can't be told, and expire
			all = append(all, u.pieceID(at))
			break
		}
		if err != nil {
			return err
		}
		if n == 0 {
			break
		}
		all, at = append(all, u.pieceID(at)), at+n
	}
	for i := len(all) - 1; i >= 0; i-- {
		if err := k.artifacts.Delete(ctx, all[i]); err != nil {
			return err
		}
	}
	return nil
}

// open returns a reader of all bytes that are here, one piece after the other.
func (k *Keeper) open(ctx context.Context, u Upload) *chain {
	return &chain{keeper: k, ctx: ctx, upload: u}
}

// chain reads the pieces of an upload.
type chain struct {
	keeper *Keeper
	ctx    context.Context //nolint:containedctx // of the assembly that it belongs to
	upload Upload
	at     int64 // of the next piece
	piece  io.ReadCloser
}

func (c *chain) close() {
	if c.piece != nil {
		_ = c.piece.Close()
	}
}

// Read implements io.Reader.
func (c *chain) Read(p []byte) (int, error) {
	for {
		if c.piece == nil {
			if c.at == c.upload.Bytes {
				return 0, io.EOF
			}
			m, piece, err := c.keeper.artifacts.Open(c.ctx, c.upload.pieceID(c.at))
			if err != nil {
				return 0, fault.Wrap(fault.CapacityExhausted, err, "the upload can't be read at the moment")
			}
			c.piece, c.at = piece, c.at+m.Bytes
		}
		n, err := c.piece.Read(p)
		if errors.Is(err, io.EOF) {
			err = c.piece.Close()
			c.piece = nil
		}
		if n > 0 || err != nil {
			return n, err
		}
	}
}
