package bulk_test

import (
	"bytes"
	"crypto/sha256"
	"math/rand/v2"
	"runtime"
	"testing"
	"time"

	"unitask/internal/bulk"
)

// sizes are around those of a piece.
var sizes = []int{0, 1, 64<<10 - 1, 64 << 10, 64<<10 + 1, 200_000}

func noise(n int) []byte {
	r := rand.New(rand.NewPCG(1, uint64(n)))
	b := make([]byte, n)
	for i := range b {
		b[i] = byte(r.Uint32())
	}
	return b
}

func TestAppend(t *testing.T) {
	for _, n := range sizes {
		from := noise(n)
		if got, want := bulk.Append([]byte("before"), from), append([]byte("before"), from...); !bytes.Equal(got, want) {
			t.Errorf("%d bytes differ", n)
		}
	}
}

func TestJoin(t *testing.T) {
	for _, n := range sizes {
		parts := [][]byte{noise(n), []byte("between"), noise(n)[n/2:]}
		if got, want := bulk.Join(parts...), bytes.Join(parts, nil); !bytes.Equal(got, want) {
			t.Errorf("%d bytes differ", n)
		}
	}
}

func TestHash(t *testing.T) {
	for _, n := range sizes {
		h := sha256.New()
		bulk.Hash(h, noise(n))
		if want := sha256.Sum256(noise(n)); !bytes.Equal(h.Sum(nil), want[:]) {
			t.Errorf("the hash of %d bytes differs", n)
		}
	}
}

// TestMove: towards either end, far and near, as one copy would.
func TestMove(t *testing.T) {
	for _, n := range sizes {
		for _, way := range [][2]int{{0, 0}, {0, 1}, {1, 0}, {0, 70_000}, {70_000, 0}, {10, 300_000}, {300_000, 10}} {
			to, from := way[0], way[1]
			got := noise(600_000)
			want := bytes.Clone(got)
			copy(want[to:to+n], want[from:from+n])
			if bulk.Move(got, to, from, n); !bytes.Equal(got, want) {
				t.Errorf("%d bytes moved from %d to %d differ", n, from, to)
			}
		}
	}
}

// TestTurns: small work doesn't wait, and large work waits for other large work.
func TestTurns(t *testing.T) {
	var ends []func()
	for range max(1, runtime.GOMAXPROCS(0)-1) {
		ends = append(ends, bulk.Turn(1<<20))
	}
	bulk.Turn(64 << 10)()
	had := make(chan func())
	go func() { had <- bulk.Turn(64<<10 + 1) }()
	select {
	case end := <-had:
		end()
		t.Error("one more had a turn beside all that there are")
	case <-time.After(50 * time.Millisecond):
		ends[0]()
		(<-had)()
		ends = ends[1:]
	}
	for _, end := range ends {
		end()
	}
}
