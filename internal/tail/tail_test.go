package tail_test

import (
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"unitask/internal/api"
	"unitask/internal/tail"
	"unitask/test/fixture"
)

// add adds tasks' ends that are named by numbers.
func add(to *tail.Tail, from, until int) {
	for i := from; i < until; i++ {
		to.Add(api.LogEvent{Task: &api.TaskEnd{ID: fmt.Sprint(i)}})
	}
}

// seen are the numbers of a page's events.
func seen(p api.LogPage) (all []string) {
	for _, e := range p.Data {
		all = append(all, e.Task.ID)
	}
	return all
}

func TestFollow(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		one, two := tail.New(time.Now), tail.New(time.Now)
		if add(one, 0, 5); one.Followed() {
			t.Error("followed before the first call")
		}
		first := fixture.Must(one.Since(""))(t)
		if len(first.Data) != 0 || !one.Followed() {
			t.Errorf("begins with %+v", first)
		}
		add(one, 5, 8)
		second := fixture.Must(one.Since(first.Next))(t)
		if diff := cmp.Diff([]string{"5", "6", "7"}, seen(second)); diff != "" {
			t.Error(diff)
		}
		// Another node is asked: it begins, and the first one's place stays.
		other := fixture.Must(two.Since(second.Next))(t)
		add(one, 8, 9)
		add(two, 100, 101)
		again := fixture.Must(one.Since(other.Next))(t)
		if diff := cmp.Diff([]string{"8"}, seen(again)); diff != "" {
			t.Error(diff)
		}
		if diff := cmp.Diff([]string{"100"}, seen(fixture.Must(two.Since(again.Next))(t))); diff != "" {
			t.Error(diff)
		}
		// Two follow: each gets all.
		if diff := cmp.Diff([]string{"5", "6", "7", "8"}, seen(fixture.Must(one.Since(first.Next))(t))); diff != "" {
			t.Error(diff)
		}
		// After a rest it begins anew, and says how much is missing.
		time.Sleep(2 * time.Minute)
		if one.Followed() {
			t.Error("followed for ever")
		}
		add(one, 9, 10)
		rested := fixture.Must(one.Since(first.Next))(t)
		if len(rested.Data) != 0 || rested.Missed != 4 {
			t.Errorf("after a rest: %+v", rested)
		}
		add(one, 10, 12)
		if diff := cmp.Diff([]string{"10", "11"}, seen(fixture.Must(one.Since(rested.Next))(t))); diff != "" {
			t.Error(diff)
		}
	})
}

// TestFollowIsBounded: a follower that is slow hears how much it missed, also where the ring began in its middle.
func TestFollowIsBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		one := tail.New(time.Now)
		cursor := fixture.Must(one.Since(""))(t).Next
		add(one, 0, 3)
		time.Sleep(2 * time.Minute)
		one.Followed()
		cursor = fixture.Must(one.Since(cursor))(t).Next
		add(one, 3, 20_003)
		page := fixture.Must(one.Since(cursor))(t)
		if len(page.Data) != 8192 || page.Missed != 20_000-8192 || page.Data[0].Task.ID != fmt.Sprint(20_003-8192) || page.Data[8191].Task.ID != "20002" {
			t.Errorf("%d events, %d missed", len(page.Data), page.Missed)
		}
		for range 100 {
			cursor = fixture.Must(tail.New(time.Now).Since(cursor))(t).Next
		}
		if n := strings.Count(cursor, ":"); n != 32 {
			t.Errorf("%d nodes in a cursor", n)
		}
	})
}

func TestForeignCursors(t *testing.T) {
	one := tail.New(time.Now)
	for _, cursor := range []string{"x", ":1", "a:-1", "a:1,", strings.Repeat("a", 40) + ":1", strings.Repeat("a:1,", 40) + "a:1"} {
		if page, err := one.Since(cursor); err == nil {
			t.Errorf("%q is taken: %+v", cursor, page)
		}
	}
	// A place ahead of the ring is none of it.
	own, _, _ := strings.Cut(fixture.Must(one.Since(""))(t).Next, ":")
	if page, err := one.Since(own + ":99999"); err != nil || len(page.Data) != 0 || page.Missed != 0 || page.Next != own+":0" {
		t.Errorf("%+v, %v", page, err)
	}
}

func BenchmarkUnfollowed(b *testing.B) {
	one := tail.New(time.Now)
	for b.Loop() {
		one.Followed()
	}
}
