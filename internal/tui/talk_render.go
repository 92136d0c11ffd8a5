package tui

import (
	"fmt"
	"strings"
	"time"

	"unitask/internal/chat"
	"unitask/internal/shown"
)

// The roles of messages.
const (
	roleUser      = "user"
	roleAssistant = "assistant"
	roleTool      = "tool"
)

// talkList is the conversations of this machine.
type talkList struct {
	all    []chat.Summary
	known  bool
	cursor int
}

func (m *Model) listedTalks(msg talksMsg) {
	l := &m.talking.list
	if msg.err != nil {
		m.fail("the conversations can't be read: "+words(msg.err), msg.err)
		return
	}
	l.all, l.known = msg.all, true
	l.cursor = max(0, min(l.cursor, len(l.all)-1))
}

// Render draws the list, the conversation that changed last first.
func (l *talkList) Render(c canvas, width, height int) string {
	switch {
	case !l.known:
		return message(c, width, "Looking for conversations…")
	case len(l.all) == 0:
		return message(c, width, "No conversation yet.", "Press n to begin one.")
	}
	const turns, changed, service, roomy = 6, 4, 18, 60
	columns := []int{max(8, width-markWidth-turns-changed-service-6), turns, changed, service}
	if width < roomy {
		columns = []int{max(8, width-markWidth-changed-2), 0, changed, 0}
	}
	lines := []string{c.faint.Render(row(columns, "CONVERSATION", "TURNS", "AGE", "SERVICE"))}
	room := max(1, height-1)
	first := firstShown(l.cursor, len(l.all), room)
	for i := first; i < min(first+room, len(l.all)); i++ {
		one := l.all[i]
		title := line(one.Title)
		if one.Unanswered {
			title = "● " + title
		}
		at := one.Place.Profile
		if at == "" {
			at = one.Place.BaseURL
		}
		drawn := row(columns, title, fmt.Sprint(one.Turns), ago(one.Changed, c.now), line(at))
		lines = append(lines, c.selected(drawn, i == l.cursor))
	}
	return strings.Join(lines, "\n")
}

// talkLines remembers the lines of the messages drawn last.
type talkLines struct {
	of    chat.View
	width int
	lines []string
}

// drawn are the lines of the conversation, the answer that comes too.
func (p *talkPane) drawn(c canvas, width int) []string {
	k := &p.lines
	if k.lines == nil || k.width != width || !same(k.of, p.view) {
		*k = talkLines{of: p.view, width: width, lines: messageLines(c, p.view, width)}
	}
	lines := k.lines[:len(k.lines):len(k.lines)]
	switch {
	case p.deed == saying:
		lines = append(lines, said(c, p.sent.message(), width)...)
	case p.heard != "":
		for _, l := range p.told.of(p.heard, width-2) {
			lines = append(lines, " "+l)
		}
	case p.mused != "":
		for _, l := range p.told.of(p.mused, width-2) {
			lines = append(lines, " "+c.faint.Render(l))
		}
	}
	return lines
}

// same reports whether two views of a conversation have the same messages.
func same(a, b chat.View) bool {
	return a.ID == b.ID && a.Turns == b.Turns && a.Unanswered == b.Unanswered && len(a.Messages) == len(b.Messages) &&
		(len(a.Messages) == 0 || &a.Messages[0] == &b.Messages[0]) && a.Failure == b.Failure && len(a.Calls) == len(b.Calls)
}

// messageLines draws the messages one below the other.
func messageLines(c canvas, v chat.View, width int) []string {
	var lines []string
	for _, m := range v.Messages {
		lines = append(lines, said(c, m, width)...)
	}
	for _, m := range v.Failed {
		lines = append(lines, said(c, m, width)...)
	}
	if v.Failure != nil {
		for _, l := range bullet(c, failed(*v.Failure), width-2) {
			lines = append(lines, " "+l)
		}
		lines = append(lines, " "+c.faint.Render(cut(retryKey+" asks again", width-2)))
	}
	return lines
}

// failed is why a message has no answer.
func failed(f chat.Failure) string {
	if f.Code != "" && !strings.Contains(f.Message, string(f.Code)) {
		return line(string(f.Code) + ": " + f.Message)
	}
	return line(f.Message)
}

// said draws a message, with a blank line below an answer.
func said(c canvas, m chat.Said, width int) []string {
	var lines []string
	body := strings.TrimRight(text(m.Text), "\n")
	if body != "" {
		for i, l := range wrap(body, width-4) {
			switch {
			case m.Role == roleAssistant:
				lines = append(lines, " "+l)
			case i == 0:
				lines = append(lines, " "+c.accent.Render("›")+" "+c.bold.Render(l))
			default:
				lines = append(lines, "   "+c.bold.Render(l))
			}
		}
	}
	for _, f := range m.Files {
		lines = append(lines, " "+c.faint.Render(cut("@"+line(f), width-2)))
	}
	for _, call := range m.Calls {
		lines = append(lines, " "+c.accent.Render(cut(line(call.Name+"("+string(call.Arguments)+")"), width-2)))
	}
	if m.Role == roleAssistant {
		lines = append(lines, "")
	}
	return lines
}

// entryRows is how many rows the entry has.
func (m *Model) entryRows() int {
	return min(len(m.talking.write.rows(m.width-2)), max(1, m.bodyHeight()/3))
}

// fileRows is how many rows the files have that go along with the entry, and the one that says how many more there are.
func (m *Model) fileRows() int {
	return min(len(m.talking.files.written()), max(1, m.bodyHeight()/4))
}

// talkRoom is how many rows the messages have.
func (m *Model) talkRoom() int { return max(1, m.bodyHeight()-m.entryRows()-m.fileRows()-1) }

// renderTalk draws the messages, a rule with the state, and the entry.
func (m *Model) renderTalk(c canvas, height int) string {
	p := &m.talking
	all := p.drawn(c, m.width)
	room := m.talkRoom()
	last := max(min(len(all), room), len(all)-p.up)
	lines := append([]string{}, all[max(0, last-room):last]...)
	if len(all) == 0 && p.talk != nil {
		lines = append(lines, " "+c.faint.Render(cut("Write a message; enter sends it.", m.width-2)))
	}
	for len(lines) < room {
		lines = append(lines, "")
	}
	state := m.talkState()
	if below := len(all) - last; below > 0 {
		state = strings.TrimSpace(fmt.Sprintf("↓ %d more  %s", below, state))
	}
	lines = append(lines, c.rule(state, m.width))
	lines = append(lines, m.renderFiles(c)...)
	for i, l := range p.write.render(m.width-2, max(1, height-len(lines)), true, c.Style) {
		mark := "  "
		if i == 0 {
			mark = c.accent.Render("› ")
		}
		lines = append(lines, mark+l)
	}
	return strings.Join(lines, "\n")
}

// renderFiles draws the files that go along with the entry, the last ones if there is no room for all.
func (m *Model) renderFiles(c canvas) []string {
	all, room := m.talking.files.written(), m.fileRows()
	var lines []string
	if over := len(all) - room; over > 0 {
		all = all[over+1:]
		lines = append(lines, fmt.Sprintf("%d more", over+1))
	}
	lines = append(lines, all...)
	for i, l := range lines {
		lines[i] = "  " + c.faint.Render(cut(line(l), m.width-3))
	}
	return lines
}

// talkState is the state of the conversation in a few words.
func (m *Model) talkState() string {
	p := &m.talking
	took := shown.Duration(m.now.Sub(p.since).Truncate(time.Second))
	switch {
	case p.deed == waiting && p.ends, p.deed == canceling:
		return "canceling…"
	case p.deed == waiting && p.heard != "":
		return "answering, " + took
	case p.deed == waiting && p.mused != "":
		return "thinking, " + took
	case p.deed == waiting:
		return "waiting, " + took
	case p.deed == opening:
		return "opening…"
	case p.deed == saying && len(p.sent.files) > 0:
		return "sending the files, " + took
	case p.deed != idle:
		return "…"
	case p.view.Unanswered:
		return "the answer isn't there yet"
	case len(p.view.Calls) > 0:
		return "the result of " + line(p.view.Calls[0].Name)
	case p.view.Spent.Tasks > 0:
		return fmt.Sprintf("%d %s, $%s", p.view.Spent.Tasks, plural(p.view.Spent.Tasks, "task"), p.view.Spent.Cost)
	default:
		return ""
	}
}
