package sim_test

import (
	"encoding/binary"
	"hash/fnv"
	"math/rand/v2"
	"time"
)

// choices makes every random choice of a run. A choice is a function of the seed and its topic, never
// of the number of earlier choices: the order of goroutines doesn't change it.
type choices uint64

// of returns the source of the choices about a topic.
func (d choices) of(topic string, about string, n int64) *rand.Rand {
	h := fnv.New64a()
	_, _ = h.Write([]byte(topic + "\x00" + about))
	var raw [8]byte
	binary.LittleEndian.PutUint64(raw[:], uint64(n))
	_, _ = h.Write(raw[:])
	return rand.New(rand.NewPCG(uint64(d), h.Sum64()))
}

// oneIn is true once in n times.
func oneIn(r *rand.Rand, n int) bool { return r.IntN(n) == 0 }

// between returns a duration of [low, high), to the nanosecond: two timers rarely meet, and so
// the seed decides the order in which they fire.
func between(r *rand.Rand, low, high time.Duration) time.Duration {
	return low + time.Duration(r.Int64N(int64(high-low)))
}
