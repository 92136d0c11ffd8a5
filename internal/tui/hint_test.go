package tui_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"unitask/internal/api"
	"unitask/internal/client"
	"unitask/internal/fault"
	"unitask/internal/task"
)

// TestHints: wherever the dashboard shows an error it shows the remedy, until the next key.
func TestHints(t *testing.T) {
	refused := &client.Error{Fault: fault.New(fault.Unauthenticated, "a valid API key is required"), RequestID: "req_1"}
	const says, words = "hint: what helps about UNAUTHENTICATED", "UNAUTHENTICATED: the service"
	for name, lead := range map[string]func(r *testDashboard, service *fake){
		"directory": func(r *testDashboard, service *fake) {
			r.pass(3 * time.Second)
			service.set(refused)
			r.press("r")
		},
		"list": func(r *testDashboard, service *fake) {
			r.press("tab")
			service.set(refused)
			r.pass(11 * time.Second)
		},
		"read": func(r *testDashboard, service *fake) {
			service.mu.Lock()
			service.failGet = refused
			service.mu.Unlock()
			service.hold(openTask(1, "text.chat"))
			r.pass(13 * time.Second)
		},
		"form": func(r *testDashboard, service *fake) {
			service.failCreate = []error{refused}
			r.press("enter", "hi", "ctrl+s")
		},
		"cancel": func(r *testDashboard, service *fake) {
			r.press("enter", "hi", "ctrl+s")
			service.set(refused)
			r.press("c", "y")
		},
		"save": func(r *testDashboard, service *fake) {
			service.hold(old(1)...)
			r.pass(11 * time.Second)
			service.disk.fail = refused
			r.press("tab", "s", "enter") // sorts
			r.press("s", "enter")
		},
		"open": func(r *testDashboard, service *fake) {
			service.hold(old(1)...)
			r.pass(11 * time.Second)
			service.disk.fail = refused
			r.press("tab", "enter", "o")
		},
	} {
		for _, size := range [][2]int{{80, 24}, {50, 12}} {
			t.Run(name, func(t *testing.T) {
				bubble(t, func(t *testing.T) {
					service := newFake(chat())
					r := newTestDashboard(t, service)
					r.resize(size[0], size[1])
					lead(r, service)
					r.shows(words, says)
				})
			})
		}
	}
}

// TestHintOfALongError: an error of many lines leaves its remedy a line.
func TestHintOfALongError(t *testing.T) {
	bubble(t, func(t *testing.T) {
		service := newFake(chat())
		r := newTestDashboard(t, service)
		r.resize(50, 20)
		r.press("enter", "hi", "ctrl+s")
		service.set(&client.Error{Fault: fault.New(fault.InvalidRequest, strings.Repeat("the key may not, ", 15))})
		r.press("c", "y")
		r.shows("INVALID_REQUEST:", "hint: what helps about INVALID_REQUEST")
	})
}

// TestHintOfATask: a failed task shows the remedy, as the error of a request does.
func TestHintOfATask(t *testing.T) {
	bubble(t, func(t *testing.T) {
		service := newFake(chat())
		failed := openTask(1, "text.chat")
		end(&failed, task.Failed)
		failed.Error = &api.Error{Code: fault.ContentPolicyViolation, Message: "the content was refused"}
		service.hold(failed)
		r := newTestDashboard(t, service)
		r.press("tab", "enter")
		r.shows("the content was refused", "hint: what helps about CONTENT_POLICY_VIOLATION")
	})
}

// TestNothingWasSent: a reason of this machine isn't taken for a server that is away.
func TestNothingWasSent(t *testing.T) {
	bubble(t, func(t *testing.T) {
		service := newFake(chat())
		service.failCreate = []error{errors.New("nothing was sent: no journal")}
		r := newTestDashboard(t, service)
		r.press("enter", "hi", "ctrl+s")
		r.shows("nothing was sent: no journal")
		r.hides("no answer", "Send it again")
		service.set(errors.New("the keyring is locked"))
		r.press("esc", "tab")
		r.pass(11 * time.Second)
		r.shows("the keyring is locked")
		r.hides("away")
	})
}
