package tui

import (
	"context"
	"slices"
	"strings"

	tea "github.com/charmbracelet/bubbletea"
)

const (
	talkKey    = "t"
	stopKey    = "ctrl+x"
	retryKey   = "ctrl+r"
	undoKey    = "ctrl+z"
	takeKey    = "ctrl+y"
	wheelLines = 3
)

// talksKey takes a key in the list of conversations.
func (m *Model) talksKey(k string) tea.Cmd {
	p := &m.talking
	switch k {
	case "esc", "left", "backspace":
		return m.back(p.from)
	case "tab", "shift+tab":
		m.screen = tasksScreen
	case "r":
		return m.readTalks()
	case "n":
		if p.deed == idle {
			return m.openTalk("")
		}
	case "enter":
		if p.deed == idle && p.list.cursor < len(p.list.all) {
			return m.openTalk(p.list.all[p.list.cursor].ID)
		}
	default:
		p.list.cursor = move(k, p.list.cursor, len(p.list.all), m.bodyHeight())
	}
	return nil
}

// talkKey takes a key in a conversation.
func (m *Model) talkKey(msg tea.KeyMsg) tea.Cmd {
	p := &m.talking
	if p.picker != nil {
		return m.pickerKey(msg)
	}
	switch k := msg.String(); k {
	case "esc":
		return m.leaveTalk()
	case pickKey:
		return m.openPicker()
	case "tab":
		m.screen = tasksScreen // the answer is waited for all the same
	case "enter":
		return m.enterTalk()
	case stopKey, retryKey, undoKey, takeKey:
		return m.talkDeed(k)
	case "pgup":
		p.scroll(m.talkRoom()-1, m)
	case "pgdown":
		p.scroll(1-m.talkRoom(), m)
	default:
		if k == "backspace" && p.write.empty() {
			p.dropFile()
		} else if !p.write.key(msg, m.width-2) && (k == "up" || k == "down") {
			p.scroll(map[string]int{"up": 1, "down": -1}[k], m)
		}
	}
	return nil
}

// scroll moves the lines; up to the first one.
func (p *talkPane) scroll(by int, m *Model) {
	most := max(0, len(p.drawn(m.drawing(), m.width))-m.talkRoom())
	p.up = max(0, min(p.up+by, most))
}

// leaveTalk stops a wait, or goes back to the list.
func (m *Model) leaveTalk() tea.Cmd {
	p := &m.talking
	switch {
	case p.deed == waiting, p.deed == saying && len(p.sent.files) > 0:
		p.stop()
		return nil
	case p.deed != idle:
		return nil
	}
	m.screen = talksScreen
	return m.closeTalk()
}

// held reports whether the conversation can't be left or gone on with now, and says why.
func (m *Model) held() bool {
	p := &m.talking
	switch {
	case p.deed == idle, p.deed == waiting:
		return false
	case p.deed == saying && len(p.sent.files) > 0:
		m.said = notice{words: "the message isn't sent yet", bad: true, hint: "esc takes it back"}
	default:
		m.notice("one moment", true)
	}
	return true
}

// enterTalk sends the entry. Without one it waits for the answer that isn't there yet.
func (m *Model) enterTalk() tea.Cmd {
	p := &m.talking
	text := p.write.value()
	trimmed := strings.TrimSpace(text)
	command, isCommand := strings.CutPrefix(trimmed, "/")
	isCommand = isCommand && !strings.HasPrefix(command, "/")
	switch {
	case p.deed != waiting && !isCommand && m.held():
		return nil
	case p.deed == waiting && !isCommand:
		m.notice("the last message has no answer yet", true)
		return nil
	case isCommand:
		return m.talkCommand(command)
	case p.view.Unanswered && trimmed == "":
		return m.await()
	case p.view.Unanswered:
		m.said = notice{words: "the last message has no answer yet", bad: true, hint: "an empty line waits for it, " + stopKey + " cancels it"}
		return nil
	case trimmed == "" && len(p.view.Calls) == 0 && len(p.files.written()) == 0:
		return nil
	}
	if strings.HasPrefix(trimmed, "//") {
		text = trimmed[1:]
	}
	return m.say(text)
}

// say begins a turn with a text and the files that go along with it.
func (m *Model) say(text string) tea.Cmd {
	p := &m.talking
	var paths []string
	for _, l := range p.files.written() {
		path, err := atHome(strings.TrimPrefix(l, "@"))
		if err != nil {
			m.fail(words(err), err)
			return nil
		}
		paths = append(paths, path)
	}
	ctx, stop := context.WithCancel(m.calls.ctx)
	p.stop = stop
	p.sent = p.takeOut()
	return m.act(saying, func(t Talk) error {
		defer stop()
		return t.Say(ctx, text, paths)
	})
}

// attach lets a file go along with the next message.
func (m *Model) attach(path string) {
	p := &m.talking
	switch path = strings.TrimSpace(path); {
	case p.files.Kinds == nil:
		m.notice("no file goes along with a message of "+line(p.view.Capability), true)
	case path == "":
		m.said = notice{words: "/file takes the path of a file", bad: true, hint: pickKey + " shows a list"}
	default:
		p.files.take("@" + path)
		p.write = editor{lines: true}
	}
}

// dropFile takes back the last file that was to go along.
func (p *talkPane) dropFile() {
	if lines := p.files.written(); len(lines) > 0 {
		p.files.toggle(lines[len(lines)-1])
	}
}

// talkCommand carries out a command of unitask chat that needs no more than the conversation.
func (m *Model) talkCommand(word string) tea.Cmd {
	keys := map[string]string{"cancel": stopKey, "retry": retryKey, "undo": undoKey, "copy": takeKey}
	p := &m.talking
	name, arg, _ := strings.Cut(word, " ")
	switch k := keys[word]; {
	case name == "file":
		m.attach(arg)
		return nil
	case k != "":
		p.write = editor{lines: true}
		return m.talkDeed(k)
	case word == "new" || word == "list" || word == "quit":
		p.write = editor{lines: true}
		if m.held() {
			return nil
		}
		if p.deed == waiting {
			p.stop()
		}
		if word == "new" {
			return m.openTalk("")
		}
		m.screen = talksScreen
		return m.closeTalk()
	}
	m.said = notice{words: "there is no /" + line(word) + " here", bad: true, hint: "/file, /cancel, /retry, /undo, /copy, /new and /list are; unitask chat has more. // begins a message with a slash"}
	return nil
}

// talkDeed cancels, retries, undoes or copies.
func (m *Model) talkDeed(k string) tea.Cmd {
	p := &m.talking
	switch {
	case p.talk == nil:
	case k == takeKey:
		return m.copyAnswer()
	case k == stopKey && p.deed == waiting:
		p.ends = true
		p.stop()
	case p.deed == waiting:
		m.notice("one moment", true)
	case m.held():
	case k == stopKey && p.view.Unanswered:
		return m.cancelTurn()
	case k == stopKey:
		m.notice("no answer is being made", true)
	case p.view.Unanswered:
		m.said = notice{words: "the last message has no answer yet", bad: true, hint: "an empty line waits for it, " + stopKey + " cancels it"}
	case k == retryKey:
		p.up = 0
		return m.act(retrying, Talk.Again)
	case k == undoKey:
		return m.act(undoing, Talk.Undo)
	}
	return nil
}

// copyAnswer puts the last answer into the terminal's clipboard.
func (m *Model) copyAnswer() tea.Cmd {
	all := m.talking.view.Messages
	for i := len(all) - 1; i >= 0; i-- {
		if all[i].Role != roleAssistant {
			continue
		}
		content := plain(all[i].Text)
		if len(content) > longestCopy {
			m.notice("the answer is too long for a clipboard", true)
			return nil
		}
		m.notice("copied the answer, where the terminal lets programs do so", false)
		put := m.config.Copy
		return func() tea.Msg {
			put(content)
			return nil
		}
	}
	m.notice("there is no answer yet", true)
	return nil
}

// talkBindings are the keys of the list of conversations, or of one.
func (s screen) talkBindings() []binding {
	if s == talksScreen {
		return []binding{
			{"enter", "open"},
			{"n", "new"},
			{"esc", "back"},
			{"tab", "tasks"},
			{"↑ ↓", "move; home, end, pgup, pgdown"},
			{"r", "read again"},
		}
	}
	return []binding{
		{"enter", "send"},
		{"esc", "back; to the conversations, where a draft is kept"},
		{"ctrl+j", "new line"},
		{pickKey, "file; goes along with the message, backspace takes it back"},
		{"pgup", "scroll; pgdown goes down again, as the wheel does"},
		{retryKey, "retry; the last message"},
		{undoKey, "take back; the last message and its answer"},
		{takeKey, "copy; the last answer"},
		{stopKey, "cancel; the answer that isn't there yet"},
		{"tab", "tasks; the answer comes meanwhile"},
	}
}

// bindings are the keys that mean something now.
func (p *talkPane) bindings() []binding {
	all := talkScreen.talkBindings()
	last := []binding{all[8], all[9]}
	switch {
	case p.picker != nil:
		return p.picker.bindings()
	case p.deed == saying && len(p.sent.files) > 0:
		return []binding{{"esc", "take back; the message that isn't sent yet"}, last[1]}
	case p.deed != idle:
		return append([]binding{{"esc", "stop waiting; it goes on"}}, last...)
	case p.view.Unanswered:
		return append([]binding{{"enter", "wait on"}, {"esc", "back"}}, last...)
	default:
		all = append(all[:8:8], last[1])
		if p.files.Kinds == nil {
			all = slices.Delete(all, 3, 4)
		}
		return all
	}
}
