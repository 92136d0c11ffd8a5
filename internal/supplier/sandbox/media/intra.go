package media

import "bytes"

// The types of a macroblock in the first picture: raw, or each row in the colour of the pixel on its left.
const (
	rawInIntra        = 25 // I_PCM
	horizontalInIntra = 2  // I_16x16 with horizontal prediction and no residual
	horizontalChroma  = 1  // intra_chroma_pred_mode
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
			w.ue(horizontalInIntra)
			w.ue(horizontalChroma)
			w.se(0)
			// No coefficients, in the code of the context: a raw neighbour counts as having all sixteen.
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
