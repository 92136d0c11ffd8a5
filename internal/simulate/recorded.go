package simulate

import (
	"bufio"
	"bytes"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"time"

	"unitask/internal/catalog"
	"unitask/internal/task"
)

// recorded is one request as it was written down.
type recorded struct {
	ID         string          `json:"id"` // for people
	At         moment          `json:"at"`
	Capability catalog.Name    `json:"capability"`
	InputBytes int64           `json:"input_bytes"`
	Seconds    float64         `json:"seconds"`
	Parameters json.RawMessage `json:"parameters"`
	task.Usage
}

// counts returns the counts of work with their names.
func (r *recorded) counts() []counted {
	return []counted{
		{"input_bytes", &r.InputBytes},
		{"input_tokens", &r.InputTokens},
		{"output_tokens", &r.OutputTokens},
		{"images", &r.Images},
		{"characters", &r.Characters},
		{"pages", &r.Pages},
		{"requests", &r.Requests},
		{"searches", &r.Searches},
		{"cached_input_tokens", &r.CachedInputTokens},
		{"cache_write_tokens", &r.CacheWriteTokens},
		{"image_input_tokens", &r.ImageInputTokens},
		{"audio_input_tokens", &r.AudioInputTokens},
		{"reasoning_tokens", &r.ReasoningTokens},
		{"image_output_tokens", &r.ImageOutputTokens},
		{"audio_output_tokens", &r.AudioOutputTokens},
	}
}

type counted struct {
	name string
	n    *int64
}

// moment is when a request came: in seconds since the begin, or by the clock.
type moment struct {
	since time.Duration
	clock time.Time // zero: since counts
}

const (
	mostLine      = 64 << 10
	mostAt        = 366 * 24 * 3600 // seconds
	mostUnits     = 1 << 40
	bytesPerToken = 4 // about, of English text
)

// UnmarshalJSON reads a number of seconds or a time in RFC 3339.
func (m *moment) UnmarshalJSON(raw []byte) error { return m.set(strings.Trim(string(raw), `"`)) }

func (m *moment) set(text string) error {
	if at, err := time.Parse(time.RFC3339Nano, text); err == nil {
		m.clock = at
		return nil
	}
	seconds, err := strconv.ParseFloat(text, 64)
	if err != nil || !(seconds >= 0 && seconds <= mostAt) {
		return errors.New("at is a time in RFC 3339, or seconds from 0 to a year")
	}
	m.since = time.Duration(seconds * float64(time.Second))
	return nil
}

// ReadArrivals reads a recorded pattern, in any order: one JSON object a line, or CSV with a header of the
// same names. A request without a capability is one of p's, one without sizes is drawn as p's are. Errors
// name the line.
func ReadArrivals(r io.Reader, p Pattern) ([]Arrival, error) {
	in := bufio.NewReader(r)
	read := readCSV
	for {
		c, err := in.ReadByte()
		if err != nil {
			return nil, ifNotEOF(err)
		}
		if c == ' ' || c == '\t' || c == '\n' || c == '\r' {
			continue
		}
		if c == '{' {
			read = readLines
		}
		_ = in.UnreadByte() // it was just read
		break
	}
	a := assembly{pattern: p, rng: rand.New(rand.NewPCG(p.Seed, 3))}
	if err := read(in, &a); err != nil {
		return nil, err
	}
	return a.arrivals(), nil
}

func ifNotEOF(err error) error {
	if errors.Is(err, io.EOF) {
		return nil
	}
	return err
}

// readLines reads JSON lines. Blank ones before the first aren't counted.
func readLines(r *bufio.Reader, a *assembly) error {
	lines := bufio.NewScanner(r)
	lines.Buffer(nil, mostLine)
	for n := 1; lines.Scan(); n++ {
		text := bytes.TrimSpace(lines.Bytes())
		if len(text) == 0 {
			continue
		}
		var one recorded
		err := decodeStrictly(text, &one)
		if err == nil {
			err = a.add(one)
		}
		if err != nil {
			return fmt.Errorf("line %d: %w", n, err)
		}
	}
	return lines.Err()
}

func decodeStrictly(text []byte, into any) error {
	d := json.NewDecoder(bytes.NewReader(text))
	d.DisallowUnknownFields()
	if err := d.Decode(into); err != nil {
		return err
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return errors.New("there is more than one value")
	}
	return nil
}

func readCSV(r *bufio.Reader, a *assembly) error {
	rows := csv.NewReader(r)
	rows.ReuseRecord, rows.TrimLeadingSpace = true, true
	header, err := rows.Read()
	if err != nil {
		return err
	}
	header = slices.Clone(header)
	for {
		row, err := rows.Read()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		var one recorded
		for i, name := range header {
			if err = one.set(strings.TrimSpace(name), strings.TrimSpace(row[i])); err != nil {
				break
			}
		}
		if err == nil {
			err = a.add(one)
		}
		if err != nil {
			line, _ := rows.FieldPos(0)
			return fmt.Errorf("line %d: %w", line, err)
		}
	}
}

// set sets a column; an empty one is left out.
func (r *recorded) set(name, text string) (err error) {
	if text == "" {
		return nil
	}
	switch name {
	case "id":
		r.ID = text
	case "at":
		return r.At.set(text)
	case "capability":
		r.Capability = catalog.Name(text)
	case "seconds":
		r.Seconds, err = strconv.ParseFloat(text, 64)
	default:
		err = r.setCount(name, text)
	}
	if errors.Is(err, strconv.ErrSyntax) || errors.Is(err, strconv.ErrRange) {
		err = errors.New(name + " is no number")
	}
	return err
}

func (r *recorded) setCount(name, text string) (err error) {
	names := []string{"id", "at", "capability", "seconds"}
	for _, c := range r.counts() {
		if c.name == name {
			*c.n, err = strconv.ParseInt(text, 10, 64)
			return err
		}
		names = append(names, c.name)
	}
	return errors.New("no column is called " + strconv.Quote(name) + "; there are " + strings.Join(names, ", "))
}

// assembly is the arrivals read so far.
type assembly struct {
	pattern Pattern
	rng     *rand.Rand
	all     []Arrival
	clocks  []time.Time // of each, if they are written by the clock
}

func (a *assembly) add(r recorded) error {
	if !(r.Seconds >= 0 && r.Seconds <= mostAt) {
		return errors.New("seconds are from 0 to a year")
	}
	for _, c := range r.counts() {
		if *c.n < 0 || *c.n > mostUnits {
			return errors.New("a count of work is out of range")
		}
	}
	if !r.At.clock.IsZero() {
		a.clocks = append(a.clocks, r.At.clock)
	}
	one := r.arrival(a.pattern, a.rng)
	if a.all = append(a.all, one); len(a.all) > MostArrivals {
		return ErrTooMany
	}
	if n := len(a.clocks); n > 0 && n < len(a.all) {
		return errors.New("at is seconds in one line and a time in another")
	}
	return nil
}

func (r recorded) arrival(p Pattern, rng *rand.Rand) Arrival {
	if r.Capability != "" {
		p.Capability = r.Capability
	}
	one := p.draw(rng, r.At.since)
	one.Parameters = r.Parameters
	size := r.Usage
	size.Milliseconds = int64(r.Seconds * 1000)
	if size.InputTokens == 0 {
		size.InputTokens = (r.InputBytes + bytesPerToken - 1) / bytesPerToken
	}
	if size != (task.Usage{}) {
		one.Size, one.Estimate = size, estimate(size)
		one.Estimate.InputTokens = max(one.Estimate.InputTokens, r.InputBytes)
	}
	return one
}

// arrivals returns all in order, those by the clock from the first one on.
func (a *assembly) arrivals() []Arrival {
	if len(a.clocks) > 0 {
		start := slices.MinFunc(a.clocks, time.Time.Compare)
		for i, at := range a.clocks {
			a.all[i].At = at.Sub(start)
		}
	}
	slices.SortStableFunc(a.all, byTime)
	return a.all
}
