package main

import (
	"context"
	"net"
	"os/exec"
	"slices"
	"time"

	"unitask/internal/account"
	"unitask/internal/task"
)

// clientRuns is how often the client is started in one measurement.
const clientRuns = 20

// client measures how long a command takes from its start to its first byte at the service.
func (b *bed) client(ctx context.Context, _ time.Duration) (figures, error) {
	l, err := (&net.ListenConfig{}).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	defer func() { _ = l.Close() }()
	var took []time.Duration
	for range clientRuns {
		one, err := b.firstByte(ctx, l)
		if err != nil {
			return nil, err
		}
		took = append(took, one)
	}
	slices.Sort(took)
	return figures{p50: quantile(took, 0.5)}, nil
}

func (b *bed) firstByte(ctx context.Context, l net.Listener) (time.Duration, error) {
	c := exec.CommandContext(ctx, b.binary, "run", "text.chat", "hello")
	c.Env = b.environment("UNITASK_BASE_URL=http://"+l.Addr().String(), "UNITASK_API_KEY="+account.NewKeySecret(account.DefaultKeyPrefix, task.Live))
	begun := time.Now()
	if err := c.Start(); err != nil {
		return 0, err
	}
	defer func() {
		_ = c.Process.Kill()
		_ = c.Wait()
	}()
	if err := l.(*net.TCPListener).SetDeadline(begun.Add(10 * time.Second)); err != nil {
		return 0, err
	}
	conn, err := l.Accept()
	if err != nil {
		return 0, err
	}
	defer func() { _ = conn.Close() }()
	_, err = conn.Read(make([]byte, 1))
	return time.Since(begun), err
}
