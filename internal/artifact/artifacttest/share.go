package artifacttest

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"unitask/internal/artifact"
)

// testShares takes and gives shares, each owner's own, which end by a sweep.
func testShares(t *testing.T, h Harness) {
	shares, ok := h.Store.(artifact.Shares)
	if !ok {
		t.Fatal("the store keeps no shares")
	}
	ctx := t.Context()
	held := func(owner string, want ...artifact.Share) {
		t.Helper()
		got, err := shares.SharesOf(ctx, owner)
		if diff := cmp.Diff(want, got); diff != "" || err != nil {
			t.Errorf("shares of %s (-want +got):\n%s%v", owner, diff, err)
		}
	}
	first := artifact.Share{ID: NewID(), Bytes: 5, Until: Start.Add(time.Hour)}
	second := artifact.Share{ID: NewID(), Bytes: 1 << 40, Until: Start.Add(48 * time.Hour)}
	held("acct_1/live")
	for _, s := range []artifact.Share{second, first, first} {
		if err := shares.TakeShare(ctx, "acct_1/live", s); err != nil {
			t.Fatal(err)
		}
	}
	if err := shares.TakeShare(ctx, "acct_1/live2", second); err != nil {
		t.Fatal(err)
	}
	held("acct_1/live", first, second)
	held("acct_1/test")
	for range 2 {
		if err := shares.GiveShare(ctx, "acct_1/live2", second); err != nil {
			t.Fatal(err)
		}
	}
	held("acct_1/live2")
	mustSweep(t, h.Store, 30*time.Hour, 10, 0)
	held("acct_1/live", second)
}
