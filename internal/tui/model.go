package tui

import (
	"cmp"
	"context"
	"errors"
	"image"
	"time"

	tea "github.com/charmbracelet/bubbletea"

	"unitask/internal/api"
	"unitask/internal/client"
	"unitask/internal/fault"
	"unitask/internal/hint"
)

// screen is a full-screen view.
type screen int

const (
	directoryScreen screen = iota
	tasksScreen
	formScreen
	detailScreen
	talksScreen
	talkScreen
)

// Model is the dashboard. It is one goroutine's: bubbletea's loop, or a test's.
type Model struct {
	config Config
	calls  calls
	visit  visit     // of the service
	now    time.Time // of the last message
	width  int
	height int

	screen    screen
	directory capabilityList
	forms     map[string]*formPane  // by capability: the entered values stay
	sent      map[string]formValues // by task: its form's values
	form      *formPane             // the one shown
	formFrom  screen                // the one that esc leads back to
	table     table
	detail    detail
	talking   talkPane
	beside    detail // the selected task's, beside a wide table
	rests     int    // how often another task came to stand there
	gallery   gallery

	tasks   taskCache
	loops   map[string]*loop
	hangUp  context.CancelFunc // ends the stream of the task that is shown, nil without one
	ticking bool

	help     bool
	helpTop  int
	work     *work         // the last action upon marked tasks, nil without one
	palette  *palette      // nil without an open one
	prompt   *prompt       // likewise
	question *question     // likewise
	profiles []Profile     // as they were read last
	going    string        // the profile that is being reached, "" without one
	saveTo   string        // the path of the last saved result
	pickedIn string        // the folder that a picker showed last, "" for this one
	pictures []image.Image // to be shown after the end
	away     notice        // why the service can't be reached now, zero if it can
	said     notice        // the outcome of the last action, until the next key
}

// notice is the text below the screen.
type notice struct {
	words string // "" if the screen says it
	bad   bool
	hint  string // the remedy, "" without one
}

// New returns the dashboard; ctx ends its requests. It sends no request before Init.
func New(ctx context.Context, c Config) *Model {
	c.Zone = cmp.Or(c.Zone, time.Local)
	visit := newVisit(ctx)
	return &Model{
		config: c, calls: calls{visit.ctx, c.Service, c.Files, c.Frame}, visit: visit, now: time.Now(), width: 80, height: 24,
		forms: map[string]*formPane{}, sent: map[string]formValues{}, tasks: newTaskCache(),
		table: table{listings: map[client.ListOptions]*listing{}},
		loops: map[string]*loop{}, saveTo: "./",
	}
}

// Init asks for the directory and the tasks.
func (m *Model) Init() tea.Cmd {
	return m.visit.stamp(tea.Batch(m.round(directoryLoop), m.begin()))
}

// begin asks for all that is shown from the start but the directory.
func (m *Model) begin() tea.Cmd { return tea.Batch(m.round(tasksLoop), m.readProfiles(false)) }

// Update takes one message and returns the next command. A message of a service that was left is dropped.
func (m *Model) Update(msg tea.Msg) (tea.Model, tea.Cmd) {
	if stamped, ok := msg.(stampedMsg); ok {
		if stamped.visit != m.visit.number {
			return m, nil
		}
		msg = stamped.msg
	}
	m.now = time.Now()
	cmd := m.handle(msg)
	rest := m.rest()
	m.leave()
	return m, m.visit.stamp(tea.Batch(cmd, rest, m.keepReading(), m.lookFurther(), m.clock()))
}

func (m *Model) handle(msg tea.Msg) tea.Cmd {
	switch msg := msg.(type) {
	case tea.WindowSizeMsg:
		m.width, m.height = msg.Width, msg.Height
	case tea.KeyMsg:
		return m.key(msg)
	case tea.MouseMsg:
		return m.mouse(msg)
	case capabilitiesMsg:
		return m.answeredCapabilities(msg)
	case listMsg:
		return m.answeredList(msg)
	case readMsg:
		return m.answeredRead(msg)
	case heardMsg:
		return m.heard(msg)
	case dueMsg:
		return m.due(msg)
	case clockMsg:
		m.ticking = false
	case aheadMsg:
		return m.wentAhead(msg)
	case preparedMsg:
		return m.prepared(msg)
	case createdMsg:
		return m.created(msg)
	case canceledMsg:
		return m.canceled(msg)
	case talksMsg:
		m.listedTalks(msg)
	case openedTalkMsg:
		return m.openedTalk(msg)
	case toldMsg:
		return m.told(msg)
	case didMsg:
		return m.did(msg)
	case profilesMsg:
		m.listedProfiles(msg)
	case reachedMsg:
		return m.reached(msg)
	case outcomeMsg:
		return m.ended(msg)
	case timelineMsg:
		m.detail.moved(msg)
	case pictureMsg:
		msg.took()
	case restedMsg:
		return m.rested(msg)
	case folderMsg:
		m.listedFolder(msg)
	case completedMsg:
		m.completed(msg)
	case savedMsg:
		m.saved(msg)
	case openedMsg:
		m.opened(msg)
	}
	return nil
}

// clock keeps elapsed times moving while there are any.
func (m *Model) clock() tea.Cmd {
	sending := m.form != nil && m.form.sending() || m.talking.deed != idle
	if m.ticking || m.tasks.open() == 0 && !sending {
		return nil
	}
	m.ticking = true
	return after(time.Second, clockMsg{})
}

// prepared has read a form's files: the request goes out, or the form shows the error.
func (m *Model) prepared(msg preparedMsg) tea.Cmd {
	f := m.forms[msg.capability]
	key, ok := f.ready(msg, m.config.NewKey)
	if !ok {
		return nil
	}
	return m.calls.create(msg.request, f.capability.Mode, key, msg.label)
}

// created takes the answer to a creation.
func (m *Model) created(msg createdMsg) tea.Cmd {
	f := m.forms[msg.capability]
	if msg.err != nil {
		if !f.refuse(msg.err) { // the entry names the remedy
			m.said = notice{hint: m.config.Hint(msg.err)}
		}
		if e, ok := errors.AsType[*fault.Error](msg.err); ok && e.TaskID != "" {
			m.tasks.label(e.TaskID, msg.label)
			m.sent[e.TaskID] = f.written()
			return m.again(e.TaskID, 0) // the task that failed, so that it is in the table
		}
		return nil
	}
	f.accepted()
	m.answered()
	m.tasks.label(msg.task.ID, msg.label)
	m.sent[msg.task.ID] = f.written()
	m.notice(line(msg.capability)+" accepted", false)
	if m.screen == formScreen && m.form == f {
		m.screen, m.table.selected = tasksScreen, msg.task.ID
	}
	l := m.loopOf(msg.task.ID)
	l.started, l.gap = m.now, client.PollInterval(0) // a new task isn't read at once either
	cmd := m.learn(msg.task)
	if msg.task.State.Terminal() {
		return tea.Batch(cmd, m.tell(msg.task))
	}
	return cmd
}

func (m *Model) canceled(msg canceledMsg) tea.Cmd {
	if msg.err != nil {
		m.fail("not canceled: "+words(msg.err), msg.err)
		return nil
	}
	m.answered()
	m.notice("cancel asked for", false)
	return m.learn(msg.task)
}

// tell says outside of the screen that a task has ended.
func (m *Model) tell(t api.Task) tea.Cmd {
	ended, words := m.config.Ended, line(t.Capability)+" "+line(string(t.State))
	if ended == nil {
		return nil
	}
	return func() tea.Msg {
		ended(words)
		return nil
	}
}

func (m *Model) notice(words string, bad bool) { m.said = notice{words: words, bad: bad} }

// fail shows an error and its remedy.
func (m *Model) fail(words string, err error) { m.said = notice{words, true, m.config.Hint(err)} }

// words describes an error in one line; the code stands before the message.
func words(err error) string {
	if f, ok := errors.AsType[*fault.Error](err); ok {
		message := f.Message
		if f.Code == fault.Unauthenticated && len(f.Details) == 0 { // else it says more
			message = hint.RefusedKey
		}
		return line(string(f.Code)+": "+message) + requestOf(err)
	}
	if unanswered(err) {
		return "no answer from the server"
	}
	return line(err.Error())
}

// unanswered reports whether no answer came, so that it isn't known whether the service did what it was asked.
func unanswered(err error) bool {
	_, lost := errors.AsType[*client.UnreachableError](err)
	return lost || errors.Is(err, context.Canceled)
}

// requestOf is the request's id, for support; "" without one.
func requestOf(err error) string {
	if id := client.RequestID(err); id != "" {
		return " (request " + line(id) + ")"
	}
	return ""
}
