package simulate

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
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

// draw makes one request, from a third to twice the average size. The service estimates input by bytes,
// about four of which are a token, and output by what is allowed.
func (p Pattern) draw(rng *rand.Rand, at time.Duration) Arrival {
	vary := func(mean float64) float64 { return mean * (0.33 + rng.Float64()*1.34) }
	size := task.Usage{
		InputTokens: int64(vary(float64(p.InputTokens))), OutputTokens: int64(vary(float64(p.OutputTokens))),
		Images: p.Images, Milliseconds: int64(p.Seconds * 1000),
	}
	estimate := size
	estimate.InputTokens, estimate.OutputTokens = 4*size.InputTokens, max(1024, size.OutputTokens)
	return Arrival{At: at, Capability: p.Capability, Estimate: estimate, Size: size}
}

// line is one recorded request.
type line struct {
	At           float64         `json:"at"` // seconds since the begin
	Capability   catalog.Name    `json:"capability"`
	InputTokens  int64           `json:"input_tokens"`
	OutputTokens int64           `json:"output_tokens"`
	Images       int64           `json:"images"`
	Seconds      float64         `json:"seconds"`
	Characters   int64           `json:"characters"`
	Parameters   json.RawMessage `json:"parameters"`
}

const (
	mostLine  = 64 << 10
	mostAt    = 366 * 24 * 3600 // seconds
	mostUnits = 1 << 40
)

// ReadArrivals reads a recorded pattern, one JSON object a line, in any order. A line without a capability
// is one of standard. Errors name the line.
func ReadArrivals(r io.Reader, standard catalog.Name) ([]Arrival, error) {
	var out []Arrival
	lines := bufio.NewScanner(r)
	lines.Buffer(nil, mostLine)
	for n := 1; lines.Scan(); n++ {
		text := bytes.TrimSpace(lines.Bytes())
		if len(text) == 0 {
			continue
		}
		a, err := readLine(text, standard)
		if err != nil {
			return nil, fmt.Errorf("line %d: %w", n, err)
		}
		if out = append(out, a); len(out) > MostArrivals {
			return nil, ErrTooMany
		}
	}
	if err := lines.Err(); err != nil {
		return nil, err
	}
	slices.SortStableFunc(out, byTime)
	return out, nil
}

func readLine(text []byte, standard catalog.Name) (Arrival, error) {
	l := line{Capability: standard}
	d := json.NewDecoder(bytes.NewReader(text))
	d.DisallowUnknownFields()
	if err := d.Decode(&l); err != nil {
		return Arrival{}, err
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return Arrival{}, errors.New("there is more than one value")
	}
	if l.At < 0 || l.At > mostAt || l.Seconds < 0 || l.Seconds > mostAt {
		return Arrival{}, errors.New("at and seconds are from 0 to a year")
	}
	for _, n := range []int64{l.InputTokens, l.OutputTokens, l.Images, l.Characters} {
		if n < 0 || n > mostUnits {
			return Arrival{}, errors.New("a count of work is out of range")
		}
	}
	size := task.Usage{
		InputTokens: l.InputTokens, OutputTokens: l.OutputTokens, Images: l.Images, Characters: l.Characters,
		Milliseconds: int64(l.Seconds * 1000),
	}
	return Arrival{
		At: time.Duration(l.At * float64(time.Second)), Capability: l.Capability, Estimate: size, Size: size, Parameters: l.Parameters,
	}, nil
}
