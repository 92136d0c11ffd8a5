package tui

import (
	"context"
	"fmt"
	"testing"
	"time"

	tea "github.com/charmbracelet/bubbletea"

	"unitask/internal/api"
	"unitask/internal/client"
	"unitask/internal/task"
)

// BenchmarkFrame presses a key and draws the table of 10,000 tasks, as a person does who goes down a long list.
func BenchmarkFrame(b *testing.B) {
	for name, lead := range map[string]func(m *Model){
		"all":      func(*Model) {},
		"filtered": func(m *Model) { m.setFilter("image fox") },
		"marked":   func(m *Model) { m.table.markAll(m.rows()) },
		"range":    func(m *Model) { m.table.marks.from = m.tasks.newest[9_000].ID },
	} {
		b.Run(name, func(b *testing.B) {
			m := manyTasks(10_000)
			lead(m)
			down := tea.KeyMsg{Type: tea.KeyDown}
			for b.Loop() {
				m.Update(down)
				if m.View() == "" {
					b.Fatal("no frame")
				}
			}
			b.ReportMetric(float64(b.Elapsed().Microseconds())/1000/float64(b.N), "ms/frame")
		})
	}
}

// manyTasks is the dashboard on its table with so many tasks, a thousandth of which go on.
func manyTasks(n int) *Model {
	m := New(context.Background(), Config{})
	m.width, m.height, m.screen = 120, 40, tasksScreen
	l := m.table.listingOf(client.ListOptions{})
	l.known = true
	begin := time.Now().Add(-time.Hour)
	for i := range n {
		at := api.Timestamp{Time: begin.Add(time.Duration(i) * time.Millisecond)}
		t := api.Task{
			ID: fmt.Sprintf("task_%026d", i), Capability: []string{"text.chat", "image.generate", "video.generate"}[i%3], Mode: task.Live,
			State: task.Succeeded, CreatedAt: at, UpdatedAt: at, FinishedAt: &at, Output: &api.Output{Text: new("a fox in the snow")},
			Usage: &api.Usage{Cost: api.Cost{Currency: "USD", Amount: fmt.Sprintf("0.%04d", i%1000)}},
		}
		if i%1000 == 0 {
			t.State, t.FinishedAt, t.Output, t.Usage = task.Running, nil, nil, nil
		}
		m.tasks.put(t)
		l.ids[t.ID] = true
	}
	return m
}
