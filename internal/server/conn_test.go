package server_test

import (
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"unitask/internal/server"
)

// TestThriftyConn: calls of a connection that keeps deadlines to itself end when, and as, those of the
// connection below it would, whatever deadlines are set before and meanwhile.
func TestThriftyConn(t *testing.T) {
	for seed := range uint64(200) {
		want := played(t, seed, func(c net.Conn) net.Conn { return c })
		got := played(t, seed, server.ThriftyConn)
		if diff := cmp.Diff(want, got); diff != "" {
			t.Fatalf("seed %d (-want +got):\n%s", seed, diff)
		}
	}
}

// history is the results of calls, with their times.
type history struct{ Reads, Writes []string }

// played is the history of a connection in a random life, which depends on the seed alone.
func played(t *testing.T, seed uint64, wrap func(net.Conn) net.Conn) (h history) {
	synctest.Test(t, func(t *testing.T) {
		inner, peer := net.Pipe()
		c, started := wrap(inner), time.Now()
		var all sync.WaitGroup
		play := func(part uint64, step func(*rand.Rand)) {
			random := rand.New(rand.NewPCG(seed, part))
			all.Go(func() {
				for range 40 {
					time.Sleep(some(random))
					step(random)
				}
			})
		}
		note := func(to *[]string, n int, err error) {
			*to = append(*to, fmt.Sprint(n, " ", err, " after ", time.Since(started)))
		}
		play(1, func(*rand.Rand) {
			n, err := c.Read(make([]byte, 7))
			note(&h.Reads, n, err)
		})
		play(2, func(*rand.Rand) {
			n, err := c.Write(make([]byte, 20))
			note(&h.Writes, n, err)
		})
		play(3, func(r *rand.Rand) { _ = c.SetReadDeadline(deadline(r)) })
		play(4, func(r *rand.Rand) { _ = c.SetWriteDeadline(deadline(r)) })
		play(5, func(r *rand.Rand) {
			_ = peer.SetWriteDeadline(time.Now().Add(some(r)))
			_, _ = peer.Write(make([]byte, 1+r.IntN(10)))
		})
		play(6, func(r *rand.Rand) {
			_ = peer.SetReadDeadline(time.Now().Add(some(r)))
			_, _ = io.ReadFull(peer, make([]byte, 1+r.IntN(30)))
		})
		time.Sleep(time.Hour)
		_, _ = c.Close(), peer.Close()
		all.Wait()
	})
	return h
}

func some(r *rand.Rand) time.Duration { return time.Duration(1 + r.Int64N(int64(time.Second))) }

func deadline(r *rand.Rand) time.Time {
	switch r.IntN(5) {
	case 0:
		return time.Time{}
	case 1:
		return time.Unix(1, 0)
	default:
		return time.Now().Add(2 * some(r))
	}
}

// callResult counts the deadlines that a connection is told of.
type callResult struct {
	net.Conn
	n int
}

func (h *callResult) SetReadDeadline(t time.Time) error {
	h.n++
	return h.Conn.SetReadDeadline(t)
}

// TestThriftyConnTellsLittle: a deadline that is lifted or moved before a call needs it isn't passed on.
func TestThriftyConnTellsLittle(t *testing.T) {
	inner, peer := net.Pipe()
	defer func() { _, _ = inner.Close(), peer.Close() }()
	h := &callResult{Conn: inner}
	c := server.ThriftyConn(h)
	var read sync.WaitGroup
	for range 100 {
		for _, d := range []time.Duration{time.Hour, time.Minute, 0, 2 * time.Hour} {
			at := time.Time{}
			if d > 0 {
				at = time.Now().Add(d)
			}
			if err := c.SetReadDeadline(at); err != nil {
				t.Fatal(err)
			}
		}
		read.Go(func() { _, _ = peer.Write([]byte("a")) })
		if _, err := c.Read(make([]byte, 1)); err != nil {
			t.Fatal(err)
		}
	}
	read.Wait()
	if h.n != 1 {
		t.Errorf("told %d times, want once", h.n)
	}
}
