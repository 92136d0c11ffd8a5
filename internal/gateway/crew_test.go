package gateway_test

import (
	"context"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"unitask/internal/gateway"
)

// hands counts the goroutines of crews in this bubble.
func hands() int {
	synctest.Wait()
	all := make([]byte, 1<<20)
	stacks := strings.Split(string(all[:runtime.Stack(all, true)]), "\n\n") // this goroutine's first
	_, bubble, _ := strings.Cut(strings.SplitN(stacks[0], "]", 2)[0], "synctest bubble ")
	n := 0
	for _, stack := range stacks {
		head, frames, _ := strings.Cut(stack, "]")
		if strings.HasSuffix(head, "synctest bubble "+bubble) && strings.Contains(frames, "gateway.(*crew).work(") {
			n++
		}
	}
	return n
}

func TestCrew(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, end := context.WithCancel(t.Context())
		run := gateway.NewCrew(ctx)
		var done atomic.Int64
		busy := make(chan struct{})
		crowd := func(n int) {
			for range n {
				run(func() { <-busy; done.Add(1) })
			}
		}
		want := func(what string, ran int64, waiting int) {
			t.Helper()
			if got := hands(); done.Load() != ran || got != waiting {
				t.Errorf("%s: %d functions ran, %d goroutines are there; want %d and %d", what, done.Load(), got, ran, waiting)
			}
		}
		crowd(5)
		want("all at once", 0, 5)
		for range 5 {
			busy <- struct{}{}
		}
		want("free", 5, 5)
		crowd(2)
		want("some busy again", 5, 5)
		time.Sleep(3 * gateway.CrewIdle)
		want("the others idle for too long", 5, 2)
		crowd(1)
		busy <- struct{}{}
		want("one busy beside them", 6, 3)
		end()
		want("the end lets the free one go", 6, 2)
		busy <- struct{}{}
		busy <- struct{}{}
		want("and the others when they are free", 8, 0)
		run(func() { done.Add(1) })
		want("one that comes too late", 9, 0)
	})
}
