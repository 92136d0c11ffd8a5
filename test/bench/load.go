package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

// target is a server and how to write the n-th request to it, headers and body.
type target struct {
	address string
	request func(n int64) []byte
	next    *atomic.Int64           // numbers the requests, those of a warm-up too
	status  int                     // the only answer that counts
	read    func(body []byte) error // nil: bodies are read and dropped
}

// load is the figures of saturated servers.
type load struct {
	answers int64
	took    time.Duration
	each    []time.Duration // how long each exchange took, sorted
}

// saturate keeps callers requests under way for d, spread over the targets.
func saturate(ctx context.Context, callers int, d time.Duration, targets ...target) (load, error) {
	var mu sync.Mutex
	var all load
	ctx, stop := context.WithTimeout(ctx, d)
	defer stop()
	start := time.Now()
	var caller atomic.Int64
	err := inParallel(callers, func() error {
		c, err := dial(ctx, targets[int(caller.Add(1))%len(targets)])
		if err != nil {
			return err
		}
		defer c.close()
		var each []time.Duration
		for ctx.Err() == nil {
			sent := time.Now()
			if err := c.exchange(c.target.next.Add(1)); err != nil {
				return err
			}
			each = append(each, time.Since(sent))
		}
		mu.Lock()
		defer mu.Unlock()
		all.answers += int64(len(each))
		all.each = append(all.each, each...)
		return nil
	})
	all.took = time.Since(start)
	slices.Sort(all.each)
	return all, err
}

// pace sends perSecond requests a second whether or not answers come, and returns, sorted, how long
// they took from the moment they were due.
func pace(ctx context.Context, t target, perSecond int, d time.Duration) ([]time.Duration, error) {
	const connections = 256
	due := make(chan time.Time, perSecond)
	go func() {
		defer close(due)
		step := time.Second / time.Duration(perSecond)
		for at := time.Now(); d > 0 && ctx.Err() == nil; d -= step {
			at = at.Add(step)
			time.Sleep(time.Until(at))
			due <- at
		}
	}()
	var mu sync.Mutex
	var took []time.Duration
	err := inParallel(connections, func() error {
		c, err := dial(ctx, t)
		if err != nil {
			return err
		}
		defer c.close()
		for at := range due {
			if err := c.exchange(t.next.Add(1)); err != nil {
				return err
			}
			mu.Lock()
			took = append(took, time.Since(at))
			mu.Unlock()
		}
		return nil
	})
	slices.Sort(took)
	return took, err
}

// quantile returns the q-th part of sorted durations, in seconds; 0 if empty.
func quantile(sorted []time.Duration, q float64) float64 {
	if len(sorted) == 0 {
		return 0
	}
	return sorted[min(int(float64(len(sorted))*q), len(sorted)-1)].Seconds()
}

func inParallel(n int, f func() error) error {
	var wait sync.WaitGroup
	failed := make(chan error, n)
	for range n {
		wait.Go(func() {
			if err := f(); err != nil {
				failed <- err
			}
		})
	}
	wait.Wait()
	select {
	case err := <-failed:
		return err
	default:
		return nil
	}
}

// conn is one kept connection. It writes prepared bytes and parses answers with net/http, so that
// the driver costs little of the two cores that everything shares.
type conn struct {
	target target
	conn   net.Conn
	in     *bufio.Reader
}

func dial(ctx context.Context, t target) (*conn, error) {
	c, err := (&net.Dialer{}).DialContext(ctx, "tcp", t.address)
	if err != nil {
		return nil, err
	}
	return &conn{target: t, conn: c, in: bufio.NewReader(c)}, nil
}

func (c *conn) exchange(n int64) error {
	if _, err := c.conn.Write(c.target.request(n)); err != nil {
		return err
	}
	response, err := http.ReadResponse(c.in, nil)
	if err != nil {
		return err
	}
	defer func() { _ = response.Body.Close() }()
	if response.StatusCode != c.target.status {
		body, _ := io.ReadAll(io.LimitReader(response.Body, 500))
		return fmt.Errorf("status %d: %s", response.StatusCode, body)
	}
	if c.target.read == nil {
		_, err = io.Copy(io.Discard, response.Body)
		return err
	}
	body, err := io.ReadAll(response.Body)
	return errors.Join(err, c.target.read(body))
}

func (c *conn) close() { _ = c.conn.Close() }
