package tui_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	tea "github.com/charmbracelet/bubbletea"

	"unitask/internal/fault"
	"unitask/internal/tui"
)

const address = "http://127.0.0.1:8420"

// testDashboard is a dashboard without a terminal: it takes messages and runs the commands of Update, one goroutine each, in
// the bubble of a test.
type testDashboard struct {
	t         *testing.T
	model     *tui.Model
	profiles  *profiles
	talks     *talks
	inbox     chan tea.Msg
	done      chan struct{}
	runs      sync.WaitGroup
	quit      bool
	saying    sync.Mutex
	said      []string // the notices of ended tasks
	clipboard string
	keys      int // Idempotency-Keys made
}

// tested is a fake service with its files.
type tested interface {
	tui.Service
	files() *disk
}

// newTestDashboard starts a dashboard of 80 columns and 24 rows and lets it settle.
func newTestDashboard(t *testing.T, service tested) *testDashboard {
	t.Helper()
	r := &testDashboard{t: t, profiles: &profiles{}, talks: &talks{open: map[string]*talk{}}, inbox: make(chan tea.Msg), done: make(chan struct{})}
	t.Cleanup(func() {
		close(r.done)
		r.runs.Wait() // the timers; in the bubble that takes no time
	})
	r.model = tui.New(t.Context(), tui.Config{
		Reached:  tui.Reached{Service: service, Files: service.files(), Talks: r.talks, Where: address, Profile: "local"},
		Profiles: r.profiles, Zone: time.UTC, Pictures: true,
		Ended: func(words string) {
			r.saying.Lock() // several tasks may end at once
			defer r.saying.Unlock()
			r.said = append(r.said, words)
		},
		Copy: func(text string) { r.clipboard = text },
		Hint: hint,
		Frame: func(_ context.Context, film []byte) ([]byte, error) {
			if string(film) != "film" {
				return nil, errors.New("the film has no picture")
			}
			return sunset, nil
		},
		NewKey: func() string {
			r.keys++
			return fmt.Sprintf("key-%04d", r.keys)
		},
	})
	r.run(r.model.Init())
	r.settle()
	return r
}

// hint is the tests' remedy for each error.
func hint(err error) string {
	switch f, ok := errors.AsType[*fault.Error](err); {
	case !ok:
		return "unitask serve starts the service here; --base-url or UNITASK_BASE_URL names another one"
	default:
		return "what helps about " + string(f.Code)
	}
}

// run starts a command; its message comes in as bubbletea would bring it.
func (r *testDashboard) run(cmd tea.Cmd) {
	if cmd == nil {
		return
	}
	r.runs.Go(func() {
		msg := cmd()
		if batch, ok := msg.(tea.BatchMsg); ok {
			for _, c := range batch {
				r.run(c)
			}
			return
		}
		select {
		case r.inbox <- msg:
		case <-r.done:
		}
	})
}

func (r *testDashboard) update(msg tea.Msg) {
	if _, ok := msg.(tea.QuitMsg); ok {
		r.quit = true
	}
	_, cmd := r.model.Update(msg)
	r.run(cmd)
}

// settle takes all that comes without time passing.
func (r *testDashboard) settle() {
	for {
		synctest.Wait()
		select {
		case msg := <-r.inbox:
			r.update(msg)
		default:
			return
		}
	}
}

// pass lets time pass and handles the messages meanwhile.
func (r *testDashboard) pass(d time.Duration) {
	end := time.After(d)
	for {
		select {
		case msg := <-r.inbox:
			r.update(msg)
		case <-end:
			r.settle()
			return
		}
	}
}

// press gives keys by their names, "ctrl+s", or else as typed text.
func (r *testDashboard) press(keys ...string) {
	for _, k := range keys {
		r.update(key(k))
		r.settle()
	}
}

func (r *testDashboard) resize(width, height int) {
	r.update(tea.WindowSizeMsg{Width: width, Height: height})
	r.settle()
}

// view is the screen without the spaces at the ends of its lines.
func (r *testDashboard) view() string {
	lines := strings.Split(r.model.View(), "\n")
	for i := range lines {
		lines[i] = strings.TrimRight(lines[i], " ")
	}
	return strings.Join(lines, "\n") + "\n"
}

// shows fails the test if the screen lacks one of the texts.
func (r *testDashboard) shows(texts ...string) {
	r.t.Helper()
	for _, want := range texts {
		if !strings.Contains(r.view(), want) {
			r.t.Fatalf("the screen doesn't show %q:\n%s", want, r.view())
		}
	}
}

// hides fails the test if the screen has one of the texts.
func (r *testDashboard) hides(texts ...string) {
	r.t.Helper()
	for _, bad := range texts {
		if strings.Contains(r.view(), bad) {
			r.t.Fatalf("the screen shows %q:\n%s", bad, r.view())
		}
	}
}

var keyTypes = map[string]tea.KeyType{
	"enter": tea.KeyEnter, "tab": tea.KeyTab, "shift+tab": tea.KeyShiftTab, "esc": tea.KeyEsc, "up": tea.KeyUp,
	"down": tea.KeyDown, "left": tea.KeyLeft, "right": tea.KeyRight, "home": tea.KeyHome, "end": tea.KeyEnd,
	"backspace": tea.KeyBackspace, "ctrl+s": tea.KeyCtrlS, "ctrl+c": tea.KeyCtrlC, "ctrl+j": tea.KeyCtrlJ, "ctrl+x": tea.KeyCtrlX, "ctrl+r": tea.KeyCtrlR, "ctrl+y": tea.KeyCtrlY, "ctrl+o": tea.KeyCtrlO, "ctrl+u": tea.KeyCtrlU,
	"ctrl+w": tea.KeyCtrlW, "ctrl+k": tea.KeyCtrlK, "delete": tea.KeyDelete, "pgdown": tea.KeyPgDown, "pgup": tea.KeyPgUp,
	"shift+up": tea.KeyShiftUp, "shift+down": tea.KeyShiftDown, "ctrl+left": tea.KeyCtrlLeft, "ctrl+right": tea.KeyCtrlRight,
}

func key(name string) tea.KeyMsg {
	if k, ok := keyTypes[name]; ok {
		return tea.KeyMsg{Type: k}
	}
	if name == " " {
		return tea.KeyMsg{Type: tea.KeySpace, Runes: []rune(name)}
	}
	return tea.KeyMsg{Type: tea.KeyRunes, Runes: []rune(name)}
}

// bubble runs a test in a bubble, whose time only pass moves.
func bubble(t *testing.T, f func(t *testing.T)) {
	t.Helper()
	synctest.Test(t, f)
}
