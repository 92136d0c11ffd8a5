package upload_test

import (
	"bytes"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"unitask/internal/artifact"
	"unitask/internal/fault"
	"unitask/internal/task"
	"unitask/internal/upload"
	"unitask/test/fixture"
)

func testQuota(t *testing.T, b *bench) {
	ctx, full := t.Context(), fault.RateLimitExceeded
	first := b.begin(announce(file(60)))
	if _, _, err := b.nodes[1].Begin(ctx, owner, announce(file(41))); fault.CodeOf(err) != full {
		t.Errorf("41 more: %v, want %s", err, full)
	}
	if _, _, err := b.nodes[1].Begin(ctx, "acct_1/test", announce(file(41))); err != nil {
		t.Errorf("in the other mode: %v", err)
	}
	b.begin(announce(file(40)))
	if _, err := b.nodes[0].Receive(ctx, first.ID, 0, bytes.NewReader(file(60))); err != nil {
		t.Fatal(err)
	}
	if _, _, err := b.nodes[0].Begin(ctx, owner, announce(file(41))); fault.CodeOf(err) != full {
		t.Errorf("with one complete: %v, want %s", err, full)
	}
	if err := b.nodes[1].Delete(ctx, owner, first.ID); err != nil {
		t.Fatal(err)
	}
	b.begin(announce(file(60)))
	_, _, err := b.nodes[0].Begin(ctx, owner, announce(file(101)))
	if f := fault.From(err); f.Code != fault.InvalidRequest || f.Aspect != fault.AspectSize {
		t.Errorf("more than all: %v", err)
	}
	b.clock.after.Store(int64(24 * time.Hour))
	b.begin(announce(file(100)))
}

// testQuotaAdvice: a refused upload is told when enough of the others are over, and not to wait where that is never.
func testQuotaAdvice(t *testing.T, b *bench) {
	whole := b.begin(announce(file(60)))
	b.clock.after.Store(int64(time.Hour))
	b.begin(announce(file(30)))
	if _, err := b.nodes[0].Receive(t.Context(), whole.ID, 0, bytes.NewReader(file(60))); err != nil {
		t.Fatal(err)
	}
	b.clock.after.Store(int64(2 * time.Hour))
	for n, want := range map[int]time.Duration{ // the open one ends after 25 hours, the complete one after 49
		40: 23 * time.Hour, 41: 47 * time.Hour,
	} {
		_, _, err := b.nodes[1].Begin(t.Context(), owner, announce(file(n)))
		if f := fault.From(err); f == nil || f.Code != fault.RateLimitExceeded || !f.Retryable() || f.RetryAfter != want {
			t.Errorf("%d more: %+v, want advice to wait for %v", n, f, want)
		}
	}
	for _, node := range b.nodes {
		node.SetLimits(upload.Limits{Quota: 100, TTL: 100 * 365 * 24 * time.Hour})
	}
	b.clock.after.Store(int64(49 * time.Hour))
	kept := b.begin(announce(file(70)))
	if _, err := b.nodes[0].Receive(t.Context(), kept.ID, 0, bytes.NewReader(file(70))); err != nil {
		t.Fatal(err)
	}
	_, _, err := b.nodes[1].Begin(t.Context(), owner, announce(file(31)))
	if f := fault.From(err); f == nil || f.Code != fault.RateLimitExceeded || f.Retryable() {
		t.Errorf("where uploads are kept for good: %+v, want no advice to wait", f)
	}
}

// testQuotaLowered: an upload that alone is more than the quota by now, and whose share is missing, isn't told to wait.
func testQuotaLowered(t *testing.T, b *bench) {
	u := b.begin(announce(file(60)))
	if err := b.store.GiveShare(t.Context(), owner, artifact.Share{ID: u.ID, Bytes: u.Bytes, Until: u.ExpiresAt}); err != nil {
		t.Fatal(err)
	}
	b.begin(announce(file(30)))
	b.nodes[0].SetLimits(upload.Limits{Quota: 59})
	_, err := b.nodes[0].Receive(t.Context(), u.ID, 0, bytes.NewReader(file(60)))
	if f := fault.From(err); f == nil || f.Code != fault.RateLimitExceeded || f.Retryable() || !strings.Contains(f.Message, "larger than") {
		t.Errorf("%+v, want a refusal for good", f)
	}
}

// testList lists what takes the quota, in pages, the one that expires first at the beginning.
func testList(t *testing.T, b *bench) {
	ctx := t.Context()
	whole := b.begin(announce(file(60)))
	done, err := b.nodes[0].Receive(ctx, whole.ID, 0, bytes.NewReader(file(60)))
	if err != nil {
		t.Fatal(err)
	}
	body := file(upload.LeastPiece + 7)
	open := b.begin(announce(body))
	open, _ = b.nodes[0].Receive(ctx, open.ID, 0, cutAt(body, upload.LeastPiece))
	b.clock.after.Store(int64(time.Hour))
	late, gone := b.begin(announce(file(30))), b.begin(announce(file(31)))
	if _, _, err := b.nodes[0].Begin(ctx, "acct_1/test", announce(file(41))); err != nil {
		t.Fatal(err)
	}
	if err := b.store.Delete(ctx, upload.RecordID(gone.ID)); err != nil { // a crash after it leaves the share
		t.Fatal(err)
	}
	var got []upload.Upload
	pages := 0
	for cursor := ""; pages == 0 || cursor != ""; pages++ {
		page, err := b.nodes[1].List(ctx, owner, cursor, 1)
		if err != nil || len(page.Uploads) > 1 || pages > 4 {
			t.Fatalf("page %d: %+v, %v", pages, page, err)
		}
		got, cursor = append(got, page.Uploads...), page.Next
	}
	if diff := cmp.Diff([]upload.Upload{open, late, done}, got); diff != "" || pages != 4 {
		t.Errorf("%d pages (-want +got):\n%s", pages, diff)
	}
	all, err := b.nodes[0].List(ctx, owner, "", 4)
	if diff := cmp.Diff(upload.Page{Uploads: got}, all); diff != "" || err != nil {
		t.Errorf("one page (-want +got):\n%s%v", diff, err)
	}
	if _, err := b.nodes[0].List(ctx, owner, "x", 4); fault.CodeOf(err) != fault.InvalidRequest {
		t.Errorf("from another cursor: %v", err)
	}
}

// testQuotaAtOnce: of many that don't fit together no more than fit are taken.
func testQuotaAtOnce(t *testing.T, b *bench) {
	var all sync.WaitGroup
	for i := range 8 {
		all.Go(func() {
			_, _, err := b.nodes[i%2].Begin(t.Context(), owner, announce(file(51+i/2))) // each twice
			if err != nil && fault.CodeOf(err) != fault.RateLimitExceeded {
				t.Error(err)
			}
		})
	}
	all.Wait()
	if shares, err := b.store.SharesOf(t.Context(), owner); err != nil || len(shares) > 1 {
		t.Errorf("%d were taken, %v", len(shares), err)
	}
}

// testExpires sweeps an upload that was left open, and one that became an artifact when that is over.
func testExpires(t *testing.T, b *bench) {
	ctx := t.Context()
	open, whole := b.begin(announce(file(1000))), b.begin(announce(file(2000)))
	_, _ = b.nodes[0].Receive(ctx, open.ID, 0, cutAt(file(1000), 500))
	if _, err := b.nodes[0].Receive(ctx, whole.ID, 0, bytes.NewReader(file(2000))); err != nil {
		t.Fatal(err)
	}
	sweep := func(after time.Duration) {
		b.clock.after.Store(int64(after))
		if _, err := b.store.Sweep(ctx, b.clock.now(), 1000); err != nil {
			t.Error(err)
		}
	}
	b.clock.after.Store(int64(24 * time.Hour))
	if _, err := b.nodes[0].Get(ctx, open.ID); fault.CodeOf(err) != fault.NotFound {
		t.Errorf("at its end, before a sweep: %v, want NOT_FOUND", err)
	}
	sweep(26 * time.Hour)
	if _, err := b.nodes[0].Receive(ctx, open.ID, 500, bytes.NewReader(file(1000)[500:])); fault.CodeOf(err) != fault.NotFound {
		t.Errorf("after its time: %v, want NOT_FOUND", err)
	}
	b.settled(open, artifact.Share{ID: whole.ID, Bytes: 2000, Until: start.Add(48 * time.Hour)})
	if got, err := b.nodes[0].Get(ctx, whole.ID); err != nil || !got.Complete {
		t.Errorf("the artifact: %+v, %v", got, err)
	}
	b.clock.after.Store(int64(47 * time.Hour))
	if again, created, err := b.nodes[0].Begin(ctx, owner, announce(file(2000))); err != nil || !created || again.ID == whole.ID {
		t.Errorf("announced an hour before its end: %+v, new: %t, %v", again, created, err)
	} else if err := b.nodes[0].Delete(ctx, owner, again.ID); err != nil {
		t.Error(err)
	}
	sweep(48*time.Hour + time.Hour)
	if _, err := b.nodes[0].Get(ctx, whole.ID); fault.CodeOf(err) != fault.NotFound {
		t.Errorf("the artifact after its time: %v, want NOT_FOUND", err)
	}
	sweep(73 * time.Hour)
	b.settled(whole)
}

func testDeleted(t *testing.T, b *bench) {
	ctx := t.Context()
	body := file(upload.PieceSize + 5)
	for _, n := range []int{0, 100, upload.PieceSize + 1, len(body)} {
		u := b.begin(announce(body))
		_, _ = b.nodes[0].Receive(ctx, u.ID, 0, cutAt(body, n))
		if err := b.nodes[1].Delete(ctx, owner, u.ID); err != nil {
			t.Fatal(err)
		}
		b.settled(u)
		if _, err := b.nodes[0].Get(ctx, u.ID); fault.CodeOf(err) != fault.NotFound {
			t.Errorf("after its deletion: %v, want NOT_FOUND", err)
		}
		if err := b.nodes[0].Delete(ctx, owner, u.ID); fault.CodeOf(err) != fault.NotFound {
			t.Errorf("deleted again: %v, want NOT_FOUND", err)
		}
	}
}

// testOfOthers tells an upload of another owner, a result and an id that was never given from one another by nothing.
func testOfOthers(t *testing.T, b *bench) {
	ctx := t.Context()
	result := task.NewID(task.PrefixArtifact, start)
	if _, err := b.store.Put(ctx, artifact.PutRequest{ID: result, Owner: owner, Body: bytes.NewReader(file(50)), Limit: 50}); err != nil {
		t.Fatal(err)
	}
	u, _, err := b.nodes[0].Begin(ctx, "acct_2/live", announce(file(10)))
	if err != nil {
		t.Fatal(err)
	}
	if mine := b.begin(announce(file(10))); mine.ID == u.ID {
		t.Error("two owners have one upload")
	}
	for _, id := range []string{u.ID, result, task.NewID(task.PrefixArtifact, start), upload.RecordID(u.ID), "", "../x"} {
		_, err := b.nodes[0].OfOwner(ctx, owner, id)
		deleted := b.nodes[0].Delete(ctx, owner, id)
		const want = "NOT_FOUND: there is no such upload"
		if err == nil || deleted == nil || err.Error() != want || deleted.Error() != want {
			t.Errorf("%q: %v and %v, want %s", id, err, deleted, want)
		}
	}
}

// TestAnnouncement names each wrong member.
func TestAnnouncement(t *testing.T) {
	store := fixture.Must(artifact.NewFolder(artifact.FolderConfig{Dir: t.TempDir()}))(t)
	k := fixture.Must(upload.New(upload.Config{Artifacts: store, Shares: store, Limits: upload.Limits{Artifact: 1000}}))(t)
	good := announce(file(10))
	for _, tt := range []struct {
		name   string
		change func(a *upload.Announcement)
		want   string
		aspect fault.Aspect
	}{
		{"no type", func(a *upload.Announcement) { a.ContentType = "" }, "content_type is required", ""},
		{"markup", func(a *upload.Announcement) { a.ContentType = "image/svg+xml" }, "content_type is no type of media that is taken: an image, a video, a sound, a PDF or a text", ""},
		{"raw", func(a *upload.Announcement) { a.ContentType = "application/octet-stream" }, "content_type is no type of media that is taken: an image, a video, a sound, a PDF or a text", ""},
		{"no bytes", func(a *upload.Announcement) { a.Bytes = 0 }, "bytes is required and must be 1 or more", ""},
		{"fewer than none", func(a *upload.Announcement) { a.Bytes = -1 }, "bytes must be 1 or more", ""},
		{"too many", func(a *upload.Announcement) { a.Bytes = 1001 }, "bytes must be at most 1000 bytes: the service's limits.artifact", fault.AspectSize},
		{"no hash", func(a *upload.Announcement) { a.SHA256 = "" }, "sha256 is required", ""},
		{"a short hash", func(a *upload.Announcement) { a.SHA256 = a.SHA256[1:] }, "sha256 must be 64 hexadecimal digits", ""},
		{"no digits", func(a *upload.Announcement) { a.SHA256 = strings.Repeat("z", 64) }, "sha256 must be 64 hexadecimal digits", ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			a := good
			tt.change(&a)
			_, _, err := k.Begin(t.Context(), owner, a)
			if f := fault.From(err); f == nil || f.Code != fault.InvalidRequest || f.Message != tt.want || f.Aspect != tt.aspect || len(f.Details) != 1 {
				t.Errorf("%v, want %s", err, tt.want)
			}
		})
	}
	for want, l := range map[string]upload.Limits{
		"bytes must be at most 5 bytes: the service's limits.upload_quota":                                {Quota: 5, Task: 6},
		"bytes must be at most 6 bytes: a task takes no larger file, by the service's limits.work_memory": {Quota: 7, Task: 6},
	} {
		k.SetLimits(l)
		_, _, err := k.Begin(t.Context(), owner, good)
		if f := fault.From(err); f == nil || f.Aspect != fault.AspectSize || f.Message != want {
			t.Errorf("%v, want %s", err, want)
		}
	}
	k.SetLimits(upload.Limits{})
	upper := good
	upper.SHA256, upper.ContentType = strings.ToUpper(good.SHA256), "IMAGE/PNG; q=1"
	if u, _, err := k.Begin(t.Context(), owner, upper); err != nil || u.Announcement != good {
		t.Errorf("in another spelling: %+v, %v", u, err)
	}
}
