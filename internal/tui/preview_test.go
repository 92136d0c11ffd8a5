package tui_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"unitask/internal/api"
	"unitask/internal/task"
)

// pictured is a wide dashboard with so many tasks, each of which made a picture: task_0001 made art_1.
func pictured(t *testing.T, n int) (*testDashboard, *fake) {
	t.Helper()
	service := newFake(chat(), imageEdit())
	for i := 1; i <= n; i++ {
		service.hold(append(service.tasks, openTask(i, "image.edit"))...)
		id := fmt.Sprintf("art_%d", i)
		end(&service.tasks[i-1], task.Succeeded)
		hasImages(pngFile(id))(&service.tasks[i-1])
		service.disk.contents[id] = sunset
	}
	r := newTestDashboard(t, service)
	r.resize(140, 40)
	return r, service
}

// fetched fails the test unless these files were fetched, in this order.
func (r *testDashboard) fetched(service *fake, want ...string) {
	r.t.Helper()
	service.disk.mu.Lock()
	defer service.disk.mu.Unlock()
	if diff := cmp.Diff(want, service.disk.fetched); diff != "" {
		r.t.Errorf("fetched (-want +got):\n%s", diff)
	}
}

// TestPictureBeside: the picture of a task stands beside the table after a rest. The task's page has the same one,
// and so has the table once more.
func TestPictureBeside(t *testing.T) {
	bubble(t, func(t *testing.T) {
		r, service := pictured(t, 3)
		r.press("tab")
		r.fetched(service)
		r.hides("██")
		r.pass(time.Second)
		r.shows("██", "image/png", "created")
		r.press("enter")
		r.shows("██")
		r.press("esc")
		r.shows("██")
		r.press("down", "enter") // without a rest
		r.shows("██")
		r.press("esc")
		r.shows("██")
		r.pass(time.Second)
		r.fetched(service, "art_3", "art_2")
	})
}

// TestHeldKey: a key that is held down goes through many tasks, and asks for the picture of the last one alone.
func TestHeldKey(t *testing.T) {
	bubble(t, func(t *testing.T) {
		r, service := pictured(t, 40)
		r.press("tab")
		for range 39 {
			r.press("down")
			r.pass(30 * time.Millisecond)
		}
		r.fetched(service)
		r.pass(time.Second)
		r.shows("██")
		r.fetched(service, "art_1")
	})
}

// TestPictureLeft: what is on its way for a task that isn't looked at any more ends, and is no other task's.
func TestPictureLeft(t *testing.T) {
	for name, keys := range map[string][]string{
		"the next": {"down"}, "there and back": {"down", "up"}, "another screen": {"tab"}, "its page": {"enter", "esc", "tab"},
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				r, service := pictured(t, 2)
				service.disk.slow = 20 * time.Second
				r.press("tab")
				r.pass(time.Second)
				r.shows("the picture is on its way…")
				r.press(keys...)
				r.pass(time.Second)
				r.hides("no picture")
				if service.disk.left != 1 {
					t.Errorf("%d fetches ended", service.disk.left)
				}
			})
		})
	}
}

// TestPictureAsked: none is fetched for a table without a task beside it, and one that failed is asked for once more by
// the task's page.
func TestPictureAsked(t *testing.T) {
	bubble(t, func(t *testing.T) {
		r, service := pictured(t, 2)
		r.resize(119, 40)
		r.press("tab", "down", "up")
		r.pass(20 * time.Second)
		r.fetched(service)
		service.disk.contents["art_2"] = nil
		r.resize(120, 40)
		r.pass(20 * time.Second)
		r.shows("no picture: the format isn't known here")
		service.disk.contents["art_2"] = sunset
		r.press("enter")
		r.pass(5 * time.Second)
		r.shows("██")
		r.fetched(service, "art_2", "art_2")
	})
}

// TestPictureOfAnEnd: the picture of a task that ends beside the table comes by itself.
func TestPictureOfAnEnd(t *testing.T) {
	bubble(t, func(t *testing.T) {
		r, service := pictured(t, 1)
		service.hold(append(service.tasks, openTask(2, "image.edit"))...)
		service.disk.contents["art_2"] = sunset
		r.press("tab")
		r.pass(20 * time.Second)
		r.press("home")
		r.pass(20 * time.Second)
		r.hides("██")
		service.change("task_0002", func(t *api.Task) { end(t, task.Succeeded); hasImages(pngFile("art_2"))(t) })
		r.pass(20 * time.Second)
		r.shows("██")
		r.fetched(service, "art_1", "art_2")
	})
}
