package tui_test

import (
	"testing"

	tea "github.com/charmbracelet/bubbletea"
)

// click presses the left button at a column and a row, both from 0.
func (r *testDashboard) click(x, y int) {
	r.t.Helper()
	r.update(tea.MouseMsg{X: x, Y: y, Action: tea.MouseActionPress, Button: tea.MouseButtonLeft})
	r.update(tea.MouseMsg{X: x, Y: y, Action: tea.MouseActionRelease})
	r.settle()
}

func (r *testDashboard) wheel(b tea.MouseButton) {
	r.t.Helper()
	r.update(tea.MouseMsg{X: 5, Y: 5, Action: tea.MouseActionPress, Button: b})
	r.settle()
}

// TestMouse: the wheel and clicks do in every size of terminal what keys do.
func TestMouse(t *testing.T) {
	for name, size := range map[string]struct{ width, height, top int }{
		"usual": {80, 24, 3}, "small": {40, 10, 2}, "wide": {140, 30, 3},
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				service := newFake(chat(), imageEdit())
				r := newTestDashboard(t, service)
				manyTasks(r, service)
				r.resize(size.width, size.height)
				r.click(5, size.top+1)
				r.shows("▸ image.edit")
				r.click(3, 0) // the tabs
				r.shows("▸ ○ queued")
				r.press("c") // whose question stays
				r.click(5, size.top+2)
				r.press("n")
				r.shows("▸ ○ queued")
				r.click(5, size.top+2)
				r.shows("▸ ✗ failed")
				r.click(5, size.top+20)
				r.shows("▸ ✗ failed")
				r.wheel(tea.MouseButtonWheelDown)
				r.shows("▸ ✓ succeeded")
				r.wheel(tea.MouseButtonWheelUp)
				r.shows("▸ ✗ failed")
				r.click(5, size.top+2)
				r.shows("› video.generate", "PROVIDER_TIMEOUT")
				r.click(3, 0)
				r.shows("▸ ✗ failed")
				r.click(3, 0)
				r.shows("▸ image.edit")
				r.click(5, size.top+1)
				r.shows("› image.edit", "images")
			})
		})
	}
}

// TestMouseBesideTheTable: a click on the task beside the table opens it.
func TestMouseBesideTheTable(t *testing.T) {
	bubble(t, func(t *testing.T) {
		service := newFake(chat())
		r := newTestDashboard(t, service)
		manyTasks(r, service)
		r.resize(140, 30)
		r.press("tab", "down", "down")
		r.click(130, 10)
		r.shows("› video.generate")
	})
}
