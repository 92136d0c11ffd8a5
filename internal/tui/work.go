package tui

import (
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"sync"

	tea "github.com/charmbracelet/bubbletea"

	"unitask/internal/api"
	"unitask/internal/save"
	"unitask/internal/task"
)

// mostAtOnce is how many of the marked tasks are worked on at the same time: a key's requests are limited.
const mostAtOnce = 4

// work is one action upon several tasks, and its outcome for each.
type work struct {
	head   string // the action
	names  []string
	ends   []outcome
	ended  int
	failed int
	top    int  // the first row shown
	shown  bool // over the screen
}

// outcome is how the action ended for a task; without words it hasn't.
type outcome struct {
	words string
	bad   bool
	task  api.Task // as it is now, zero if it is as it was
}

// outcomeMsg is the outcome for one task; the next one comes from the same channel.
type outcomeMsg struct {
	work *work
	at   int
	outcome
	from <-chan outcomeMsg
}

// start begins an action upon tasks and shows its outcomes.
func (m *Model) start(head string, all []api.Task, do func(api.Task) outcome) tea.Cmd {
	w := &work{head: head, shown: true, ends: make([]outcome, len(all))}
	for _, t := range all {
		name := line(t.Capability)
		if about := what(t, m.tasks.labels[t.ID]); about != "" {
			name += ": " + about
		}
		w.names = append(w.names, name)
	}
	m.work = w
	ctx := m.calls.ctx
	return func() tea.Msg {
		ends := make(chan outcomeMsg)
		go func() {
			defer close(ends)
			var running sync.WaitGroup
			free := make(chan struct{}, mostAtOnce)
			for i, t := range all {
				free <- struct{}{}
				running.Go(func() {
					defer func() { <-free }()
					select {
					case ends <- outcomeMsg{w, i, do(t), ends}:
					case <-ctx.Done():
					}
				})
			}
			running.Wait()
		}()
		return nextEnd(ends)()
	}
}

func nextEnd(from <-chan outcomeMsg) tea.Cmd {
	return func() tea.Msg {
		if msg, ok := <-from; ok {
			return msg
		}
		return nil
	}
}

// ended takes the outcome for a task.
func (m *Model) ended(msg outcomeMsg) tea.Cmd {
	w := msg.work
	w.ends[msg.at] = msg.outcome
	w.ended++
	if msg.bad {
		w.failed++
	}
	cmd := nextEnd(msg.from)
	if msg.task.ID != "" {
		m.answered()
		cmd = tea.Batch(cmd, m.learn(msg.task))
	}
	if w.going() || w.shown || w != m.work {
		return cmd
	}
	m.notice(w.sum(), w.failed > 0)
	return cmd
}

func (w *work) going() bool { return w.ended < len(w.ends) }

// busy says that an action goes on, if one does.
func (m *Model) busy() bool {
	if m.work == nil || !m.work.going() {
		return false
	}
	m.notice(m.work.sum()+" so far: it goes on", true)
	return true
}

// sum is the outcomes in a few words.
func (w *work) sum() string {
	words := fmt.Sprintf("%s: %d of %d done", w.head, w.ended-w.failed, len(w.ends))
	if w.failed > 0 {
		words += fmt.Sprintf(", %d not", w.failed)
	}
	return words
}

// Render draws a row for each task.
func (w *work) Render(c canvas, width, height int) string {
	room := max(1, height-1)
	first := max(0, min(w.top, len(w.ends)-room))
	last := min(len(w.ends), first+room)
	head := w.sum()
	if rest := len(w.ends) - last; rest > 0 {
		head += fmt.Sprintf(", ↓ %d more", rest)
	}
	lines := []string{c.rule(head, width)}
	name := min(width/2, 40)
	for i := first; i < last; i++ {
		end, mark, words := w.ends[i], c.good.Render("✓"), w.ends[i].words
		switch {
		case end.words == "":
			mark, words = "…", ""
		case end.bad:
			mark = c.bad.Render("✗")
		}
		lines = append(lines, " "+mark+" "+pad(w.names[i], name)+"  "+cut(words, width-name-5))
	}
	return strings.Join(lines, "\n")
}

// workKey scrolls the outcomes; any other key leaves them.
func (m *Model) workKey(k string) {
	w := m.work
	room := max(1, m.bodyHeight()-1)
	switch k {
	case "up", "down", "pgup", "pgdown", "home", "end":
		last := max(0, len(w.ends)-room)
		w.top = move(k, min(w.top, last), last+1, room)
	default:
		w.shown = false
		if w.going() {
			m.notice(w.head+" goes on", false)
		}
	}
}

// cancelOne cancels a task.
func (c calls) cancelOne(t api.Task) outcome {
	now, err := c.service.Cancel(c.ctx, t.ID)
	switch {
	case err != nil:
		return outcome{words: words(err), bad: true}
	case now.State == task.Canceled:
		return outcome{words: "canceled", task: now}
	case now.State.Terminal():
		return outcome{words: "has ended: " + line(string(now.State)), bad: true, task: now}
	default:
		return outcome{words: "cancel asked for", task: now}
	}
}

// saveOne saves a result in a folder. A file that is there isn't replaced.
func (c calls) saveOne(t api.Task, folder string) outcome {
	files, err := c.files.Save(c.ctx, t, folder, false)
	if there, ok := errors.AsType[*save.ExistError](err); ok {
		return outcome{words: "there already: " + line(filepath.Base(there.Names[0])), bad: true}
	}
	if err != nil {
		return outcome{words: reason(err), bad: true}
	}
	names := make([]string, len(files))
	for i := range files {
		names[i] = filepath.Base(files[i])
	}
	return outcome{words: fileNames(names)}
}
