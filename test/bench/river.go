package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// riverSource is the module of the program that measures River. Paths are those from the repository's root.
const riverSource = "test/bench/river"

// riverWays are how jobs end, of which the better counts: in River's batches, or each in a transaction of its worker's.
// The pool and the pause between two fetches are those that were best for each in trials.
var riverWays = [][]string{
	{"-own=false", "-connections", "16", "-fetch", "1ms"},
	{"-own=true", "-connections", "16", "-fetch", "5ms"},
}

// river measures a queue of jobs, River, on a database of its own: so many callers insert a job each and wait for its
// end.
func (b *testbed) river(callers int) func(context.Context, time.Duration) (figures, error) {
	return func(ctx context.Context, t time.Duration) (figures, error) {
		program := filepath.Join(b.dir, "river")
		build := exec.CommandContext(ctx, "go", "build", "-C", riverSource, "-o", program, ".")
		if out, err := build.CombinedOutput(); err != nil {
			return nil, fmt.Errorf("%w: %s", err, out)
		}
		best := figures{}
		for _, way := range riverWays {
			args := append([]string{"-callers", strconv.Itoa(callers), "-d", t.String(), "-warm-up", fleetWarmUp(t).String()}, way...)
			found, err := b.riverOnce(program, args...)(ctx, t)
			if err != nil {
				return nil, err
			}
			if found[rate] >= best[rate] {
				best = found
			}
		}
		return best, nil
	}
}

func (b *testbed) riverOnce(program string, args ...string) func(context.Context, time.Duration) (figures, error) {
	return b.onDatabase(nil, func(ctx context.Context, d *database, name string, _ time.Duration) (figures, error) {
		var stderr strings.Builder
		run := exec.CommandContext(ctx, program, append([]string{"-url", d.url(name)}, args...)...)
		run.Stderr = &stderr
		out, err := run.Output()
		if err != nil {
			return nil, fmt.Errorf("%w: %s", err, stderr.String())
		}
		found := figures{}
		return found, json.Unmarshal(out, &found)
	})
}
