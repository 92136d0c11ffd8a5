package main

import (
	"context"
	"errors"
	"net"
	"net/http"
	"os/exec"
	"slices"
	"strings"
	"time"

	"unitask/internal/account"
	"unitask/internal/task"
)

// clientRuns is how often the client is started in one measurement.
const clientRuns = 20

// arrivals is a service that reports the arrival time of each request, and takes any key.
type arrivals struct {
	base string
	at   chan time.Time
	stop func()
}

func newArrivals(ctx context.Context) (*arrivals, error) {
	l, err := (&net.ListenConfig{}).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	c := &arrivals{base: "http://" + l.Addr().String(), at: make(chan time.Time, 1)}
	server := &http.Server{ReadHeaderTimeout: time.Second, Handler: http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		select {
		case c.at <- time.Now():
		default: // not measured
		}
		_, _ = w.Write([]byte(`{"data":[],"request_id":"req_bench"}`))
	})}
	c.stop = func() { _ = server.Close() }
	go func() { _ = server.Serve(l) }()
	return c, nil
}

// client measures how long a command takes from its start to its first request at the service, with a
// key from the environment.
func (b *testbed) client(ctx context.Context, _ time.Duration) (figures, error) {
	service, err := newArrivals(ctx)
	if err != nil {
		return nil, err
	}
	defer service.stop()
	return b.starts(ctx, service, b.environment("UNITASK_BASE_URL="+service.base, "UNITASK_API_KEY="+newKey()))
}

// keyring is client with a key that login kept in a gnome-keyring, which is unlocked and was used before. Without one
// on this machine, it isn't measured.
func (b *testbed) keyring(ctx context.Context, _ time.Duration) (figures, error) {
	if _, err := exec.LookPath("gnome-keyring-daemon"); err != nil {
		return nil, nil
	}
	service, err := newArrivals(ctx)
	if err != nil {
		return nil, err
	}
	defer service.stop()
	ring, err := b.openKeyring(ctx)
	if err != nil {
		return nil, err
	}
	defer ring.close()
	login := exec.CommandContext(ctx, b.binary, "login", "--base-url", service.base)
	login.Env, login.Stdin = ring.environment, strings.NewReader(newKey())
	if out, err := login.CombinedOutput(); err != nil {
		return nil, errors.Join(err, errors.New(string(out)))
	}
	<-service.at // which login asked
	return b.starts(ctx, service, ring.environment)
}

func newKey() string { return account.NewKeySecret(account.DefaultKeyPrefix, task.Live) }

// starts runs the client again and again.
func (b *testbed) starts(ctx context.Context, service *arrivals, environment []string) (figures, error) {
	var took []time.Duration
	for range clientRuns {
		one, err := b.firstByte(ctx, service, environment)
		if err != nil {
			return nil, err
		}
		took = append(took, one)
	}
	slices.Sort(took)
	return figures{p50: quantile(took, 0.5)}, nil
}

func (b *testbed) firstByte(ctx context.Context, service *arrivals, environment []string) (time.Duration, error) {
	c := exec.CommandContext(ctx, b.binary, "run", "text.chat", "hello")
	c.Env = environment
	start := time.Now()
	if err := c.Start(); err != nil {
		return 0, err
	}
	defer func() { _ = c.Wait() }() // it finds no capability
	select {
	case at := <-service.at:
		return at.Sub(start), nil
	case <-time.After(10 * time.Second):
		_ = c.Process.Kill()
		return 0, errors.New("the client sent nothing within 10 s")
	}
}
