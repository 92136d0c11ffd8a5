package media

import "slices"

// Planes returns the luma and the two colour-difference planes that the video's picture with the
// given number should show, and their strides.
func Planes(s VideoSpec, number int) ([3][]byte, [3]int) {
	e := newEncoder(s.Width, s.Height)
	p := newScene(s, e.across, e.down).picture(number)
	return p.plane, p.stride
}

// CodeTables returns every variable-length code table as strings of bits.
func CodeTables() [][]string {
	tables := slices.Concat(lumaZeros[:], chromaZeros[:], runs[:])
	for _, tokens := range [][][4]code{lumaTokens[:], chromaTokens[:]} {
		var all []code
		for _, row := range tokens {
			all = append(all, row[:]...)
		}
		tables = append(tables, all)
	}
	out := make([][]string, len(tables))
	for i, t := range tables {
		for _, c := range t {
			if c.n == 0 {
				continue
			}
			var b []byte
			for bit := int(c.n) - 1; bit >= 0; bit-- {
				b = append(b, '0'+c.bits>>bit&1)
			}
			out[i] = append(out[i], string(b))
		}
	}
	return out
}

// NAL wraps a payload as the encoder does.
func NAL(header byte, payload []byte) []byte { return nal(header, payload) }
