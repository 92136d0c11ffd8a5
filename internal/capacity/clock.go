package capacity

import (
	"math"
	"math/rand/v2"
	"time"
)

// clock is the virtual time and what is to happen in it. Events of one time happen in the order in which they were
// planned.
type clock struct {
	now    time.Duration
	heap   []event
	events uint64
	rng    *rand.Rand
}

type event struct {
	at time.Duration
	n  uint64
	do func()
}

func (e event) before(f event) bool { return e.at < f.at || e.at == f.at && e.n < f.n }

func (c *clock) after(d time.Duration, do func()) {
	c.events++
	c.heap = append(c.heap, event{c.now + max(d, 0), c.events, do})
	for i := len(c.heap) - 1; i > 0; {
		parent := (i - 1) / 2
		if !c.heap[i].before(c.heap[parent]) {
			return
		}
		c.heap[i], c.heap[parent] = c.heap[parent], c.heap[i]
		i = parent
	}
}

// next takes the earliest event off the heap.
func (c *clock) next() event {
	first, last := c.heap[0], len(c.heap)-1
	c.heap[0], c.heap[last] = c.heap[last], event{}
	c.heap = c.heap[:last]
	for i := 0; ; {
		child := 2*i + 1
		if child+1 < last && c.heap[child+1].before(c.heap[child]) {
			child++
		}
		if child >= last || !c.heap[child].before(c.heap[i]) {
			return first
		}
		c.heap[i], c.heap[child] = c.heap[child], c.heap[i]
		i = child
	}
}

// until lets everything happen that is planned before end.
func (c *clock) until(end time.Duration) {
	for len(c.heap) > 0 && c.heap[0].at <= end {
		e := c.next()
		c.now = e.at
		e.do()
	}
	c.now = end
}

// ms is a time that is given in milliseconds.
func ms(t float64) time.Duration { return time.Duration(t * float64(time.Millisecond)) }

// around draws a time whose mean is t, of which the given part is exponential.
func (c *clock) around(t, part float64) time.Duration {
	if part == 0 || t == 0 {
		return ms(t)
	}
	return ms(t * (1 - part + part*c.rng.ExpFloat64()))
}

// z99 is the standard normal distribution's quantile of 99 %.
const z99 = 2.3263478740408408

// logNormal draws a time by its median and its 99 % quantile.
func (c *clock) logNormal(median, p99 float64) time.Duration {
	if median <= 0 {
		return 0
	}
	return ms(median * math.Exp(math.Log(p99/median)/z99*c.rng.NormFloat64()))
}

// gauge is a level over time and its integral since the measurement began.
type gauge struct {
	level int
	area  float64 // level × seconds
	last  time.Duration
}

func (g *gauge) add(c *clock, by int) {
	g.area += float64(g.level) * (c.now - g.last).Seconds()
	g.last = c.now
	g.level += by
}

// reset forgets the integral.
func (g *gauge) reset(c *clock) { g.area, g.last = 0, c.now }

// fifo is a queue.
type fifo[T any] struct {
	all  []T
	head int
}

func (q *fifo[T]) len() int { return len(q.all) - q.head }
func (q *fifo[T]) push(v T) { q.all = append(q.all, v) }

func (q *fifo[T]) pop() T {
	var empty T
	v := q.all[q.head]
	q.all[q.head] = empty
	q.head++
	if q.head == len(q.all) {
		q.all, q.head = q.all[:0], 0
	} else if q.head > 1024 && q.head > len(q.all)/2 {
		q.all, q.head = append(q.all[:0], q.all[q.head:]...), 0
	}
	return v
}

// millis is a time in milliseconds.
func millis(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }
