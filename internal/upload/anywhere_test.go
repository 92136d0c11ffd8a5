package upload_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"slices"
	"testing"

	"unitask/internal/artifact"
	"unitask/internal/fault"
	"unitask/internal/upload"
	"unitask/test/fixture"
)

// watched is a store that tells of each call before it makes it, which an error prevents.
type watched struct {
	keeping

	before func(call string) error
}

func (w *watched) Put(ctx context.Context, r artifact.PutRequest) (artifact.Meta, error) {
	if err := w.before("Put"); err != nil {
		return artifact.Meta{}, err
	}
	return w.keeping.Put(ctx, r)
}

func (w *watched) Open(ctx context.Context, id string) (artifact.Meta, io.ReadSeekCloser, error) {
	if err := w.before("Open"); err != nil {
		return artifact.Meta{}, nil, err
	}
	return w.keeping.Open(ctx, id)
}

func (w *watched) Stat(ctx context.Context, id string) (artifact.Meta, error) {
	if err := w.before("Stat"); err != nil {
		return artifact.Meta{}, err
	}
	return w.keeping.Stat(ctx, id)
}

func (w *watched) Delete(ctx context.Context, id string) error {
	if err := w.before("Delete"); err != nil {
		return err
	}
	return w.keeping.Delete(ctx, id)
}

func (w *watched) TakeShare(ctx context.Context, owner string, s artifact.Share) error {
	if err := w.before("TakeShare"); err != nil {
		return err
	}
	return w.keeping.TakeShare(ctx, owner, s)
}

func (w *watched) SharesOf(ctx context.Context, owner string) ([]artifact.Share, error) {
	if err := w.before("SharesOf"); err != nil {
		return nil, err
	}
	return w.keeping.SharesOf(ctx, owner)
}

func (w *watched) GiveShare(ctx context.Context, owner string, s artifact.Share) error {
	if err := w.before("GiveShare"); err != nil {
		return err
	}
	return w.keeping.GiveShare(ctx, owner, s)
}

// node is a further process on the bench's store.
func (b *bench) node(before func(call string) error) *upload.Keeper {
	b.t.Helper()
	store := &watched{b.store, before}
	return fixture.Must(upload.New(upload.Config{Artifacts: store, Shares: store, Limits: upload.Limits{Quota: 1000}, Now: b.clock.now}))(b.t)
}

func healthy(string) error { return nil }

// wantRoom wants all of the quota to be free, as it is for a process that starts.
func (b *bench) wantRoom(when string) {
	b.t.Helper()
	node := b.node(healthy)
	all, created, err := node.Begin(b.t.Context(), owner, announce(file(1000)))
	if err != nil || !created {
		b.t.Errorf("%s all of the quota isn't free: new: %t, %v", when, created, err)
		return
	}
	if err := node.Delete(b.t.Context(), owner, all.ID); err != nil {
		b.t.Error(err)
	}
	b.settled(all)
}

var errDead = errors.New("dead")

// testCrashAnywhere kills a process before each call that it makes for an upload's whole life. The file can be sent then,
// is counted once, and leaves no share when it is deleted.
func testCrashAnywhere(t *testing.T, b *bench) {
	ctx, body := t.Context(), file(600)
	for calls := range 200 {
		made := 0
		dying := b.node(func(string) error {
			if made++; made > calls {
				return errDead
			}
			return nil
		})
		u, _, err := dying.Begin(ctx, owner, announce(body))
		if err == nil {
			u, err = dying.Receive(ctx, u.ID, 0, bytes.NewReader(body))
		}
		if err == nil {
			err = dying.Delete(ctx, owner, u.ID)
		}
		next := b.node(healthy)
		if err == nil && made <= calls {
			if calls < 20 {
				t.Errorf("a whole life is %d calls, want 20 at least", calls)
			}
			return
		}
		u, _, err = next.Begin(ctx, owner, announce(body))
		if err == nil {
			u, err = next.Receive(ctx, u.ID, u.Received, bytes.NewReader(body[u.Received:]))
		}
		if err != nil || !u.Complete {
			t.Fatalf("after a crash at call %d: %+v, %v", calls, u, err)
		}
		shares, err := b.store.SharesOf(ctx, owner)
		if want := (artifact.Share{ID: u.ID, Bytes: 600, Until: u.ExpiresAt}); err != nil || !slices.Contains(shares, want) {
			t.Fatalf("after a crash at call %d the artifact isn't counted to its end: %+v, %v", calls, shares, err)
		}
		if err := next.Delete(ctx, owner, u.ID); err != nil {
			t.Fatalf("after a crash at call %d: %v", calls, err)
		}
		b.wantRoom("after a crash")
	}
	t.Error("it never came to its end")
}

// testDeletedAnywhere deletes an upload before each call that another node makes to take its bytes and to complete it.
// No bytes and no share stay, whatever the other node says.
func testDeletedAnywhere(t *testing.T, b *bench) {
	ctx, body := t.Context(), file(600)
	for at := range 200 {
		u := b.begin(announce(body))
		made, deleted := 0, false
		_, err := b.node(func(string) error {
			if made++; made == at+1 {
				deleted = true
				return b.nodes[1].Delete(ctx, owner, u.ID)
			}
			return nil
		}).Receive(ctx, u.ID, 0, bytes.NewReader(body))
		if !deleted {
			if at < 15 || err != nil {
				t.Errorf("taking an upload is %d calls, and ends with %v; want 15 at least", at, err)
			}
			if err := b.nodes[1].Delete(ctx, owner, u.ID); err != nil {
				t.Error(err)
			}
			return
		}
		if f := fault.From(err); f != nil && f.Code != fault.NotFound && f.Code != fault.CapacityExhausted {
			t.Errorf("deleted before call %d: %v", at, err)
		}
		for _, id := range []string{u.ID, upload.RecordID(u.ID), upload.PieceID(u, 0)} {
			if _, err := b.store.Stat(ctx, id); fault.CodeOf(err) != fault.NotFound {
				t.Fatalf("deleted before call %d: %s is there, %v", at, id, err)
			}
		}
		b.wantRoom("deleted meanwhile,")
	}
	t.Error("it never came to its end")
}

// testCompletedAnywhere has an upload completed before each call that another node makes to delete it.
func testCompletedAnywhere(t *testing.T, b *bench) {
	ctx, body := t.Context(), file(600)
	for at := range 200 {
		u := b.begin(announce(body))
		all := bytes.NewReader(body)
		_, _ = b.node(func(call string) error {
			if call == "TakeShare" && all.Len() == 0 { // before it becomes an artifact
				return errDead
			}
			return nil
		}).Receive(ctx, u.ID, 0, all)
		made := 0
		err := b.node(func(string) error {
			if made++; made == at+1 {
				_, _ = b.nodes[1].Get(ctx, u.ID)
			}
			return nil
		}).Delete(ctx, owner, u.ID)
		if err != nil {
			t.Errorf("completed before call %d of a deletion: %v", at, err)
		}
		for _, id := range []string{u.ID, upload.RecordID(u.ID), upload.PieceID(u, 0)} {
			if _, err := b.store.Stat(ctx, id); fault.CodeOf(err) != fault.NotFound {
				t.Errorf("completed before call %d of a deletion: %s is there, %v", at, id, err)
			}
		}
		b.wantRoom("completed meanwhile,")
		if made <= at {
			if at < 7 {
				t.Errorf("a deletion is %d calls, want 7 at least", at)
			}
			return
		}
	}
	t.Error("it never came to its end")
}

// testAnnouncedAtOnce: one file is announced twice at once when it doesn't fit, and one of the two sees room that the
// other didn't. Bytes are taken for no more than the quota.
func testAnnouncedAtOnce(t *testing.T, b *bench) {
	ctx, body := t.Context(), file(600)
	other := b.begin(announce(file(500)))
	looks, refused := make(chan struct{}), make(chan struct{})
	var late upload.Upload
	ended := make(chan error, 1)
	asked := false
	first := b.node(func(call string) error {
		if call != "GiveShare" || asked { // it has seen that the quota is full
			return nil
		}
		asked = true
		go func() {
			waits := true
			var err error
			late, _, err = b.node(func(call string) error {
				if call == "SharesOf" && waits {
					waits = false
					close(looks)
					<-refused
				}
				return nil
			}).Begin(ctx, owner, announce(body))
			ended <- err
		}()
		<-looks
		return b.nodes[1].Delete(ctx, owner, other.ID)
	})
	if _, _, err := first.Begin(ctx, owner, announce(body)); fault.CodeOf(err) != fault.RateLimitExceeded {
		t.Errorf("beside another upload: %v, want RATE_LIMIT_EXCEEDED", err)
	}
	close(refused)
	if err := <-ended; err != nil {
		t.Logf("the other announcement: %v", err)
	}
	all, _, err := b.node(healthy).Begin(ctx, owner, announce(file(1000)))
	taken, failed := b.nodes[0].Receive(ctx, late.ID, 0, bytes.NewReader(body))
	if err == nil && taken.Complete {
		t.Errorf("%d bytes were taken beside a reservation of %d, of 1000", taken.Bytes, all.Bytes)
	}
	if err != nil && failed != nil {
		t.Errorf("neither fits: %v and %v", err, failed)
	}
}
