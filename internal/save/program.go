package save

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

// Program is the system's program that opens a file or a link.
type Program struct {
	Name string
	args []string // before the path
}

// ProgramHere returns this system's, nil without a desktop.
func ProgramHere() *Program { return programOf(runtime.GOOS, os.Getenv, exec.LookPath) }

func programOf(system string, getenv func(string) string, lookPath func(string) (string, error)) *Program {
	var o Program
	switch {
	case system == "darwin":
		o.Name = "open"
	case system == "windows":
		o.Name, o.args = "rundll32", []string{"url.dll,FileProtocolHandler"}
	case getenv("WSL_DISTRO_NAME") != "":
		o.Name = "wslview"
	case getenv("DISPLAY") != "" || getenv("WAYLAND_DISPLAY") != "":
		o.Name = "xdg-open"
	default:
		return nil
	}
	if _, err := lookPath(o.Name); err != nil {
		return nil
	}
	return &o
}

// Open starts the program and doesn't wait for the file to be closed.
func (o *Program) Open(ctx context.Context, path string) error {
	cmd := exec.Command(o.Name, append(o.args, path)...) //nolint:noctx // it outlives this program
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
