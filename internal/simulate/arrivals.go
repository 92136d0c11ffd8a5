package simulate

import (
	"encoding/json"
	"errors"
	"math/rand/v2"
	"slices"
	"time"

	"unitask/internal/catalog"
	"unitask/internal/task"
)

// Arrival is one request of a pattern: when it comes, and how much work it is.
type Arrival struct {
	At         time.Duration // since the begin
	Capability catalog.Name
	Estimate   task.Usage // as the service estimates it at acceptance
	Size       task.Usage // as it is measured in the end
	Parameters json.RawMessage
}

// Pattern is a synthetic one: requests that come independently of each other, and bursts.
type Pattern struct {
	Capability   catalog.Name
	Seed         uint64
	For          time.Duration
	Rate         float64       // requests a second, on average
	Burst        int           // more requests at once
	BurstEvery   time.Duration // so often; 0: no bursts
	InputTokens  int64         // on average, as all of these
	OutputTokens int64
	Images       int64
	Seconds      float64
}

// MostArrivals bounds a pattern.
const MostArrivals = 1_000_000

// ErrTooMany says that a pattern has more than MostArrivals.
var ErrTooMany = errors.New("more than 1,000,000 requests")

// Arrivals draws the pattern: the same for the same seed.
func (p Pattern) Arrivals() ([]Arrival, error) {
	rng := rand.New(rand.NewPCG(p.Seed, 1))
	var out []Arrival
	for at := 0.0; p.Rate > 0; {
		at += rng.ExpFloat64() / p.Rate
		if at >= p.For.Seconds() {
			break
		}
		if out = append(out, p.draw(rng, time.Duration(at*float64(time.Second)))); len(out) > MostArrivals {
			return nil, ErrTooMany
		}
	}
	for at := p.BurstEvery; p.BurstEvery > 0 && at < p.For; at += p.BurstEvery {
		if len(out)+p.Burst > MostArrivals {
			return nil, ErrTooMany
		}
		for range p.Burst {
			out = append(out, p.draw(rng, at))
		}
	}
	slices.SortStableFunc(out, byTime)
	return out, nil
}

func byTime(a, b Arrival) int { return int(min(max(a.At-b.At, -1), 1)) }

// draw makes one request, from a third to twice the average size.
func (p Pattern) draw(rng *rand.Rand, at time.Duration) Arrival {
	vary := func(mean float64) float64 { return mean * (0.33 + rng.Float64()*1.34) }
	size := task.Usage{
		InputTokens: int64(vary(float64(p.InputTokens))), OutputTokens: int64(vary(float64(p.OutputTokens))),
		Images: p.Images, Milliseconds: int64(p.Seconds * 1000),
	}
	return Arrival{At: at, Capability: p.Capability, Estimate: estimate(size), Size: size}
}

// estimate is the size of such a request at acceptance: the bytes of the input, and the largest allowed output.
func estimate(size task.Usage) task.Usage {
	size.InputTokens, size.OutputTokens = bytesPerToken*size.InputTokens, max(1024, size.OutputTokens)
	return size
}
