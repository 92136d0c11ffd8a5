package upload

import (
	"context"
	"errors"
	"slices"

	"golang.org/x/sync/errgroup"

	"unitask/internal/artifact"
	"unitask/internal/fault"
)

// listedAtOnce is how many uploads of a page are read at a time: with an object store each is some requests.
const listedAtOnce = 8

// Page is uploads, the one that expires first at the beginning, and the cursor of the next page, "" at the end.
type Page struct {
	Uploads []Upload
	Next    string
}

// List returns the uploads of an owner, open and complete, from a cursor on, "" for the first page. A page has at most so
// many, and fewer if some are deleted meanwhile. None is completed by it. A damaged one has no more than its share tells.
func (k *Keeper) List(ctx context.Context, owner, cursor string, limit int) (Page, error) {
	if _, ok := artifact.ParseShare(cursor); !ok && cursor != "" {
		return Page{}, fault.Invalid("cursor", "is not one that a list returned")
	}
	shares, err := k.sharesOf(ctx, owner)
	if err != nil {
		return Page{}, err
	}
	ids := make(map[string]string, len(shares))
	var names []string // which sort as the times do
	for id, s := range shares {
		if name := s.Name(); name > cursor {
			names, ids[name] = append(names, name), id
		}
	}
	slices.Sort(names)
	var page Page
	if len(names) > limit {
		names = names[:limit]
		page.Next = names[limit-1]
	}
	all := make([]Upload, len(names))
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(listedAtOnce)
	for i, name := range names {
		g.Go(func() error {
			u, err := k.glance(ctx, ids[name])
			switch {
			case errors.Is(err, artifact.ErrDamaged):
				u, err = damaged(owner, shares[ids[name]]), nil
			case fault.CodeOf(err) == fault.NotFound:
				err = nil
			}
			all[i] = u
			return err
		})
	}
	err = g.Wait()
	page.Uploads = slices.DeleteFunc(all, func(u Upload) bool { return u.Owner != owner })
	return page, err
}

// glance is Get without completing the upload.
func (k *Keeper) glance(ctx context.Context, id string) (Upload, error) {
	u, err := k.find(ctx, id)
	if err == nil && !u.Complete {
		u.Received, err = k.received(ctx, u)
	}
	return u, err
}

// damaged is an upload whose record, pieces or artifact aren't as they were kept: its share alone is left to tell of it.
func damaged(owner string, s artifact.Share) Upload {
	return Upload{ID: s.ID, Owner: owner, Announcement: Announcement{Bytes: s.Bytes}, ExpiresAt: s.Until, Damaged: true}
}

// damagedOf returns a damaged upload of the owner; NOT_FOUND if no share tells of it.
func (k *Keeper) damagedOf(ctx context.Context, owner, id string) (Upload, error) {
	all, err := k.sharesOf(ctx, owner)
	if err == nil && all[id].ID == "" {
		err = notFound()
	}
	if err != nil {
		return Upload{}, err
	}
	return damaged(owner, all[id]), nil
}
