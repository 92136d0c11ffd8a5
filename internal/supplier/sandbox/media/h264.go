package media

// The writer's H.264 is constrained baseline: one IDR picture of macroblocks that go on in the colours on their left or
// are raw, then pictures that move macroblocks of the one before sideways, keep them, or send them raw. There is no
// filter and no rounding: a decoder shows exactly the pictures that were painted.
const (
	framesPerSecond = 24
	macroblock      = 16 // pixels a side
	frameNumberBits = 8

	nalSlice, nalIDR, nalSequence, nalPicture = 0x41, 0x65, 0x67, 0x68

	rawInPredicted = 30 // mb_type of I_PCM
)

// action is one picture's treatment of one macroblock of the picture before.
type action struct {
	shift int     // pixels to the right of the source of the content; 0 keeps it
	raw   *sample // the new content, if it is sent
}

// encoder writes the pictures of one video.
type encoder struct {
	width, height int // pixels shown
	across, down  int // macroblocks
	above, row    []int
	rawAbove      []bool
	rawRow        []bool
}

func newEncoder(width, height int) *encoder {
	across, down := (width+15)/macroblock, (height+15)/macroblock
	return &encoder{
		width: width, height: height, across: across, down: down,
		above: make([]int, across), row: make([]int, across),
		rawAbove: make([]bool, across), rawRow: make([]bool, across),
	}
}

// level returns the level_idc that allows the picture's size at the frame rate.
func (e *encoder) level() byte {
	switch blocks := e.across * e.down; {
	case blocks <= 1620:
		return 30
	case blocks <= 3600:
		return 31
	case blocks <= 8192:
		return 40
	case blocks <= 22080:
		return 50
	default:
		return 51
	}
}

// sequence returns the sequence parameter set.
func (e *encoder) sequence() []byte {
	w := &bitWriter{}
	w.raw([]byte{66, 0xC0, e.level()})
	w.ue(0)
	w.ue(frameNumberBits - 4)
	w.ue(2) // pictures are shown in the order of decoding
	w.ue(1) // one reference picture
	w.put(0, 1)
	w.ue(e.across - 1)
	w.ue(e.down - 1)
	w.put(0b11, 2) // frames only; direct inference
	right, bottom := e.across*macroblock-e.width, e.down*macroblock-e.height
	if right+bottom == 0 {
		w.put(0, 1)
	} else {
		w.put(1, 1)
		w.ue(0)
		w.ue(right / 2)
		w.ue(0)
		w.ue(bottom / 2)
	}
	w.put(1, 1)
	e.usability(w)
	w.stop()
	return nal(nalSequence, w.out)
}

// usability writes square pixels, BT.709 colours, the frame rate and that pictures aren't reordered.
func (e *encoder) usability(w *bitWriter) {
	w.put(1, 1)
	w.put(1, 8)
	w.put(0, 1)
	w.put(0b1_101_0_1, 6)
	w.put(0x010101, 24)
	w.put(0, 1)
	w.put(1, 1)
	w.put(1, 32)
	w.put(2*framesPerSecond, 32)
	w.put(1, 1)
	w.put(0b000, 3)
	w.put(0b11, 2)
	for _, v := range []int{0, 0, 15, 15, 0, 1} {
		w.ue(v)
	}
}

// picture returns the picture parameter set.
func (e *encoder) picture() []byte {
	w := &bitWriter{}
	w.ue(0)
	w.ue(0)
	w.put(0, 2)
	w.ue(0)
	w.ue(0)
	w.ue(0)
	w.put(0, 3)
	w.se(0)
	w.se(0)
	w.se(0)
	w.put(0b100, 3) // slices say that the deblocking filter is off
	w.stop()
	return nal(nalPicture, w.out)
}

// predicted returns the picture with the given number, as plan says for each macroblock.
func (e *encoder) predicted(number int, plan func(x, y int) action) []byte {
	w := &bitWriter{}
	w.ue(0)
	w.ue(5)
	w.ue(0)
	w.put(uint32(number), frameNumberBits)
	w.put(0, 3)
	w.se(0)
	w.ue(1)
	skipped := 0
	for y := range e.down {
		for x := range e.across {
			a := plan(x, y)
			e.row[x], e.rawRow[x] = 4*a.shift, a.raw != nil
			switch {
			case a.raw != nil:
				w.ue(skipped)
				skipped = 0
				w.ue(rawInPredicted)
				w.align()
				w.raw(a.raw[:])
			case e.row[x] == e.inferred(x, y):
				skipped++
			default:
				w.ue(skipped)
				skipped = 0
				w.ue(0)
				w.se(e.row[x] - e.median(x, y))
				w.se(0)
				w.ue(0)
			}
		}
		e.above, e.row = e.row, e.above
		e.rawAbove, e.rawRow = e.rawRow, e.rawAbove
	}
	if skipped > 0 {
		w.ue(skipped)
	}
	w.stop()
	return nal(nalSlice, w.out)
}

// inferred is the sideways motion that a skipped macroblock has.
func (e *encoder) inferred(x, y int) int {
	if x == 0 || y == 0 || !e.rawRow[x-1] && e.row[x-1] == 0 || !e.rawAbove[x] && e.above[x] == 0 {
		return 0
	}
	return e.median(x, y)
}

// median is the sideways motion predicted from the neighbours on the left, above and above right.
func (e *encoder) median(x, y int) int {
	var a, b, c int
	var hasA, hasB, hasC bool // and refer to the picture before
	if x > 0 && !e.rawRow[x-1] {
		a, hasA = e.row[x-1], true
	}
	if y == 0 {
		return a
	}
	if !e.rawAbove[x] {
		b, hasB = e.above[x], true
	}
	corner := x + 1
	if corner == e.across {
		corner = x - 1
	}
	if corner >= 0 && !e.rawAbove[corner] {
		c, hasC = e.above[corner], true
	}
	switch {
	case hasA && !hasB && !hasC:
		return a
	case hasB && !hasA && !hasC:
		return b
	case hasC && !hasA && !hasB:
		return c
	}
	return max(min(a, b), min(max(a, b), c))
}

// nal wraps a payload as a network abstraction layer unit, with emulation prevention.
func nal(header byte, payload []byte) []byte {
	out := make([]byte, 1, len(payload)+len(payload)/64+1)
	out[0] = header
	zeros := 0
	for _, b := range payload {
		if zeros >= 2 && b <= 3 {
			out = append(out, 3)
			zeros = 0
		}
		if out = append(out, b); b == 0 {
			zeros++
		} else {
			zeros = 0
		}
	}
	return out
}
