package main

import (
	"fmt"
	"io"
	"os"
	"sync"

	"github.com/charmbracelet/lipgloss"
	"github.com/charmbracelet/x/ansi"
	"golang.org/x/term"

	"unitask/internal/shown"
)

const fallbackWidth = 80 // columns, if the terminal doesn't say

// terminal is the three streams and their properties.
type terminal struct {
	in       io.Reader // a read of it hears no signal: stdin does
	out, err io.Writer
	inTTY    bool
	inPiped  bool // stdin is a pipe or a file: a shell gave it. A socket isn't, which programs give without use for it
	outTTY   bool
	errTTY   bool // and able to redraw a line
	width    func() int
	style    styles // for out
	errStyle styles
	filter   *filter // of --jq, nil without one
	format   format
	failed   error // of a help, which the library lets return none

	screen sync.Mutex // held by a writer beside a redrawn line, and by a question until its answer
	drawn  bool       // whether the line is there; guarded by screen
}

// styles are the few colours used; they don't query the background.
type styles struct{ bold, faint, good, bad, busy lipgloss.Style }

func newTerminal(in, out, err *os.File) *terminal {
	t := &terminal{
		in: in, out: out, err: err,
		inTTY: term.IsTerminal(int(in.Fd())), outTTY: term.IsTerminal(int(out.Fd())),
		inPiped: isPiped(in),
		errTTY:  term.IsTerminal(int(err.Fd())) && os.Getenv("TERM") != "dumb",
		style:   newStyles(out), errStyle: newStyles(err),
	}
	t.width = func() int {
		for _, f := range []*os.File{out, err} {
			if w, _, sizeErr := term.GetSize(int(f.Fd())); sizeErr == nil && w > 0 {
				return w
			}
		}
		return fallbackWidth
	}
	return t
}

func isPiped(in *os.File) bool {
	info, err := in.Stat()
	return err == nil && (info.Mode().IsRegular() || info.Mode()&os.ModeNamedPipe != 0)
}

// newStyles judges colour by the stream that is written to; NO_COLOR and TERM=dumb turn it off.
func newStyles(w io.Writer) styles {
	r := lipgloss.NewRenderer(w)
	return styles{
		bold:  r.NewStyle().Bold(true),
		faint: r.NewStyle().Faint(true),
		good:  r.NewStyle().Foreground(lipgloss.Color("2")),
		bad:   r.NewStyle().Foreground(lipgloss.Color("1")),
		busy:  r.NewStyle().Foreground(lipgloss.Color("6")),
	}
}

// note writes a line for the person, never data. Of the control sequences it lets colours pass alone.
func (t *terminal) note(format string, args ...any) {
	_, _ = fmt.Fprintln(t.err, shown.Styled(fmt.Sprintf(format, args...)))
}

// above writes results or notes beside a redrawn line, which comes back below them.
func (t *terminal) above(write func()) {
	t.screen.Lock()
	defer t.screen.Unlock()
	t.clearLocked()
	write()
}

// clearLocked clears the line that is being redrawn.
func (t *terminal) clearLocked() {
	if t.drawn {
		_, _ = fmt.Fprint(t.err, "\r\x1b[K")
		t.drawn = false
	}
}

// link is an address in one line. A terminal opens it at a click, whole though it spans lines; one that knows no such
// links shows the address alone.
func (t *terminal) link(address string) string {
	address = oneLine(address)
	if kind := os.Getenv("TERM"); !t.outTTY || kind == "dumb" || kind == "linux" {
		return address
	}
	return ansi.SetHyperlink(address) + address + ansi.ResetHyperlink()
}

// safe returns text as it may be shown: on a terminal without the characters with which a text from
// elsewhere could steer it.
func (t *terminal) safe(text string) string {
	if !t.outTTY {
		return text
	}
	return printable(text)
}

// printable is text from elsewhere as a person gets it, wherever stderr leads.
func printable(text string) string { return shown.Text(text) }
