// Package upload takes large files ahead of the tasks that use them, in as many requests as it needs.
//
// Nothing is kept in a node's memory: an upload is a record, its pieces and, once its bytes are whole and have the
// announced hash, an artifact, all objects of the artifact store; so each request may reach another node, and a crash
// leaves what was kept. A piece is named by its upload, the record's generation and its offset, never crosses a multiple
// of pieceSize and is kept whole or not at all. Of two requests that send the same bytes at once the store keeps one's piece, and the other
// is refused: the pieces are one chain, whoever wrote them. What is abandoned expires like any object.
package upload

import (
	"context"
	"crypto/rand"
	"errors"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sync/singleflight"

	"unitask/internal/artifact"
	"unitask/internal/fault"
	"unitask/internal/task"
)

const (
	// Lifetime is how long an upload may take.
	Lifetime = 24 * time.Hour
	// margin is how much longer its pieces are kept, for a completion that begins late.
	margin = time.Hour
	// mostUploads bounds an account's uploads, open and complete.
	mostUploads = 1000
)

// Limits bound uploads; New fills zero values with the defaults noted here.
type Limits struct {
	Artifact int64         // bytes of one upload: 2 GiB
	Task     int64         // bytes of one upload that a task takes; 0: any
	Quota    int64         // of an account's uploads in one mode, open and complete: 2 GiB
	TTL      time.Duration // of a complete upload: 7 days
}

func (l Limits) withDefaults() Limits {
	if l.Artifact == 0 {
		l.Artifact = 2 << 30
	}
	if l.Quota == 0 {
		l.Quota = 2 << 30
	}
	if l.TTL == 0 {
		l.TTL = 7 * 24 * time.Hour
	}
	return l
}

// Config configures a Keeper. Artifacts and Shares are required, and two views of one store.
type Config struct {
	Artifacts artifact.Store
	Shares    artifact.Shares
	Limits    Limits
	Now       func() time.Time // nil: time.Now
}

// Keeper keeps uploads. It is safe for concurrent use.
type Keeper struct {
	artifacts artifact.Store
	shares    artifact.Shares
	limits    atomic.Pointer[Limits]
	now       func() time.Time
	finishing singleflight.Group // by upload: two requests that find all of it there don't copy it twice
	mended    sync.Map           // by owner, when mend last looked at its shares
}

// New returns a Keeper.
func New(c Config) (*Keeper, error) {
	if c.Artifacts == nil || c.Shares == nil {
		return nil, errors.New("upload: Artifacts and Shares are required")
	}
	if c.Now == nil {
		c.Now = time.Now
	}
	k := &Keeper{artifacts: c.Artifacts, shares: c.Shares, now: c.Now}
	k.SetLimits(c.Limits)
	return k, nil
}

// SetLimits replaces the limits for every request from now on.
func (k *Keeper) SetLimits(l Limits) {
	l = l.withDefaults()
	k.limits.Store(&l)
}

// Announcement is what a caller says of a file before its bytes.
type Announcement struct {
	ContentType string `json:"content_type"`
	Bytes       int64  `json:"bytes"`
	SHA256      string `json:"sha256"` // hexadecimal, lower case
}

// Upload is an upload as it is now.
type Upload struct {
	ID    string `json:"id"` // of the artifact that it becomes
	Owner string `json:"owner"`
	Announcement
	CreatedAt time.Time `json:"created_at"`
	ExpiresAt time.Time `json:"expires_at"` // of the artifact, once it is complete
	// Generation tells an open upload from an earlier one of the same id, whose pieces may come late.
	Generation string `json:"generation"`

	Received int64 `json:"-"`
	Complete bool  `json:"-"`
	Damaged  bool  `json:"-"` // only ID, Owner, Bytes and ExpiresAt are known; it can be deleted
}

// most is how many bytes an upload may have, and whose bound that is.
func (l *Limits) most() (bytes int64, bound string) {
	switch {
	case l.Task > 0 && l.Task <= min(l.Artifact, l.Quota):
		return l.Task, "a task takes no larger file, by the service's limits.work_memory"
	case l.Quota < l.Artifact:
		return l.Quota, "the service's limits.upload_quota"
	default:
		return l.Artifact, "the service's limits.artifact"
	}
}

// check returns the announcement in our own spelling, or a row for each wrong member.
func (a Announcement) check(l *Limits) (Announcement, error) {
	var rows []fault.Detail
	wrong := func(field, problem string) { rows = append(rows, fault.Detail{Field: field, Message: problem}) }
	kind := artifact.Announceable(a.ContentType)
	var hash task.Hash
	switch {
	case a.ContentType == "":
		wrong("content_type", "is required")
	case kind == "":
		wrong("content_type", "is no type of media that is taken: an image, a video, a sound, a PDF or a text")
	}
	most, bound := l.most()
	switch {
	case a.Bytes == 0:
		wrong("bytes", "is required and must be 1 or more")
	case a.Bytes < 0:
		wrong("bytes", "must be 1 or more")
	case a.Bytes > most:
		wrong("bytes", "must be at most "+artifact.Size(most)+": "+bound)
	}
	switch {
	case a.SHA256 == "":
		wrong("sha256", "is required")
	case hash.UnmarshalText([]byte(a.SHA256)) != nil:
		wrong("sha256", "must be 64 hexadecimal digits")
	}
	if len(rows) > 0 {
		err := fault.Invalid(rows[0].Field, rows[0].Message).WithDetails(rows[1:]...)
		if len(rows) == 1 && a.Bytes > most {
			err = err.WithAspect(fault.AspectSize)
		}
		return a, err
	}
	return Announcement{ContentType: kind, Bytes: a.Bytes, SHA256: hash.String()}, nil
}

// Begin opens an upload for an owner, an account in one mode; created is false if the same file was announced before:
// that upload goes on, or is the artifact already. So a client that was stopped may begin again, and a request that
// names the artifact stays the same.
func (k *Keeper) Begin(ctx context.Context, owner string, a Announcement) (u Upload, created bool, _ error) {
	l := k.limits.Load()
	a, err := a.check(l)
	if err != nil {
		return Upload{}, false, err
	}
	for nth := 0; ; nth++ {
		id := idOf(owner, a, nth)
		u, err := k.Get(ctx, id)
		if fault.CodeOf(err) == fault.NotFound {
			return k.create(ctx, id, owner, a, l.Quota)
		}
		if err == nil {
			err = k.hold(ctx, u, l.Quota)
		}
		if errors.Is(err, artifact.ErrDamaged) && nth < mostUploads {
			continue
		}
		// One that expires soon might be gone before a task has read it.
		if err != nil || !u.Complete || u.ExpiresAt.Sub(k.now()) >= min(Lifetime, l.TTL/2) {
			return u, false, err
		}
	}
}

// idOf is the id of the nth upload of a file: the first one's artifact may be about to expire.
func idOf(owner string, a Announcement, nth int) string {
	salt := strings.Join([]string{owner, a.ContentType, strconv.FormatInt(a.Bytes, 10), a.SHA256, strconv.Itoa(nth)}, "\n")
	account, _, _ := strings.Cut(owner, "/")
	return task.DeriveID(task.PrefixArtifact, account, salt)
}

func (k *Keeper) create(ctx context.Context, id, owner string, a Announcement, quota int64) (Upload, bool, error) {
	// Its bytes are on the disk twice while it becomes an artifact.
	if left, err := k.artifacts.Room(); err == nil && left/2 < a.Bytes {
		return Upload{}, false, fault.New(fault.CapacityExhausted, "the service has no room for so large a file at the moment").WithRetryAfter(time.Minute)
	}
	now := k.now().UTC().Truncate(time.Millisecond)
	u := Upload{
		ID: id, Owner: owner, Announcement: a, CreatedAt: now,
		ExpiresAt:  now.Add(Lifetime).Truncate(time.Second), // as its address says it
		Generation: rand.Text(),
	}
	err := k.record(ctx, u) // before its share, which is so never without it
	if errors.Is(err, artifact.ErrExists) && k.dropExpired(ctx, id) {
		err = k.record(ctx, u)
	}
	switch {
	case errors.Is(err, artifact.ErrExists): // announced twice at once
		first, err := k.Get(ctx, id)
		if err == nil {
			err = k.hold(ctx, first, quota)
		} else if fault.CodeOf(err) == fault.NotFound { // and refused there
			err = fault.Wrap(fault.RateLimitExceeded, errQuota, "the account's uploads take all of its quota").WithRetryAfter(time.Second)
		}
		return first, false, err
	case err != nil:
		return Upload{}, false, err
	}
	if err := k.reserve(ctx, u, quota); err != nil {
		return Upload{}, false, errors.Join(err, k.artifacts.Delete(context.WithoutCancel(ctx), recordID(id)))
	}
	return u, true, nil
}

// dropExpired removes what is left of an upload whose time is over, and reports whether it did.
func (k *Keeper) dropExpired(ctx context.Context, id string) bool {
	old, err := k.recorded(ctx, id)
	return err == nil && !k.now().Before(old.ExpiresAt) && errors.Join(k.artifacts.Delete(ctx, recordID(id)), k.drop(ctx, old)) == nil
}

// Get returns an upload with how much of it has arrived. One whose bytes are all here is completed first, should a
// crash have come before that.
func (k *Keeper) Get(ctx context.Context, id string) (Upload, error) { return k.Near(ctx, id, -1) }

// Near is Get for whoever expects a number of bytes to have arrived, and is answered sooner if it is so.
func (k *Keeper) Near(ctx context.Context, id string, expected int64) (Upload, error) {
	u, err := k.find(ctx, id)
	if err != nil || u.Complete {
		return u, err
	}
	if u.Received, err = k.receivedNear(ctx, u, expected); err != nil || u.Received < u.Bytes {
		return u, err
	}
	return k.finish(ctx, u)
}

// OfOwner is Get for an upload of the owner, also a damaged one; that of another one is NOT_FOUND.
func (k *Keeper) OfOwner(ctx context.Context, owner, id string) (Upload, error) {
	u, err := k.find(ctx, id)
	if err == nil && u.Owner != owner {
		err = notFound()
	}
	if err == nil {
		u, err = k.Get(ctx, id)
	}
	if errors.Is(err, artifact.ErrDamaged) {
		return k.damagedOf(ctx, owner, id)
	}
	if err != nil {
		return Upload{}, err
	}
	return u, nil
}

// Delete removes an upload of the owner with its bytes, complete, damaged or neither, and gives its share back.
func (k *Keeper) Delete(ctx context.Context, owner, id string) error {
	u, err := k.find(ctx, id)
	if errors.Is(err, artifact.ErrDamaged) {
		u, err = k.damagedOf(ctx, owner, id)
	}
	if err == nil && u.Owner != owner {
		err = notFound()
	}
	if err != nil {
		return err
	}
	if err := k.artifacts.Delete(ctx, recordID(id)); err != nil { // first, so that no more bytes are taken
		return err
	}
	// Then the shares, so that whoever is completing it finds that it is deleted, and the artifact that there may be.
	if err := k.giveShares(ctx, u, time.Time{}); err != nil {
		return err
	}
	var failed error
	if u.Generation != "" { // else it has no pieces, or they can't be told
		failed = k.drop(ctx, u)
	}
	return errors.Join(failed, k.artifacts.Delete(ctx, id))
}
