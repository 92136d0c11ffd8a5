// Package pgtest runs a real PostgreSQL server for tests: one of its own, on a socket in a folder of its own, that ends
// with the test. It needs the server's programs, as Debian's package postgresql has them.
package pgtest

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
)

// Server is a running PostgreSQL server.
type Server struct {
	dir    string
	bin    string
	as     *syscall.SysProcAttr // the user it runs as; nil: this process's
	listen []string
	cmd    *exec.Cmd
}

// Config configures a Server.
type Config struct {
	Sync     bool              // commits reach the disk, as outside of tests
	Settings map[string]string // of the server
}

// startTime bounds a server's start.
const startTime = 60 * time.Second

// Available returns the folder of the server's programs, or why a test can't run: in CI it must.
func Available() (string, error) {
	if path, err := exec.LookPath("initdb"); err == nil {
		path, err = filepath.EvalSymlinks(path) // beside it are programs that PATH may lack
		return filepath.Dir(path), err
	}
	found, err := filepath.Glob("/usr/lib/postgresql/*/bin/initdb")
	if err != nil || len(found) == 0 {
		return "", errors.New("no PostgreSQL server is installed (Debian: apt-get install postgresql)")
	}
	slices.Sort(found)
	return filepath.Dir(found[len(found)-1]), nil
}

// Start starts a server, or skips the test without the programs; with CI set it fails instead.
func Start(t testing.TB, c Config) *Server {
	t.Helper()
	s, err := New(c)
	if err != nil {
		if os.Getenv("CI") == "" && s == nil {
			t.Skipf("not run: %v", err)
		}
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Remove(); err != nil {
			t.Errorf("PostgreSQL: %v", err)
		}
	})
	return s
}

// New starts a server; a nil Server with an error if its programs are missing.
func New(c Config) (*Server, error) {
	bin, err := Available()
	if err != nil {
		return nil, err
	}
	s := &Server{bin: bin}
	if s.dir, err = os.MkdirTemp("", "unitask-pg-"); err != nil {
		return s, err
	}
	if s.as, err = giveAway(s.dir); err != nil {
		return s, err
	}
	if out, err := s.command("initdb", "-D", s.data(), "-A", "trust", "-U", "unitask", "-E", "UTF8", "--locale=C", "--no-sync").CombinedOutput(); err != nil {
		return s, fmt.Errorf("initdb: %w: %s", err, out)
	}
	settings := map[string]string{
		"listen_addresses": "", "unix_socket_directories": s.dir, "max_connections": "200", "log_min_messages": "fatal",
		"log_checkpoints": "off", "shared_buffers": "128MB", "max_wal_size": "4GB",
	}
	if !c.Sync {
		settings["fsync"], settings["full_page_writes"], settings["synchronous_commit"] = "off", "off", "off"
	}
	for name, value := range c.Settings {
		settings[name] = value
	}
	for name, value := range settings {
		s.listen = append(s.listen, "-c", name+"="+value)
	}
	return s, s.Restart()
}

func (s *Server) data() string { return filepath.Join(s.dir, "data") }

func (s *Server) command(name string, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(context.Background(), filepath.Join(s.bin, name), args...)
	cmd.Dir, cmd.SysProcAttr = s.dir, s.as
	cmd.Env = append(os.Environ(), "LC_ALL=C", "HOME="+s.dir)
	return cmd
}

// Dir returns the folder of the server's socket.
func (s *Server) Dir() string { return s.dir }

// Bin returns the folder of the server's programs.
func (s *Server) Bin() string { return s.bin }

// PID returns the process that the server's others are children of.
func (s *Server) PID() int { return s.cmd.Process.Pid }

// URL returns the server's address for clients.
func (s *Server) URL() string { return "postgres://unitask@/postgres?host=" + s.dir }

// Restart starts the server, which has ended or never run, and waits until it answers.
func (s *Server) Restart() error {
	s.cmd = s.command("postgres", append([]string{"-D", s.data()}, s.listen...)...)
	log, err := os.OpenFile(filepath.Join(s.dir, "log"), os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	defer func() { _ = log.Close() }()
	s.cmd.Stdout, s.cmd.Stderr = log, log
	if err := s.cmd.Start(); err != nil {
		return err
	}
	for end := time.Now().Add(startTime); ; time.Sleep(20 * time.Millisecond) {
		if err = s.ping(); err == nil {
			return nil
		}
		if time.Now().After(end) {
			text, _ := os.ReadFile(log.Name())
			return fmt.Errorf("the server doesn't answer: %w: %s", err, text)
		}
	}
}

func (s *Server) ping() error {
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	return s.Exec(ctx, "SELECT 1")
}

// Exec runs a statement as the server's superuser.
func (s *Server) Exec(ctx context.Context, sql string, args ...any) error {
	conn, err := pgx.Connect(ctx, s.URL())
	if err != nil {
		return err
	}
	defer func() { _ = conn.Close(ctx) }()
	_, err = conn.Exec(ctx, sql, args...)
	return err
}

// query reads one value as the server's superuser.
func query[T any](ctx context.Context, s *Server, sql string) (value T, err error) {
	conn, err := pgx.Connect(ctx, s.URL())
	if err != nil {
		return value, err
	}
	defer func() { _ = conn.Close(ctx) }()
	err = conn.QueryRow(ctx, sql).Scan(&value)
	return value, err
}

// KillBackends ends the connections of all clients, whatever they do.
func (s *Server) KillBackends(ctx context.Context) error {
	return s.Exec(ctx, `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE pid <> pg_backend_pid() AND backend_type = 'client backend'`)
}

// Crash ends the server as a fault of its own does: no checkpoint, and the next start recovers from its log.
func (s *Server) Crash() error { return s.end(syscall.SIGQUIT) }

// Stop ends the server in order, with its clients' transactions rolled back.
func (s *Server) Stop() error { return s.end(syscall.SIGINT) }

func (s *Server) end(sig syscall.Signal) error {
	if s.cmd == nil || s.cmd.Process == nil {
		return nil
	}
	if err := s.cmd.Process.Signal(sig); err != nil && !errors.Is(err, os.ErrProcessDone) {
		return err
	}
	err := s.cmd.Wait()
	s.cmd = nil
	if _, ended := errors.AsType[*exec.ExitError](err); ended {
		return nil // an immediate stop isn't a success
	}
	return err
}

// Remove ends the server and removes its folder.
func (s *Server) Remove() error {
	return errors.Join(s.end(syscall.SIGQUIT), os.RemoveAll(s.dir))
}
