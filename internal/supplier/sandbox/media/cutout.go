package media

import (
	"image"
	"image/color"
	"image/draw"
)

// tolerance is how far a pixel's channels may be from the edge's colour, in all, for it to be background.
const tolerance = 96

// CutOut returns img with its background transparent: the pixels that are joined to the edge and are of about the
// edge's most frequent colour, or transparent already.
func CutOut(img image.Image) *image.NRGBA {
	b := img.Bounds()
	out := image.NewNRGBA(image.Rect(0, 0, b.Dx(), b.Dy()))
	draw.Draw(out, out.Rect, img, b.Min, draw.Src)
	seen := make([]bool, b.Dx()*b.Dy())
	queue := edgeOf(out.Rect)
	background := frequent(out, queue)
	for len(queue) > 0 {
		at := queue[len(queue)-1]
		queue = queue[:len(queue)-1]
		mark := &seen[at.Y*b.Dx()+at.X]
		if *mark {
			continue
		}
		*mark = true
		px := out.NRGBAAt(at.X, at.Y)
		if px.A > 0 && (background.A == 0 || distance(px, background) > tolerance) {
			continue
		}
		out.SetNRGBA(at.X, at.Y, color.NRGBA{})
		for _, step := range []image.Point{{X: 1}, {X: -1}, {Y: 1}, {Y: -1}} {
			if next := at.Add(step); next.In(out.Rect) && !seen[next.Y*b.Dx()+next.X] {
				queue = append(queue, next)
			}
		}
	}
	return out
}

// edgeOf returns the pixels along the sides.
func edgeOf(r image.Rectangle) []image.Point {
	var edge []image.Point
	for x := r.Min.X; x < r.Max.X; x++ {
		edge = append(edge, image.Pt(x, r.Min.Y), image.Pt(x, r.Max.Y-1))
	}
	for y := r.Min.Y; y < r.Max.Y; y++ {
		edge = append(edge, image.Pt(r.Min.X, y), image.Pt(r.Max.X-1, y))
	}
	return edge
}

// frequent returns the middle of the colours among which most of the pixels are; of equal ones, of the first. It is
// transparent if those are.
func frequent(img *image.NRGBA, pixels []image.Point) color.NRGBA {
	const coarse = 32 // steps of a channel that count as one colour
	type sum struct{ r, g, b, a, n int }
	sums := map[color.NRGBA]*sum{}
	var best *sum
	for _, at := range pixels {
		px := img.NRGBAAt(at.X, at.Y)
		key := color.NRGBA{px.R / coarse, px.G / coarse, px.B / coarse, px.A / 128}
		s := sums[key]
		if s == nil {
			s = &sum{}
			sums[key] = s
		}
		s.r, s.g, s.b, s.a, s.n = s.r+int(px.R), s.g+int(px.G), s.b+int(px.B), s.a+int(px.A/128), s.n+1
		if best == nil || s.n > best.n {
			best = s
		}
	}
	if best == nil {
		return color.NRGBA{}
	}
	return color.NRGBA{uint8(best.r / best.n), uint8(best.g / best.n), uint8(best.b / best.n), uint8(255 * best.a / best.n)}
}

// distance is the sum of the channels' differences.
func distance(a, b color.NRGBA) int {
	diff := func(a, b uint8) int { return max(int(a)-int(b), int(b)-int(a)) }
	return diff(a.R, b.R) + diff(a.G, b.G) + diff(a.B, b.B)
}
