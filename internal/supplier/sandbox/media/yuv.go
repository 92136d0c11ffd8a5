package media

import "image"

// sample is one macroblock's raw content: 256 luma, then 64 blue and 64 red differences.
type sample [384]byte

// planes is a picture in YCbCr 4:2:0, BT.709 limited range, padded to whole macroblocks.
type planes struct {
	across, down int // macroblocks
	plane        [3][]byte
	stride       [3]int
}

// sides is a macroblock's size in each plane.
var sides = [3]int{16, 8, 8}

func newPlanes(across, down int) *planes {
	luma := across * down * 256
	return &planes{
		across: across, down: down,
		plane:  [3][]byte{make([]byte, luma), make([]byte, luma/4), make([]byte, luma/4)},
		stride: [3]int{across * 16, across * 8, across * 8},
	}
}

// fromRGBA converts a picture of whole macroblocks.
func fromRGBA(img *image.RGBA, across, down int) *planes {
	p := newPlanes(across, down)
	for y := 0; y < down*16; y += 2 {
		for x := 0; x < across*16; x += 2 {
			var r, g, b int
			for i := range 4 {
				px := img.Pix[img.PixOffset(x+i%2, y+i/2):][:4]
				p.plane[0][(y+i/2)*p.stride[0]+x+i%2] = luma(int(px[0]), int(px[1]), int(px[2]))
				r, g, b = r+int(px[0]), g+int(px[1]), b+int(px[2])
			}
			at := y/2*p.stride[1] + x/2
			p.plane[1][at], p.plane[2][at] = chroma(r/4, g/4, b/4)
		}
	}
	return p
}

// luma and chroma are the BT.709 matrix in 16-bit fixed point, for limited range.
func luma(r, g, b int) byte { return byte(16 + (11966*r+40254*g+4064*b+32768)>>16) }

func chroma(r, g, b int) (blue, red byte) {
	return byte(128 + (-6596*r-22189*g+28785*b+32768)>>16), byte(128 + (28785*r-26145*g-2640*b+32768)>>16)
}

// at returns the macroblock's content.
func (p *planes) at(x, y int) *sample {
	s := &sample{}
	to := s[:]
	for i, side := range sides {
		for row := range side {
			from := (y*side+row)*p.stride[i] + x*side
			copy(to, p.plane[i][from:from+side])
			to = to[side:]
		}
	}
	return s
}

// set replaces the macroblock's content.
func (p *planes) set(x, y int, s *sample) {
	from := s[:]
	for i, side := range sides {
		for row := range side {
			to := (y*side+row)*p.stride[i] + x*side
			copy(p.plane[i][to:to+side], from)
			from = from[side:]
		}
	}
}
