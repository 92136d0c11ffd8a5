package tui

import "strings"

const (
	besideFrom  = 120 // columns of a terminal that has room for a task beside the table
	leastBeside = 45
)

// split returns the columns of the table and of the task beside it; zeros without room for one.
func (m *Model) split() (left, right int) {
	if m.width < besideFrom {
		return 0, 0
	}
	right = max(leastBeside, m.width*3/8)
	return m.width - right - 3, right
}

// renderTasks draws the table, and the selected task beside it where there is room.
func (m *Model) renderTasks(c canvas, height int) string {
	t, ok := m.shownTask()
	left, right := m.split()
	if left == 0 || !ok {
		return m.table.Render(c, m.tasks, m.width, height)
	}
	if m.beside.id != t.ID {
		m.beside = detail{id: t.ID}
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
