package notify_test

import (
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"unitask/internal/api"
	"unitask/internal/fault"
)

// TestListenerWaits: a listener hears of an event of its own at once, and those of others don't have it look.
func TestListenerWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFakeStore()
		d := newEndpoints(t, f)
		made, err := d.Create(t.Context(), holder, api.WebhookCreate{Listener: true})
		if err != nil {
			t.Fatal(err)
		}
		start := time.Now()
		go func() {
			for n := range 600 {
				time.Sleep(100 * time.Millisecond)
				f.add("whe_other", fmt.Sprint("e", n))
			}
			f.add(made.ID, "mine")
		}()
		got, err := d.Fetch(t.Context(), holder, made.ID, time.Hour)
		if err != nil || len(got) != 1 || time.Since(start) > time.Minute {
			t.Errorf("%v, %v after %s, want the event after a minute", got, err, time.Since(start))
		}
		if f.claims > 15 {
			t.Errorf("%d looks within a minute", f.claims)
		}
	})
}

// TestOneStream: another stream of a listener ends the one before, whose end leaves the new one alone.
func TestOneStream(t *testing.T) {
	d := newEndpoints(t, newFakeStore())
	first, endFirst := d.Stream(t.Context(), "whe_1")
	other, endOther := d.Stream(t.Context(), "whe_2")
	defer endOther()
	second, endSecond := d.Stream(t.Context(), "whe_1")
	defer endSecond()
	if first.Err() == nil || second.Err() != nil || other.Err() != nil {
		t.Errorf("after a second stream: %v, %v and another's %v", first.Err(), second.Err(), other.Err())
	}
	endFirst()
	_, endThird := d.Stream(t.Context(), "whe_1")
	defer endThird()
	if second.Err() == nil {
		t.Error("the second stream goes on beside a third")
	}
}

// TestListenerThatIsOver: a listener whose time is over isn't counted any more, and doesn't come back.
func TestListenerThatIsOver(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newEndpoints(t, newFakeStore())
		made, err := d.Create(t.Context(), holder, api.WebhookCreate{Listener: true})
		if err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Until(made.ExpiresAt.Time) - time.Second)
		if _, err := d.Fetch(t.Context(), holder, made.ID, 0); err != nil {
			t.Errorf("before its end: %v", err)
		}
		time.Sleep(16 * time.Minute)
		if _, err := d.Fetch(t.Context(), holder, made.ID, 0); fault.CodeOf(err) != fault.NotFound {
			t.Errorf("after its end: %v", err)
		}
	})
}
