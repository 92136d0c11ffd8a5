package upstream_test

import (
	"bufio"
	"context"
	"errors"
	"io"
	"log"
	"net"
	"net/http"
	"os"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"unitask/internal/fault"
	"unitask/internal/supplier"
	"unitask/internal/supplier/upstream"
)

func quiet() *log.Logger { return log.New(io.Discard, "", 0) }

// piped returns a client whose every connection is one end of a pipe; serve has the other, with the
// request read.
func piped(t *testing.T, timeout time.Duration, serve func(net.Conn)) *upstream.Client {
	return newClient(t, upstream.Config{
		BaseURL: "http://supplier.example", Timeout: timeout,
		Dial: func(context.Context, string, string) (net.Conn, error) {
			ours, theirs := net.Pipe()
			go func() {
				defer func() { _ = theirs.Close() }()
				req, err := http.ReadRequest(bufio.NewReader(theirs))
				if err == nil {
					_, err = io.Copy(io.Discard, req.Body)
				}
				if err == nil {
					serve(theirs)
				}
			}()
			return ours, nil
		},
	})
}

const streamHead = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n"

// drip writes n pieces with a pause before each.
func drip(n int, pause time.Duration) func(net.Conn) {
	return func(c net.Conn) {
		_, err := io.WriteString(c, streamHead)
		for range n {
			time.Sleep(pause)
			if err != nil {
				return
			}
			_, err = io.WriteString(c, ".")
		}
	}
}

func TestTimeouts(t *testing.T) {
	timedOut := outcome{Code: fault.ProviderTimeout, Sent: supplier.Unknown}
	cut := timedOut
	cut.Status = http.StatusOK
	tests := []struct {
		name    string
		timeout time.Duration
		serve   func(net.Conn)
		live    bool
		want    outcome
		after   time.Duration
	}{
		{"no answer", 2 * time.Minute, func(c net.Conn) { _, _ = io.Copy(io.Discard, c) }, false, timedOut, 2 * time.Minute},
		{"no answer to a stream", 2 * time.Minute, func(c net.Conn) { _, _ = io.Copy(io.Discard, c) }, true, timedOut, 2 * time.Minute},
		{"a slow answer", 2 * time.Minute, drip(100, 30*time.Second), false, cut, 2 * time.Minute},
		{"a long stream", 2 * time.Minute, drip(100, 30*time.Second), true, outcome{}, 50 * time.Minute},
		{"a stalled stream", 2 * time.Minute, drip(1, time.Hour), true, cut, time.Minute},
		{"a long stream, and a short timeout", 45 * time.Second, drip(100, 30*time.Second), true, outcome{}, 50 * time.Minute},
		{"a stalled stream, and a short timeout", 20 * time.Second, drip(1, time.Hour), true, cut, 20 * time.Second},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c := piped(t, tt.timeout, tt.serve)
				start := time.Now()
				err := exchange(t.Context(), c, tt.live)
				if diff := cmp.Diff(tt.want, outcomeOf(err)); diff != "" {
					t.Errorf("outcome (-want +got):\n%s", diff)
				}
				if got := time.Since(start); got != tt.after {
					t.Errorf("ended after %v, want %v", got, tt.after)
				}
				time.Sleep(2 * time.Hour) // the other end wakes and finds the pipe closed
			})
		})
	}
}

func exchange(ctx context.Context, c *upstream.Client, live bool) error {
	call := upstream.Call{Path: "/", Body: []byte(`{}`)}
	if !live {
		_, err := c.Do(ctx, call)
		return err
	}
	s, err := c.Open(ctx, call)
	if err != nil {
		return err
	}
	defer s.Close()
	_, err = io.Copy(io.Discard, s)
	return err
}

// TestDialHangs shows that a deadline during the dial leaves the request unsent.
func TestDialHangs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newClient(t, upstream.Config{
			BaseURL: "http://supplier.example",
			Dial: func(context.Context, string, string) (net.Conn, error) {
				time.Sleep(10 * time.Second) // net/http dials on when a request has given up
				return nil, errors.New("no route")
			},
		})
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		want := outcome{Code: fault.ProviderTimeout, Sent: supplier.NotSent}
		if diff := cmp.Diff(want, outcomeOf(exchange(ctx, c, false))); diff != "" {
			t.Errorf("outcome (-want +got):\n%s", diff)
		}
		time.Sleep(time.Minute)
	})
}

// TestDialNoticesFirst has the same outcome if the dial notices its deadline before its context does.
func TestDialNoticesFirst(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newClient(t, upstream.Config{
			BaseURL: "http://supplier.example", Timeout: time.Second,
			Dial: func(ctx context.Context, network, _ string) (net.Conn, error) {
				at, _ := ctx.Deadline()
				time.Sleep(time.Until(at))
				return nil, &net.OpError{Op: "dial", Net: network, Err: os.ErrDeadlineExceeded}
			},
		})
		want := outcome{Code: fault.ProviderTimeout, Sent: supplier.NotSent}
		for range 100 {
			if diff := cmp.Diff(want, outcomeOf(exchange(t.Context(), c, false))); diff != "" {
				t.Fatalf("outcome (-want +got):\n%s", diff)
			}
		}
	})
}

// oneEvent is the talk of a text that is complete with its first event.
type oneEvent struct{ complete bool }

func (*oneEvent) Whole(upstream.Answer) (supplier.Outcome, error) { return supplier.Outcome{}, nil }

func (t *oneEvent) Event(_ int, e upstream.Event) (supplier.Delta, error) {
	t.complete = true
	return supplier.Delta{Text: e.Data}, nil
}

func (t *oneEvent) Complete(bool) bool { return t.complete }

func (*oneEvent) Outcome(told *supplier.Told) supplier.Outcome {
	text := told.Text.String()
	return supplier.Outcome{Result: &supplier.Result{Text: &text}}
}

// TestStreamThatGoesOn has the text at hand soon after its last piece, whatever the supplier does then.
func TestStreamThatGoesOn(t *testing.T) {
	tests := []struct {
		name    string
		timeout time.Duration
		pause   time.Duration // between two comments
		after   time.Duration
	}{
		{"comments without end", time.Minute, time.Second, 10 * time.Second},
		{"silence", time.Minute, time.Hour, 10 * time.Second},
		{"a shorter timeout", 4 * time.Second, time.Second, 4 * time.Second},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c := piped(t, tt.timeout, func(conn net.Conn) {
					_, err := io.WriteString(conn, streamHead+"data: text\n\n")
					for err == nil {
						time.Sleep(tt.pause)
						_, err = io.WriteString(conn, ":\n\n")
					}
				})
				start := time.Now()
				out, err := upstream.Format{Client: c}.Stream(t.Context(), "/", struct{}{}, 0, &oneEvent{}, func(supplier.Delta) {})
				if err != nil || out.Result == nil || *out.Result.Text != "text" {
					t.Errorf("%+v, %v", out.Result, err)
				}
				if got := time.Since(start); got != tt.after {
					t.Errorf("ended after %v, want %v", got, tt.after)
				}
				time.Sleep(2 * time.Hour) // the other end wakes and finds the pipe closed
			})
		})
	}
}
