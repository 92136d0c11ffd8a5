package main

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"time"
)

// profile writes a CPU profile of the server over the given time into the file.
func (n *node) profile(ctx context.Context, d time.Duration, file string) error {
	raw, err := n.ask(ctx, fmt.Sprintf("/debug/pprof/profile?seconds=%.0f", max(d.Seconds(), 1)))
	if err != nil {
		return fmt.Errorf("profile: %w", err)
	}
	return os.WriteFile(file, raw, 0o644)
}

// ask reads a page of the operator's socket.
func (n *node) ask(ctx context.Context, page string) ([]byte, error) {
	client := http.Client{Transport: &http.Transport{DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return (&net.Dialer{}).DialContext(ctx, "unix", filepath.Join(n.data, "admin.sock"))
	}}}
	defer client.CloseIdleConnections()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://admin"+page, nil)
	if err != nil {
		return nil, err
	}
	response, err := client.Do(request)
	if err != nil {
		return nil, err
	}
	defer func() { _ = response.Body.Close() }()
	raw, err := io.ReadAll(response.Body)
	if err == nil && response.StatusCode != http.StatusOK {
		err = fmt.Errorf("status %d: %s", response.StatusCode, raw)
	}
	return raw, err
}

// profiled runs f, and beside it a profile if one is wanted.
func (n *node) profiled(ctx context.Context, d time.Duration, f func() (figures, error)) (figures, error) {
	if n.testbed.profile == "" {
		return f()
	}
	written := make(chan error, 1)
	go func() { written <- n.profile(ctx, d, n.testbed.profile) }()
	found, err := f()
	if failed := <-written; err == nil {
		err = failed
	}
	return found, err
}
