package room_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"unitask/internal/room"
)

// TestRoom: one key gets no more than its part, whatever waits before others of it, and all together no more than
// the whole; a claim larger than either is granted once it is alone.
func TestRoom(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := room.New(10, 5)
		take := func(key string, bytes int64) error {
			ctx, stop := context.WithTimeout(t.Context(), time.Second)
			defer stop()
			return r.Take(ctx, key, bytes)
		}
		for _, step := range []struct {
			key   string
			bytes int64
			want  error
		}{{"a", 5, nil}, {"a", 1, room.ErrKeyFull}, {"b", 4, nil}, {"c", 2, room.ErrWholeFull}, {"c", 1, nil}, {"d", 1, room.ErrWholeFull}} {
			if err := take(step.key, step.bytes); !errors.Is(err, step.want) {
				t.Errorf("%s takes %d: %v, want %v", step.key, step.bytes, err, step.want)
			}
		}
		for key, bytes := range map[string]int64{"a": 5, "b": 4, "c": 1} {
			r.Give(key, bytes)
		}
		if err := take("a", 100); err != nil {
			t.Errorf("a claim larger than all: %v", err)
		}
		if err := take("b", 1); !errors.Is(err, room.ErrWholeFull) {
			t.Errorf("beside it: %v", err)
		}
		r.Give("a", 100)
		if left := r.Left(); left != "" {
			t.Error(left)
		}
	})
}

// TestRoomInTurn: a claim for the whole isn't passed by smaller ones, and one whose key is full doesn't delay others.
func TestRoomInTurn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := room.New(10, 8)
		if err := r.Take(t.Context(), "a", 8); err != nil {
			t.Fatal(err)
		}
		order := make(chan string, 3)
		var all sync.WaitGroup
		for _, c := range []struct {
			key   string
			bytes int64
		}{{"a", 3}, {"b", 7}, {"c", 2}} {
			all.Go(func() {
				if err := r.Take(t.Context(), c.key, c.bytes); err != nil {
					t.Error(err)
				}
				order <- c.key
			})
			synctest.Wait()
		}
		if len(order) != 0 {
			t.Errorf("%s passed b, who waits for the whole", <-order)
		}
		r.Give("a", 8)
		synctest.Wait()
		if len(order) != 2 { // b's 7 and c's 2: a had its turn
			t.Errorf("%d have room, want 2", len(order))
		}
		r.Give("b", 7)
		all.Wait()
	})
}

// TestRoomForOthers: a key whose claims fill the whole, one after the other, has its turn once the others had theirs.
func TestRoomForOthers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := room.New(10, 5)
		order := make(chan string, 4)
		var all sync.WaitGroup
		for _, key := range []string{"a", "a", "a", "b"} {
			all.Go(func() {
				if err := r.Take(t.Context(), key, 10); err != nil {
					t.Error(err)
				}
				order <- key
				time.Sleep(time.Second)
				r.Give(key, 10)
			})
			synctest.Wait()
		}
		all.Wait()
		if got := <-order + <-order + <-order + <-order; got != "abaa" {
			t.Errorf("the turns are %s, want abaa", got)
		}
		if left := r.Left(); left != "" {
			t.Error(left)
		}
	})
}

// TestRoomAtRandom: at no moment is more taken than there is, and in the end all of it is back.
func TestRoomAtRandom(t *testing.T) {
	const whole, each = 100, 40
	r := room.New(whole, each)
	var taken atomic.Int64
	var by [4]atomic.Int64
	var all sync.WaitGroup
	for n := range 16 {
		dice := rand.New(rand.NewPCG(1, uint64(n)))
		all.Go(func() {
			for range 500 {
				key, bytes := dice.IntN(len(by)), 1+dice.Int64N(each)
				ctx, stop := context.WithTimeout(t.Context(), time.Duration(dice.Int64N(int64(time.Millisecond))))
				if r.Take(ctx, fmt.Sprint(key), bytes) == nil {
					if taken.Add(bytes) > whole || by[key].Add(bytes) > each {
						t.Errorf("more is taken than there is")
					}
					taken.Add(-bytes)
					by[key].Add(-bytes)
					r.Give(fmt.Sprint(key), bytes)
				}
				stop()
			}
		})
	}
	all.Wait()
	if left := r.Left(); left != "" {
		t.Error(left)
	}
}
