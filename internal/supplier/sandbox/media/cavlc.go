package media

import "slices"

// code is one variable-length code: the value of its n bits.
type code struct{ bits, n uint8 }

// The code tables of ITU-T H.264, clause 9.2, as far as blocks of direct-current levels need them.
// The tokens are indexed by the number of coefficients, then by that of trailing ones.
var (
	lumaTokens = [...][4]code{ // for 0 ≤ nC < 2
		{{1, 1}, {}, {}, {}},
		{{5, 6}, {1, 2}, {}, {}},
		{{7, 8}, {4, 6}, {1, 3}, {}},
		{{7, 9}, {6, 8}, {5, 7}, {3, 5}},
		{{7, 10}, {6, 9}, {5, 8}, {3, 6}},
		{{7, 11}, {6, 10}, {5, 9}, {4, 7}},
		{{15, 13}, {6, 11}, {5, 10}, {4, 8}},
		{{11, 13}, {14, 13}, {5, 11}, {4, 9}},
		{{8, 13}, {10, 13}, {13, 13}, {4, 10}},
		{{15, 14}, {14, 14}, {9, 13}, {4, 11}},
		{{11, 14}, {10, 14}, {13, 14}, {12, 13}},
		{{15, 15}, {14, 15}, {9, 14}, {12, 14}},
		{{11, 15}, {10, 15}, {13, 15}, {8, 14}},
		{{15, 16}, {1, 15}, {9, 15}, {12, 15}},
		{{11, 16}, {14, 16}, {13, 16}, {8, 15}},
		{{7, 16}, {10, 16}, {9, 16}, {12, 16}},
		{{4, 16}, {6, 16}, {5, 16}, {8, 16}},
	}
	chromaTokens = [...][4]code{
		{{1, 2}, {}, {}, {}},
		{{7, 6}, {1, 1}, {}, {}},
		{{4, 6}, {6, 6}, {1, 3}, {}},
		{{3, 6}, {3, 7}, {2, 7}, {5, 6}},
		{{2, 6}, {3, 8}, {2, 8}, {0, 7}},
	}
	lumaZeros = [...][]code{ // by the number of coefficients less one, then by the zeros
		{{1, 1}, {3, 3}, {2, 3}, {3, 4}, {2, 4}, {3, 5}, {2, 5}, {3, 6}, {2, 6}, {3, 7}, {2, 7}, {3, 8}, {2, 8}, {3, 9}, {2, 9}, {1, 9}},
		{{7, 3}, {6, 3}, {5, 3}, {4, 3}, {3, 3}, {5, 4}, {4, 4}, {3, 4}, {2, 4}, {3, 5}, {2, 5}, {3, 6}, {2, 6}, {1, 6}, {0, 6}},
		{{5, 4}, {7, 3}, {6, 3}, {5, 3}, {4, 4}, {3, 4}, {4, 3}, {3, 3}, {2, 4}, {3, 5}, {2, 5}, {1, 6}, {1, 5}, {0, 6}},
		{{3, 5}, {7, 3}, {5, 4}, {4, 4}, {6, 3}, {5, 3}, {4, 3}, {3, 4}, {3, 3}, {2, 4}, {2, 5}, {1, 5}, {0, 5}},
		{{5, 4}, {4, 4}, {3, 4}, {7, 3}, {6, 3}, {5, 3}, {4, 3}, {3, 3}, {2, 4}, {1, 5}, {1, 4}, {0, 5}},
		{{1, 6}, {1, 5}, {7, 3}, {6, 3}, {5, 3}, {4, 3}, {3, 3}, {2, 3}, {1, 4}, {1, 3}, {0, 6}},
		{{1, 6}, {1, 5}, {5, 3}, {4, 3}, {3, 3}, {3, 2}, {2, 3}, {1, 4}, {1, 3}, {0, 6}},
		{{1, 6}, {1, 4}, {1, 5}, {3, 3}, {3, 2}, {2, 2}, {2, 3}, {1, 3}, {0, 6}},
		{{1, 6}, {0, 6}, {1, 4}, {3, 2}, {2, 2}, {1, 3}, {1, 2}, {1, 5}},
		{{1, 5}, {0, 5}, {1, 3}, {3, 2}, {2, 2}, {1, 2}, {1, 4}},
		{{0, 4}, {1, 4}, {1, 3}, {2, 3}, {1, 1}, {3, 3}},
		{{0, 4}, {1, 4}, {1, 2}, {1, 1}, {1, 3}},
		{{0, 3}, {1, 3}, {1, 1}, {1, 2}},
		{{0, 2}, {1, 2}, {1, 1}},
		{{0, 1}, {1, 1}},
	}
	chromaZeros = [...][]code{
		{{1, 1}, {1, 2}, {1, 3}, {0, 3}},
		{{1, 1}, {1, 2}, {0, 2}},
		{{1, 1}, {0, 1}},
	}
	runs = [...][]code{ // by the zeros left less one, at most 6, then by the run
		{{1, 1}, {0, 1}},
		{{1, 1}, {1, 2}, {0, 2}},
		{{3, 2}, {2, 2}, {1, 2}, {0, 2}},
		{{3, 2}, {2, 2}, {1, 2}, {1, 3}, {0, 3}},
		{{3, 2}, {2, 2}, {3, 3}, {2, 3}, {1, 3}, {0, 3}},
		{{3, 2}, {0, 3}, {1, 3}, {3, 3}, {2, 3}, {5, 3}, {4, 3}},
		{{7, 3}, {6, 3}, {5, 3}, {4, 3}, {3, 3}, {2, 3}, {1, 3}, {1, 4}, {1, 5}, {1, 6}, {1, 7}, {1, 8}, {1, 9}, {1, 10}, {1, 11}},
	}
)

// tokenFor returns the code that says how many coefficients and trailing ones a luma block has. dense is set beside a
// neighbour of raw samples, whose code has a fixed length.
func tokenFor(total, ones int, dense bool) code {
	switch {
	case !dense:
		return lumaTokens[total][ones]
	case total == 0:
		return code{3, 6}
	default:
		return code{uint8((total-1)<<2 | ones), 6}
	}
}

// residual writes one block of levels in scan order.
func (w *bitWriter) residual(levels []int, dense bool) {
	var found, zerosBefore []int // from the highest frequency down
	run := 0
	for _, v := range levels {
		if v == 0 {
			run++
			continue
		}
		found, zerosBefore, run = append(found, v), append(zerosBefore, run), 0
	}
	slices.Reverse(found)
	slices.Reverse(zerosBefore)
	ones := 0
	for ones < min(3, len(found)) && (found[ones] == 1 || found[ones] == -1) {
		ones++
	}
	token := tokenFor(len(found), ones, dense)
	zeros := lumaZeros[:]
	if len(levels) == 4 {
		token, zeros = chromaTokens[len(found)][ones], chromaZeros[:]
	}
	w.code(token)
	w.levels(found, ones)
	w.zeroRuns(zerosBefore, len(levels), zeros)
}

// levels writes the signs of the trailing ones and the other levels.
func (w *bitWriter) levels(found []int, ones int) {
	for _, v := range found[:ones] {
		w.put(uint32(v)>>31, 1)
	}
	suffix := 0
	if len(found) > 10 && ones < 3 {
		suffix = 1
	}
	for i, v := range found[ones:] {
		size := max(v, -v)
		number := 2*size - 2
		if v < 0 {
			number++
		}
		if i == 0 && ones < 3 {
			number -= 2 // a first level of one would have been a trailing one
		}
		w.level(number, suffix)
		if suffix == 0 {
			suffix = 1
		}
		if size > 3<<(suffix-1) && suffix < 6 {
			suffix++
		}
	}
}

// level writes one level's number as a unary prefix and a suffix.
func (w *bitWriter) level(number, suffix int) {
	switch {
	case suffix == 0 && number < 14:
		w.put(1, number+1)
	case suffix == 0 && number < 30:
		w.put(1, 15)
		w.put(uint32(number-14), 4)
	case suffix == 0:
		w.put(1, 16)
		w.put(uint32(number-30), 12)
	case number < 15<<suffix:
		w.put(1, number>>suffix+1)
		w.put(uint32(number), suffix)
	default:
		w.put(1, 16)
		w.put(uint32(number-15<<suffix), 12)
	}
}

// zeroRuns writes the number of zeros of a block below its last level, and their places.
func (w *bitWriter) zeroRuns(before []int, size int, zeros [][]code) {
	left := 0
	for _, n := range before {
		left += n
	}
	if len(before) == 0 || len(before) == size {
		return
	}
	w.code(zeros[len(before)-1][left])
	for _, n := range before[:len(before)-1] {
		if left == 0 {
			return
		}
		w.code(runs[min(left, 7)-1][n])
		left -= n
	}
}

func (w *bitWriter) code(c code) { w.put(uint32(c.bits), int(c.n)) }
