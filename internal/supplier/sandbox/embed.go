package sandbox

import (
	"hash/fnv"
	"iter"
	"math"
	"strings"
	"unicode"

	"unitask/internal/supplier"
)

// embedding is the product of text.embed.
type embedding struct {
	Texts      []string `json:"texts"`
	Dimensions int      `json:"dimensions"`
}

// defaultDimensions is a vector's default length.
const defaultDimensions = 256

func readEmbedding(r supplier.Request) (product, string, error) {
	var in struct {
		Texts []string `json:"texts"`
	}
	params, err := decode(r.Input, r.Parameters, &in)
	if err != nil {
		return nil, "", err
	}
	e := &embedding{Texts: in.Texts, Dimensions: params.Dimensions}
	if e.Dimensions == 0 {
		e.Dimensions = defaultDimensions
	}
	return e, strings.Join(in.Texts, "\n"), nil
}

// make returns a unit vector a text; texts that share words or parts of words lie close together.
func (e *embedding) make() (*supplier.Result, error) {
	result := &supplier.Result{}
	for _, text := range e.Texts {
		result.Embeddings = append(result.Embeddings, vector(text, e.Dimensions))
		result.Usage.InputTokens += tokenCount(text)
	}
	return result, nil
}

// The weights of the features that two texts may share.
const (
	wordWeight = 1.0
	partWeight = 0.35 // of three letters in a row
)

// vector hashes a text's words and their parts into a unit vector.
func vector(text string, dimensions int) []float32 {
	sums := make([]float64, dimensions)
	for feature, weight := range features(text) {
		add(sums, feature, weight)
	}
	length := 0.0
	for _, v := range sums {
		length += v * v
	}
	if length == 0 {
		sums[0], length = 1, 1
	}
	out := make([]float32, dimensions)
	for i, v := range sums {
		out[i] = float32(v / math.Sqrt(length))
	}
	return out
}

// features returns a text's words and their parts, each with its weight and as often as it occurs.
func features(text string) iter.Seq2[string, float64] {
	return func(yield func(string, float64) bool) {
		notLetter := func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) }
		for word := range strings.FieldsFuncSeq(strings.ToLower(text), notLetter) {
			if !yield(word, wordWeight) {
				return
			}
			letters := []rune("^" + word + "$")
			for i := range len(letters) - 2 {
				if !yield(string(letters[i:i+3]), partWeight) {
					return
				}
			}
		}
	}
}

// add puts a feature's weight, with a sign of its own, at the place of its hash.
func add(sums []float64, feature string, weight float64) {
	h := fnv.New64a()
	h.Write([]byte(feature))
	sum := h.Sum64()
	if sum>>63 == 1 {
		weight = -weight
	}
	sums[sum%uint64(len(sums))] += weight
}
