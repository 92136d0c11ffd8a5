package tui

import (
	"cmp"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"time"

	tea "github.com/charmbracelet/bubbletea"

	"unitask/internal/api"
	"unitask/internal/catalog"
	"unitask/internal/fault"
	"unitask/internal/form"
)

// formPane is the form of one capability and the values entered in it.
type formPane struct {
	capability   api.Capability
	entries      []formEntry // those always shown, then the rest
	shown        int         // how many are always shown
	unfolded     bool        // the rest is shown too
	focus        int         // an index of items
	sendingSince time.Time
	ahead        string            // how much of a file that goes ahead has been sent, "" without one
	failure      []string          // the last try's problem that belongs to no entry
	sentKey      string            // of the last try, while it has no answer
	sent         [sha256.Size]byte // the request sent under it
	attached     form.Attached     // the place of its files
	picker       *picker           // nil without an open one
}

// item is an element that can have the focus: an entry, the fold or the button.
type item struct {
	entry      int // -1: without
	fold, send bool
}

func newForm(c api.Capability) (*formPane, error) {
	fields, err := catalog.FieldsOf(c.InputSchema, c.ParametersSchema)
	if err != nil {
		return nil, err
	}
	all, shown := form.Ordered(fields)
	f := &formPane{capability: c, shown: shown}
	beside, takesFiles := form.Beside(fields)
	prompt, _ := form.Primary(fields)
	for _, e := range all {
		f.entries = append(f.entries, newEntry(e))
		if takesFiles && e.Wire() == prompt.Group+"."+prompt.Name {
			files := newEntry(beside)
			files.prompt = prompt.Name
			f.entries = append(f.entries, files)
			f.shown++
		}
	}
	return f, nil
}

func (f *formPane) sending() bool { return !f.sendingSince.IsZero() }

// items are the elements that can have the focus, from top to bottom.
func (f *formPane) items() []item {
	var all []item
	for i := range f.entries[:f.shown] {
		all = append(all, item{entry: i})
	}
	if f.shown < len(f.entries) {
		all = append(all, item{entry: -1, fold: true})
	}
	if f.unfolded {
		for i := f.shown; i < len(f.entries); i++ {
			all = append(all, item{entry: i})
		}
	}
	return append(all, item{entry: -1, send: true})
}

func (f *formPane) focused() item {
	all := f.items()
	return all[min(f.focus, len(all)-1)]
}

// writing reports whether letters go into a text.
func (f *formPane) writing() bool {
	at := f.focused()
	return f.picker != nil || at.entry >= 0 && f.entries[at.entry].Kind != form.Choice
}

// key takes a key and reports whether the form is to be sent.
func (f *formPane) key(msg tea.KeyMsg, width int) bool {
	at, k := f.focused(), msg.String()
	switch {
	case k == "tab":
		f.step(1)
	case k == "shift+tab":
		f.step(-1)
	case at.entry >= 0 && f.entries[at.entry].key(msg, f.columns(width).value):
		f.failure = nil
	case at.send && (k == "enter" || k == " "):
		return true
	case at.fold && (k == "enter" || k == " " || k == "right" || k == "left"):
		f.unfolded = !f.unfolded
	case k == "up":
		f.focus = max(0, f.focus-1)
	case k == "down", k == "enter":
		f.focus = min(f.focus+1, len(f.items())-1)
	}
	return false
}

// step moves the focus and comes round at the ends.
func (f *formPane) step(by int) {
	n := len(f.items())
	f.focus = (min(f.focus, n-1) + by + n) % n
}

// draft returns the entered values, or marks the wrong and missing ones.
func (f *formPane) draft() (draft, bool) {
	d := draft{capability: string(f.capability.Name)}
	f.failure = nil
	here := map[string]bool{} // the groups' members and objects that have a value
	for i := range f.entries {
		e := &f.entries[i]
		v, err := e.value()
		e.problem = ""
		if err != nil {
			e.problem = err.Error()
		}
		if v == nil && err == nil {
			continue
		}
		e.Here(here)
		d.values = append(d.values, given{Entry: e.Entry, prompt: e.prompt, value: v})
		if s, ok := v.(string); ok && d.label == "" && e.Kind == form.Prose || d.label == "" && e.prompt != "" {
			d.label = line(cmp.Or(s, e.edit.value()))
		}
	}
	for i := range f.entries {
		if e := &f.entries[i]; e.problem == "" && e.Missing(here) {
			e.problem = strings.Join(append([]string{"is required"}, e.Field.Unless...), ", or ")
		}
	}
	return d, !f.showProblem()
}

// showProblem puts the focus on the first entry with a problem; false without one.
func (f *formPane) showProblem() bool {
	at := slices.IndexFunc(f.entries, func(e formEntry) bool { return e.problem != "" })
	if at < 0 {
		return false
	}
	f.unfolded = f.unfolded || at >= f.shown
	f.focus = slices.IndexFunc(f.items(), func(r item) bool { return r.entry == at })
	return true
}

// ready takes the prepared request and returns the key to send it under: the last one if the same request has had no
// answer yet.
func (f *formPane) ready(msg preparedMsg, newKey func() string) (string, bool) {
	if len(msg.problems) > 0 {
		f.sendingSince = time.Time{}
		for i := range f.entries {
			f.entries[i].problem = line(msg.problems[f.entries[i].Wire()])
		}
		f.showProblem()
		return "", false
	}
	f.attached, f.ahead = msg.attached, ""
	raw, _ := json.Marshal(msg.request)
	if sum := sha256.Sum256(raw); f.sentKey == "" || f.sent != sum {
		f.sentKey, f.sent = newKey(), sum
	}
	return f.sentKey, true
}

// accepted renews the key: the next sending is another task. The entered values stay.
func (f *formPane) accepted() {
	f.sendingSince, f.sentKey, f.failure, f.focus = time.Time{}, "", nil, 0
}

// refuse shows an error beside the entries it is about, the rest above them, and reports whether there are such
// entries. The key stays if the same request may be sent again under it.
func (f *formPane) refuse(err error) bool {
	f.sendingSince = time.Time{}
	e, answered := errors.AsType[*fault.Error](err)
	switch {
	case !answered && !unanswered(err): // no request was sent
		f.failure = []string{words(err)}
		return false
	case !answered:
		f.failure = []string{words(err) + ". Send it again: it runs only once."}
		return false
	}
	if !e.Retryable() {
		f.sentKey = ""
	}
	f.failure = []string{words(err)}
	var placed int
	entries := make([]form.Entry, len(f.entries))
	for i := range f.entries {
		entries[i] = f.entries[i].Entry
	}
	for _, d := range e.Details {
		field := f.attached.Entered(d.Field)
		if at := form.About(entries, field); at >= 0 {
			f.entries[at].problem = line(f.entries[at].within(field) + d.Message)
			placed++
		} else if row := line(d.Field + " " + d.Message); row != line(e.Message) {
			f.failure = append(f.failure, row)
		}
	}
	if placed > 0 && placed == len(e.Details) {
		f.failure = []string{line(string(e.Code)) + requestOf(err)} // the message is beside the entries
	}
	f.showProblem()
	return placed > 0
}
