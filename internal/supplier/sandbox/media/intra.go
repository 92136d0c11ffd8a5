package media

// rough is how far the macroblock's pixels are from the means of their blocks of four by four, at
// most.
func (p *planes) rough(x, y int) int {
	worst := 0
	for i, side := range sides {
		for by := 0; by < side; by += 4 {
			for bx := 0; bx < side; bx += 4 {
				at := (y*side+by)*p.stride[i] + x*side + bx
				low, high := p.spread(i, at)
				worst = max(worst, high-low)
			}
		}
	}
	return worst
}

// spread returns the least and the greatest value of the block of four by four at an offset.
func (p *planes) spread(plane, at int) (low, high int) {
	low, high = 255, 0
	for range 4 {
		for _, v := range p.plane[plane][at : at+4] {
			low, high = min(low, int(v)), max(high, int(v))
		}
		at += p.stride[plane]
	}
	return low, high
}

// intra returns the IDR picture of p, at most rawLimit macroblocks of it raw and the rest in flat blocks of four by
// four. p becomes a decoder's picture.
func (e *encoder) intra(p *planes, rawLimit int) []byte {
	w := &bitWriter{}
	w.ue(0)
	w.ue(7)
	w.ue(0)
	w.put(0, frameNumberBits)
	w.ue(0)
	w.put(0, 2)
	w.se(0)
	w.ue(1)
	threshold := p.threshold(rawLimit)
	for y := range e.down {
		for x := range e.across {
			e.rawRow[x] = p.rough(x, y) > threshold
			if e.rawRow[x] {
				w.ue(rawInIntra)
				w.align()
				w.raw(p.at(x, y)[:])
				continue
			}
			dense := x > 0 && e.rawRow[x-1] || y > 0 && e.rawAbove[x]
			p.flat(w, x, y, dense)
		}
		e.rawAbove, e.rawRow = e.rawRow, e.rawAbove
	}
	w.stop()
	return nal(nalIDR, w.out)
}

// threshold is the least roughness, from 6 on, above which at most limit macroblocks lie.
func (p *planes) threshold(limit int) int {
	var count [256]int
	for y := range p.down {
		for x := range p.across {
			count[p.rough(x, y)]++
		}
	}
	above, t := 0, 255
	for t > 6 && above+count[t] <= limit {
		above += count[t]
		t--
	}
	return t
}

// flat writes a macroblock as sixteen luma and eight chroma blocks of one value each.
func (p *planes) flat(w *bitWriter, x, y int, dense bool) {
	luma, guess := p.lumaLevels(x, y)
	var chroma [2][4]int
	var guesses [2][4]int
	any := false
	for i := range chroma {
		chroma[i], guesses[i] = p.chromaLevels(i+1, x, y)
		any = any || chroma[i] != [4]int{}
	}
	w.ue(1 + 2 + 4*bit(any)) // predicted from the neighbours' mean
	w.ue(0)
	w.se(0)
	w.residual(scan(luma), dense)
	p.showLuma(luma, guess, x, y)
	for i, levels := range chroma {
		if any {
			w.residual(levels[:], false)
		}
		p.showChroma(i+1, levels, guesses[i], x, y)
	}
}

// scan puts sixteen levels in zigzag order.
func scan(m [16]int) []int {
	out := make([]int, 16)
	for i, at := range [16]int{0, 1, 4, 8, 5, 2, 3, 6, 9, 12, 13, 10, 7, 11, 14, 15} {
		out[i] = m[at]
	}
	return out
}

// lumaLevels returns the macroblock's quantized levels and the value predicted for it.
func (p *planes) lumaLevels(x, y int) (levels [16]int, guess int) {
	guess = p.mean(0, x*16, y*16, 16, x > 0, y > 0)
	for i := range levels {
		levels[i] = p.sum(0, x*16+i%4*4, y*16+i/4*4) - 16*guess
	}
	levels = hadamard(levels)
	for i, v := range levels {
		levels[i] = rounded(v, 160)
	}
	return levels, guess
}

// showLuma puts a decoder's samples of the levels into p.
func (p *planes) showLuma(levels [16]int, guess, x, y int) {
	for i, v := range hadamard(levels) {
		p.fill(0, x*16+i%4*4, y*16+i/4*4, guess+(40*v+32)>>6)
	}
}

// chromaLevels is lumaLevels of one chroma plane; each of the four blocks has its own prediction.
func (p *planes) chromaLevels(plane, x, y int) (levels, guess [4]int) {
	for i := range levels {
		bx, by := i%2, i/2
		left, top := x > 0, y > 0
		if bx != by { // a block at one edge only prefers that edge
			left, top = left && (bx == 0 || !top), top && (by == 0 || !left)
		}
		guess[i] = p.chromaMean(plane, x*8, y*8, bx, by, left, top)
		levels[i] = p.sum(plane, x*8+bx*4, y*8+by*4) - 16*guess[i]
	}
	levels = hadamard2(levels)
	for i, v := range levels {
		levels[i] = rounded(v, 80)
	}
	return levels, guess
}

// showChroma is showLuma of one chroma plane.
func (p *planes) showChroma(plane int, levels, guess [4]int, x, y int) {
	for i, v := range hadamard2(levels) {
		p.fill(plane, x*8+i%2*4, y*8+i/2*4, guess[i]+(80*v+32)>>6)
	}
}

// chromaMean predicts one chroma block from the macroblock's edges beside and above it.
func (p *planes) chromaMean(plane, x, y, bx, by int, left, top bool) int {
	total, n := 0, 0
	for i := range 4 {
		if left {
			total, n = total+int(p.plane[plane][(y+by*4+i)*p.stride[plane]+x-1]), n+1
		}
		if top {
			total, n = total+int(p.plane[plane][(y-1)*p.stride[plane]+x+bx*4+i]), n+1
		}
	}
	if n == 0 {
		return 128
	}
	return (total + n/2) / n
}

// mean predicts a square from the pixels left of it and above it.
func (p *planes) mean(plane, x, y, side int, left, top bool) int {
	total, n := 0, 0
	for i := range side {
		if left {
			total, n = total+int(p.plane[plane][(y+i)*p.stride[plane]+x-1]), n+1
		}
		if top {
			total, n = total+int(p.plane[plane][(y-1)*p.stride[plane]+x+i]), n+1
		}
	}
	if n == 0 {
		return 128
	}
	return (total + n/2) / n
}

// sum adds up a block of four by four.
func (p *planes) sum(plane, x, y int) int {
	total := 0
	for row := range 4 {
		at := (y+row)*p.stride[plane] + x
		for _, v := range p.plane[plane][at : at+4] {
			total += int(v)
		}
	}
	return total
}

// fill gives a block of four by four one value.
func (p *planes) fill(plane, x, y, value int) {
	v := byte(min(max(value, 0), 255))
	for row := range 4 {
		at := (y+row)*p.stride[plane] + x
		copy(p.plane[plane][at:at+4], []byte{v, v, v, v})
	}
}

// hadamard is the four-by-four transform of the direct-current levels; twice is times sixteen.
func hadamard(m [16]int) [16]int {
	for _, step := range [2][2]int{{1, 4}, {4, 1}} {
		for i := range 4 {
			at, d := i*step[1], step[0]
			a, b, c, e := m[at], m[at+d], m[at+2*d], m[at+3*d]
			m[at], m[at+d], m[at+2*d], m[at+3*d] = a+b+c+e, a+b-c-e, a-b-c+e, a-b+c-e
		}
	}
	return m
}

// hadamard2 is the two-by-two transform; twice is times four.
func hadamard2(m [4]int) [4]int {
	a, b, c, d := m[0], m[1], m[2], m[3]
	return [4]int{a + b + c + d, a - b + c - d, a + b - c - d, a - b - c + d}
}

// rounded is v divided by d, to the nearest.
func rounded(v, d int) int {
	if v < 0 {
		return -((-v + d/2) / d)
	}
	return (v + d/2) / d
}

func bit(b bool) int {
	if b {
		return 1
	}
	return 0
}
