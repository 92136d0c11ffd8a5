package picture

import (
	"fmt"
	"image"
	"image/color"
	"strings"

	"github.com/muesli/termenv"
)

// shades are from dark to bright, for terminals without colours.
var shades = []rune(" ░▒▓█")

// Blocks draws a picture in at most so many columns and rows of characters. With colours a character is two pixels,
// one above the other, in the profile's colours; without them it is a shade.
func Blocks(img image.Image, columns, rows int, p termenv.Profile) []string {
	if columns < 1 || rows < 1 {
		return nil
	}
	size := fit(img.Bounds().Size(), image.Pt(columns, 2*rows))
	size.Y += size.Y % 2
	small := scaled(img, size)
	lines := make([]string, 0, size.Y/2)
	for y := 0; y < size.Y; y += 2 {
		if p == termenv.Ascii {
			lines = append(lines, shaded(small, y))
		} else {
			lines = append(lines, coloured(small, y, p))
		}
	}
	return lines
}

// coloured draws the pixels of two rows as half blocks; a sequence is written only at a change of colour.
func coloured(img *image.RGBA, y int, p termenv.Profile) string {
	var b strings.Builder
	var last [2]string
	for x := range img.Bounds().Dx() {
		now := [2]string{paint(p, img.RGBAAt(x, y), false), paint(p, img.RGBAAt(x, y+1), true)}
		if now != last {
			b.WriteString(termenv.CSI + now[0] + ";" + now[1] + "m")
			last = now
		}
		b.WriteRune('▀')
	}
	return b.String() + termenv.CSI + termenv.ResetSeq + "m"
}

func paint(p termenv.Profile, c color.RGBA, below bool) string {
	return p.Color(fmt.Sprintf("#%02x%02x%02x", c.R, c.G, c.B)).Sequence(below)
}

// shaded draws the pixels of two rows as one row of shades.
func shaded(img *image.RGBA, y int) string {
	var b strings.Builder
	for x := range img.Bounds().Dx() {
		above, below := color.GrayModel.Convert(img.RGBAAt(x, y)), color.GrayModel.Convert(img.RGBAAt(x, y+1))
		level := (int(above.(color.Gray).Y) + int(below.(color.Gray).Y)) / 2
		b.WriteRune(shades[min(level*len(shades)/256, len(shades)-1)])
	}
	return b.String()
}
