package tui

import (
	"io"

	"github.com/charmbracelet/lipgloss"
	"github.com/muesli/termenv"

	"unitask/internal/task"
)

// Style is the few colours and attributes used. They don't query the terminal's background, and each is beside a sign
// or a word with the same meaning.
type Style struct {
	bold, faint, cursor       lipgloss.Style
	accent, good, bad, busy   lipgloss.Style
	activeTab, tab, selection lipgloss.Style
	profile                   termenv.Profile // of pictures
	coloured                  bool
}

// NewStyle returns the style for a terminal. Without colour (NO_COLOR, or a terminal without colours) bold, faint and
// reverse remain: the cursor is one of them.
func NewStyle(out io.Writer, colour bool) Style {
	r := lipgloss.NewRenderer(out)
	r.SetHasDarkBackground(true) // never asked for
	if r.ColorProfile() == termenv.Ascii {
		colour = false
		r.SetColorProfile(termenv.ANSI)
	}
	plain := r.NewStyle()
	paint := func(s lipgloss.Style, code string) lipgloss.Style {
		if !colour {
			return s
		}
		return s.Foreground(lipgloss.Color(code))
	}
	return Style{
		bold: plain.Bold(true), faint: plain.Faint(true), cursor: plain.Reverse(true),
		accent: paint(plain.Bold(true), "6"), good: paint(plain, "2"), bad: paint(plain, "1"), busy: paint(plain, "6"),
		activeTab: paint(plain.Bold(true).Underline(true), "6"), tab: plain.Faint(true),
		selection: plain.Bold(true), profile: r.ColorProfile(), coloured: colour,
	}
}

// colours are those of pictures.
func (s Style) colours() termenv.Profile {
	if !s.coloured {
		return termenv.Ascii
	}
	return s.profile
}

// state is the style of a task's state.
func (s Style) state(state task.State) lipgloss.Style {
	switch state {
	case task.Succeeded:
		return s.good
	case task.Failed, task.Canceled:
		return s.bad
	case task.Queued:
		return s.faint
	default:
		return s.busy
	}
}

// sign is the mark of a task's state.
func sign(state task.State) string {
	switch state {
	case task.Queued:
		return "○"
	case task.Running:
		return "●"
	case task.Transferring:
		return "◆"
	case task.Succeeded:
		return "✓"
	case task.Failed:
		return "✗"
	case task.Canceled:
		return "-"
	default:
		return "?"
	}
}
