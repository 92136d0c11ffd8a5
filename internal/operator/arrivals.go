package operator

import (
	"bufio"
	"context"
	"encoding/json"
	"io"

	"unitask/internal/api"
	"unitask/internal/store"
	"unitask/internal/task"
)

// Arrivals writes when the live tasks of every account came, one JSON object a line, the newest most of
// each account.
func (o *Operator) Arrivals(ctx context.Context, w io.Writer) error {
	const most = 1_000_000 // more than a simulation takes
	accounts, err := o.Store.ListAccounts(ctx)
	if err != nil {
		return err
	}
	out := bufio.NewWriter(w)
	lines := json.NewEncoder(out)
	for _, a := range accounts {
		q := store.ListQuery{Scope: task.Scope{Account: a.ID, Mode: task.Live}, Limit: store.MaxPage}
		for n := 0; n < most; n += q.Limit {
			page, err := o.Tasks.ListTasks(ctx, q)
			if err != nil {
				return err
			}
			for _, t := range page.Tasks {
				if err := lines.Encode(api.ArrivalOf(t)); err != nil {
					return err
				}
			}
			if q.Cursor = page.Next; q.Cursor == "" {
				break
			}
		}
	}
	return out.Flush()
}
