package media

import (
	"image"
	"image/color"
	"math"
)

// blend lays c over the pixel with the given coverage, 0 to 255.
func blend(img *image.RGBA, x, y int, c color.RGBA, cover int) {
	px := img.Pix[img.PixOffset(x, y):][:4]
	px[0] += uint8((int(c.R) - int(px[0])) * cover / 255)
	px[1] += uint8((int(c.G) - int(px[1])) * cover / 255)
	px[2] += uint8((int(c.B) - int(px[2])) * cover / 255)
	px[3] = 255
}

// paintRow gives one row of pixels a colour.
func paintRow(img *image.RGBA, y int, c color.RGBA) {
	row := img.Pix[img.PixOffset(img.Rect.Min.X, y):][:4*img.Rect.Dx()]
	for i := 0; i < len(row); i += 4 {
		row[i], row[i+1], row[i+2], row[i+3] = c.R, c.G, c.B, 255
	}
}

// paintSky fills the rows [0, height) with a gradient.
func paintSky(img *image.RGBA, height int, top, bottom color.RGBA) {
	for y := range height {
		paintRow(img, y, mix(top, bottom, float64(y)/float64(height)))
	}
}

// paintDisc lays a smooth-edged disc over the picture; opacity is 0 to 1 and soft is the width of
// the edge in pixels.
func paintDisc(img *image.RGBA, cx, cy, radius, soft float64, c color.RGBA, opacity float64) {
	reach := radius + soft
	area := image.Rect(int(cx-reach), int(cy-reach), int(cx+reach)+2, int(cy+reach)+2).Intersect(img.Rect)
	for y := area.Min.Y; y < area.Max.Y; y++ {
		for x := area.Min.X; x < area.Max.X; x++ {
			far := math.Hypot(float64(x)+0.5-cx, float64(y)+0.5-cy)
			if cover := min(max((radius-far)/soft+0.5, 0), 1); cover > 0 {
				blend(img, x, y, c, int(255*cover*opacity))
			}
		}
	}
}

// paintBelow fills the area below a line, given as its height at each column, down to bottom.
func paintBelow(img *image.RGBA, line []float64, bottom int, c color.RGBA) {
	top := bottom
	for _, v := range line {
		top = min(top, int(v))
	}
	for y := max(top, 0); y < bottom; y++ {
		for x, v := range line {
			if cover := min(max(float64(y)+1-v, 0), 1); cover > 0 {
				blend(img, x, y, c, int(255*cover))
			}
		}
	}
}

// ridge is a line of summed sines around a height; octaves is how rough it is. The line repeats
// itself every period columns.
func (p *palette) ridge(width int, period, height, amplitude float64, octaves int) []float64 {
	line := make([]float64, width)
	for i := range octaves {
		turns := float64(i + 1 + p.random.IntN(i+1))
		phase := p.between(0, 2*math.Pi)
		for x := range line {
			at := math.Mod(float64(x), period)
			line[x] += amplitude / float64(i+1) * math.Sin(2*math.Pi*turns*at/period+phase)
		}
	}
	for x := range line {
		line[x] += height
	}
	return line
}

// onCircle is the point at a turn, 0 to 1, around a centre.
func onCircle(cx, cy, radius, turn float64) (x, y float64) {
	sin, cos := math.Sincos(2 * math.Pi * turn)
	return cx + radius*cos, cy + radius*sin
}
