package tui

import (
	"context"
	"time"

	tea "github.com/charmbracelet/bubbletea"

	"unitask/internal/api"
	"unitask/internal/catalog"
	"unitask/internal/client"
)

// createWait is how long the service may hold the answer to a creation of a synchronous capability: long enough for
// quick work to be done with it, short enough for a person before a form. An asynchronous task goes to the table at
// once.
const createWait = 2 * time.Second

// calls makes the commands that ask the service. It holds their constant inputs.
type calls struct {
	ctx     context.Context // the program's life; a command takes no argument
	service Service
	files   Files
	frame   func(context.Context, []byte) ([]byte, error) // of Config
}

type capabilitiesMsg struct {
	all []api.Capability
	err error
}

type listMsg struct {
	query  client.ListOptions
	cursor string // "" for the first page
	page   api.TaskList
	err    error
}

type readMsg struct {
	id      string
	started time.Time
	reading client.Reading
	err     error
}

type createdMsg struct {
	capability string
	label      string
	task       api.Task
	err        error
}

type canceledMsg struct {
	id   string
	task api.Task
	err  error
}

type timelineMsg struct {
	id    string
	moves []api.Move
	err   error
}

// due asks for the next round of a loop; an outdated turn is ignored.
type dueMsg struct {
	loop string // tasksLoop, pagesLoop, directoryLoop or a task's id
	turn int
}

// clockMsg comes each second while something that is shown grows older.
type clockMsg struct{}

func (c calls) capabilities() tea.Cmd {
	return func() tea.Msg {
		all, err := c.service.Capabilities(c.ctx)
		return capabilitiesMsg{all, err}
	}
}

func (c calls) list(q client.ListOptions, cursor string, limit int) tea.Cmd {
	page := q
	page.Cursor, page.Limit = cursor, limit
	return func() tea.Msg {
		page, err := c.service.List(c.ctx, page)
		return listMsg{q, cursor, page, err}
	}
}

func (c calls) read(id, etag string, wait time.Duration) tea.Cmd {
	return func() tea.Msg {
		started := time.Now()
		r, err := c.service.Get(c.ctx, id, client.GetOptions{ETag: etag, Wait: wait})
		return readMsg{id, started, r, err}
	}
}

func (c calls) create(req api.CreateRequest, mode catalog.Mode, key, label string) tea.Cmd {
	wait := createWait
	if mode == catalog.Async {
		wait = 0
	}
	return func() tea.Msg {
		t, err := c.service.Submit(c.ctx, req, key, wait)
		return createdMsg{req.Capability, label, t, err}
	}
}

func (c calls) cancel(id string) tea.Cmd {
	return func() tea.Msg {
		t, err := c.service.Cancel(c.ctx, id)
		return canceledMsg{id, t, err}
	}
}

// timeline asks for a task's states with their times.
func (c calls) timeline(id string) tea.Cmd {
	return func() tea.Msg {
		moves, err := c.service.Timeline(c.ctx, id)
		return timelineMsg{id, moves, err}
	}
}

func after(d time.Duration, msg tea.Msg) tea.Cmd {
	return tea.Tick(max(d, 0), func(time.Time) tea.Msg { return msg })
}
