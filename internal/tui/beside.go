package tui

import "strings"

const (
	besideFrom  = 120 // columns of a terminal that has room for a task beside the table
	leastBeside = 45
)

// renderTasks draws the table, and the selected task beside it where there is room.
func (m *Model) renderTasks(c canvas, height int) string {
	t, ok := m.shownTask()
	if m.width < besideFrom || !ok {
		return m.table.Render(c, m.tasks, m.width, height)
	}
	if m.beside.id != t.ID {
		m.beside = detail{id: t.ID}
	}
	right := max(leastBeside, m.width*2/5)
	left := m.width - right - 3
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
