package media

import "math/bits"

// bitWriter collects bits, most significant first.
type bitWriter struct {
	out  []byte
	acc  uint64 // the pending bits, right-aligned
	held int    // how many of them, below 8 between calls
}

// put appends the low n bits of v; n is at most 32.
func (w *bitWriter) put(v uint32, n int) {
	w.acc = w.acc<<n | uint64(v)&(1<<n-1)
	for w.held += n; w.held >= 8; {
		w.held -= 8
		w.out = append(w.out, byte(w.acc>>w.held))
	}
}

// ue appends an unsigned Exp-Golomb code.
func (w *bitWriter) ue(v int) {
	n := bits.Len32(uint32(v + 1))
	w.put(0, n-1)
	w.put(uint32(v+1), n)
}

// se appends a signed Exp-Golomb code.
func (w *bitWriter) se(v int) {
	if v > 0 {
		w.ue(2*v - 1)
	} else {
		w.ue(-2 * v)
	}
}

// align fills the last byte with zero bits.
func (w *bitWriter) align() {
	if w.held > 0 {
		w.put(0, 8-w.held)
	}
}

// raw appends whole bytes; the writer must be aligned.
func (w *bitWriter) raw(b []byte) { w.out = append(w.out, b...) }

// stop ends an H.264 payload: a one bit, then zero bits to the byte's end.
func (w *bitWriter) stop() {
	w.put(1, 1)
	w.align()
}
