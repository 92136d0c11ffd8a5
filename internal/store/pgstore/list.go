package pgstore

import (
	"context"
	"fmt"
	"log/slog"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5"

	"unitask/internal/account"
	"unitask/internal/store"
	"unitask/internal/task"
)

// The rows that one page looks at are bounded. Some queries look into each of their records.
const (
	listWindow   = 2000
	recordWindow = 1000
)

// ListTasks implements store.Store. It reads the heads of a window of tasks first: most of a filtered list are passed
// over.
func (db *DB) ListTasks(ctx context.Context, q store.ListQuery) (store.Page, error) {
	if q.Cursor != "" && !task.ValidID(task.PrefixTask, q.Cursor) {
		return store.Page{}, store.ErrNotFound
	}
	s := newHeadSearch(q)
	heads, err := db.readHeads(ctx, s)
	if err != nil {
		return store.Page{}, err
	}
	var page store.Page
	var ids []string
	for _, h := range heads {
		if !h.answers(q) {
			continue
		}
		if len(ids) == q.PageSize() {
			page.Next = ids[len(ids)-1]
			break
		}
		ids = append(ids, h.id)
	}
	if page.Next == "" && len(heads) == s.window {
		page.Next = heads[len(heads)-1].id
	}
	if len(ids) > 0 {
		var damaged error
		page.Tasks, damaged, err = db.readTasks(ctx, `SELECT record, input FROM (
				SELECT id, record, input FROM {s}.open_tasks WHERE id = ANY($1)
				UNION ALL SELECT id, record, NULL FROM {s}.ended_tasks WHERE id = ANY($1)) t
			ORDER BY id `+s.order, ids)
		if damaged != nil {
			db.log.Error("a list lacks tasks that can't be read", slog.Any("error", damaged))
		}
		page.Tasks = slices.DeleteFunc(page.Tasks, func(t task.Task) bool { return !q.Selects(&t) }) // it may have changed since
	}
	return page, err
}

// head is a task's columns that a listing selects by.
type head struct {
	id, capability, mode, state string
	may                         bool // its record may have all that the query asks for
}

func (h head) answers(q store.ListQuery) bool {
	return (q.Capability == "" || h.capability == q.Capability) && (q.State == "" || h.state == string(q.State)) &&
		(q.Scope.Mode == "" || h.mode == string(q.Scope.Mode)) && account.Allows(q.Scopes, h.capability) && h.may
}

// headSearch is the statement that reads the heads of a window of tasks. The window's size is no argument of it: a plan
// is made once, and must be one for few rows.
type headSearch struct {
	q               store.ListQuery
	window          int
	order           string
	columns         []string
	conditions, may []string
	args            []any
}

func newHeadSearch(q store.ListQuery) *headSearch {
	s := &headSearch{q: q, window: listWindow, order: "DESC", columns: []string{"id", "capability", "mode", "state"}, may: []string{"true"}}
	if q.OldestFirst {
		s.order = "ASC"
	}
	if !q.Everywhere {
		s.conditions = append(s.conditions, "account = "+s.arg(q.Scope.Account), "mode = "+s.arg(string(q.Scope.Mode)))
	}
	s.bound()
	s.lookInto()
	return s
}

// arg adds an argument and returns its name.
func (s *headSearch) arg(value any) string {
	s.args = append(s.args, value)
	return fmt.Sprintf("$%d", len(s.args))
}

// bound leaves the ids that the query may select after its cursor.
func (s *headSearch) bound() {
	low, high := s.q.Range()
	if low != "" {
		s.conditions = append(s.conditions, "id >= "+s.arg(low))
	}
	if high == "" {
		high = task.PrefixTask + "~" // after every id
	}
	if !s.q.OldestFirst && s.q.Cursor != "" {
		high = min(high, s.q.Cursor)
	}
	if s.q.OldestFirst && s.q.Cursor != "" {
		s.conditions = append(s.conditions, "id > "+s.arg(s.q.Cursor))
	}
	s.conditions = append(s.conditions, "id < "+s.arg(high))
}

// lookInto reads the records of a query for members that have no column: metadata, key, code and whether its request is kept.
func (s *headSearch) lookInto() {
	pairs := s.q.Metadata.Pairs()
	if s.q.KeyID != "" {
		pairs = s.q.Pairs()
	}
	if len(pairs) > 0 {
		s.may = append(s.may, "NOT EXISTS (SELECT FROM unnest("+s.arg(pairs)+"::bytea[]) pair WHERE position(pair IN substring(record FOR "+
			s.arg(task.MetadataEnd)+")) = 0)")
	}
	if code := s.q.CodePair(); code != nil {
		s.may = append(s.may, "CASE WHEN state IN ('failed', 'canceled') THEN position("+s.arg(code)+"::bytea IN record) > 0 ELSE false END")
	}
	if mark := s.q.KeptMark(); mark != nil {
		s.may = append(s.may, "position("+s.arg(mark)+"::bytea IN record) > 0")
	}
	if len(s.may) > 1 {
		s.window = recordWindow
		s.columns = append(s.columns, "record")
	}
}

func (s *headSearch) sql() string {
	part := func(table string) string {
		return fmt.Sprintf("(SELECT %s FROM {s}.%s WHERE %s ORDER BY id %s LIMIT %d)",
			strings.Join(s.columns, ", "), table, strings.Join(s.conditions, " AND "), s.order, s.window)
	}
	return fmt.Sprintf("SELECT id, capability, mode, state, %s FROM (%s UNION ALL %s) t ORDER BY id %s LIMIT %d",
		strings.Join(s.may, " AND "), part("open_tasks"), part("ended_tasks"), s.order, s.window)
}

// readHeads reads the heads of a window of tasks.
func (db *DB) readHeads(ctx context.Context, s *headSearch) (heads []head, err error) {
	err = db.read(ctx, func(ctx context.Context) error {
		rows, err := db.pool.Query(ctx, db.q(s.sql()), s.args...)
		if err != nil {
			return err
		}
		heads, err = pgx.CollectRows(rows, func(row pgx.CollectableRow) (h head, err error) {
			return h, row.Scan(&h.id, &h.capability, &h.mode, &h.state, &h.may)
		})
		return err
	})
	return heads, err
}
