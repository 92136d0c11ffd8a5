package main

import (
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/charmbracelet/lipgloss"
	"github.com/charmbracelet/x/ansi"

	"unitask/internal/api"
	"unitask/internal/client"
	"unitask/internal/task"
)

const frameTime = 100 * time.Millisecond // of the spinner

var frames = []string{"⠋", "⠙", "⠹", "⠸", "⠼", "⠴", "⠦", "⠧", "⠇", "⠏"}

// progress shows a wait on stderr: one line that is redrawn in place and cleared at the end where
// stderr is a terminal, a line for each new state elsewhere. It is safe for concurrent use.
type progress struct {
	t       *terminal
	started time.Time
	stopped chan struct{}
	drawing sync.WaitGroup
	mu      sync.Mutex
	label   string
	state   task.State
	detail  string
	trouble string
}

func startProgress(t *terminal, label string) *progress {
	p := &progress{t: t, started: time.Now(), stopped: make(chan struct{}), label: label}
	if t.errTTY {
		p.drawing.Go(p.draw)
	}
	return p
}

// show takes a task's new revision.
func (p *progress) show(now api.Task) {
	p.mu.Lock()
	defer p.mu.Unlock()
	first, changed := p.state == "", p.state != now.State
	p.state, p.detail, p.trouble = now.State, percent(now.Progress), ""
	p.label = now.Capability
	switch {
	case p.t.errTTY || !changed || first && now.State.Terminal():
	case first:
		p.t.note("%s %s", now.State, now.ID)
	default:
		p.t.note("%s", now.State)
	}
}

// retry takes the reason of a pause.
func (p *progress) retry(r client.Retry) {
	p.mu.Lock()
	defer p.mu.Unlock()
	said := p.trouble != ""
	p.trouble = plain(r.Err)
	if !p.t.errTTY && !said {
		p.t.note("%s; trying again", p.trouble)
	}
}

// stop clears the line. What is written to stderr afterwards starts at its beginning.
func (p *progress) stop() {
	close(p.stopped)
	p.drawing.Wait()
}

func (p *progress) draw() {
	tick := time.NewTicker(frameTime)
	defer tick.Stop()
	for frame := 0; ; frame++ {
		select {
		case <-p.stopped:
			_, _ = fmt.Fprint(p.t.err, "\r\x1b[K")
			return
		case <-tick.C:
			_, _ = fmt.Fprint(p.t.err, "\r"+p.line(frames[frame%len(frames)])+"\x1b[K")
		}
	}
}

func (p *progress) line(frame string) string {
	p.mu.Lock()
	defer p.mu.Unlock()
	s := p.t.errStyle
	parts := []string{s.busy.Render(frame), p.label}
	if p.state != "" {
		parts = append(parts, s.state(p.state).Render(string(p.state)))
	}
	if p.detail != "" {
		parts = append(parts, p.detail)
	}
	parts = append(parts, s.faint.Render(clock(time.Since(p.started))))
	if p.trouble != "" {
		parts = append(parts, s.bad.Render(p.trouble+"; trying again"))
	}
	line := strings.Join(parts, "  ")
	if width := p.t.width() - 1; lipgloss.Width(line) > width {
		line = ansi.Truncate(line, width, "…")
	}
	return line
}

// clock shows an elapsed time that changes once a second.
func clock(d time.Duration) string {
	return fmt.Sprintf("%d:%02d", int(d.Minutes()), int(d.Seconds())%60)
}
