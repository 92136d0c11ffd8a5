package upstream

import "errors"

// VectorsLimit bounds an answer of vectors, in bytes after decompression. The catalog's most, 2,048 texts, come to
// 140 MB of indented numbers of 3,072 dimensions each.
const VectorsLimit = 256 << 20

var (
	errVectors    = errors.New("the answer holds the wrong number of vectors, or one that is no vector")
	errDimensions = errors.New("a vector's length is not the one that was asked for")
)

// CheckVectors returns the fault of the n vectors of an answer of success: they must be of one length, and of the one
// that was asked for, if any was.
func CheckVectors(status int, vectors [][]float32, n int, dimensions *int) error {
	if len(vectors) != n || n == 0 {
		return Unusable(status, errVectors)
	}
	for _, v := range vectors {
		if len(v) == 0 || len(v) != len(vectors[0]) {
			return Unusable(status, errVectors)
		}
	}
	if dimensions != nil && len(vectors[0]) != *dimensions {
		return Unusable(status, errDimensions)
	}
	return nil
}
