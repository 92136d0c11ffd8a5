package tui

import (
	"context"
	"errors"
	"time"

	tea "github.com/charmbracelet/bubbletea"

	"unitask/internal/api"
)

// reachWithin is how long a service may take to show that it is there and takes the key.
const reachWithin = 20 * time.Second

// Profiles are the services that a person can go over to.
type Profiles interface {
	List() ([]Profile, error)
	// Open finds the service of a profile and its key. It asks no person and sends no request.
	Open(ctx context.Context, name string) (Reached, error)
}

// Profile is one of them.
type Profile struct{ Name, BaseURL string }

// profilesMsg is the profiles as they were read.
type profilesMsg struct {
	all  []Profile
	err  error
	open bool // they are to be shown
}

// reachedMsg is the service of a profile, which took the key, or the reason why it can't be gone over to.
type reachedMsg struct {
	name      string
	reached   Reached
	directory []api.Capability
	err       error
}

// readProfiles has the profiles read, and shows them if they are asked for.
func (m *Model) readProfiles(open bool) tea.Cmd {
	from := m.config.Profiles
	if from == nil {
		return nil
	}
	return func() tea.Msg {
		all, err := from.List()
		return profilesMsg{all, err, open}
	}
}

func (m *Model) listedProfiles(msg profilesMsg) {
	switch {
	case msg.err != nil:
		m.fail("the profiles can't be read: "+words(msg.err), msg.err)
		return
	case len(msg.all) == 0 && msg.open:
		m.notice("there is no profile; unitask login makes one", true)
	}
	m.profiles = msg.all
	if msg.open && len(msg.all) > 0 && m.prompt == nil {
		m.palette = newPalette("Profiles", m.offeredProfiles())
	}
}

func (m *Model) offeredProfiles() []offer {
	var all []offer
	for _, p := range m.profiles {
		kind := "profile"
		if p.Name == m.config.Profile {
			kind = "now"
		}
		all = append(all, offer{p.Name, p.BaseURL, kind, func() tea.Cmd { return m.goOver(p.Name) }})
	}
	return all
}

// goOver has the service of a profile asked for its directory. Until it answers this one stays.
func (m *Model) goOver(name string) tea.Cmd {
	switch {
	case name == m.config.Profile:
		m.notice("this is "+line(name), false)
		return nil
	case m.going != "":
		m.notice("asking "+line(m.going)+" already", true)
		return nil
	case m.busy():
		return nil
	}
	if one := m.sending(); one != "" {
		m.notice(one+" is being sent", true)
		return nil
	}
	m.going = name
	m.notice("asking "+line(name)+"…", false)
	from, ctx := m.config.Profiles, m.calls.ctx
	return func() tea.Msg {
		ctx, cancel := context.WithTimeout(ctx, reachWithin)
		defer cancel()
		msg := reachedMsg{name: name}
		if msg.reached, msg.err = from.Open(ctx, name); msg.err == nil {
			msg.directory, msg.err = msg.reached.Service.Capabilities(ctx)
		}
		if msg.err != nil && errors.Is(ctx.Err(), context.DeadlineExceeded) {
			msg.err = errors.Join(errors.New("it doesn't answer"), msg.err)
		}
		return msg
	}
}

// reached goes over to a service: all that is known of the one before is gone.
func (m *Model) reached(msg reachedMsg) tea.Cmd {
	m.going = ""
	if msg.err != nil {
		m.fail("still with this service: "+words(msg.err), msg.err)
		return nil
	}
	if one := m.sending(); one != "" { // since it was asked for
		m.notice(one+" is being sent", true)
		return nil
	}
	if m.busy() {
		return nil
	}
	c := m.config
	c.Reached = msg.reached
	next := New(m.visit.whole, c)
	next.visit.end()
	next.visit = m.visit.next()
	next.calls = calls{next.visit.ctx, c.Service, c.Files, c.Frame}
	next.now, next.width, next.height, next.ticking = m.now, m.width, m.height, false
	next.saveTo, next.pickedIn, next.profiles = m.saveTo, m.pickedIn, m.profiles
	if m.screen == tasksScreen {
		next.screen = tasksScreen
	}
	next.directory.take(msg.directory)
	closed := m.closeTalk()
	*m = *next
	m.notice("now with "+line(msg.name), false)
	return tea.Batch(closed, m.begin())
}
