package fleet_test

import (
	"context"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"unitask/internal/task"
)

// counter is a sum in the database.
type counter struct{ kind, scope string }

// samples are the largest values that counters had.
type samples struct {
	most map[counter]int64
	n    int
}

// sample reads the counters of budgets and of open attempts again and again until ctx ends.
func (s *storm) sample(ctx context.Context) <-chan samples {
	out := make(chan samples, 1)
	go func() {
		all := samples{most: map[counter]int64{}}
		for ctx.Err() == nil {
			conn, err := pgx.Connect(ctx, s.database.URL())
			for err == nil {
				err = all.take(ctx, conn)
				rest(ctx, 20*time.Millisecond)
			}
			if conn != nil {
				_ = conn.Close(context.WithoutCancel(ctx))
			}
			rest(ctx, 20*time.Millisecond)
		}
		out <- all
	}()
	return out
}

// take reads the counters once: one statement, so one moment.
func (a *samples) take(ctx context.Context, conn *pgx.Conn) error {
	rows, err := conn.Query(ctx, `SELECT kind, scope, sum(amount)::bigint FROM unitask.counters WHERE kind IN ('budget', 'flight') GROUP BY 1, 2`)
	if err != nil {
		return err
	}
	var c counter
	var n int64
	_, err = pgx.ForEachRow(rows, []any{&c.kind, &c.scope, &n}, func() error {
		a.most[c] = max(a.most[c], n)
		return nil
	})
	if err == nil {
		a.n++
	}
	return err
}

// judgeCaps holds the suppliers' views and the counters to the limits.
func (s *storm) judgeCaps(sampled samples) {
	s.Helper()
	for _, name := range []string{cheap, dear} {
		if most := s.watch.most(name); most > s.cap {
			s.Errorf("%d submissions at once at %s, the cap is %d", most, name, s.cap)
		}
	}
	for c, most := range sampled.most {
		b := s.budgetOf(c)
		switch {
		case b != nil && most > b.limit():
			s.Errorf("%s: %d, the budget is %d", c.scope, most, b.limit())
		case c.kind == "flight" && strings.HasPrefix(c.scope, "route:text.chat:") && most > int64(s.cap):
			s.Errorf("%s: %d open attempts, the cap is %d", c.scope, most, s.cap)
		}
	}
	bought := map[*budget]int{}
	for _, e := range s.errands {
		if e.Seen.Final.State == task.Succeeded {
			bought[e.budget]++
		}
	}
	for i, b := range s.budgets {
		if bought[b] != b.of {
			s.Errorf("rush %d: %d pictures for a budget of %d", i, bought[b], b.of)
		}
	}
}

// budgetOf returns the budget of a counter, nil for another counter.
func (s *storm) budgetOf(c counter) *budget {
	for _, b := range s.budgets {
		if c.kind == "budget" && strings.Contains(c.scope, b.id) {
			return b
		}
	}
	return nil
}

// judgeRest looks into the database, which is at rest: no task is open, and all that was taken is given back but the
// budgets that were spent.
func (s *storm) judgeRest() {
	s.Helper()
	conn, err := pgx.Connect(s.Context(), s.database.URL())
	if err != nil {
		s.Fatal(err)
	}
	defer func() { _ = conn.Close(s.Context()) }()
	rows, err := conn.Query(s.Context(), `SELECT kind, scope, sum(amount)::bigint FROM unitask.counters WHERE kind <> 'spend' GROUP BY 1, 2
		UNION ALL SELECT 'tasks', '', count(*) FROM unitask.open_tasks`)
	if err != nil {
		s.Fatal(err)
	}
	var c counter
	var n int64
	if _, err = pgx.ForEachRow(rows, []any{&c.kind, &c.scope, &n}, func() error {
		switch b := s.budgetOf(c); {
		case b != nil && n != b.limit():
			s.Errorf("%s: %d is spent in the end, want %d", c.scope, n, b.limit())
		case c.kind != "budget" && n != 0:
			s.Errorf("%s %s: %d is left in the end", c.kind, c.scope, n)
		}
		return nil
	}); err != nil {
		s.Fatal(err)
	}
}
