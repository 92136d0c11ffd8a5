package jsonwrite_test

import (
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"unitask/internal/jsonwrite"
)

// TestTime compares times with those of package time, whatever second was written before.
func TestTime(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	at := []time.Time{{}, time.Unix(0, 0), time.Unix(-1, 999_999_999), time.Date(9999, 12, 31, 23, 59, 59, 1, time.UTC), time.Date(1e6, 1, 1, 0, 0, 0, 0, time.UTC)}
	for _, nano := range []int{0, 1, 10, 999_999, 1_000_000, 10_000_000, 100_000_000, 120_000_000, 123_456_780, 999_999_999} {
		at = append(at, time.Unix(1_790_000_000, int64(nano)), time.Unix(1_790_000_000, int64(nano)))
	}
	for range 5_000 {
		second := 1_790_000_000 + random.Int64N(3) - random.Int64N(2)*random.Int64N(1<<32)
		at = append(at, time.Unix(second, random.Int64N(1e9)/[]int64{1, 1e3, 1e6}[random.IntN(3)]))
	}
	w := jsonwrite.New(16)
	w.Begin('[')
	var want []string
	for _, one := range at {
		for _, zoned := range []time.Time{one.UTC(), one.In(time.FixedZone("", 5400))} {
			w.Time(zoned)
			w.Millis(zoned)
			want = append(want, zoned.Format(`"2006-01-02T15:04:05.999999999Z07:00"`), zoned.UTC().Format(`"2006-01-02T15:04:05.000Z"`))
		}
	}
	w.End(']')
	raw, err := w.Bytes()
	if err != nil {
		t.Fatal(err)
	}
	got := strings.Split(strings.Trim(string(raw), "[]"), ",")
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

func BenchmarkTime(b *testing.B) {
	at := time.Unix(1_790_000_000, 123_000_000).UTC()
	w := jsonwrite.New(1 << 10)
	for b.Loop() {
		w.Reset()
		for range 8 {
			w.Time(at)
		}
	}
}
