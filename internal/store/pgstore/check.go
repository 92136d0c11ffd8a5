package pgstore

import (
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"

	"unitask/internal/store"
)

// Check connects as Open does, changes nothing and says what it found: the server's version and the schema's. An error
// says why Open would fail, a *store.UnfinishedError that a copy is under way into it.
func Check(ctx context.Context, c Config) (found string, err error) {
	c = c.withDefaults()
	conf, err := c.pool()
	if err != nil {
		return "", err
	}
	conn, err := pgx.ConnectConfig(ctx, conf.ConnConfig)
	if err != nil {
		return "", fmt.Errorf("pgstore: %w", err)
	}
	defer func() { _ = conn.Close(ctx) }()
	var server string
	var standby, made, mayMake bool
	if err := conn.QueryRow(ctx, `SELECT current_setting('server_version'), pg_is_in_recovery(), to_regclass($1) IS NOT NULL,
		to_regnamespace($2) IS NOT NULL OR has_database_privilege(current_database(), 'CREATE')`,
		c.Schema+".version", c.Schema).Scan(&server, &standby, &made, &mayMake); err != nil {
		return "", fmt.Errorf("pgstore: %w", err)
	}
	switch {
	case standby:
		return "", errors.New("pgstore: the server is a standby, which takes no writes")
	case !made && !mayMake:
		return "", fmt.Errorf("pgstore: the role may not make the schema %s, which is missing", c.Schema)
	case !made:
		return fmt.Sprintf("PostgreSQL %s, no tables yet", server), nil
	}
	version := 0
	if err := conn.QueryRow(ctx, `SELECT version FROM `+pgx.Identifier{c.Schema, "version"}.Sanitize()).Scan(&version); err != nil {
		return "", fmt.Errorf("pgstore: schema %s: %w", c.Schema, err)
	}
	if version > len(migrations) {
		return "", fmt.Errorf("pgstore: schema %s: %w", c.Schema, newer(version))
	}
	mark, err := markIn(ctx, conn, pgx.Identifier{c.Schema, "copying"}.Sanitize())
	if err != nil {
		return "", fmt.Errorf("pgstore: schema %s: %w", c.Schema, err)
	}
	if mark != nil {
		return "", &store.UnfinishedError{From: mark.From}
	}
	return fmt.Sprintf("PostgreSQL %s, schema %s of version %d", server, c.Schema, version), nil
}

// newer is the error of a schema that this program doesn't know.
func newer(version int) error {
	return fmt.Errorf("it has version %d, and this program knows up to %d: run the newer program", version, len(migrations))
}
