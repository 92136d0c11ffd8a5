// Package recording keeps what a terminal showed, frame by frame, and writes it as an asciicast and as a picture that
// moves: an SVG whose animation is CSS alone, as GitHub shows one. It starts no terminal and knows no program.
//
// Frames come with the wall clock's gaps between them, which a busy machine stretches. A gap is cut to a bound, so that
// the same session gives a recording of about the same length anywhere.
package recording

import (
	"strings"
	"time"

	"github.com/charmbracelet/x/ansi"
	"github.com/charmbracelet/x/cellbuf"
)

const (
	// shortest and longest bound the time of a frame that isn't held.
	shortest = 60 * time.Millisecond
	longest  = 400 * time.Millisecond

	// ending is how long the last frame stays before the animation begins again.
	ending = 4 * time.Second
)

// Screen is the state of a terminal: rows with SGR sequences, separated by line feeds, and the cursor.
type Screen struct {
	Rows    string
	X, Y    int // of the cursor, from 0
	Pointer bool
}

// Frame is a screen and how long it is shown.
type Frame struct {
	Screen
	For time.Duration
}

// Recording is a session in a terminal of one size.
type Recording struct {
	Title         string
	Width, Height int
	frames        []Frame
	seen          time.Time // of the last frame
	held          bool
}

// Add appends a screen that was seen at the time. One that equals the last frame is left out.
func (r *Recording) Add(s Screen, at time.Time) {
	if n := len(r.frames); n > 0 {
		last := &r.frames[n-1]
		if last.Screen == s {
			return
		}
		if !r.held {
			last.For = min(max(at.Sub(r.seen), shortest), longest)
		}
	}
	r.frames = append(r.frames, Frame{Screen: s, For: ending})
	r.seen, r.held = at, false
}

// Hold says how long the last frame is shown, for a person to read it.
func (r *Recording) Hold(d time.Duration) {
	if n := len(r.frames); n > 0 {
		r.frames[n-1].For, r.held = d, true
	}
}

// Frames returns the frames in the order in which they were seen.
func (r *Recording) Frames() []Frame { return r.frames }

// Length is how long the whole takes.
func (r *Recording) Length() time.Duration {
	var sum time.Duration
	for _, f := range r.frames {
		sum += f.For
	}
	return sum
}

// Text returns the words of a screen without their colours.
func (s Screen) Text() string {
	lines := strings.Split(ansi.Strip(s.Rows), "\n")
	for i := range lines {
		lines[i] = strings.TrimRight(lines[i], " ")
	}
	return strings.TrimRight(strings.Join(lines, "\n"), "\n")
}

// grid returns the cells of a screen. A row's colours don't go on in the next one, as they do in the rows.
func (r *Recording) grid(s Screen) *cellbuf.Buffer {
	grid := cellbuf.NewBuffer(r.Width, r.Height)
	cellbuf.SetContent(grid, strings.TrimSuffix(s.Rows, "\n"))
	return grid
}
