package media

import (
	"image"
	"image/color"
	"math"
)

// Detail is how much is drawn.
type Detail int

// The details; Medium is the usual one.
const (
	Low Detail = iota
	Medium
	High
)

// PictureSpec describes a picture.
type PictureSpec struct {
	Prompt        string
	Avoid         string // colours named here are not the picture's
	Seed          int64
	Width, Height int // pixels, at least 1
	Detail        Detail
	Transparent   bool // around an ellipse, but for the plate behind the words
}

// Draw returns a picture: a composition, its colours and its shapes follow from the prompt and the
// seed, and the prompt's words are written into it.
func Draw(s PictureSpec) *image.RGBA {
	img := image.NewRGBA(image.Rect(0, 0, s.Width, s.Height))
	p := newPaletteBut(s.Prompt, s.Avoid, s.Seed)
	compositions := [...]func(*palette, *image.RGBA, Detail){drawHills, drawOrbs, drawLantern}
	compositions[p.random.IntN(len(compositions))](p, img, s.Detail)
	if s.Transparent {
		cutOut(img)
	}
	caption(img, s.Prompt)
	return img
}

// cutOut makes everything transparent but an ellipse with a smooth edge.
func cutOut(img *image.RGBA) {
	const inside, edge = 0.9, 0.02 // shares of half a side
	w, h := float64(img.Rect.Dx())/2, float64(img.Rect.Dy())/2
	for y := range img.Rect.Dy() {
		for x := range img.Rect.Dx() {
			far := math.Hypot((float64(x)+0.5)/w-1, (float64(y)+0.5)/h-1)
			cover := int(255 * min(max((inside-far)/edge+0.5, 0), 1))
			px := img.Pix[img.PixOffset(x, y):][:4]
			for i := range px {
				px[i] = uint8(int(px[i]) * cover / 255)
			}
		}
	}
}

// caption writes the prompt into the lower left corner.
func caption(img *image.RGBA, text string) {
	w, h := img.Rect.Dx(), img.Rect.Dy()
	size := float64(min(w, h)) / 22
	margin := int(size)
	box := image.Rect(margin, h-margin-int(3.2*size), w-margin, h)
	paintWords(img, box, text, size, 2)
}

// drawHills is a sky with a sun over ranges of hills.
func drawHills(p *palette, img *image.RGBA, d Detail) {
	w, h := float64(img.Rect.Dx()), float64(img.Rect.Dy())
	horizon := p.tone(25, 0.25, 1)
	paintSky(img, img.Rect.Dy(), p.tone(0, 0.7, 0.85), horizon)
	drawSun(img, w*p.between(0.2, 0.8), h*p.between(0.18, 0.38), min(w, h)*p.between(0.07, 0.12))
	layers := 3 + 2*int(d)
	for i := range layers {
		t := float64(i+1) / float64(layers)
		line := p.ridge(img.Rect.Dx(), w*1.3, h*(0.4+0.42*t), h*0.06*(1.2-t*0.5), 3+int(d))
		paintBelow(img, line, img.Rect.Dy(), mix(horizon, p.tone(-15, 0.75, 0.22), 0.15+0.85*t))
	}
}

// drawSun is a bright disc with a glow.
func drawSun(img *image.RGBA, x, y, radius float64) {
	paintDisc(img, x, y, radius*1.6, radius*2.2, color.RGBA{255, 244, 214, 255}, 0.55)
	paintDisc(img, x, y, radius, 1.5, color.RGBA{255, 250, 235, 255}, 1)
}

// drawOrbs is translucent discs on a gradient.
func drawOrbs(p *palette, img *image.RGBA, d Detail) {
	w, h := float64(img.Rect.Dx()), float64(img.Rect.Dy())
	paintSky(img, img.Rect.Dy(), p.tone(-30, 0.8, 0.25), p.tone(30, 0.7, 0.6))
	for range 10 + 8*int(d) {
		x, y, r := w*p.between(0, 1), h*p.between(0, 1), min(w, h)*p.between(0.03, 0.18)
		c := p.tone(p.between(-50, 50), p.between(0.3, 0.8), p.between(0.7, 1))
		paintDisc(img, x, y, r, p.between(1.5, r/2+2), c, p.between(0.25, 0.7))
		paintDisc(img, x-r/3, y-r/3, r/6, r/5+1, color.RGBA{255, 255, 255, 255}, 0.5)
	}
}

// drawLantern is rings of petals around a bright heart.
func drawLantern(p *palette, img *image.RGBA, d Detail) {
	w, h := float64(img.Rect.Dx()), float64(img.Rect.Dy())
	paintSky(img, img.Rect.Dy(), p.tone(180, 0.5, 0.2), p.tone(150, 0.6, 0.35))
	cx, cy, reach := w/2, h*0.45, min(w, h)*0.36
	rings := 3 + int(d)
	for ring := rings; ring > 0; ring-- {
		t := float64(ring) / float64(rings)
		petals := 5 + 3*ring
		turn := p.between(0, 1)
		for i := range petals {
			x, y := onCircle(cx, cy, reach*t, (float64(i)+turn)/float64(petals))
			paintDisc(img, x, y, reach*0.22*(0.5+t/2), 2, p.tone(40*(1-t), 0.85-0.3*t, 1-0.35*t), 0.75)
		}
	}
	drawSun(img, cx, cy, reach*0.18)
}
