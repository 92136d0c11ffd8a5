package capacity

import (
	"math"
	"slices"
)

// A search takes so many steps, and begins again from what it found so many times.
const (
	fitSteps = 120
	fitTurns = 3
)

// corner is a point of the search's simplex.
type corner struct {
	x []float64
	y float64
}

// descend looks for a minimum of f near start, by Nelder and Mead's method.
func descend(start []float64, f func([]float64) float64) []float64 {
	all := []corner{{start, f(start)}}
	for i := range start {
		x := slices.Clone(start)
		x[i] += math.Ln2
		all = append(all, corner{x, f(x)})
	}
	last := len(all) - 1
	for range fitSteps {
		slices.SortStableFunc(all, func(a, b corner) int { return int(math.Copysign(1, a.y-b.y)) })
		at := func(by float64) corner { // on the line from the worst corner through the middle of the others
			x := make([]float64, len(start))
			for i := range x {
				for _, c := range all[:last] {
					x[i] += c.x[i] / float64(last)
				}
				x[i] += by * (x[i] - all[last].x[i])
			}
			return corner{x, f(x)}
		}
		next := at(1)
		switch {
		case next.y < all[0].y:
			if further := at(2); further.y < next.y {
				next = further
			}
		case next.y >= all[last-1].y:
			if next = at(-0.5); next.y >= all[last].y {
				shrink(all, f)
				continue
			}
		}
		all[last] = next
	}
	return slices.MinFunc(all, func(a, b corner) int { return int(math.Copysign(1, a.y-b.y)) }).x
}

// shrink moves all corners half of the way to the best one.
func shrink(all []corner, f func([]float64) float64) {
	for n := range all[1:] {
		c := &all[n+1]
		for i := range c.x {
			c.x[i] = (c.x[i] + all[0].x[i]) / 2
		}
		c.y = f(c.x)
	}
}
