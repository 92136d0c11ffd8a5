package console

import (
	"cmp"
	"context"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"unitask/internal/account"
	"unitask/internal/api"
	"unitask/internal/fault"
	"unitask/internal/operator"
	"unitask/internal/store"
	"unitask/internal/task"
)

// mostExports bounds the exports that are written at once: each keeps the store busy. An account has one of them, and
// none longer than exportTime, so that a slow reader doesn't keep the place from others.
const (
	mostExports = 4
	exportTime  = 15 * time.Minute
)

// sheet is a table that is written while it is read.
type sheet struct {
	http.ResponseWriter
	name    string // of the file, without its ending
	columns []string
	rows    func(x exchange, write func(cells ...any) error) error // cells are texts, numbers, times, metadata and nil
	begun   bool
}

// export writes a table as CSV or as JSON lines, as a file to keep. Once rows were sent an error breaks the connection: a
// browser then says that the file isn't whole.
func (c *Console) export(x exchange, s sheet) error {
	format := x.r.URL.Query().Get("format")
	if format != "csv" && format != "jsonl" {
		return fault.Invalid("format", "must be csv or jsonl")
	}
	select {
	case c.exports <- struct{}{}:
		defer func() { <-c.exports }()
	default:
		return fault.New(fault.RateLimitExceeded, "other exports are being written: try again in a moment")
	}
	if _, busy := c.exporting.LoadOrStore(x.visitor.Account.ID, true); busy {
		return fault.New(fault.RateLimitExceeded, "another export of your account is being written: try again in a moment")
	}
	defer c.exporting.Delete(x.visitor.Account.ID)
	ctx, cancel := context.WithTimeout(x.r.Context(), exportTime) // looked at between rows: each write has a bound of its own
	defer cancel()
	s.ResponseWriter = x
	x.r = x.r.WithContext(ctx)
	each := func(write func(...any) error) error {
		return s.rows(x, func(cells ...any) error {
			if err := ctx.Err(); err != nil {
				return err // the browser has left, or took too long
			}
			return write(cells...)
		})
	}
	kind := "text/csv; charset=utf-8; header=present"
	if format == "jsonl" {
		kind = "application/x-ndjson"
	}
	x.Header().Set("Content-Type", kind)
	x.Header().Set("Content-Disposition", fmt.Sprintf("attachment; filename=%q", s.name+"-"+c.now().UTC().Format(time.DateOnly)+"."+format))
	var err error
	if format == "csv" {
		err = s.csv(each)
	} else {
		err = s.jsonLines(each)
	}
	if err != nil && s.begun {
		panic(http.ErrAbortHandler)
	}
	if err != nil {
		x.Header().Del("Content-Disposition")
	}
	return err
}

// Write implements io.Writer.
func (s *sheet) Write(b []byte) (int, error) {
	s.begun = true
	return s.ResponseWriter.Write(b)
}

func (s *sheet) csv(each func(func(...any) error) error) error {
	w := csv.NewWriter(s) // writes 4 KiB at a time
	if err := w.Write(s.columns); err != nil {
		return err
	}
	if err := each(func(cells ...any) error {
		texts := make([]string, len(cells))
		for i, cell := range cells {
			texts[i] = csvCell(cell)
		}
		return w.Write(texts)
	}); err != nil {
		return err
	}
	w.Flush()
	return w.Error()
}

// plain returns a text with an apostrophe before each sign that would begin a formula: at its start, and after what some
// spreadsheets take for the end of a cell.
func plain(text string) string {
	var b strings.Builder
	for i := range len(text) {
		if strings.IndexByte("=+-@\t\r", text[i]) >= 0 && (i == 0 || strings.IndexByte(";,\t\r\n", text[i-1]) >= 0) {
			b.WriteByte('\'')
		}
		b.WriteByte(text[i])
	}
	return b.String()
}

// csvCell writes a cell. Whatever a spreadsheet would take for the begin of a formula has an apostrophe before it.
func csvCell(cell any) string {
	switch cell := cell.(type) {
	case nil:
		return ""
	case string:
		return plain(cell)
	case int64:
		return strconv.FormatInt(cell, 10)
	case time.Time:
		return cell.UTC().Format(time.RFC3339Nano)
	case task.Metadata:
		text, _ := json.Marshal(cell) // texts alone
		return plain(string(text))
	default:
		panic(fmt.Sprintf("console: a cell of type %T", cell))
	}
}

func (s *sheet) jsonLines(each func(func(...any) error) error) error {
	var line []byte
	return each(func(cells ...any) error {
		line = append(line[:0], '{')
		for i, cell := range cells {
			if i > 0 {
				line = append(line, ',')
			}
			line = append(strconv.AppendQuote(line, s.columns[i]), ':')
			if at, ok := cell.(time.Time); ok {
				cell = at.UTC()
			}
			value, err := json.Marshal(cell)
			if err != nil {
				return err
			}
			line = append(line, value...)
		}
		_, err := s.Write(append(line, '}', '\n'))
		return err
	})
}

var taskColumns = []string{
	"id", "created_at", "finished_at", "account", "mode", "capability", "state", "code", "key_id", "key", "cost_usd", "metadata",
}

// handleTasksExport writes all tasks of a list, the newest first. It holds a page of them at a time, and stops when the
// browser leaves.
func (c *Console) handleTasksExport(x exchange) error {
	q, owner, err := c.askedTasks(x)
	if err != nil {
		return err
	}
	names, err := c.operator.KeyNames(x.r.Context())
	if err != nil {
		return err
	}
	q.Cursor, q.Newer = "", false
	return c.export(x, sheet{name: "tasks", columns: taskColumns, rows: func(x exchange, write func(...any) error) error {
		for {
			rows, next, err := c.search(x, owner, q, store.MaxPage)
			if err != nil {
				return err
			}
			for _, t := range rows {
				if err := write(taskCells(t, names[t.KeyID].Name)...); err != nil {
					return err
				}
			}
			if next == "" {
				return nil
			}
			q.Cursor = next
		}
	}})
}

func taskCells(t taskRow, key string) []any {
	var finished, metadata any
	if t.FinishedAt != nil {
		finished = *t.FinishedAt
	}
	if t.Metadata != nil {
		metadata = t.Metadata
	}
	return []any{
		t.ID, t.CreatedAt, finished, t.Account, string(t.Mode), t.Capability, string(t.State), string(t.Code), t.KeyID, key, t.Cost, metadata,
	}
}

var usageColumns = []string{
	"day", "account", "mode", "capability", "key_id", "key", "succeeded", "failed", "canceled", "cost_usd", "input_tokens", "output_tokens",
	"cached_input_tokens", "images", "milliseconds", "characters", "pages", "requests", "searches",
}

// handleUsageExport writes the sums of usage of the page's days, those of one day at a time.
func (c *Console) handleUsageExport(x exchange) error {
	v, owner, err := c.askedUsage(x)
	if err != nil {
		return err
	}
	names, err := c.operator.KeyNames(x.r.Context())
	if err != nil {
		return err
	}
	owners := map[string]string{owner.ID: owner.Name}
	if v.Accounts.Every {
		if owners, err = c.accountNames(x); err != nil {
			return err
		}
	}
	last := account.DateOf(c.now())
	return c.export(x, sheet{name: "usage", columns: usageColumns, rows: func(x exchange, write func(...any) error) error {
		for day := last - account.Date(v.Days) + 1; day <= last; day++ {
			if err := c.usageOfDay(x, owner, day, v.Mode, func(k store.UsageKey, u store.Usage) error {
				return write(usageCells(k, u, owners[k.Account], names[k.KeyID].Name)...)
			}); err != nil {
				return err
			}
		}
		return nil
	}})
}

// usageOfDay calls visit with the sums of a day, in order, once all are read: a slow browser keeps no store waiting.
func (c *Console) usageOfDay(x exchange, owner api.Account, day account.Date, mode task.Mode, visit func(store.UsageKey, store.Usage) error) error {
	sums := map[store.UsageKey]store.Usage{}
	if err := c.operator.EachSum(x.r.Context(), operator.SumsQuery{Account: owner.ID, First: day, Last: day, Mode: mode},
		func(k store.UsageKey, u store.Usage) bool {
			sums[k] = u
			return true
		}); err != nil {
		return err
	}
	keys := make([]store.UsageKey, 0, len(sums))
	for k := range sums {
		keys = append(keys, k)
	}
	slices.SortFunc(keys, func(a, b store.UsageKey) int {
		return cmp.Or(strings.Compare(a.Account, b.Account), strings.Compare(string(a.Mode), string(b.Mode)),
			strings.Compare(a.Capability, b.Capability), strings.Compare(a.KeyID, b.KeyID))
	})
	for _, k := range keys {
		if err := visit(k, sums[k]); err != nil {
			return err
		}
	}
	return nil
}

func usageCells(k store.UsageKey, u store.Usage, owner, key string) []any {
	return []any{
		k.Day.String(), owner, string(k.Mode), k.Capability, k.KeyID, key, u.Succeeded, u.Failed, u.Canceled, u.Cost.String(), u.InputTokens,
		u.OutputTokens, u.CachedInputTokens, u.Images, u.Milliseconds, u.Characters, u.Pages, u.Requests, u.Searches,
	}
}

var _ io.Writer = (*sheet)(nil)
