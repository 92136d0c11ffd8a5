package server

import (
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"unitask/internal/api"
	"unitask/internal/catalog"
	"unitask/internal/fault"
	"unitask/internal/gateway"
	"unitask/internal/task"
)

// defaultListLimit is the default length of a page.
const defaultListLimit = 50

func (s *Server) handleTaskList(x *exchange) error {
	query, err := parseListQuery(x.r.URL.RawQuery)
	if err != nil {
		return err
	}
	page, err := s.gateway.List(x.r.Context(), *x.caller, query)
	if err != nil {
		return err
	}
	list := api.TaskList{Data: make([]api.Task, 0, len(page.Tasks)), RequestID: x.id}
	for _, t := range page.Tasks {
		list.Data = append(list.Data, s.taskOf(t))
	}
	if page.Next != "" {
		list.NextCursor = &page.Next
	}
	s.show(x, page.Tasks...)
	s.respond(x, http.StatusOK, list)
	return nil
}

// parseListQuery reads the query string of a list.
func parseListQuery(raw string) (gateway.ListQuery, error) {
	q := gateway.ListQuery{Limit: defaultListLimit}
	values, err := queryOf(raw, "state", "capability", "key", "code", "created_after", "created_before", metadataParameter, "order", "limit", "cursor")
	if err != nil {
		return q, err
	}
	if err := setMetadata(&q, values); err != nil {
		return q, err
	}
	for name := range values {
		if problem := setListQuery(&q, name, values.Get(name)); problem != "" {
			return q, fault.Invalid(name, problem)
		}
	}
	return q, nil
}

// setListQuery sets one parameter and returns its error, "" without one. One without a value counts as absent.
func setListQuery(q *gateway.ListQuery, name, value string) string {
	switch name {
	case "created_after":
		return setTime(&q.Since, value)
	case "created_before":
		return setTime(&q.Until, value)
	case "limit":
		var problem string
		q.Limit, problem = listLimit(value)
		return problem
	case "order":
		if q.OldestFirst = value == "oldest"; value != "" && value != "newest" && !q.OldestFirst {
			return "must be newest or oldest"
		}
	case "cursor":
		if q.Cursor = value; value != "" && !task.ValidID(task.PrefixTask, value) {
			return "is not one that a list returned"
		}
	default:
		return setListFilter(q, name, value)
	}
	return ""
}

func setListFilter(q *gateway.ListQuery, name, value string) string {
	switch name {
	case "state":
		if q.State = task.State(value); value != "" && !q.State.Valid() {
			return "is not a state of tasks"
		}
	case "capability":
		q.Capability = value
	case "key":
		if q.KeyID = value; value != "" && !task.ValidID(task.PrefixKey, value) {
			return "is not the id of a key"
		}
	case "code":
		if q.Code = fault.Code(value); value != "" && !q.Code.Valid() {
			return "is not an error code"
		}
	}
	return ""
}

func setTime(into *time.Time, value string) string {
	if value == "" {
		return ""
	}
	at, err := time.Parse(time.RFC3339, value)
	if err != nil {
		return "must be a time such as 2026-11-21T08:00:00Z"
	}
	*into = at
	return ""
}

// listLimit reads how many rows a page has at most.
func listLimit(value string) (limit int, problem string) {
	if value == "" {
		return defaultListLimit, ""
	}
	n, err := strconv.Atoi(value)
	if err != nil || n < 1 || n > api.MaxListLimit {
		return 0, "must be a number from 1 to " + strconv.Itoa(api.MaxListLimit)
	}
	return n, ""
}

// metadataParameter begins the name of a parameter whose rest is the name of a text in the metadata of tasks.
const metadataParameter = "metadata."

// setMetadata sets the metadata that is asked for. A parameter without a value asks for an empty text.
func setMetadata(q *gateway.ListQuery, values url.Values) error {
	for name := range values {
		member, ok := strings.CutPrefix(name, metadataParameter)
		if !ok {
			continue
		}
		if q.Metadata == nil {
			q.Metadata = task.Metadata{}
		}
		q.Metadata[member] = values.Get(name)
	}
	if rows := catalog.MetadataRows(q.Metadata); len(rows) > 0 {
		return fault.Invalid(rows[0].Field, rows[0].Message).WithDetails(rows[1:]...)
	}
	return nil
}
