package pgtest

import (
	"context"
	"fmt"
	"path/filepath"
)

// Dump writes the database's state to a file that Load reads, as pg_dump does while others write.
func (s *Server) Dump() (file string, err error) {
	file = filepath.Join(s.dir, "dump")
	out, err := s.command("pg_dump", "-h", s.dir, "-U", "unitask", "-Fc", "-f", file, "postgres").CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("pg_dump: %w: %s", err, out)
	}
	return file, nil
}

// Load restores a file of Dump into this server's empty database.
func (s *Server) Load(ctx context.Context, file string) error {
	out, err := s.command("pg_restore", "-h", s.dir, "-U", "unitask", "-d", "postgres", "--no-owner", "--exit-on-error", file).CombinedOutput()
	if err != nil {
		return fmt.Errorf("pg_restore: %w: %s", err, out)
	}
	return s.Exec(ctx, "ANALYZE")
}
