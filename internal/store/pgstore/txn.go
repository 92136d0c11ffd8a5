package pgstore

import (
	"context"
	"fmt"
	"log/slog"
	"slices"
	"strconv"
	"time"

	"github.com/jackc/pgx/v5"

	"unitask/internal/store"
	"unitask/internal/task"
)

// place says in which table a row stands.
type place int

const (
	nowhere place = iota
	inOpen
	inEnded
)

// row is a task with its lease, as a transaction has it.
type row struct {
	t      task.Task
	digest digest
	epoch  int64
	node   string // of the lease; "" without one
	claim  int64
	nth    int // of the claim's leases it is
	place  []string
	pause  time.Time

	stands place // in the database
	part   int   // of ended_tasks
	dirty  bool
	broken error // its record can't be read: only who asks for this task is refused
}

// session is a node's right to hold leases.
type session struct {
	until time.Time
	claim int64 // number of the last claim that gave out leases
}

// needs is what the operations of a group want to find in their transaction.
type needs struct {
	ids     []string
	digests []digest
	takes   []take
	claims  bool // it gives out leases
}

// txn is a transaction between its two round trips: what was read, and what the operations made of it.
type txn struct {
	db     *DB
	shard  string
	conn   *pgx.Conn
	strict map[store.Counter]bool // counters that are taken exclusively

	now      time.Time
	rows     map[string]*row // by id
	byDigest map[digest]*row
	sums     map[store.Counter]int64 // as read
	deltas   map[store.Counter]int64
	ends     map[store.Counter]time.Time
	sessions map[string]session // by node
	usage    map[sumKey]*[numbers]int64
	turns    map[string]int64 // accounts that were served
	claims   map[string]int64 // numbers of claims, by node
	part     int              // that ends go to
	rings    []string
	events   []ending
}

func newTxn(db *DB, conn *pgx.Conn, shard string, strict map[store.Counter]bool) *txn {
	return &txn{
		db: db, conn: conn, shard: shard, strict: strict, rows: map[string]*row{}, byDigest: map[digest]*row{},
		sums: map[store.Counter]int64{}, deltas: map[store.Counter]int64{}, ends: map[store.Counter]time.Time{},
		sessions: map[string]session{}, usage: map[sumKey]*[numbers]int64{}, turns: map[string]int64{}, claims: map[string]int64{},
	}
}

// The columns of a task, in either table.
const (
	openColumns  = `id, digest, epoch, coalesce(node, ''), claim, nth, place, pause, 0, record, input`
	endedColumns = `id, digest, epoch, '', 0::bigint, 0, NULL::text[], '-infinity'::timestamptz, part, record, NULL::bytea`
)

// The tasks of some ids, in either table.
const (
	openByID  = `SELECT ` + openColumns + ` FROM {s}.open_tasks WHERE id = ANY($1) ORDER BY id FOR UPDATE`
	endedByID = `SELECT ` + endedColumns + ` FROM {s}.ended_tasks WHERE id = ANY($1)`
)

// begin is the first round trip: it takes the group's locks and reads.
func (x *txn) begin(ctx context.Context, n *needs) error {
	b := &pgx.Batch{}
	b.Queue("BEGIN ISOLATION LEVEL READ COMMITTED")
	b.Queue(x.settings(n))
	locks := x.locks(n)
	if len(locks.keys) > 0 {
		b.Queue(`SELECT CASE WHEN x THEN pg_advisory_xact_lock(k) ELSE pg_advisory_xact_lock_shared(k) END
			FROM unnest($1::bigint[], $2::boolean[]) AS l (k, x)`, locks.keys, locks.exclusive)
	}
	x.readSums(b, n.takes)
	if len(n.ids) > 0 {
		x.readRows(b, openByID, inOpen, n.ids)
	}
	if len(n.digests) > 0 {
		d := bytesOf(n.digests)
		x.readRows(b, `SELECT `+openColumns+` FROM {s}.open_tasks WHERE digest = ANY($1) ORDER BY id FOR UPDATE`, inOpen, d)
		x.readRows(b, `SELECT `+endedColumns+` FROM {s}.ended_tasks WHERE digest = ANY($1)`, inEnded, d)
	}
	if len(n.ids) > 0 {
		x.readRows(b, endedByID, inEnded, n.ids)
	}
	x.readPresent(b)
	if err := x.conn.SendBatch(ctx, b).Close(); err != nil {
		return err
	}
	if err := x.readMoved(ctx, n.ids); err != nil {
		return err
	}
	if x.db.now != nil {
		x.now = x.db.now().UTC().Round(0)
	}
	return x.nearest(n.takes)
}

// readMoved reads those again that weren't found in either table: a task that is reopened between the two queries is in
// the first only after that was read. One that exists is in one of them in a single query of both.
func (x *txn) readMoved(ctx context.Context, ids []string) error {
	for {
		missing := slices.DeleteFunc(slices.Clone(ids), func(id string) bool { return x.rows[id] != nil })
		if len(missing) == 0 {
			return nil
		}
		var there []string
		b := &pgx.Batch{}
		b.Queue(x.db.q(`SELECT array_agg(id) FROM (SELECT id FROM {s}.open_tasks WHERE id = ANY($1)
			UNION ALL SELECT id FROM {s}.ended_tasks WHERE id = ANY($1)) t`), missing).QueryRow(func(r pgx.Row) error { return r.Scan(&there) })
		x.readRows(b, openByID, inOpen, missing)
		x.readRows(b, endedByID, inEnded, missing)
		if err := x.conn.SendBatch(ctx, b).Close(); err != nil || len(there) == 0 {
			return err
		}
	}
}

func (x *txn) readRows(b *pgx.Batch, sql string, in place, arg any) {
	b.Queue(x.db.q(sql), arg).Query(func(rows pgx.Rows) error { return x.scan(rows, in) })
}

// scan adds rows. One that is there already stays: it was locked.
func (x *txn) scan(rows pgx.Rows, in place) error {
	for rows.Next() {
		r, err := scanRow(rows)
		if err != nil {
			return err
		}
		if x.rows[r.t.ID] == nil {
			r.stands = in
			x.rows[r.t.ID], x.byDigest[r.digest] = r, r
		}
	}
	return rows.Err()
}

func scanRow(rows pgx.Rows) (*row, error) {
	r := &row{}
	var id string
	var d, record, input []byte
	if err := rows.Scan(&id, &d, &r.epoch, &r.node, &r.claim, &r.nth, &r.place, (*moment)(&r.pause), &r.part, &record, &input); err != nil {
		return nil, err
	}
	copy(r.digest[:], d)
	r.t, r.broken = decode(record, input)
	if r.broken == nil && r.t.ID != id {
		r.broken = fmt.Errorf("%w: a record under another task's id", errBroken)
	}
	r.t.ID = id
	return r, nil
}

// idleTime is after how long the server ends a transaction whose node fell silent between its round trips, with the
// locks that it holds.
const idleTime = 5 * time.Second

// settings returns the statement with those of the transaction, also of a search without BEGIN. A group's statements find
// rows by indexes alone, so that a plan which was made once for each connection stays right however its tables grow;
// planning takes longer than the rest of them. The queries of claims are planned each time. Behind a PgBouncer a
// connection may lack sessionSettings, and a plan without sequential scans has such costs that it would be compiled.
func (x *txn) settings(n *needs) string {
	all := "SELECT set_config('jit', 'off', true), set_config('idle_in_transaction_session_timeout', '" + strconv.FormatInt(x.db.idle.Milliseconds(), 10) + "', true)"
	if n.claims {
		return all
	}
	return all + ", set_config('plan_cache_mode', 'force_generic_plan', true), set_config('enable_seqscan', 'off', true)"
}

// readPresent reads the time, the sessions and the part that ends go to.
func (x *txn) readPresent(b *pgx.Batch) {
	b.Queue(x.db.q(`SELECT clock_timestamp(), (SELECT part FROM {s}.parts WHERE until IS NULL)`)).QueryRow(func(r pgx.Row) error {
		err := r.Scan(&x.now, &x.part)
		x.now = x.now.UTC()
		return err
	})
	b.Queue(x.db.q(`SELECT name, until, claim FROM {s}.nodes WHERE NOT freed`)).Query(func(rows pgx.Rows) error {
		var name string
		var s session
		_, err := pgx.ForEachRow(rows, []any{&name, &s.until, &s.claim}, func() error {
			x.sessions[name] = s
			return nil
		})
		return err
	})
}

// alive reports whether the node has a session.
func (x *txn) alive(node string) bool { return x.now.Before(x.sessions[node].until) }

// leased returns the row that ref gives the right to work on. repeated: the write was made already, and no other lease
// stands.
func (x *txn) leased(ref store.LeaseRef) (r *row, repeated bool, err error) {
	if r = x.rows[ref.TaskID]; r == nil {
		return nil, false, store.ErrFenced
	}
	stands := r.node != "" && x.alive(r.node)
	switch {
	case r.broken != nil: // no worker can go on with it
		x.db.log.Error("the task of a worker can't be read any more", slog.String("task_id", ref.TaskID), slog.Any("error", r.broken))
		return nil, false, store.ErrFenced
	case ref.Repeats(&r.t) && (!stands || r.epoch == ref.Epoch):
		return r, true, nil
	case !stands || r.epoch != ref.Epoch:
		return nil, false, store.ErrFenced
	default:
		return r, false, nil
	}
}

// save puts after in the place of the row's task, with all that follows from it.
func (x *txn) save(r *row, after task.Task) {
	before := r.t
	if r.stands == nowhere && !r.dirty {
		before = task.Task{}
	}
	for _, c := range store.HoldChanges(nil, &before, &after) {
		x.deltas[c.Counter] += c.By
	}
	x.countAttempt(before.OpenAttempt(), -1)
	x.countAttempt(after.OpenAttempt(), 1)
	x.countState(before, -1)
	x.countState(after, 1)
	x.countUsage(&before, &after)
	if event, ended := store.EventOf(&before, &after); ended {
		x.events = append(x.events, ending{after.Scope, event})
	}
	r.t, r.dirty = after, true
	frees := after.OpenAttempt() == nil && (len(r.place) > 0 || hasPlace(before.OpenAttempt()))
	if after.OpenAttempt() != nil {
		x.leavePlace(r)
	}
	if after.State.Terminal() {
		x.release(r, time.Time{})
	}
	x.rings = append(x.rings, after.ID)
	if waits := r.node == "" && !after.State.Terminal(); waits || frees {
		x.rings = append(x.rings, store.TopicQueue)
	}
}

// hasPlace reports whether the attempt takes a place that another task may wait for.
func hasPlace(a *task.Attempt) bool {
	return a != nil && slices.ContainsFunc(a.Caps, func(c task.Cap) bool { return c.Limit > 0 })
}

// release ends the row's lease; the task isn't claimable before pause.
func (x *txn) release(r *row, pause time.Time) {
	x.leavePlace(r)
	r.node, r.claim, r.pause, r.dirty = "", 0, pause, true
}

func (x *txn) leavePlace(r *row) {
	for _, key := range r.place {
		x.deltas[placeCounter(key)]--
	}
	r.place = nil
}

func (x *txn) countAttempt(a *task.Attempt, by int64) {
	if a == nil {
		return
	}
	for _, c := range a.Caps {
		x.deltas[flightCounter(c.Key)] += by
	}
}

func (x *txn) countState(t task.Task, by int64) {
	if t.ID != "" && !t.State.Terminal() {
		x.deltas[stateCounter(t.State)] += by
	}
}

// held returns a counter's value as the group leaves it.
func (x *txn) held(c store.Counter) int64 { return max(x.sums[c]+x.deltas[c], 0) }

// inFlight returns how many attempts are open under a cap.
func (x *txn) inFlight(key string) int { return int(x.held(flightCounter(key))) }

// inUse adds the places that claims take up.
func (x *txn) inUse(key string) int { return x.inFlight(key) + int(x.held(placeCounter(key))) }

// changed returns the rows that the group changed, by id.
func (x *txn) changed() []*row {
	var all []*row
	for _, r := range x.rows {
		if r.dirty {
			all = append(all, r)
		}
	}
	slices.SortFunc(all, func(a, b *row) int { return compare(a.t.ID, b.t.ID) })
	return all
}
