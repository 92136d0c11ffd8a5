package recording

import (
	"fmt"
	"image/color"
	"strings"

	"github.com/charmbracelet/x/ansi"
	"github.com/charmbracelet/x/cellbuf"
)

// The window's colours. The background is lighter than that of GitHub's dark pages and darker than that of its light
// ones, so that the window stands out on both.
const (
	foreground = "#e6edf3"
	background = "#161b22"
	edge       = "#3d444d"
)

// palette is the sixteen colours that programs name by number.
var palette = [16]string{
	"#484f58", "#ff7b72", "#3fb950", "#d29922", "#58a6ff", "#bc8cff", "#39c5cf", "#b1bac4",
	"#6e7681", "#ffa198", "#56d364", "#e3b341", "#79c0ff", "#d2a8ff", "#56d4dd", "#ffffff",
}

func paletteList() string { return strings.Join(palette[:], ":") }

// hex returns a colour of the terminal as HTML writes it; otherwise stands for the default colour.
func hex(c color.Color, otherwise string) string {
	switch c := c.(type) {
	case nil:
		return otherwise
	case ansi.BasicColor:
		return palette[c%16]
	case ansi.IndexedColor:
		if c < 16 {
			return palette[c]
		}
	}
	r, g, b, _ := c.RGBA()
	return fmt.Sprintf("#%02x%02x%02x", r>>8, g>>8, b>>8)
}

// colours returns the colours of a cell as it is seen: reversed, faint or concealed.
func colours(s cellbuf.Style) (fg, bg string) {
	fg, bg = hex(s.Fg, foreground), hex(s.Bg, background)
	if s.Attrs.Contains(cellbuf.ReverseAttr) {
		fg, bg = bg, fg
	}
	if s.Attrs.Contains(cellbuf.FaintAttr) {
		fg = mix(fg, bg)
	}
	if s.Attrs.Contains(cellbuf.ConcealAttr) {
		fg = bg
	}
	return fg, bg
}

// mix is the colour of faint letters: three fifths of their own and the rest of what is behind them.
func mix(fg, bg string) string {
	var f, b [3]int
	for i := range f {
		_, _ = fmt.Sscanf(fg[1+2*i:3+2*i], "%02x", &f[i])
		_, _ = fmt.Sscanf(bg[1+2*i:3+2*i], "%02x", &b[i])
		f[i] = (3*f[i] + 2*b[i]) / 5
	}
	return fmt.Sprintf("#%02x%02x%02x", f[0], f[1], f[2])
}
