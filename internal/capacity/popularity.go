package capacity

import (
	"math"
	"math/rand/v2"
	"slices"
)

// popularity draws accounts: the n-th is as busy as n^-zipf.
type popularity struct{ upTo []float64 }

func newPopularity(accounts int, zipf float64) popularity {
	p := popularity{upTo: make([]float64, accounts)}
	sum := 0.0
	for i := range p.upTo {
		sum += math.Pow(float64(i+1), -zipf)
		p.upTo[i] = sum
	}
	return p
}

func (p popularity) draw(rng *rand.Rand) int {
	x := rng.Float64() * p.upTo[len(p.upTo)-1]
	i, _ := slices.BinarySearch(p.upTo, x)
	return min(i, len(p.upTo)-1)
}
