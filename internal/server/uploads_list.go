package server

import (
	"net/http"
	"slices"

	"unitask/internal/api"
	"unitask/internal/fault"
)

// capable refuses a key that may call no capability: uploads are for tasks, of which it has none.
func capable(h handler) handler {
	return func(x *exchange) error {
		opens := func(p string) bool { return p != api.ScopeWebhooks }
		if scopes := x.caller.Key.Scopes; len(scopes) > 0 && !slices.ContainsFunc(scopes, opens) {
			return fault.New(fault.NotFound, "there is nothing at this path for this key: its scopes hold no capability")
		}
		return h(x)
	}
}

// handleUploadList answers a page of what takes the account's quota.
func (s *Server) handleUploadList(x *exchange) error {
	values, err := queryOf(x.r.URL.RawQuery, "limit", "cursor")
	if err != nil {
		return err
	}
	limit, problem := listLimit(values.Get("limit"))
	if problem != "" {
		return fault.Invalid("limit", problem)
	}
	page, err := s.uploads.List(x.r.Context(), x.caller.Scope().Owner(), values.Get("cursor"), limit)
	if err != nil {
		return err
	}
	list := api.UploadList{Data: make([]api.Upload, 0, len(page.Uploads)), RequestID: x.id}
	for _, u := range page.Uploads {
		list.Data = append(list.Data, s.uploadOf(u))
	}
	if page.Next != "" {
		list.NextCursor = &page.Next
	}
	s.respond(x, http.StatusOK, list)
	return nil
}
