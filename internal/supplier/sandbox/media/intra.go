package media

import "bytes"

// The forms of a macroblock in the first picture: raw, or each row in the colours of the pixels on its left.
const (
	rawInIntra       = 25 // I_PCM
	sidewaysInIntra  = 2  // I_16x16, predicted sideways, and no difference from it
	chromaIsSideways = 1
)

// intra returns p as the IDR picture, exactly.
func (e *encoder) intra(p *planes) []byte {
	w := &bitWriter{}
	w.ue(0)
	w.ue(7)
	w.ue(0)
	w.put(0, frameNumberBits)
	w.ue(0)
	w.put(0, 2)
	w.se(0)
	w.ue(1)
	for y := range e.down {
		for x := range e.across {
			e.rawRow[x] = !p.goesOn(x, y)
			if e.rawRow[x] {
				w.ue(rawInIntra)
				w.align()
				w.raw(p.at(x, y)[:])
				continue
			}
			w.ue(sidewaysInIntra)
			w.ue(chromaIsSideways)
			w.se(0)
			// No coefficients: the code for that is another beside a raw neighbour, which counts as full of them.
			if e.rawRow[x-1] || y > 0 && e.rawAbove[x] {
				w.put(0b000011, 6)
			} else {
				w.put(1, 1)
			}
		}
		e.rawAbove, e.rawRow = e.rawRow, e.rawAbove
	}
	w.stop()
	return nal(nalIDR, w.out)
}

// goesOn reports whether each of the macroblock's rows is all of the colour of the pixel on its left.
func (p *planes) goesOn(x, y int) bool {
	for i, side := range sides {
		for row := range side {
			at := (y*side+row)*p.stride[i] + x*side
			if x == 0 || bytes.Count(p.plane[i][at:at+side], p.plane[i][at-1:at]) < side {
				return false
			}
		}
	}
	return true
}
