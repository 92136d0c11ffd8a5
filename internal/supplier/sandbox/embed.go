package sandbox

import (
	"hash/fnv"
	"iter"
	"math"
	"slices"
	"strings"
	"unicode"

	"unitask/internal/supplier"
)

// embedding is the product of text.embed.
type embedding struct {
	Texts      []string `json:"texts"`
	Dimensions int      `json:"dimensions"`
	Query      bool     `json:"query,omitempty"`
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
	e := &embedding{Texts: in.Texts, Dimensions: params.Dimensions, Query: params.InputType == "query"}
	if e.Dimensions == 0 {
		e.Dimensions = defaultDimensions
	}
	return e, strings.Join(in.Texts, "\n"), nil
}

// make returns a unit vector a text; texts that share words or parts of words lie close together.
func (e *embedding) make() (*supplier.Result, error) {
	result := &supplier.Result{}
	for _, text := range e.Texts {
		result.Embeddings = append(result.Embeddings, vector(text, e.Dimensions, e.Query))
		result.Usage.InputTokens += tokenCount(text)
	}
	return result, nil
}

// The weights of the features that two texts may share.
const (
	wordWeight = 1.0
	partWeight = 0.35 // of three letters in a row
)

// asking are the words of a query that say nothing about what is looked for.
var asking = []string{"a", "an", "are", "did", "do", "does", "how", "i", "in", "is", "of", "the", "to", "was", "what", "when", "where", "which", "who", "why"}

// vector hashes a text's words and their parts into a unit vector. Of a query the words that only ask are left out.
func vector(text string, dimensions int, query bool) []float32 {
	sums := make([]float64, dimensions)
	if query {
		text = withoutAsking(text)
	}
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

// withoutAsking returns the words of a query that say what is looked for.
func withoutAsking(query string) string {
	words := strings.FieldsFunc(strings.ToLower(query), notWord)
	return strings.Join(slices.DeleteFunc(words, func(word string) bool { return slices.Contains(asking, word) }), " ")
}

func notWord(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) }

// features returns a text's words and their parts, each with its weight and as often as it occurs.
func features(text string) iter.Seq2[string, float64] {
	return func(yield func(string, float64) bool) {
		for word := range strings.FieldsFuncSeq(strings.ToLower(text), notWord) {
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
