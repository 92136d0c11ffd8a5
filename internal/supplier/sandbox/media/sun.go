package media

import "math"

// sun is a disc on its way over the sky.
type sun struct {
	radius        float64 // pixels
	width, height float64 // of the sky, pixels
	frames        int
}

// disc is the sun at one moment.
type disc struct{ x, y, radius float64 }

// at returns the sun's place; it moves with every second picture.
func (s sun) at(number int) disc {
	t := float64(number/2*2) / float64(max(s.frames, 2))
	return disc{
		x:      s.width * (0.12 + 0.76*t),
		y:      s.height * (0.85 - 1.4*t*(1-t)),
		radius: s.radius,
	}
}

// part is how much of a macroblock a disc fills.
type part int

const (
	none part = iota
	some
	whole
)

// fills says how much of the macroblock the disc fills, with a margin for its smooth edge.
func (d disc) fills(x, y int) part {
	const half, margin = macroblock / 2, 2
	dx := math.Abs(float64(x*macroblock+half) - d.x)
	dy := math.Abs(float64(y*macroblock+half) - d.y)
	switch {
	case math.Hypot(max(dx-half, 0), max(dy-half, 0)) >= d.radius+margin:
		return none
	case math.Hypot(dx+half, dy+half) <= d.radius-margin:
		return whole
	default:
		return some
	}
}

// coverage is how much of the disc a point shows, 0 to 256; the edge is so many pixels wide.
func (d disc) coverage(x, y, edge float64) int {
	return int(256 * min(max((d.radius-math.Hypot(x-d.x, y-d.y))/edge+0.5, 0), 1))
}

// lit returns a macroblock of the sky with the sun in it.
func (sc *scene) lit(d disc, x, y int) *sample {
	s := sc.base.at(x, y)
	left, top := float64(x*macroblock), float64(y*macroblock)
	for i := range 256 {
		c := d.coverage(left+float64(i%16)+0.5, top+float64(i/16)+0.5, 2)
		s[i] += uint8((sunColor[0] - int(s[i])) * c / 256)
	}
	for i := range 64 {
		c := d.coverage(left+float64(i%8*2)+1, top+float64(i/8*2)+1, 3)
		for plane := 1; plane < 3; plane++ {
			v := &s[192+64*plane+i]
			*v += uint8((sunColor[plane] - int(*v)) * c / 256)
		}
	}
	return s
}

// sunColor is a warm white in YCbCr.
var sunColor = [3]int{226, 112, 134}
