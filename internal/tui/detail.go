package tui

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/charmbracelet/x/ansi"

	"unitask/internal/api"
	"unitask/internal/shown"
)

// longestText is how much of an output is drawn, in bytes.
const longestText = 100_000

// detail is one task and how far its page is scrolled.
type detail struct {
	id    string
	moves []api.Move       // its states with their times, if the service has them
	shots map[string]*shot // its pictures, of the gallery; nil if they aren't looked at
	top   int              // the first line shown, at most: a page may be shorter
	text  wrapped
	small bool // beside a table, where it isn't scrolled: its pictures leave room for the rest of the page
}

// wrapped remembers the lines of the text drawn last: a long one takes a while to break.
type wrapped struct {
	text  string
	width int
	lines []string
}

func (w *wrapped) of(s string, width int) []string {
	if w.width != width || w.text != s {
		*w = wrapped{s, width, wrap(strings.TrimRight(text(s), "\n"), width)}
	}
	return w.lines
}

// moved takes the times of the task's states; others are of another task.
func (d *detail) moved(msg timelineMsg) {
	if msg.err == nil && msg.id == d.id {
		d.moves = msg.moves
	}
}

// Render draws the state, which stays, and the part of the page below that is scrolled to.
func (d *detail) Render(c canvas, b taskCache, width, height int) string {
	t, ok := b.get(d.id)
	if !ok {
		return message(c, width, "This task isn't there any more.", "Press esc.")
	}
	room := max(1, height-2)
	page := d.page(c, t, b, width, room)
	first := min(d.top, max(0, len(page)-room))
	shown := page[first:min(len(page), first+room)]
	more := ""
	if rest := len(page) - first - len(shown); rest > 0 {
		more = fmt.Sprintf("↓ %d more", rest)
	} else if first > 0 {
		more = "end"
	}
	return strings.Join(append([]string{d.head(c, t, width), c.rule(more, width)}, shown...), "\n")
}

func (d *detail) head(c canvas, t api.Task, width int) string {
	words := []string{shown.Duration(elapsed(t, c.now))}
	if bar := progress(t, width); bar != "" {
		words = append(words, bar)
	}
	if amount := cost(t); amount != "" {
		words = append(words, amount)
	}
	state := sign(t.State) + " " + line(string(t.State))
	return " " + c.state(t.State).Render(state) + cut("  "+strings.Join(words, "  "), width-2-cells(state))
}

// scroll moves the page; it needs to know how it is drawn.
func (d *detail) scroll(k string, b taskCache, c canvas, width, height int) {
	t, ok := b.get(d.id)
	if !ok {
		return
	}
	room := max(1, height-2)
	last := max(0, len(d.page(c, t, b, width, room))-room)
	d.top = move(k, min(d.top, last), last+1, room)
	if k == "end" || k == "G" {
		d.top = math.MaxInt // it stays at the end of a page that grows
	}
}

// page is all there is to say about a task: the result first. A picture takes no more rows than can be seen at once.
func (d *detail) page(c canvas, t api.Task, b taskCache, width, room int) []string {
	p := page{canvas: c, width: width, room: room, detail: d}
	if label := b.labels[t.ID]; label != "" {
		p.row("asked", label)
		p.blank()
	}
	if t.Error != nil {
		p.failure(*t.Error, p.advise(t.Fault()))
	}
	if t.Output != nil {
		p.output(*t.Output)
	} else if partial := b.texts[t.ID]; partial != "" {
		p.text(partial)
		p.blank()
	}
	p.times(d.moves, t)
	if t.Usage != nil {
		p.row("used", usage(*t.Usage))
		p.row("cost", line(t.Usage.Cost.Amount)+" "+line(t.Usage.Cost.Currency))
	}
	for _, name := range slices.Sorted(maps.Keys(t.Metadata)) {
		p.row("metadata", line(name+"="+t.Metadata[name]))
	}
	p.row("mode", line(string(t.Mode)))
	p.row("task", line(t.ID))
	p.row("request", line(t.RequestID))
	p.addresses(t.Output.Artifacts())
	return p.lines
}

// page collects lines.
type page struct {
	canvas
	width, room int
	detail      *detail
	lines       []string
}

func (p *page) blank() { p.lines = append(p.lines, "") }

// row is a name and a value, which may take several lines; empty without a value.
func (p *page) row(name, value string) {
	const column = 13
	if value == "" {
		return
	}
	for i, l := range wrap(value, p.width-column-1) {
		head := strings.Repeat(" ", column)
		if i == 0 {
			head = p.faint.Render(pad(name, column))
		}
		p.lines = append(p.lines, " "+head+l)
	}
}

func (p *page) paragraph(s string) {
	for _, l := range wrap(s, p.width-2) {
		p.lines = append(p.lines, " "+l)
	}
}

func (p *page) failure(e api.Error, hint string) {
	p.lines = append(p.lines, " "+p.bad.Render(line(string(e.Code))))
	p.paragraph(line(e.Message))
	for _, d := range e.Details {
		if row := line(d.Field + " " + d.Message); row != line(e.Message) {
			p.paragraph("· " + row)
		}
	}
	for _, h := range hinted(hint) {
		p.paragraph(h)
	}
	p.blank()
}

func (p *page) output(o api.Output) {
	if o.Shown() != nil {
		p.text(o.Indented())
	} else {
		p.parts(o)
	}
	rows := max(1, min(p.room-1, 4), p.room-1-len(p.lines)) // so that the heading and its text are seen too
	if p.detail.small {
		rows = smallRows(p.room)
	}
	for _, a := range o.Artifacts() {
		s := p.detail.shots[a.ID]
		if s == nil && (isFilm(a) || isSound(a)) || s != nil && s.img == nil && isFilm(a) {
			room := rows
			if s != nil {
				room-- // for the reason
			}
			for _, l := range card(p.canvas, a, p.width-2, room) {
				p.lines = append(p.lines, " "+l)
			}
		}
		if s != nil {
			for _, l := range s.render(p.canvas, p.width-2, rows) {
				p.lines = append(p.lines, " "+l)
			}
		}
		kept := "  kept until " + a.ExpiresAt.In(p.zone).Format("2 Jan 2006 15:04")
		drawn := cut(shape(a), p.width-2)
		if cells(drawn+kept) > p.width-2 {
			kept = ""
		}
		p.lines = append(p.lines, " "+p.bold.Render(drawn)+p.faint.Render(kept))
	}
	p.blank()
}

// parts shows the members of an output that most capabilities have, its files apart.
func (p *page) parts(o api.Output) {
	if o.Text != nil {
		p.text(*o.Text)
	}
	if o.FinishReason != "" && o.FinishReason != "stop" {
		p.paragraph("(ends because of: " + line(o.FinishReason) + ")")
	}
	for _, c := range o.Citations {
		p.paragraph("source: " + line(strings.TrimSpace(c.Title+" "+c.URL)))
	}
	for i, v := range o.Embeddings {
		p.paragraph(fmt.Sprintf("vector %d: %d numbers, %s", i+1, len(v), beginning(v)))
	}
}

// addresses are those of the result's files.
func (p *page) addresses(all []api.Artifact) {
	for i, a := range all {
		if i == 0 {
			p.blank()
		}
		for l := range strings.SplitSeq(ansi.Hardwrap(line(a.URL), p.width-2, true), "\n") {
			p.lines = append(p.lines, " "+p.faint.Render(l))
		}
	}
}

func (p *page) text(s string) {
	rest := len(s) - longestText
	for _, l := range p.detail.text.of(s[:min(len(s), longestText)], p.width-2) {
		p.lines = append(p.lines, " "+l)
	}
	if rest > 0 {
		p.paragraph(fmt.Sprintf("… and %s more, which unitask tasks get prints", api.Size(int64(rest))))
	}
}

// beginning is the first numbers of a vector.
func beginning(v []float32) string {
	var words []string
	for _, n := range v[:min(len(v), 4)] {
		words = append(words, fmt.Sprintf("%.3f", n))
	}
	if len(v) > len(words) {
		words = append(words, "…")
	}
	return strings.Join(words, " ")
}

// times shows when the task was in which state: as the service recorded it, else as the task says.
func (p *page) times(moves []api.Move, t api.Task) {
	if len(moves) == 0 {
		p.row("created", p.clock(t.CreatedAt.Time))
		if t.FinishedAt != nil {
			p.row("finished", p.clock(t.FinishedAt.Time))
		}
		return
	}
	for i, m := range moves {
		at := p.clock(m.At.Time)
		if i > 0 {
			at += "  +" + shown.Duration(m.At.Sub(moves[i-1].At.Time))
		}
		p.row(line(string(m.State)), at)
	}
}

// clock shows a time of day, with the date if that is another day.
func (p *page) clock(at time.Time) string {
	at, now := at.In(p.zone), p.now.In(p.zone)
	if at.YearDay() == now.YearDay() && at.Year() == now.Year() {
		return at.Format("15:04:05")
	}
	return at.Format("2 Jan 2006 15:04:05")
}
