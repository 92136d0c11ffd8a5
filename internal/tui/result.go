package tui

import (
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	tea "github.com/charmbracelet/bubbletea"

	"unitask/internal/api"
	"unitask/internal/fault"
	"unitask/internal/save"
)

// longestCopy bounds a terminal's clipboard, in bytes before they are encoded.
const longestCopy = 72_000

type savedMsg struct {
	task  api.Task
	to    string
	files []string
	err   error
}

type openedMsg struct {
	files  []string
	opened bool
	err    error
}

func (c calls) save(t api.Task, to string, replace bool) tea.Cmd {
	return func() tea.Msg {
		files, err := c.files.Save(c.ctx, t, to, replace)
		return savedMsg{t, to, files, err}
	}
}

func (c calls) open(t api.Task) tea.Cmd {
	return func() tea.Msg {
		files, opened, err := c.files.Open(c.ctx, t)
		return openedMsg{files, opened, err}
	}
}

// askWhere opens the prompt for a place to save the result in.
func (m *Model) askWhere(t api.Task) {
	p := &prompt{head: "Save in", keys: "DIR/, FILE or NAME.*; tab completes, esc leaves", path: true}
	p.edit.insert(m.saveTo)
	p.enter = func(to string) tea.Cmd {
		if to = strings.TrimSpace(to); to == "" {
			return nil
		}
		m.saveTo = to
		m.notice("saving…", false)
		return m.calls.save(t, to, false)
	}
	m.prompt = p
}

func (m *Model) saved(msg savedMsg) {
	if there, ok := errors.AsType[*save.ExistError](msg.err); ok {
		words := "Replace " + line(filepath.Base(there.Names[0])) + "?"
		if n := len(there.Names); n > 1 {
			words = fmt.Sprintf("Replace %d files?", n)
		}
		m.said = notice{}
		m.question = &question{words, func() tea.Cmd { return m.calls.save(msg.task, msg.to, true) }}
		return
	}
	if msg.err != nil {
		m.fail("not saved: "+reason(msg.err), msg.err)
		return
	}
	m.notice("saved "+fileNames(msg.files), false)
}

func (m *Model) opened(msg openedMsg) {
	switch {
	case msg.err != nil:
		m.fail("not opened: "+reason(msg.err), msg.err)
	case msg.opened:
		m.notice("opened "+fileNames(msg.files), false)
	default:
		m.notice("there is no desktop here; saved "+fileNames(msg.files), false)
	}
}

// fileNames lists files in one line; the end of it may be cut off.
func fileNames(files []string) string { return line(strings.Join(files, ", ")) }

// reason is why something wasn't done, in one line.
func reason(err error) string {
	if _, ok := errors.AsType[*fault.Error](err); ok {
		return words(err)
	}
	return line(err.Error())
}

// copied puts the result, or else the id, into the terminal's clipboard.
func (m *Model) copied(t api.Task) tea.Cmd {
	name, content := toCopy(t)
	if len(content) > longestCopy {
		m.notice("the "+name+" is too long for a clipboard; s saves it", true)
		return nil
	}
	m.notice("copied the "+name+", where the terminal lets programs do so", false)
	put := m.config.Copy
	return func() tea.Msg {
		put(content)
		return nil
	}
}

// toCopy is a task's text, the addresses of its files, its vectors, its error, or else its id.
func toCopy(t api.Task) (name, content string) {
	switch {
	case t.Error != nil:
		return "error", fmt.Sprintf("%s: %s (task %s)", line(string(t.Error.Code)), line(t.Error.Message), line(t.ID))
	case t.Output == nil:
		return "task's id", line(t.ID)
	case t.Output.Shown() != nil:
		return "result", plain(t.Output.Indented())
	case t.Output.Text != nil:
		return "text", plain(*t.Output.Text)
	case len(t.Output.Embeddings) > 0:
		raw, _ := json.Marshal(t.Output.Embeddings) // numbers alone
		return "numbers", string(raw)
	}
	var all []string
	for _, a := range t.Output.Artifacts() {
		all = append(all, line(a.URL))
	}
	name = "address"
	if len(all) > 1 {
		name = "addresses"
	}
	return name, strings.Join(all, "\n")
}

// leaveWithPictures ends the dashboard and leaves its pictures to be shown as they are.
func (m *Model) leaveWithPictures(t api.Task) tea.Cmd {
	switch all := m.detail.pictures(t); {
	case len(all) == 0:
		m.notice("there is no picture to show", false)
	case !m.config.Pictures:
		m.notice("this terminal isn't known to show pictures; UNITASK_IMAGES=kitty, iterm2 or sixel says it does", true)
	default:
		return m.quit(all...)
	}
	return nil
}
