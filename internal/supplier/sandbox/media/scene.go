package media

import (
	"image"
	"image/color"
	"math"
	"time"
)

// scene is a video's content: a sky with a sun that crosses it in an arc, over bands of waves that roll by, each at
// its own speed. A band is whole rows of macroblocks and repeats itself sideways, so that the next picture is made of
// pieces of the one before.
type scene struct {
	base  *planes // the first picture, without the sun
	sky   int     // rows of macroblocks
	bands []band
	sun   sun
}

// band is rows of macroblocks that move to the left.
type band struct {
	top, bottom int // rows of macroblocks, bottom excluded
	period      int // pixels after which the band repeats itself; even
	speed       int // pixels a picture; even
}

// VideoSpec describes a video.
type VideoSpec struct {
	Prompt        string
	Seed          int64
	Width, Height int           // pixels, even, at least 128
	Seconds       float64       // above 0
	Day           float64       // seconds after which the sun has set; 0: at the end
	Sound         bool          // with a soft tone
	Backdrop      image.Image   // shown in the sky; may be nil
	Others        []image.Image // shown small, in the sky
}

// Length is how long the video is: whole pictures.
func (s VideoSpec) Length() time.Duration {
	return time.Duration(s.frames()) * time.Second / framesPerSecond
}

// frames is how many pictures the video has.
func (s VideoSpec) frames() int {
	return max(1, int(math.Round(s.Seconds*framesPerSecond)))
}

// day is how many pictures the sun takes.
func (s VideoSpec) day() int {
	if s.Day > 0 {
		s.Seconds = s.Day
	}
	return s.frames()
}

// newScene paints the scene at its beginning.
func newScene(s VideoSpec, across, down int) *scene {
	p := newPalette(s.Prompt, s.Seed)
	img := image.NewRGBA(image.Rect(0, 0, across*macroblock, down*macroblock))
	sc := &scene{sky: max(down*11/20, 1)}
	horizon := p.tone(25, 0.25, 0.95)
	skyHeight := sc.sky * macroblock
	paintSky(img, skyHeight, p.tone(0, 0.7, 0.7), horizon)
	if s.Backdrop != nil {
		cover(img, backdropIn(s.Width, skyHeight), s.Backdrop)
	}
	size := float64(min(s.Width, s.Height)) / 20
	sky := image.Rect(0, 0, s.Width, skyHeight)
	insets(img.SubImage(sky).(*image.RGBA), s.Others, int(4*size))
	paintWords(img, sky.Inset(int(size)), s.Prompt, size, 2)
	sc.roll(p, img, horizon, s.Width)
	sc.base = fromRGBA(img, across, down)
	sc.sun = sun{radius: float64(skyHeight) / 7, width: float64(s.Width), height: float64(skyHeight), frames: s.day()}
	return sc
}

// backdropBlocks bounds the macroblocks of a backdrop: they are sent raw, 384 bytes each.
const backdropBlocks = 6000

// backdropIn returns the place of a backdrop in a sky of so many pixels: all of it, or its middle if it is too large.
func backdropIn(width, height int) image.Rectangle {
	part := min(1, math.Sqrt(backdropBlocks*macroblock*macroblock/float64(width*height)))
	size := image.Pt(int(part*float64(width)), int(part*float64(height)))
	corner := image.Pt(width, height).Sub(size).Div(2)
	return image.Rectangle{corner, corner.Add(size)}
}

// roll paints the bands below the sky.
func (sc *scene) roll(p *palette, img *image.RGBA, above color.RGBA, width int) {
	const count = 4
	down := img.Rect.Dy() / macroblock
	period := width / 2 &^ 1
	for i := range count {
		b := band{
			top:    sc.sky + (down-sc.sky)*i/count,
			bottom: sc.sky + (down-sc.sky)*(i+1)/count,
			period: min(period, 1000),
			speed:  max(width/640, 1) * 2 * (i + 1),
		}
		if b.top == b.bottom {
			continue
		}
		body := p.tone(-10, 0.75, 0.75-0.15*float64(i))
		b.paint(p, img, above, body)
		sc.bands, above = append(sc.bands, b), body
	}
}

// paint draws a wave of one colour, with foam on its crest, before the area above it.
func (b band) paint(p *palette, img *image.RGBA, above, body color.RGBA) {
	top, height := float64(b.top*macroblock), float64((b.bottom-b.top)*macroblock)
	for y := b.top * macroblock; y < b.bottom*macroblock; y++ {
		paintRow(img, y, above)
	}
	crest := p.ridge(img.Rect.Dx(), float64(b.period), top+height*0.5, height*0.2, 3)
	foam := make([]float64, len(crest))
	for x, y := range crest {
		crest[x] = min(max(y, top+1), top+height-1)
		foam[x] = min(crest[x]+max(height/16, 2), top+height)
	}
	bottom := b.bottom * macroblock
	paintBelow(img, crest, bottom, mix(body, color.RGBA{255, 255, 255, 255}, 0.6))
	paintBelow(img, foam, bottom, body)
}

// shift is how far right of a macroblock its content was one picture ago.
func (b band) shift(x, across int) int {
	if (x+1)*macroblock+b.speed > across*macroblock {
		return b.speed - b.period
	}
	return b.speed
}

// picture returns the whole picture with the given number, as a decoder should show it.
func (sc *scene) picture(number int) *planes {
	p := newPlanes(sc.base.across, sc.base.down)
	now := sc.sun.at(number)
	for y := range sc.sky {
		for x := range p.across {
			p.set(x, y, sc.lit(now, x, y))
		}
	}
	for _, b := range sc.bands {
		b.rolled(p, sc.base, number)
	}
	return p
}

// rolled copies the band from its place at the beginning.
func (b band) rolled(p, base *planes, number int) {
	for i, side := range sides {
		scale := macroblock / side
		period, by := b.period/scale, number*b.speed%b.period/scale
		for y := b.top * side; y < b.bottom*side; y++ {
			to, from := p.plane[i][y*p.stride[i]:], base.plane[i][y*p.stride[i]:]
			for x := range p.stride[i] {
				to[x] = from[(x+by)%period]
			}
		}
	}
}

// plan returns the action of the numbered picture for each macroblock.
func (sc *scene) plan(number int) func(x, y int) action {
	before, now := sc.sun.at(number-1), sc.sun.at(number)
	current := 0
	return func(x, y int) action {
		if y < sc.sky {
			if filled := now.fills(x, y); before == now || filled != some && filled == before.fills(x, y) {
				return action{}
			}
			return action{raw: sc.lit(now, x, y)}
		}
		for current+1 < len(sc.bands) && y >= sc.bands[current].bottom {
			current++
		}
		return action{shift: sc.bands[current].shift(x, sc.base.across)}
	}
}
