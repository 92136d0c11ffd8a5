package pgtest

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
)

// Bouncer starts a PgBouncer in transaction mode before the server, which ends with the test, and returns its address
// for clients. Without the program the test is skipped; with CI set it fails.
func (s *Server) Bouncer(t testing.TB) (url string) {
	t.Helper()
	program, err := exec.LookPath("pgbouncer")
	if err != nil {
		program, err = exec.LookPath("/usr/sbin/pgbouncer") // PATH of a user may lack it
	}
	if err != nil {
		if os.Getenv("CI") == "" {
			t.Skip("not run: no PgBouncer is installed (Debian: apt-get install pgbouncer)")
		}
		t.Fatal(err)
	}
	write := func(name, text string) string {
		file := filepath.Join(s.dir, name)
		if err := os.WriteFile(file, []byte(text), 0o644); err != nil { //nolint:gosec // the server's user reads it, and it has no secret
			t.Fatal(err)
		}
		return file
	}
	users := write("pgbouncer.users", "\"unitask\" \"\"\n")
	file := write("pgbouncer.ini", fmt.Sprintf(`[databases]
* = host=%[1]s
[pgbouncer]
listen_addr =
listen_port = 6432
unix_socket_dir = %[1]s
auth_type = trust
auth_file = %[2]s
logfile = %[1]s/pgbouncer.log
pool_mode = transaction
default_pool_size = 20
max_client_conn = 200
`, s.dir, users))
	cmd := s.command("", "-q", file)
	cmd.Path, cmd.Args[0] = program, program
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Signal(syscall.SIGTERM)
		_ = cmd.Wait()
	})
	url = s.URL() + "&port=6432&default_query_exec_mode=exec"
	for end := time.Now().Add(startTime); ; time.Sleep(20 * time.Millisecond) {
		conn, err := pgx.Connect(t.Context(), url)
		if err == nil {
			if err := conn.Close(t.Context()); err != nil {
				t.Fatal(err)
			}
			return url
		}
		if time.Now().After(end) {
			text, _ := os.ReadFile(filepath.Join(s.dir, "pgbouncer.log"))
			t.Fatalf("PgBouncer doesn't answer: %v: %s", err, text)
		}
	}
}
