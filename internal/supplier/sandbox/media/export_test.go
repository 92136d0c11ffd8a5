package media

// Planes returns the luma and the two colour-difference planes that the video's picture with the
// given number should show, and their strides.
func Planes(s VideoSpec, number int) ([3][]byte, [3]int) {
	e := newEncoder(s.Width, s.Height)
	p := newScene(s, e.across, e.down).picture(number)
	return p.plane, p.stride
}

// NAL wraps a payload as the encoder does.
func NAL(header byte, payload []byte) []byte { return nal(header, payload) }
