package pgstore

import (
	"context"
	"log/slog"
	"maps"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"

	"unitask/internal/store"
	"unitask/internal/task"
)

// claimAccounts is how many accounts' tasks a claim looks at, in the order of their turns.
const claimAccounts = 256

// Claim implements store.Store. One claim of all nodes is under way at a time, so that turns and places are exact; a
// task that another transaction holds is passed over.
func (db *DB) Claim(ctx context.Context, c store.ClaimRequest) ([]store.Lease, error) {
	if worth, err := db.worthClaiming(ctx, c); err != nil || !worth {
		return nil, err
	}
	var leases []store.Lease
	claim := &claim{ClaimRequest: c}
	err := db.alone(ctx, &op{
		needs: func(n *needs) {
			n.claims = true
			for _, l := range c.Lines {
				for _, place := range l.Places {
					n.takes = append(n.takes, takesOfCaps(place)...)
					n.takes = append(n.takes, takesOfPlace(place)...)
				}
			}
		},
		more: claim.read,
		run: func(x *txn) (err error) {
			leases, err = claim.run(x)
			return err
		},
	})
	if err != nil {
		return nil, err
	}
	return leases, nil
}

// worthClaiming reports whether a claim may find anything: nodes ask for work far more often than there is some.
// ErrFenced if the node has no session.
func (db *DB) worthClaiming(ctx context.Context, c store.ClaimRequest) (worth bool, err error) {
	alive := false
	err = db.read(ctx, func(ctx context.Context) error {
		return db.pool.QueryRow(ctx, db.q(`SELECT
			EXISTS (SELECT 1 FROM {s}.nodes WHERE name = $1 AND until > coalesce($3, clock_timestamp())),
			EXISTS (SELECT 1 FROM {s}.open_tasks WHERE node IS NULL)
				OR EXISTS (SELECT 1 FROM {s}.nodes WHERE NOT freed AND (until <= coalesce($3, clock_timestamp()) OR name = $1 AND claim = $2))`),
			c.Node, c.Number, db.at()).Scan(&alive, &worth)
	})
	if err == nil && !alive {
		err = store.ErrFenced
	}
	return worth, err
}

// takesOfPlace returns the counters of places that a claim reads and adds to, under the locks of the caps.
func takesOfPlace(caps []task.Cap) []take {
	var all []take
	for _, c := range caps {
		all = append(all, take{placeCounter(c.Key), 0, 0})
	}
	return all
}

// claim is a Claim in one transaction.
type claim struct {
	store.ClaimRequest

	accounts []*waiting      // in the order of their turns
	repeated []*row          // the tasks that this very claim has leased already
	chosen   map[string]pick // by id
	picks    int             // so far, of rows that can't be read too
	turn     int64           // the last one that was given
}

// waiting is an account with claimable tasks.
type waiting struct {
	name  string
	tasks map[string][]string // ids by class, oldest first
}

// read frees the leases of sessions that have run out, and finds the tasks that may be claimed.
func (c *claim) read(ctx context.Context, x *txn) error {
	c.accounts, c.repeated, c.picks, c.chosen = nil, nil, 0, map[string]pick{}
	if c.Number > 0 && c.Number == x.sessions[c.Node].claim {
		return c.readRepeated(ctx, x)
	}
	if err := x.freeLapsed(ctx); err != nil || c.Limit <= 0 || !x.alive(c.Node) {
		return err
	}
	classes := []string{""}
	for _, l := range c.Lines {
		class := lineOf(l.Mode, l.Capability)
		if _, ok := l.Place(x.inUse); ok && !slices.Contains(classes, class) {
			classes = append(classes, class)
		}
	}
	if err := c.readAccounts(ctx, x, classes); err != nil {
		return err
	}
	return c.choose(ctx, x, classes)
}

// readRepeated reads the leases of the same claim that still stand.
func (c *claim) readRepeated(ctx context.Context, x *txn) error {
	rows, err := x.conn.Query(ctx, x.db.q(`SELECT `+openColumns+` FROM {s}.open_tasks WHERE node = $1 AND claim = $2 ORDER BY id FOR UPDATE`),
		c.Node, c.Number)
	if err == nil {
		err = x.scan(rows, inOpen)
	}
	c.repeated = slices.SortedFunc(maps.Values(x.rows), func(a, b *row) int { return a.nth - b.nth })
	return err
}

// readMore reads and locks rows of open tasks.
func (x *txn) readMore(ctx context.Context, ids []string) error {
	b := &pgx.Batch{}
	x.readRows(b, `SELECT `+openColumns+` FROM {s}.open_tasks WHERE id = ANY($1) ORDER BY id FOR UPDATE`, inOpen, ids)
	return x.conn.SendBatch(ctx, b).Close()
}

// freedAfter is how long the leases of a session that has run out are looked for: several times as long as a
// transaction takes.
const freedAfter = 4 * groupTime

// freeLapsed gives up the leases of sessions that have run out. A row that a worker's step has just locked is left to
// the next claim.
func (x *txn) freeLapsed(ctx context.Context) error {
	var lapsed []string
	for name := range x.sessions {
		if !x.alive(name) {
			lapsed = append(lapsed, name)
		}
	}
	if len(lapsed) == 0 {
		return nil
	}
	rows, err := x.conn.Query(ctx, x.db.q(`UPDATE {s}.open_tasks o SET node = NULL, claim = 0, place = NULL, pause = '-infinity'
		FROM (SELECT id, place FROM {s}.open_tasks WHERE node = ANY($1) ORDER BY id FOR UPDATE SKIP LOCKED) l
		WHERE o.id = l.id RETURNING l.place`), lapsed)
	if err != nil {
		return err
	}
	var keys []string
	if _, err = pgx.ForEachRow(rows, []any{&keys}, func() error {
		for _, key := range keys {
			x.deltas[placeCounter(key)]--
		}
		return nil
	}); err != nil {
		return err
	}
	// Not at once: a creation that saw the session alive may be committed yet.
	_, err = x.conn.Exec(ctx, x.db.q(`UPDATE {s}.nodes n SET freed = true WHERE name = ANY($1) AND until < $2
		AND NOT EXISTS (SELECT 1 FROM {s}.open_tasks o WHERE o.node = n.name)`), lapsed, x.now.Add(-freedAfter))
	return err
}

// readAccounts finds the accounts with waiting tasks of the classes in the order of their turns. Their index is read by
// jumps from account to account.
func (c *claim) readAccounts(ctx context.Context, x *txn, classes []string) error {
	if _, err := x.conn.Exec(ctx, x.db.q(`UPDATE {s}.open_tasks SET class = '' WHERE id IN (
		SELECT id FROM {s}.open_tasks WHERE node IS NULL AND class <> '' AND deadline <= $1 ORDER BY deadline LIMIT 1000
		FOR UPDATE SKIP LOCKED)`), x.now); err != nil {
		return err
	}
	rows, err := x.conn.Query(ctx, x.db.q(`
		WITH RECURSIVE a AS (
			SELECT c.class, (SELECT min(account) FROM {s}.open_tasks WHERE node IS NULL AND class = c.class) AS account
			FROM unnest($1::text[]) AS c (class)
			UNION ALL
			SELECT a.class, (SELECT min(account) FROM {s}.open_tasks WHERE node IS NULL AND class = a.class AND account > a.account)
			FROM a WHERE a.account IS NOT NULL)
		SELECT DISTINCT a.account, coalesce(t.turn, 0) FROM a LEFT JOIN {s}.turns t USING (account) WHERE a.account IS NOT NULL
		ORDER BY 2, 1`), classes)
	if err != nil {
		return err
	}
	var w waiting
	var turn int64
	_, err = pgx.ForEachRow(rows, []any{&w.name, &turn}, func() error {
		c.accounts = append(c.accounts, &waiting{name: w.name, tasks: map[string][]string{}})
		return nil
	})
	if err != nil {
		return err
	}
	return x.conn.QueryRow(ctx, x.db.q(`SELECT coalesce(max(turn), 0) FROM {s}.turns`)).Scan(&c.turn)
}

// choose picks the tasks: each account in its turn gives its oldest task whose line has a place, until there are enough.
func (c *claim) choose(ctx context.Context, x *txn, classes []string) error {
	for first := 0; first < len(c.accounts) && len(c.chosen) < c.Limit; first += claimAccounts {
		some := c.accounts[first:min(first+claimAccounts, len(c.accounts))]
		if err := c.readTasks(ctx, x, some, c.open(x, classes)); err != nil {
			return err
		}
		c.round(x, some)
	}
	for c.round(x, c.accounts) { // those who were served come first again
	}
	if len(c.chosen) == 0 {
		return nil
	}
	if err := x.readMore(ctx, slices.Collect(maps.Keys(c.chosen))); err != nil {
		return err
	}
	if again, err := c.passOver(ctx, x); err != nil || !again {
		return err
	}
	return c.choose(ctx, x, classes) // what was picked stays
}

// brokenPause is how long a task whose record can't be read is left alone, so that it doesn't take the place of others.
const brokenPause = time.Minute

// passOver takes back what was picked and can't be read, and reports whether there was any.
func (c *claim) passOver(ctx context.Context, x *txn) (any bool, err error) {
	var broken []string
	for id, p := range c.chosen {
		r := x.rows[id]
		if r.broken == nil {
			continue
		}
		x.db.log.Error("a task can't be read and is passed over", slog.String("task_id", id), slog.Any("error", r.broken))
		for _, key := range p.place {
			x.deltas[placeCounter(key)]--
		}
		delete(c.chosen, id)
		broken = append(broken, id)
	}
	if len(broken) == 0 {
		return false, nil
	}
	x.db.broken.note(broken)
	_, err = x.conn.Exec(ctx, x.db.q(`UPDATE {s}.open_tasks SET pause = $2 WHERE id = ANY($1)`), broken, x.now.Add(brokenPause))
	return true, err
}

// open returns those of the classes that have a place still.
func (c *claim) open(x *txn, classes []string) []string {
	return slices.DeleteFunc(slices.Clone(classes), func(class string) bool {
		_, room := c.place(x, class)
		return class != "" && !room
	})
}

// round gives each account a turn, and reports whether one took it.
func (c *claim) round(x *txn, accounts []*waiting) (any bool) {
	for _, a := range accounts {
		if len(c.chosen) >= c.Limit {
			return false
		}
		if p, ok := c.next(x, a); ok {
			p.account, p.order = a.name, c.picks
			c.picks++
			c.chosen[p.id] = p
			for _, key := range p.place {
				x.deltas[placeCounter(key)]++
			}
			any = true
		}
	}
	return any
}

// pick is a task that is to be leased.
type pick struct {
	id      string
	account string
	place   []string
	order   int
}

// next takes the account's oldest task whose line has a place; one that can't wait needs none.
func (c *claim) next(x *txn, a *waiting) (best pick, ok bool) {
	of := ""
	for class, ids := range a.tasks {
		if len(ids) == 0 || (ok && ids[0] >= best.id) {
			continue
		}
		var place []string
		if class != "" {
			var room bool
			if place, room = c.place(x, class); !room {
				continue
			}
		}
		best, of, ok = pick{id: ids[0], place: place}, class, true
	}
	if ok {
		a.tasks[of] = a.tasks[of][1:]
	}
	return best, ok
}

func (c *claim) place(x *txn, class string) (keys []string, ok bool) {
	for _, l := range c.Lines {
		if lineOf(l.Mode, l.Capability) == class {
			if keys, ok = l.Place(x.inUse); ok {
				return keys, true
			}
		}
	}
	return nil, false
}

// readTasks locks the candidates: of each account and class the oldest, as many as may be claimed.
func (c *claim) readTasks(ctx context.Context, x *txn, accounts []*waiting, classes []string) error {
	byName := map[string]*waiting{}
	for _, a := range accounts {
		byName[a.name] = a
		clear(a.tasks)
	}
	rows, err := x.conn.Query(ctx, x.db.q(`SELECT t.id, t.account, t.class
		FROM unnest($1::text[]) AS a (account) CROSS JOIN unnest($2::text[]) AS c (class) CROSS JOIN LATERAL (
			SELECT id, account, class FROM {s}.open_tasks o
			WHERE o.node IS NULL AND o.class = c.class AND o.account = a.account AND o.pause <= $3
			ORDER BY o.id LIMIT $4 FOR UPDATE SKIP LOCKED) t
		ORDER BY t.id`), slices.Collect(maps.Keys(byName)), classes, x.now, c.Limit)
	if err != nil {
		return err
	}
	var id, account, class string
	_, err = pgx.ForEachRow(rows, []any{&id, &account, &class}, func() error {
		if _, picked := c.chosen[id]; !picked {
			byName[account].tasks[class] = append(byName[account].tasks[class], id)
		}
		return nil
	})
	return err
}

// run gives out the leases.
func (c *claim) run(x *txn) ([]store.Lease, error) {
	if !x.alive(c.Node) {
		return nil, store.ErrFenced
	}
	var leases []store.Lease
	for _, r := range c.repeated {
		if r.broken != nil {
			continue
		}
		leases = append(leases, x.lease(r))
	}
	picks := slices.SortedFunc(maps.Values(c.chosen), func(a, b pick) int { return a.order - b.order })
	for i, p := range picks {
		r := x.rows[p.id]
		r.node, r.epoch, r.claim, r.nth, r.place, r.pause, r.dirty = c.Node, r.epoch+1, c.Number, i, p.place, time.Time{}, true
		x.turns[p.account] = c.turn + int64(i) + 1
		leases = append(leases, x.lease(r))
	}
	if len(picks) > 0 && c.Number > 0 {
		x.claims[c.Node] = c.Number
	}
	return leases, nil
}
