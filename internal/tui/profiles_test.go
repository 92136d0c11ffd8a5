package tui_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"unitask/internal/api"
	"unitask/internal/client"
	"unitask/internal/fault"
	"unitask/internal/tui"
)

// profiles are the services that a test's dashboard can go over to.
type profiles struct {
	all  []tui.Profile
	open map[string]tui.Reached
	fail error
}

func (p *profiles) List() ([]tui.Profile, error) { return p.all, p.fail }

func (p *profiles) Open(_ context.Context, name string) (tui.Reached, error) {
	if r, ok := p.open[name]; ok {
		return r, nil
	}
	return tui.Reached{}, errors.New("no key for " + name)
}

// twoServices is a dashboard with one service, that of the profile local, and another one to go over to, work.
func twoServices(t *testing.T) (r *testDashboard, local, work *fake) {
	t.Helper()
	local, work = newFake(chat(), imageEdit()), newFake(chat())
	work.hold(openTask(1, "work.only"))
	r = newTestDashboard(t, local)
	r.profiles.all = []tui.Profile{{Name: "broken", BaseURL: "http://broken"}, {Name: "local", BaseURL: address}, {Name: "work", BaseURL: "http://work"}}
	r.profiles.open = map[string]tui.Reached{
		"work":  {Service: work, Files: work.files(), Where: "work: http://work", Profile: "work"},
		"local": {Service: local, Files: local.files(), Where: address, Profile: "local"},
	}
	manyTasks(r, local)
	return r, local, work
}

// asked counts the requests that a service got.
func (f *fake) asked() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	n := f.lists + f.followed + len(f.creations)
	for _, all := range f.reads {
		n += len(all)
	}
	return n
}

// TestGoOver: another profile's service takes the whole screen, and the one before isn't asked any more.
func TestGoOver(t *testing.T) {
	for _, size := range [][2]int{{80, 24}, {40, 10}} {
		bubble(t, func(t *testing.T) {
			r, local, work := twoServices(t)
			r.resize(size[0], size[1])
			r.press("tab", "a", "p")
			r.shows("Profiles", "▸ broken", "now", "work")
			r.press("work", "enter")
			r.shows("work.only", "1 task")
			r.hides("marked", "image.edit", "video.generate")
			asked := local.asked()
			local.hold(append(local.tasks, openTask(9, "local.new"))...)
			r.pass(time.Hour)
			if more := local.asked() - asked; more != 0 {
				t.Errorf("%d requests to the service that was left", more)
			}
			r.hides("local.new", "image.edit")
			if work.asked() < 100 {
				t.Errorf("%d requests in an hour to the one that is shown", work.asked())
			}
			r.press("ctrl+k", "local", "enter")
			r.shows("▸ ○ queued", "local.new")
			r.hides("work.only")
		})
	}
}

// TestLateAnswers: an answer of a service that was left has no effect, be it tasks or an error.
func TestLateAnswers(t *testing.T) {
	for name, late := range map[string]error{
		"tasks": nil, "an error": &client.Error{Fault: fault.New(fault.Unauthenticated, "no"), RequestID: "req_1"}, "no answer": errAway,
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				r, local, _ := twoServices(t)
				local.mu.Lock()
				local.slow = 30 * time.Second // it doesn't end with its context
				if late == nil {
					local.slowCancel = 20 * time.Second
				}
				local.mu.Unlock()
				r.press("tab")
				if late == nil {
					r.press("c", "y")
				}
				r.press("r")
				r.pass(3 * time.Second)
				r.press("p", "work", "enter")
				r.shows("work.only", "1 task", "✓ now with work")
				local.set(late)
				for range 60 {
					r.pass(time.Second)
					r.shows("work.only", "1 task", "✓ now with work") // and no other word
				}
				if len(r.said) != 0 {
					t.Errorf("said of tasks: %q", r.said)
				}
			})
		})
	}
}

// TestGoOverFails: a service without a key, or that doesn't take it, isn't gone over to; this one stays as it is.
func TestGoOverFails(t *testing.T) {
	for name, says := range map[string]string{"broken": "no key for broken", "work": "UNAUTHENTICATED: the service"} {
		bubble(t, func(t *testing.T) {
			r, local, work := twoServices(t)
			work.set(&client.Error{Fault: fault.New(fault.Unauthenticated, "no"), RequestID: "req_1"})
			r.press("tab", " ", "p", name, "enter")
			r.shows("✗ still with this service: "+says, "image.edit", "1 marked")
			local.hold(append(local.tasks, openTask(9, "local.new"))...)
			r.pass(11 * time.Second)
			r.shows("local.new")
		})
	}
}

// TestGoOverLater: this service stays while a form is being sent, or an action upon several tasks goes on.
func TestGoOverLater(t *testing.T) {
	bubble(t, func(t *testing.T) {
		r, local, _ := twoServices(t)
		local.slowCancel = time.Minute
		r.press("tab", "a", "c", "y", "esc", "p", "work", "enter")
		r.shows("it goes on", "image.edit")
		r.pass(2 * time.Minute)
		r.press("p", "work", "enter")
		r.shows("work.only", "✓ now with work")
		r.press("p", "work", "enter")
		r.shows("this is work")
		r.profiles.fail = errors.New("profiles.json is damaged")
		r.press("p")
		r.shows("✗ the profiles can't be read: profiles.json is damaged")
		if got := tui.Capabilities(r.model); len(got) != 1 || got[0].Name != api.Capability(chat()).Name {
			t.Errorf("the directory has %d capabilities", len(got))
		}
	})
}
