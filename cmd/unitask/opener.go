package main

import (
	"context"
	"os"
	"os/exec"
	"runtime"
	"time"
)

// openTime is how long a program may take to say that it can't open a file; one that shows the file
// may stay as long as it likes.
const openTime = 3 * time.Second

// opener is the system's way to open a file.
type opener struct {
	name string
	args []string // before the path
}

// openerHere returns nil without a desktop.
func openerHere() *opener { return openerOf(runtime.GOOS, os.Getenv, exec.LookPath) }

func openerOf(system string, getenv func(string) string, lookPath func(string) (string, error)) *opener {
	var o opener
	switch {
	case system == "darwin":
		o.name = "open"
	case system == "windows":
		o.name, o.args = "rundll32", []string{"url.dll,FileProtocolHandler"}
	case getenv("WSL_DISTRO_NAME") != "":
		o.name = "wslview"
	case getenv("DISPLAY") != "" || getenv("WAYLAND_DISPLAY") != "":
		o.name = "xdg-open"
	default:
		return nil
	}
	if _, err := lookPath(o.name); err != nil {
		return nil
	}
	return &o
}

// open starts the program and doesn't wait for the file to be closed.
func (o *opener) open(ctx context.Context, path string) error {
	cmd := exec.Command(o.name, append(o.args, path)...) //nolint:noctx // it outlives this program
	if err := cmd.Start(); err != nil {
		return err
	}
	failed := make(chan error, 1)
	go func() { failed <- cmd.Wait() }()
	timer := time.NewTimer(openTime)
	defer timer.Stop()
	select {
	case err := <-failed:
		return err
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
