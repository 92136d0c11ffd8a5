package tui

import (
	"context"

	tea "github.com/charmbracelet/bubbletea"
)

// visit is the time with one service. Its messages are stamped, so that no answer of a service that was left is ever
// taken for one of another: no task, no result and no error.
type visit struct {
	number int
	whole  context.Context //nolint:containedctx // the program's, for the next visit
	ctx    context.Context //nolint:containedctx // ends the requests of this one
	end    context.CancelFunc
}

// stampedMsg is a message of a visit.
type stampedMsg struct {
	visit int
	msg   tea.Msg
}

func newVisit(whole context.Context) visit {
	ctx, end := context.WithCancel(whole)
	return visit{whole: whole, ctx: ctx, end: end}
}

// next ends the visit and begins another.
func (v visit) next() visit {
	v.end()
	next := newVisit(v.whole)
	next.number = v.number + 1
	return next
}

// stamp has a command's messages carry the visit's number.
func (v visit) stamp(cmd tea.Cmd) tea.Cmd {
	if cmd == nil {
		return nil
	}
	return func() tea.Msg {
		switch msg := cmd().(type) {
		case nil:
			return nil
		case tea.QuitMsg:
			return msg
		case tea.BatchMsg:
			all := make(tea.BatchMsg, len(msg))
			for i, one := range msg {
				all[i] = v.stamp(one)
			}
			return all
		default:
			return stampedMsg{v.number, msg}
		}
	}
}
