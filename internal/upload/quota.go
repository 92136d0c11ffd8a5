package upload

import (
	"context"
	"errors"
	"maps"
	"math/rand/v2"
	"slices"
	"time"

	"unitask/internal/artifact"
	"unitask/internal/fault"
)

func (u Upload) share() artifact.Share {
	return artifact.Share{ID: u.ID, Bytes: u.Bytes, Until: u.ExpiresAt}
}

// errQuota is in the refusal of an upload for which its account has to make room.
var errQuota = errors.New("upload: the owner's quota is full")

// seldom is from which time on waiting for an expiry isn't advised at all, as where artifacts are kept for good.
const seldom = 365 * 24 * time.Hour

// full is the refusal of an upload beside the others of its owner, which advises the time at which enough of them are over.
func (k *Keeper) full(u Upload, all map[string]artifact.Share, quota int64) error {
	taken, count, until := u.Bytes, len(all), time.Time{}
	delete(all, u.ID)
	for _, s := range all {
		taken += s.Bytes
	}
	for _, s := range slices.SortedFunc(maps.Values(all), func(a, b artifact.Share) int { return a.Until.Compare(b.Until) }) {
		if taken <= quota && count <= mostUploads {
			break
		}
		taken, count, until = taken-s.Bytes, count-1, s.Until
	}
	if taken > quota { // lowered since it was announced
		return final("the upload is larger than the account's quota, " + artifact.Size(quota))
	}
	const begin, end = "the account's uploads take all of its quota: ", "; GET /api/ai/v1/uploads lists them"
	wait := until.Sub(k.now())
	if wait > seldom {
		return final(begin + "one has to be deleted" + end)
	}
	at := until.UTC().Add(time.Minute - 1).Format("2006-01-02 15:04 UTC")
	return fault.Wrap(fault.RateLimitExceeded, errQuota, begin+"this one has room at "+at+", when enough of them have expired, or once one is deleted"+end).
		WithRetryAfter(max(wait, time.Second))
}

// final is a refusal that no waiting changes.
func final(message string) error {
	f := fault.Wrap(fault.RateLimitExceeded, errQuota, message)
	f.Final = true
	return f
}

// hold has an upload counted that has no share: its creator, or whoever deletes it, died before, or hasn't come so far.
func (k *Keeper) hold(ctx context.Context, u Upload, quota int64) error {
	all, err := k.sharesOf(ctx, u.Owner)
	switch {
	case err != nil || all[u.ID].ID != "":
		return err
	case u.Complete:
		return k.shares.TakeShare(ctx, u.Owner, u.share())
	default:
		return k.reserve(ctx, u, quota)
	}
}

// reserve takes the share of an upload that has a record. Should that be too much, it looks for shares that a crash left.
func (k *Keeper) reserve(ctx context.Context, u Upload, quota int64) error {
	err := k.take(ctx, u, quota)
	if errors.Is(err, errQuota) && k.mend(ctx, u.Owner) {
		err = k.take(ctx, u, quota)
	}
	return err
}

// take takes the upload's share, and gives it back if the owner's shares are more than the quota then: of two at
// once that don't fit together one at most stays.
func (k *Keeper) take(ctx context.Context, u Upload, quota int64) error {
	if err := k.shares.TakeShare(ctx, u.Owner, u.share()); err != nil {
		return err
	}
	all, err := k.sharesOf(ctx, u.Owner)
	left := quota
	for _, s := range all {
		if left -= s.Bytes; left < 0 {
			break
		}
	}
	if err == nil && (left < 0 || len(all) > mostUploads) {
		err = k.full(u, all, quota)
	}
	if err != nil {
		return errors.Join(err, k.shares.GiveShare(context.WithoutCancel(ctx), u.Owner, u.share()))
	}
	return nil
}

// sharesOf returns the shares that aren't over, one an upload.
func (k *Keeper) sharesOf(ctx context.Context, owner string) (map[string]artifact.Share, error) {
	all, err := k.shares.SharesOf(ctx, owner)
	latest := make(map[string]artifact.Share, len(all))
	for _, s := range all {
		if s.Until.After(k.now()) && s.Until.After(latest[s.ID].Until) {
			latest[s.ID] = s
		}
	}
	return latest, err
}

// giveShares gives the upload's shares back but for the one until a time.
func (k *Keeper) giveShares(ctx context.Context, u Upload, but time.Time) error {
	all, err := k.shares.SharesOf(ctx, u.Owner)
	failed := []error{err}
	for _, s := range all {
		if s.ID == u.ID && !s.Until.Equal(but) {
			failed = append(failed, k.shares.GiveShare(ctx, u.Owner, s))
		}
	}
	return errors.Join(failed...)
}

const (
	mendPause = time.Minute // between two looks at an owner's shares
	mendMost  = 100         // shares of one look, which asks twice for each
)

// mend gives back shares that belong to no upload, which a crash leaves, and reports whether there were any.
func (k *Keeper) mend(ctx context.Context, owner string) (mended bool) {
	now := k.now()
	if last, ok := k.mended.Load(owner); ok && now.Sub(last.(time.Time)).Abs() < mendPause {
		return false
	}
	k.mended.Store(owner, now)
	all, err := k.shares.SharesOf(ctx, owner)
	if err != nil {
		return false
	}
	rand.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
	for _, s := range all[:min(len(all), mendMost)] {
		if stray, err := k.stray(ctx, s); err == nil && stray {
			mended = k.shares.GiveShare(ctx, owner, s) == nil || mended
		}
	}
	return mended
}

// stray reports whether a share belongs to no upload. At every moment of one's life its record is there, or its artifact,
// which is made before the record is removed.
func (k *Keeper) stray(ctx context.Context, s artifact.Share) (bool, error) {
	for _, id := range []string{recordID(s.ID), s.ID} {
		if _, err := k.artifacts.Stat(ctx, id); fault.CodeOf(err) != fault.NotFound {
			return false, err
		}
	}
	return true, nil
}
