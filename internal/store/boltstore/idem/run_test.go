package idem

import (
	"cmp"
	"crypto/sha256"
	"encoding/binary"
	"math/rand/v2"
	"slices"
	"testing"
)

func digestOf(i int) [16]byte {
	sum := sha256.Sum256(binary.BigEndian.AppendUint64(nil, uint64(i)))
	return [16]byte(sum[:])
}

func TestRunSearch(t *testing.T) {
	for _, n := range []int{0, 1, 2, 63, 64, 65, 5000} {
		var in, out [][16]byte
		for i := range 2 * n {
			if d := digestOf(i); i < n {
				in = append(in, d)
			} else {
				out = append(out, d)
			}
		}
		out = append(out, [16]byte{}, [16]byte(slices.Repeat([]byte{0xff}, 16)))
		run := runOf(in...)
		for _, d := range in {
			if row, ok := Run(run).Search(d); !ok || row != d {
				t.Fatalf("run of %d: %x not found", n, d)
			}
		}
		for _, d := range out {
			if _, ok := Run(run).Search(d); ok {
				t.Fatalf("run of %d: %x found", n, d)
			}
		}
	}
	clustered := [][16]byte{{15: 1}, {15: 2}, {14: 1}, {0: 255}, {0: 255, 15: 9}}
	for _, d := range clustered {
		if _, ok := runOf(clustered...).Search(d); !ok {
			t.Errorf("clustered: %x not found", d)
		}
	}
}

// TestFilters: whatever runs come and go, each that holds a digest is named, the newest first, and removed ones
// aren't.
func TestFilters(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	var (
		filters numbered
		keys    []uint64
		holders = map[[16]byte][]uint64{}
	)
	digests := make([][16]byte, 40)
	for i := range digests {
		digests[i] = digestOf(i)
	}
	for step := range uint64(2000) {
		switch {
		case len(keys) < 8 && random.IntN(4) == 0:
			held := digests[random.IntN(len(digests))]
			filters.Add(step, runOf(held))
			keys, holders[held] = append(keys, step), append(holders[held], step)
		case len(keys) > 0 && random.IntN(6) == 0:
			gone := keys[random.IntN(len(keys))]
			filters.Remove(gone)
			is := func(key uint64) bool { return key == gone }
			keys = slices.DeleteFunc(keys, is)
			for d := range holders {
				holders[d] = slices.DeleteFunc(holders[d], is)
			}
		}
		d := digests[random.IntN(len(digests))]
		got := filters.Runs(d)
		for _, key := range holders[d] {
			if !slices.Contains(got, key) {
				t.Fatalf("step %d: %x may be in %v, it is in %v", step, d, got, holders[d])
			}
		}
		for _, key := range got {
			if !slices.Contains(keys, key) {
				t.Fatalf("step %d: run %d is gone", step, key)
			}
		}
		if !slices.IsSortedFunc(got, func(a, b uint64) int { return cmp.Compare(b, a) }) {
			t.Fatalf("step %d: %v, want the newest first", step, got)
		}
	}
}

// FuzzRun: a run holds the digests that it says; a broken one never causes more than a wrong answer.
func FuzzRun(f *testing.F) {
	a, b := [16]byte{1, 2, 3}, [16]byte{0xf0, 15: 9}
	f.Add([]byte(runOf(a, b)), a[:])
	f.Add([]byte(runOf()), b[:])
	f.Add([]byte("run"), a[:])
	f.Fuzz(func(t *testing.T, run, key []byte) {
		if len(key) != len(a) {
			return
		}
		Run(run).Search([16]byte(key))
		both := runOf(a, [16]byte(key))
		for _, d := range [][16]byte{a, [16]byte(key)} {
			if row, ok := both.Search(d); !ok || row != d {
				t.Fatalf("%x not found", d)
			}
		}
		_, held := both.Search(b)
		if want := [16]byte(key) == b; held != want {
			t.Fatalf("%x: found %v, want %v", b, held, want)
		}
	})
}

// BenchmarkFilters asks 31 filters, as they are with a million tasks, for a digest that is in no filter.
func BenchmarkFilters(b *testing.B) {
	var filters numbered
	held := make([][16]byte, 1<<15)
	for key := range uint64(31) {
		for i := range held {
			held[i] = digestOf(int(key)<<15 + i)
		}
		filters.Add(key, runOf(held...))
	}
	asked := make([][16]byte, 1<<12)
	for i := range asked {
		asked[i] = digestOf(-1 - i)
	}
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		filters.Runs(asked[i%len(asked)])
	}
}

// runOf returns a run of digests, each with itself as its row.
func runOf(digests ...Digest) Run {
	pairs := map[Digest]Row{}
	for _, d := range digests {
		pairs[d] = d
	}
	return Encode(pairs)
}

// numbered are the filters of several runs, whose keys are numbers.
type numbered struct{ filters }

func (f *numbered) Add(key uint64, r Run) {
	bits, _, _ := r.parts()
	f.filters = append(f.filters, filter{binary.BigEndian.AppendUint64(nil, key), bits})
}

func (f *numbered) Remove(key uint64) { f.remove(binary.BigEndian.AppendUint64(nil, key)) }

func (f *numbered) Runs(d Digest) (keys []uint64) {
	for _, key := range f.runs(d) {
		keys = append(keys, binary.BigEndian.Uint64(key))
	}
	return keys
}

// TestIndex: a pair is found in the log, on its way into a run and in the run, and in the log again if the run failed.
func TestIndex(t *testing.T) {
	for _, ran := range []bool{true, false} {
		x := Index{Limit: 2}
		x.Add(map[Digest]Row{digestOf(1): {1}, digestOf(2): {2}})
		logged := func() bool { return x.Find(digestOf(1)).Logged }
		if !x.Full() || !logged() {
			t.Errorf("full %t, logged %t", x.Full(), logged())
		}
		x.BeginRun()
		if !x.Moving() || !logged() {
			t.Errorf("moving %t, logged %t", x.Moving(), logged())
		}
		r := x.MakeRun([]byte("run"))
		if row, ok := r.Search(digestOf(2)); !ok || row != (Row{2}) {
			t.Errorf("in the run: %x, %t", row, ok)
		}
		x.Add(map[Digest]Row{digestOf(3): {3}})
		x.EndRun(ran)
		found := x.Find(digestOf(1))
		if found.Logged == ran || len(found.Runs) == 1 != ran || x.Moving() || !x.Find(digestOf(3)).Logged {
			t.Errorf("after the end (%t): %+v", ran, found)
		}
	}
}

// TestRowsOfTheLog: a row of the log is read as it was written, and a damaged one isn't read.
func TestRowsOfTheLog(t *testing.T) {
	row := Sum(AppendPair(AppendPair(nil, digestOf(1), Row{1}), digestOf(2), Row{2}))
	var x Index
	if !x.AddRow(7, row) || x.Find(digestOf(2)).Row != (Row{2}) || x.NextNumber() != 8 {
		t.Errorf("%+v", x.Find(digestOf(2)))
	}
	for i := range row {
		damaged := slices.Clone(row)
		damaged[i] ^= 1
		if x.AddRow(8, damaged) {
			t.Errorf("a row with a damaged byte %d was read", i)
		}
	}
}
