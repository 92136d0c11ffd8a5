package console

import (
	"strings"

	"unitask/internal/api"
	"unitask/internal/fault"
	"unitask/internal/task"
)

// lookup is the data of the page of the request log.
type lookup struct {
	ID      string
	Found   api.RequestList
	Task    string // the id, if it names a task that the visitor may see
	Problem string
}

func (c *Console) handleLookup(x exchange) error {
	v := lookup{ID: strings.TrimSpace(x.r.FormValue("id"))}
	if v.ID == "" {
		return c.show(x, page{Name: "lookup", Section: "lookup", Title: "Lookup", Data: v})
	}
	var err error
	v.Found, err = c.actions(x.visitor).FindRequests(x.r.Context(), v.ID)
	switch fault.CodeOf(err) {
	case fault.NotFound, fault.InvalidRequest:
		v.Problem = sentence(fault.From(err).Message)
		for _, d := range fault.From(err).Details {
			v.Problem = sentence("it " + d.Message)
		}
	default:
		if err != nil {
			return err
		}
	}
	if task.ValidID(task.PrefixTask, v.ID) {
		if _, err := c.taskView(x, v.ID); err == nil {
			v.Task, v.Problem = v.ID, ""
		}
	}
	return c.show(x, page{Name: "lookup", Section: "lookup", Title: "Lookup", Data: v})
}
