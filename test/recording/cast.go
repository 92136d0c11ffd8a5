package recording

import (
	"bytes"
	"encoding/json"
	"fmt"
	"time"

	"github.com/charmbracelet/x/ansi"
	"github.com/charmbracelet/x/cellbuf"
)

// header is the first line of an asciicast: https://docs.asciinema.org/manual/asciicast/v2/.
type header struct {
	Version int               `json:"version"`
	Width   int               `json:"width"`
	Height  int               `json:"height"`
	Title   string            `json:"title"`
	Env     map[string]string `json:"env"`
	Theme   theme             `json:"theme"`
}

type theme struct {
	Foreground string `json:"fg"`
	Background string `json:"bg"`
	Palette    string `json:"palette"`
}

// Cast returns the recording as asciicast, version 2. An event draws the rows that a frame changes.
func (r *Recording) Cast() ([]byte, error) {
	var out bytes.Buffer
	lines := json.NewEncoder(&out)
	lines.SetEscapeHTML(false)
	err := lines.Encode(header{
		Version: 2, Width: r.Width, Height: r.Height, Title: r.Title,
		Env:   map[string]string{"SHELL": "/bin/sh", "TERM": "xterm-256color"},
		Theme: theme{Foreground: foreground, Background: background, Palette: paletteList()},
	})
	if err != nil {
		return nil, err
	}
	var at time.Duration
	shown := make([]string, r.Height)
	for i, f := range r.frames {
		var drawn bytes.Buffer
		drawn.WriteString(ansi.HideCursor)
		if i == 0 {
			drawn.WriteString(ansi.EraseEntireScreen)
		}
		grid := r.grid(f.Screen)
		for y := range r.Height {
			_, row := cellbuf.RenderLine(grid, y)
			if row != shown[y] {
				drawn.WriteString(ansi.CursorPosition(1, y+1) + ansi.ResetStyle + row + ansi.ResetStyle + ansi.EraseLineRight)
				shown[y] = row
			}
		}
		drawn.WriteString(ansi.CursorPosition(f.X+1, f.Y+1))
		if f.Pointer {
			drawn.WriteString(ansi.ShowCursor)
		}
		if err := lines.Encode([]any{seconds(at), "o", drawn.String()}); err != nil {
			return nil, err
		}
		at += f.For
	}
	err = lines.Encode([]any{seconds(at), "o", ""}) // players end with the last event
	return out.Bytes(), err
}

// seconds is a time of an asciicast, to the millisecond.
func seconds(d time.Duration) json.Number { return json.Number(fmt.Sprintf("%.3f", d.Seconds())) }
