package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"time"
)

// bareClients are the numbers of pgbench's clients, of which the best counts: with many it computes less and waits more
// for the disk, or the other way round.
var bareClients = []int{8, 16, 32, 64}

// bare measures the statements of one task in pgbench: what the database can do without unitask.
func (b *testbed) bare() func(context.Context, time.Duration) (figures, error) {
	return b.onDatabase(nil, func(ctx context.Context, d *database, name string, t time.Duration) (figures, error) {
		captured, err := b.capture(ctx, d, name)
		if err != nil {
			return nil, err
		}
		script, err := captured.script()
		if err != nil {
			return nil, err
		}
		return b.pgbench(ctx, d, name, script, t)
	})
}

// queueScript is a queue as it is usually built: a job is inserted, taken and ended, in a commit each.
const (
	queueTable = `CREATE TABLE jobs (id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, state text NOT NULL, input text NOT NULL, output text);
		CREATE INDEX ON jobs (id) WHERE state = 'waiting'`
	queueScript = `INSERT INTO jobs (state, input) VALUES ('waiting', repeat('x', 600));
WITH taken AS (UPDATE jobs SET state = 'running' WHERE id = (SELECT id FROM jobs WHERE state = 'waiting' ORDER BY id LIMIT 1 FOR UPDATE SKIP LOCKED)
	RETURNING id) SELECT coalesce(max(id), 0) AS job FROM taken \gset
UPDATE jobs SET state = 'ended', output = repeat('y', 600) WHERE id = :job;
`
)

// queue measures a queue as it is usually built, in pgbench.
func (b *testbed) queue() func(context.Context, time.Duration) (figures, error) {
	return b.onDatabase(nil, func(ctx context.Context, d *database, name string, t time.Duration) (figures, error) {
		c, err := d.connect(ctx, name)
		if err != nil {
			return nil, err
		}
		defer func() { _ = c.Close(ctx) }()
		if _, err := c.Exec(ctx, queueTable); err != nil {
			return nil, err
		}
		return b.pgbench(ctx, d, name, queueScript, t)
	})
}

// pgbench runs a script of one task with each of the numbers of clients, and returns the best rate.
func (b *testbed) pgbench(ctx context.Context, d *database, name, script string, t time.Duration) (figures, error) {
	found := figures{}
	for _, clients := range bareClients {
		got, err := b.pgbenchOnce(ctx, d, name, script, clients, "-T", strconv.Itoa(max(int(t.Seconds()), 1)))
		if err != nil {
			return nil, err
		}
		found[fmt.Sprintf("%s_%d", rate, clients)] = got
		found[rate] = max(found[rate], got)
	}
	return found, nil
}

var tps = regexp.MustCompile(`(?m)^tps = ([0-9.]+)`)

// pgbenchOnce returns how often a second the script ran.
func (b *testbed) pgbenchOnce(ctx context.Context, d *database, name, script string, clients int, more ...string) (float64, error) {
	file := filepath.Join(b.dir, "pgbench.sql")
	if err := os.WriteFile(file, []byte(script), 0o600); err != nil {
		return 0, err
	}
	args := append([]string{
		"-n", "-M", "prepared", "-f", file, "-c", strconv.Itoa(clients), "-j", "2", "-h", d.Dir(), "-U", "unitask",
		"-D", "n=" + strconv.Itoa(clients*1_000_000_000),
	}, more...)
	run := exec.CommandContext(ctx, filepath.Join(d.Bin(), "pgbench"), append(args, name)...)
	run.Env = append(os.Environ(), "PGOPTIONS=-c jit=off") // as the engine: it takes sequential scans for expensive
	out, err := run.CombinedOutput()
	if err != nil {
		return 0, fmt.Errorf("pgbench: %w: %s", err, out)
	}
	found := tps.FindSubmatch(out)
	if found == nil || !strings.Contains(string(out), "number of failed transactions: 0 ") {
		return 0, fmt.Errorf("pgbench: %s", out)
	}
	return strconv.ParseFloat(string(found[1]), 64)
}

// statement is one that the server executed, with the parameters as it would write them.
type statement struct {
	text       string
	parameters []string
}

// captured are the two transactions of a synchronous task, as a node sent them for it alone.
type captured struct{ create, end []statement }

// logAll has the server log each statement of a connection.
const logAll = "&options=-c%20log_statement%3Dall%20-c%20log_min_messages%3Dlog"

// capture lets a node carry out a task on the database and reads the server's log of it.
func (b *testbed) capture(ctx context.Context, d *database, name string) (captured, error) {
	f, err := b.newFleet(ctx, d, d.url(name)+logAll, 1)
	if err != nil {
		return captured{}, err
	}
	defer f.remove()
	chat := f.chats()[0]
	c, err := dial(ctx, chat)
	if err != nil {
		return captured{}, err
	}
	defer c.close()
	if err := c.exchange(1); err != nil { // the node doesn't know the counters before it, and takes them exclusively
		return captured{}, err
	}
	log := filepath.Join(d.Dir(), "log")
	before, err := os.Stat(log)
	if err != nil {
		return captured{}, err
	}
	if err := c.exchange(2); err != nil {
		return captured{}, err
	}
	raw, err := os.ReadFile(log)
	if err != nil {
		return captured{}, err
	}
	return readCaptured(string(raw[before.Size():]))
}

// readCaptured finds the transactions that insert the open task and that delete it.
func readCaptured(log string) (c captured, err error) {
	for _, t := range transactions(log) {
		for _, s := range t {
			switch {
			case strings.HasPrefix(s.text, "INSERT INTO ") && strings.Contains(s.text, `.open_tasks (`):
				c.create = t
			case strings.HasPrefix(s.text, "DELETE FROM ") && strings.HasSuffix(s.text, `.open_tasks WHERE id = ANY($1)`):
				c.end = t
			}
		}
	}
	if c.create == nil || c.end == nil {
		return c, errors.New("the server's log shows no task")
	}
	return c, nil
}
