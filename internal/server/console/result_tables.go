package console

import (
	"cmp"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
)

// ranking is texts by how well they fit a query.
type ranking struct {
	Rows []rank
}

// rank is one of them: its place among the inputs from 0, and the share of the best score that its own is, in hundredths.
type rank struct {
	Index int     `json:"index"`
	Score float64 `json:"score"`
	Share float64 `json:"-"`
}

// ranked reads scores; nil for any other JSON.
func ranked(raw json.RawMessage) *ranking {
	var rows []rank
	if !strictly(raw, &rows) || len(rows) == 0 || !strings.Contains(string(raw), `"score"`) {
		return nil
	}
	best := 0.0
	for _, r := range rows {
		best = max(best, r.Score)
	}
	for i := range rows {
		if best > 0 {
			rows[i].Share = 100 * max(0, rows[i].Score) / best
		}
	}
	return &ranking{rows}
}

// judgement tells which texts are harmful, and in which ways.
type judgement struct {
	Ways []string // the columns, those of flags and high scores first
	Rows []verdict
}

// verdict is that on one text.
type verdict struct {
	Flagged    bool               `json:"flagged"`
	Categories []string           `json:"categories"`
	Scores     map[string]float64 `json:"scores"`
}

// Score returns how likely a way is, as a table's cell has it.
func (j verdict) Score(way string) string {
	score, ok := j.Scores[way]
	if !ok {
		return "–"
	}
	return fmt.Sprintf("%.2f", score)
}

// Is reports whether the text is flagged for a way.
func (j verdict) Is(way string) bool { return slices.Contains(j.Categories, way) }

// judged reads judgements; nil for any other JSON.
func judged(raw json.RawMessage) *judgement {
	var rows []verdict
	if !strictly(raw, &rows) || len(rows) == 0 || !strings.Contains(string(raw), `"flagged"`) {
		return nil
	}
	ways := map[string]float64{} // the highest score of each
	for _, r := range rows {
		for way, score := range r.Scores {
			ways[way] = max(ways[way], score)
		}
		for _, way := range r.Categories {
			ways[way] = max(ways[way], 1)
		}
	}
	columns := slices.SortedFunc(maps.Keys(ways), func(a, b string) int {
		return cmp.Or(cmp.Compare(ways[b], ways[a]), cmp.Compare(a, b))
	})
	return &judgement{columns, rows}
}

// mostCompared bounds how many vectors are compared with each other on a page.
const mostCompared = 24

// firstNumbers is how many numbers of a single vector a page shows.
const firstNumbers = 12

// vectors are embeddings: one by its numbers, more by how alike they are.
type vectors struct {
	Count, Dimensions int
	Norm              float64      // of a single one
	First             []float32    // its first numbers
	Rows              [][]likeness // of each with each, as far as they are compared
}

// likeness is the cosine of two vectors, and the step of its shade from 0 to 10.
type likeness struct {
	Cosine float64
	Step   int
}

// Compared is how many are compared.
func (v *vectors) Compared() int { return len(v.Rows) }

func compared(all [][]float32) *vectors {
	if len(all) == 0 {
		return nil
	}
	v := vectors{Count: len(all), Dimensions: len(all[0])}
	if len(all) == 1 {
		v.Norm, v.First = math.Sqrt(product(all[0], all[0])), all[0][:min(firstNumbers, len(all[0]))]
		return &v
	}
	some := all[:min(mostCompared, len(all))]
	norms := make([]float64, len(some))
	for i, one := range some {
		norms[i] = math.Sqrt(product(one, one))
		v.Rows = append(v.Rows, make([]likeness, len(some)))
	}
	for i := range some {
		for j := i; j < len(some); j++ {
			l := likeness{}
			if over := norms[i] * norms[j]; over > 0 {
				l.Cosine = product(some[i], some[j]) / over
			}
			l.Step = int(math.Round(10 * min(1, max(0, l.Cosine))))
			v.Rows[i][j], v.Rows[j][i] = l, l
		}
	}
	return &v
}

// product is the inner product, of the numbers that both have.
func product(a, b []float32) float64 {
	sum := 0.0
	for i := range min(len(a), len(b)) {
		sum += float64(a[i]) * float64(b[i])
	}
	return sum
}

// unpacked reads vectors that are written as base64; nil for any other JSON.
func unpacked(raw json.RawMessage) [][]float32 {
	var texts []string
	if json.Unmarshal(raw, &texts) != nil {
		return nil
	}
	var all [][]float32
	for _, text := range texts {
		packed, err := base64.StdEncoding.DecodeString(text)
		if err != nil || len(packed) == 0 || len(packed)%4 != 0 {
			return nil
		}
		one := make([]float32, len(packed)/4)
		for i := range one {
			one[i] = math.Float32frombits(binary.LittleEndian.Uint32(packed[4*i:]))
		}
		all = append(all, one)
	}
	return all
}
