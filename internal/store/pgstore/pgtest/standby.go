package pgtest

import (
	"context"
	"fmt"
	"os"
	"slices"
	"testing"
	"time"
)

// Standby starts a server that follows s and can be promoted. It ends with the test.
func (s *Server) Standby(t testing.TB) *Server {
	t.Helper()
	b := &Server{bin: s.bin}
	t.Cleanup(func() {
		if err := b.Remove(); err != nil {
			t.Errorf("PostgreSQL's standby: %v", err)
		}
	})
	var err error
	if b.dir, err = os.MkdirTemp("", "unitask-pg-"); err != nil {
		t.Fatal(err)
	}
	if b.as, err = giveAway(b.dir); err != nil {
		t.Fatal(err)
	}
	out, err := b.command("pg_basebackup", "-D", b.data(), "-h", s.dir, "-U", "unitask", "--checkpoint=fast", "--write-recovery-conf", "--no-sync").
		CombinedOutput()
	if err != nil {
		t.Fatalf("pg_basebackup: %v: %s", err, out)
	}
	b.listen = append(slices.Clone(s.listen), "-c", "unix_socket_directories="+b.dir)
	if err := b.Restart(); err != nil {
		t.Fatal(err)
	}
	return b
}

// Unfollow ends a standby's connection to its primary: what that commits from now on doesn't arrive.
func (s *Server) Unfollow(ctx context.Context) error {
	if err := s.Exec(ctx, "ALTER SYSTEM SET primary_conninfo = ''"); err != nil {
		return err
	}
	if err := s.Exec(ctx, "SELECT pg_reload_conf()"); err != nil {
		return err
	}
	return s.await(ctx, "SELECT NOT EXISTS (SELECT 1 FROM pg_stat_wal_receiver)")
}

// CaughtUp waits until the standby b has all that s committed.
func (s *Server) CaughtUp(ctx context.Context, b *Server) error {
	position, err := query[string](ctx, s, "SELECT pg_current_wal_lsn()::text")
	if err != nil {
		return err
	}
	return b.await(ctx, "SELECT pg_last_wal_replay_lsn() >= '"+position+"'")
}

// Promote makes a standby a primary.
func (s *Server) Promote(ctx context.Context) error { return s.Exec(ctx, "SELECT pg_promote()") }

// Both returns the address of whichever of the two servers takes writes.
func (s *Server) Both(b *Server) string {
	return "postgres://unitask@/postgres?host=" + s.dir + "," + b.dir + "&target_session_attrs=read-write"
}

// await waits until a query says true.
func (s *Server) await(ctx context.Context, sql string) error {
	for end := time.Now().Add(startTime); ; time.Sleep(20 * time.Millisecond) {
		ok, err := query[bool](ctx, s, sql)
		if err != nil || ok {
			return err
		}
		if time.Now().After(end) {
			return fmt.Errorf("not so after %s: %s", startTime, sql)
		}
	}
}
