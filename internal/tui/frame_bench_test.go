package tui

import (
	"context"
	"fmt"
	"image"
	"testing"
	"time"

	tea "github.com/charmbracelet/bubbletea"
	"github.com/muesli/termenv"

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
		"picture":  aPicture,
		"range":    func(m *Model) { m.table.marks.from = m.tasks.newest[9_000].ID },
	} {
		b.Run(name, func(b *testing.B) {
			m, key := manyTasks(10_000), tea.KeyDown
			lead(m)
			if name == "picture" {
				key = tea.KeyUp // the first task stays selected
			}
			for b.Loop() {
				m.Update(tea.KeyMsg{Type: key})
				if m.View() == "" {
					b.Fatal("no frame")
				}
			}
			b.ReportMetric(float64(b.Elapsed().Microseconds())/1000/float64(b.N), "ms/frame")
		})
	}
}

// aPicture has the picture of the first task stand beside the table.
func aPicture(m *Model) {
	m.config.Style.profile, m.config.Style.coloured = termenv.TrueColor, true
	t := m.tasks.newest[0]
	t.State, t.Output = task.Succeeded, &api.Output{Images: []api.Artifact{{ID: "art_1", ContentType: "image/png"}}}
	m.Update(nil)
	m.Update(restedMsg{m.rests})
	img := image.NewRGBA(image.Rect(0, 0, 1024, 1024))
	for i := range img.Pix {
		img.Pix[i] = byte(i * i / 1000)
	}
	m.gallery.shots["art_1"] = &shot{img: img}
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
