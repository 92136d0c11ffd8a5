package client

import (
	"context"
	"net/http"

	library "unitask/client"
	"unitask/internal/api"
)

// Sessions returns the sessions of an account's members, by its id or name, the last used first.
func (a *Admin) Sessions(ctx context.Context, which string) ([]api.Session, error) {
	list, err := adminCall[api.SessionList](ctx, a, library.Call{Path: accountPath(which) + "/sessions"})
	return list.Data, err
}

// EndSessions ends sessions of an account, by its id or name, and returns them.
func (a *Admin) EndSessions(ctx context.Context, which string, req api.SessionsEnd) ([]api.Session, error) {
	list, err := adminCall[api.SessionList](ctx, a, library.Call{Method: http.MethodPost, Path: accountPath(which) + "/sessions/end", Body: req})
	return list.Data, err
}
