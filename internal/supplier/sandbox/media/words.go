package media

import (
	"image"
	"image/color"
	"strings"
	"sync"

	"golang.org/x/image/font"
	"golang.org/x/image/font/gofont/goregular"
	"golang.org/x/image/font/opentype"
	"golang.org/x/image/math/fixed"
)

// regular is the typeface of all words. It is embedded, so that it parses is a fact.
var regular = sync.OnceValue(func() *opentype.Font {
	f, err := opentype.Parse(goregular.TTF)
	if err != nil {
		panic(err)
	}
	return f
})

// paintWords writes text into the box, from its top, in at most so many lines on a dark plate.
func paintWords(img *image.RGBA, box image.Rectangle, text string, size float64, lines int) {
	if strings.TrimSpace(text) == "" || size < 6 {
		return
	}
	face, err := opentype.NewFace(regular(), &opentype.FaceOptions{Size: size, DPI: 72})
	if err != nil {
		return
	}
	defer func() { _ = face.Close() }()
	pad := int(size / 2)
	rows := wrapped(face, text, box.Dx()-2*pad, lines)
	height := face.Metrics().Height.Ceil()
	widest := 0
	for _, row := range rows {
		widest = max(widest, font.MeasureString(face, row).Ceil())
	}
	plate := image.Rect(0, 0, widest+2*pad, len(rows)*height+pad).Add(box.Min).Intersect(img.Rect)
	for y := plate.Min.Y; y < plate.Max.Y; y++ {
		for x := plate.Min.X; x < plate.Max.X; x++ {
			blend(img, x, y, color.RGBA{A: 255}, 120)
		}
	}
	d := font.Drawer{Dst: img, Src: image.White, Face: face}
	for i, row := range rows {
		d.Dot = fixed.P(box.Min.X+pad, box.Min.Y+pad/2+i*height+face.Metrics().Ascent.Ceil())
		d.DrawString(row)
	}
}

// wrapped breaks text into at most so many lines no wider than width pixels.
func wrapped(face font.Face, text string, width, lines int) []string {
	var rows []string
	row := ""
	for _, word := range strings.Fields(text) {
		longer := strings.TrimSpace(row + " " + word)
		if row == "" || font.MeasureString(face, longer).Ceil() <= width {
			row = longer
			continue
		}
		rows, row = append(rows, row), word
		if len(rows) == lines {
			rows[lines-1] += " …"
			row = ""
			break
		}
	}
	if row != "" {
		rows = append(rows, row)
	}
	for i := range rows {
		rows[i] = shortened(face, rows[i], width)
	}
	return rows
}

// shortened cuts a row that is wider than width pixels.
func shortened(face font.Face, row string, width int) string {
	if font.MeasureString(face, row).Ceil() <= width {
		return row
	}
	runes := []rune(row)
	low, high := 0, len(runes)
	for low < high {
		if mid := (low + high + 1) / 2; font.MeasureString(face, string(runes[:mid])+"…").Ceil() <= width {
			low = mid
		} else {
			high = mid - 1
		}
	}
	return string(runes[:low]) + "…"
}
