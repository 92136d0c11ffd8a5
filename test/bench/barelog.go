package main

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// logLine is the begin of an entry of the server's log: the process, the kind and the text, which may have more lines.
var logLine = regexp.MustCompile(`^[^\[]* \[([0-9]+)\] (LOG|DETAIL):  (.*)$`)

// executed is the text of an entry about a statement.
var executed = regexp.MustCompile(`(?s)^execute [^:]*: (.*)$`)

// transactions returns the statements of each transaction that the log shows whole.
func transactions(log string) (all [][]statement) {
	open := map[string][]statement{} // by process
	for _, e := range entries(log) {
		if s := executed.FindStringSubmatch(e.text); e.kind == "LOG" && s != nil {
			if strings.HasPrefix(s[1], "BEGIN") {
				open[e.process] = nil
			}
			open[e.process] = append(open[e.process], statement{text: s[1]})
			if s[1] == "COMMIT" {
				all = append(all, open[e.process])
				delete(open, e.process)
			}
		}
		if list, ok := strings.CutPrefix(e.text, "parameters: "); ok && e.kind == "DETAIL" && len(open[e.process]) > 0 {
			open[e.process][len(open[e.process])-1].parameters = parameters(list)
		}
	}
	return all
}

type entry struct{ process, kind, text string }

func entries(log string) (all []entry) {
	for line := range strings.Lines(log) {
		line = strings.TrimSuffix(line, "\n")
		if m := logLine.FindStringSubmatch(line); m != nil {
			all = append(all, entry{m[1], m[2], m[3]})
		} else if len(all) > 0 {
			all[len(all)-1].text += "\n" + strings.TrimPrefix(line, "\t")
		}
	}
	return all
}

var parameter = regexp.MustCompile(`\$[0-9]+ = (NULL|'(?:[^']|'')*')`)

// parameters returns the literals of a list such as $1 = 'a', $2 = NULL.
func parameters(list string) (all []string) {
	for _, m := range parameter.FindAllStringSubmatch(list, -1) {
		all = append(all, m[1])
	}
	return all
}

// A task's own parameters, in place of which pgbench writes those of each of its tasks: their number is :task.
var (
	ownID     = regexp.MustCompile(`^'\{task_[0-9a-z]{26}\}'$`)
	ownDigest = regexp.MustCompile(`^'\{"\\\\x[0-9a-f]{32}"\}'$`)
	ownShard  = regexp.MustCompile(`^'[0-9a-z]{8}[0-9]+'$`)

	placeholder = regexp.MustCompile(`\$[0-9]+`)
)

const (
	newID     = `ARRAY['task_' || lpad((:task)::bigint::text, 26, '0')]`
	newDigest = `ARRAY[decode(md5((:task)::bigint::text), 'hex')]`
	newShard  = `('client' || (:client_id)::int)`
)

// script returns the two transactions for pgbench, each task with an id, a digest and a lock of its own, each client
// with a shard of its own as a lane has. Each round trip of the engine is a pipeline.
func (c captured) script() (string, error) {
	var b strings.Builder
	b.WriteString("\\set n :n + 1\n\\set task :n * 1000 + :client_id\n")
	for _, transaction := range [][]statement{c.create, c.end} {
		b.WriteString("\\startpipeline\n")
		for i, s := range transaction {
			if i > 0 && s.writes() && !transaction[i-1].writes() {
				b.WriteString("\\endpipeline\n\\startpipeline\n")
			}
			text, err := s.withOwn()
			if err != nil {
				return "", err
			}
			b.WriteString(text + ";\n")
		}
		b.WriteString("\\endpipeline\n")
	}
	return b.String(), nil
}

// writes reports whether the statement belongs to a transaction's second round trip.
func (s statement) writes() bool {
	return !strings.HasPrefix(s.text, "SELECT") && !strings.HasPrefix(s.text, "BEGIN")
}

// withOwn returns the statement with its parameters in place, a task's own ones as expressions.
func (s statement) withOwn() (string, error) {
	values := slices.Clone(s.parameters)
	for i, v := range values {
		switch {
		case ownID.MatchString(v):
			values[i] = newID
		case ownDigest.MatchString(v):
			values[i] = newDigest
		case ownShard.MatchString(v):
			values[i] = newShard
		case strings.Contains(v, ":"): // pgbench would see variables
			values[i] = "E" + strings.ReplaceAll(strings.ReplaceAll(v, `\`, `\\`), ":", `\x3a`)
		}
	}
	if strings.Contains(s.text, "pg_advisory_xact_lock") {
		var err error
		if values[0], err = ownLock(values[0], values[1]); err != nil {
			return "", err
		}
	}
	return placeholder.ReplaceAllStringFunc(s.text, func(p string) string {
		n, err := strconv.Atoi(p[1:])
		if err != nil || n > len(values) {
			return p // PostgreSQL refuses it
		}
		return values[n-1]
	}), nil
}

// ownLock returns the numbers of the locks, with the task's own in place of the one that is exclusive: that of its
// idempotency key.
func ownLock(numbers, exclusive string) (string, error) {
	all, modes := strings.Split(strings.Trim(numbers, "'{}"), ","), strings.Split(strings.Trim(exclusive, "'{}"), ",")
	own := slices.Index(modes, "t")
	if own < 0 || strings.Count(exclusive, "t") != 1 || len(all) != len(modes) {
		return "", fmt.Errorf("of the locks %s not one is exclusive: %s", numbers, exclusive)
	}
	all[own] = "(:task)::bigint"
	return "ARRAY[" + strings.Join(all, ", ") + "]", nil
}
