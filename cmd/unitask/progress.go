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
	"unitask/internal/shown"
	"unitask/internal/store"
	"unitask/internal/task"
)

const frameTime = 100 * time.Millisecond // of the spinner

var frames = []string{"⠋", "⠙", "⠹", "⠸", "⠼", "⠴", "⠦", "⠧", "⠇", "⠏"}

// progress shows a wait on stderr: one line that is redrawn in place and cleared at the end if stderr is a terminal,
// a line for each new state elsewhere. It is safe for concurrent use.
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
	pauses  int    // since something went on
	broken  func() // ends the printed part of a result that comes anew; nil before the result begins
	hidden  bool   // the result is being printed
	resumed bool   // a copy, which was cut off; set before its work
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
	p.state, p.detail, p.trouble, p.pauses = now.State, percent(now.Progress), "", 0
	p.label = now.Capability
	switch {
	case p.t.errTTY || p.broken != nil || !changed || first && now.State.Terminal():
	case first:
		p.t.note("%s %s", now.State, now.ID)
	default:
		p.t.note("%s", now.State)
	}
}

// retry takes the reason of a pause. Where no line is redrawn each new try of a request has its line, and the unanswered
// reads of a task have one together. Beside a result in a pipe stderr stays empty. On a terminal a printed part of the
// result is left alone by the first unanswered read, for the next one mostly brings the rest.
func (p *progress) retry(r client.Retry) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.trouble = sayRetry(r)
	p.pauses++
	noted, first := !p.t.errTTY, 1
	if p.broken != nil {
		noted, first = p.t.errTTY || p.t.outTTY, 2
	}
	if p.pauses != first && r.Tries == 0 {
		return
	}
	if p.broken != nil {
		p.broken()
	}
	if noted {
		p.t.note("%s", p.trouble)
	}
	if p.hidden {
		p.hidden, p.trouble = false, ""
	}
}

// sayRetry says why a request is sent again, when, and which of how many tries that is.
func sayRetry(r client.Retry) string {
	text := plain(r.Err) + "; trying again"
	if r.Tries > 0 {
		text += fmt.Sprintf(" in %s (try %d of %d)", shown.Duration(r.Pause), r.Try, r.Tries)
	}
	return text
}

// sent shows how much of a file has gone ahead of its task; of 0 bytes it shows no file any more. Elsewhere than on a
// terminal there is one line.
func (p *progress) sent(done, all int64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.t.errTTY && p.broken == nil && all > 0 && p.detail == "" {
		p.t.note("sending %s", api.Size(all))
	}
	if p.detail, p.trouble, p.pauses = "", "", 0; all > 0 {
		p.detail = bar(done, all)
	}
}

// count shows how many of several tasks have ended.
func (p *progress) count(done, all int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.detail, p.trouble, p.pauses = fmt.Sprintf("%d of %d done", done, all), "", 0
}

// work shows how many tasks a phase of a copy has done.
func (p *progress) work(phase store.Phase, tasks int64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.t.errTTY && p.label != string(phase) {
		p.t.note("%s", phase)
	}
	p.label, p.detail = string(phase), ""
	switch {
	case tasks > 0 && p.resumed && phase == store.PhaseCopy:
		p.detail = fmt.Sprintf("%d more tasks", tasks)
	case tasks > 0:
		p.detail = fmt.Sprintf("%d tasks", tasks)
	}
}

// hush ends the notes of states and clears the line, because the result goes on. broken is called before it comes anew:
// until then the line is back.
func (p *progress) hush(broken func()) {
	p.mu.Lock()
	p.broken, p.hidden = broken, true
	p.mu.Unlock()
	p.t.above(func() {})
}

// stop clears the line. Later output on stderr starts at its beginning.
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
			p.t.above(func() {})
			return
		case <-tick.C:
			p.t.screen.Lock()
			if line := p.line(frames[frame%len(frames)]); line != "" {
				_, _ = fmt.Fprint(p.t.err, "\r"+shown.Styled(line)+"\x1b[K")
				p.t.drawn = true
			}
			p.t.screen.Unlock()
		}
	}
}

// line is "" while there is none.
func (p *progress) line(frame string) string {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.hidden {
		return ""
	}
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
		parts = append(parts, s.bad.Render(p.trouble))
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
