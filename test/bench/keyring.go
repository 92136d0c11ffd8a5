package main

import (
	"bufio"
	"context"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// keyringSession opens a keyring and returns its bus; both end with stdin.
const keyringSession = `printf pw | gnome-keyring-daemon --unlock --components=secrets >/dev/null &&
echo "$DBUS_SESSION_BUS_ADDRESS" && exec cat >/dev/null`

// session is a session bus with an unlocked keyring.
type session struct {
	environment []string // of commands that use it
	command     *exec.Cmd
	stdin       io.Closer
}

func (b *testbed) openKeyring(ctx context.Context) (*session, error) {
	home := filepath.Join(b.dir, "home")
	if err := os.MkdirAll(home, 0o700); err != nil {
		return nil, err
	}
	s := &session{environment: []string{
		"PATH=" + os.Getenv("PATH"), "HOME=" + home, "XDG_RUNTIME_DIR=" + home, "XDG_DATA_HOME=" + home,
		"UNITASK_CONFIG_DIR=" + filepath.Join(home, "config"), "UNITASK_STATE_DIR=" + filepath.Join(home, "state"),
	}}
	s.command = exec.CommandContext(ctx, "dbus-run-session", "--", "sh", "-c", keyringSession)
	s.command.Env = s.environment
	stdin, err := s.command.StdinPipe()
	if err != nil {
		return nil, err
	}
	s.stdin = stdin
	stdout, err := s.command.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := s.command.Start(); err != nil {
		return nil, err
	}
	bus, err := bufio.NewReader(stdout).ReadString('\n')
	if err != nil {
		s.close()
		return nil, err
	}
	s.environment = append(s.environment, "DBUS_SESSION_BUS_ADDRESS="+strings.TrimSpace(bus))
	return s, nil
}

func (s *session) close() {
	_ = s.stdin.Close()
	_ = s.command.Wait() // the bus ends its services
}
