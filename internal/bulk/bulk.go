// Package bulk copies and hashes many bytes, piece by piece where it takes long, and leaves the processors to
// other goroutines in between.
//
// A copy and a hash can't be interrupted: the garbage collector, which needs each processor to pause for a moment,
// waits for its end, and every goroutine waits with it. Copying 15 MiB into memory that is new takes 10 to 90 ms on
// two virtual processors, hashing them 12 to 43 ms; a piece is a 240th of that.
//
// Whoever works on much for long takes turns with others who do, so that one processor is left to everybody else.
package bulk

import (
	"hash"
	"runtime"
)

// piece is how many bytes are treated without a break.
const piece = 64 << 10

// turns are for as many workers as there are processors but one, and one with a single processor. While all
// processors have work, Go looks at the network every 10 ms only. On two processors a thousand slow connections and
// 64 keys that send bodies nested 100,000 deep or without end held a creation of another tenant up for 87 and 92 ms
// at the 99th percentile without turns, 16 to 25 ms with them; quiet, it took 4 to 14.
var turns = make(chan struct{}, max(1, runtime.GOMAXPROCS(0)-1))

// Turn waits for a turn to work on n bytes and returns the function that ends it. Its holder may wait only for the
// disk meanwhile, and takes no second turn. A piece or less needs no turn.
func Turn(n int) (done func()) {
	if n <= piece {
		return nothing
	}
	turns <- struct{}{}
	runtime.Gosched() // those who waited come behind whatever else is ready to run
	return end
}

func nothing() {}

func end() { <-turns }

// Append is append(to, from...). If to has no room for it, its bytes are moved without a break.
func Append(to, from []byte) []byte {
	for len(from) > piece {
		to = append(to, from[:piece]...)
		from = from[piece:]
		runtime.Gosched()
	}
	return append(to, from...)
}

// Join returns the pieces one after the other, in memory of its own. What is copied in small pieces is in the processor's
// cache after that, for a hash: past a megabyte at once it is written around the cache, and the hash took 1.25 ms a
// megabyte instead of 0.75.
func Join(pieces ...[]byte) []byte {
	n := 0
	for _, p := range pieces {
		n += len(p)
	}
	all := make([]byte, 0, n)
	for _, p := range pieces {
		all = Append(all, p)
	}
	return all
}

// Move copies n bytes within b, which may overlap, from one place to another.
func Move(b []byte, to, from, n int) {
	for done := 0; done < n && to != from; runtime.Gosched() {
		size := min(piece, n-done)
		at := done // towards the beginning the first piece goes first, towards the end the last one
		if to > from {
			at = n - done - size
		}
		copy(b[to+at:to+at+size], b[from+at:])
		done += size
	}
}

// Hash writes b to h.
func Hash(h hash.Hash, b []byte) {
	for len(b) > piece {
		_, _ = h.Write(b[:piece]) // it never fails, as package hash says
		b = b[piece:]
		runtime.Gosched()
	}
	_, _ = h.Write(b)
}
