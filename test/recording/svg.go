package recording

import (
	"bytes"
	"encoding/xml"
	"fmt"
	"slices"
	"strings"
	"time"
)

// The measures of the window, in pixels.
const (
	cellWidth  = 9
	cellHeight = 18
	baseline   = 14 // of a row's letters, from its top
	margin     = 18
	bar        = 36 // the window's title bar
)

// period is the frames from the first up to, and without, the second.
type period struct{ from, to int }

// SVG returns the recording as a moving picture. Each row that was shown is in it once for its place, and is visible
// while it was there. Without motion it is the last frame.
func (r *Recording) SVG() []byte {
	var out bytes.Buffer
	width, height := r.Width*cellWidth+2*margin, r.Height*cellHeight+bar+margin
	fmt.Fprintf(&out, `<svg xmlns="http://www.w3.org/2000/svg" width="%d" height="%d" viewBox="0 0 %[1]d %[2]d" role="img">`+"\n", width, height)
	fmt.Fprintf(&out, "<title>%s</title>\n", escape(r.Title))
	groups, order := r.groups()
	out.WriteString("<style>\n" + fixedStyle)
	for i, p := range palette {
		fmt.Fprintf(&out, ".c%d{fill:%s}", i, p)
	}
	fmt.Fprintf(&out, "\n.f{animation:%.3fs step-end infinite}\n", r.Length().Seconds())
	for i, key := range order {
		fmt.Fprintf(&out, "#g%d{animation-name:k%[1]d}@keyframes k%[1]d{%s}\n", i, r.keyframes(groups[key].shown))
	}
	out.WriteString("@media (prefers-reduced-motion:reduce){.f{animation:none}}\n</style>\n")
	r.window(&out, width, height)
	fmt.Fprintf(&out, `<g transform="translate(%d %d)">`+"\n", margin, bar)
	for i, key := range order {
		g := groups[key]
		class := "f"
		if g.shown[len(g.shown)-1].to == len(r.frames) {
			class = "f l"
		}
		fmt.Fprintf(&out, `<g id="g%d" class="%s">%s</g>`+"\n", i, class, g.drawn)
	}
	out.WriteString("</g>\n</svg>\n")
	return out.Bytes()
}

const fixedStyle = `text{font:15px ui-monospace,SFMono-Regular,"SF Mono",Menlo,Consolas,"DejaVu Sans Mono","Liberation Mono",monospace;white-space:pre;fill:` +
	foreground + `}
.b{font-weight:700}.i{font-style:italic}.u{text-decoration:underline}.s{text-decoration:line-through}
.f{visibility:hidden}.l{visibility:visible}
`

// window draws a terminal's window with its title.
func (r *Recording) window(out *bytes.Buffer, width, height int) {
	fmt.Fprintf(out, `<rect x=".5" y=".5" width="%d" height="%d" rx="9" fill="%s" stroke="%s"/>`+"\n", width-1, height-1, background, edge)
	for i, colour := range []string{"#ff5f57", "#febc2e", "#28c840"} {
		fmt.Fprintf(out, `<circle cx="%d" cy="17" r="6" fill="%s"/>`, 20+20*i, colour)
	}
	fmt.Fprintf(out, `<text x="%d" y="22" text-anchor="middle" style="font-size:13px;fill:#8b949e">%s</text>`+"\n", width/2, escape(r.Title))
}

// group is rows that are shown at the same times.
type group struct {
	shown []period
	drawn string
}

// groups draws each row once for each place, and puts those together that are seen together. The order is that in
// which they appear.
func (r *Recording) groups() (groups map[string]*group, order []string) {
	type placed struct {
		y     int
		drawn string
	}
	shown := map[placed][]period{}
	var found []placed
	for i, f := range r.frames {
		for y, w := range r.rows(f.Screen) {
			p := placed{y, w.draw(y)}
			if p.drawn == "" {
				continue
			}
			times, known := shown[p]
			if !known {
				found = append(found, p)
			}
			if n := len(times); n > 0 && times[n-1].to == i {
				times[n-1].to++
			} else {
				times = append(times, period{i, i + 1})
			}
			shown[p] = times
		}
	}
	groups = map[string]*group{}
	for _, p := range found {
		key := fmt.Sprint(shown[p])
		g, known := groups[key]
		if !known {
			g = &group{shown: shown[p]}
			groups[key] = g
			order = append(order, key)
		}
		g.drawn += p.drawn
	}
	return groups, order
}

// keyframes says when a group is visible, in percent of the whole time.
func (r *Recording) keyframes(shown []period) string {
	starts := []time.Duration{0}
	for _, f := range r.frames {
		starts = append(starts, starts[len(starts)-1]+f.For)
	}
	var out strings.Builder
	at := func(frame int, visibility string) {
		fmt.Fprintf(&out, "%.5g%%{visibility:%s}", 100*float64(starts[frame])/float64(r.Length()), visibility)
	}
	if shown[0].from > 0 {
		at(0, "hidden")
	}
	for _, p := range shown {
		at(p.from, "visible")
		at(p.to, "hidden")
	}
	return out.String()
}

// draw returns a row in its place; one without letters and colours is "".
func (w row) draw(y int) string {
	var out strings.Builder
	top := y * cellHeight
	byColour := map[string][]box{}
	var colours []string
	for _, b := range w.boxes {
		if !slices.Contains(colours, b.colour) {
			colours = append(colours, b.colour)
		}
		byColour[b.colour] = append(byColour[b.colour], b)
	}
	for _, colour := range colours {
		fmt.Fprintf(&out, `<path fill="%s" d="`, colour)
		for _, b := range byColour[colour] {
			fmt.Fprintf(&out, "M%d %dh%dv%dh-%[3]dz", b.x, top+b.top, b.width, b.height)
		}
		out.WriteString(`"/>`)
	}
	for _, s := range w.spans {
		fmt.Fprintf(&out, `<text x="%d" y="%d"`, s.x*cellWidth, top+baseline)
		if s.width > 1 {
			fmt.Fprintf(&out, ` textLength="%d"`, s.width*cellWidth)
		}
		fmt.Fprintf(&out, `%s>%s</text>`, s.attributes(), escape(s.text))
	}
	return out.String()
}

// attributes are a look's class and, if it isn't of the palette, its colour.
func (l look) attributes() string {
	var classes []string
	fill := ""
	if i := slices.Index(palette[:], l.colour); i >= 0 {
		classes = append(classes, fmt.Sprintf("c%d", i))
	} else if l.colour != foreground {
		fill = fmt.Sprintf(` style="fill:%s"`, l.colour)
	}
	for _, c := range []struct {
		name string
		is   bool
	}{{"b", l.bold}, {"i", l.italic}, {"u", l.underlined}, {"s", l.struck}} {
		if c.is {
			classes = append(classes, c.name)
		}
	}
	if len(classes) == 0 {
		return fill
	}
	return fmt.Sprintf(` class="%s"%s`, strings.Join(classes, " "), fill)
}

func escape(s string) string {
	var out strings.Builder
	_ = xml.EscapeText(&out, []byte(s)) // a strings.Builder takes everything
	return out.String()
}
