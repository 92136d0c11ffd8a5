package tui

import (
	"image"
	"slices"
	"strings"
	"time"

	tea "github.com/charmbracelet/bubbletea"

	"unitask/internal/api"
)

const (
	besideFrom  = 120 // columns of a terminal that has room for a task beside the table
	leastBeside = 45
	// restFor is how long a task stands beside the table until its pictures are asked for: a key that is held down
	// goes through many tasks.
	restFor = 300 * time.Millisecond
)

// restedMsg comes after a rest; one that another task began meanwhile is ignored.
type restedMsg struct{ rest int }

// split returns the columns of the table and of the task beside it; zeros without room for one.
func (m *Model) split() (left, right int) {
	if m.width < besideFrom {
		return 0, 0
	}
	right = max(leastBeside, m.width*3/8)
	return m.width - right - 3, right
}

// smallRows is how many rows a picture beside the table may take, of those below the task's state.
func smallRows(room int) int { return max(1, room*3/5) }

// besideRoom is the room of a picture beside the table, zero if none is shown there.
func (m *Model) besideRoom() image.Point {
	if _, right := m.split(); right > 0 && m.screen == tasksScreen {
		return image.Pt(right-2, smallRows(max(1, m.bodyHeight()-2)))
	}
	return image.Point{}
}

// rest puts the selected task beside the table. Its pictures are those that its page had just now, or come after a rest.
func (m *Model) rest() tea.Cmd {
	var t api.Task
	if left, _ := m.split(); left > 0 && m.screen == tasksScreen {
		t, _ = m.shownTask()
	}
	if m.beside.id == t.ID {
		return nil
	}
	m.beside = detail{id: t.ID, small: true}
	if t.ID == "" {
		return nil
	}
	if m.gallery.task == t.ID {
		m.beside.shots = m.gallery.shots
		return nil
	}
	m.rests++
	return after(restFor, restedMsg{m.rests})
}

// rested asks for the pictures of the task beside the table.
func (m *Model) rested(msg restedMsg) tea.Cmd {
	id := m.beside.id
	if msg.rest != m.rests || id == "" {
		return nil
	}
	m.beside.shots = m.galleryOf(id)
	if !slices.ContainsFunc(m.known(id).Output.Artifacts(), m.pictured) {
		return nil
	}
	return m.renew(id)
}

// renderTasks draws the table, and the selected task beside it where there is room.
func (m *Model) renderTasks(c canvas, height int) string {
	left, right := m.split()
	if left == 0 || m.beside.id == "" {
		return m.table.Render(c, m.tasks, m.width, height)
	}
	tasks := strings.Split(m.table.Render(c, m.tasks, left, height), "\n")
	task := strings.Split(m.beside.Render(c, m.tasks, right, height), "\n")
	lines := make([]string, height)
	for i := range lines {
		var a, b string
		if i < len(tasks) {
			a = tasks[i]
		}
		if i < len(task) {
			b = task[i]
		}
		lines[i] = pad(cut(a, left), left) + " " + c.faint.Render("│") + " " + b
	}
	return strings.Join(lines, "\n")
}
