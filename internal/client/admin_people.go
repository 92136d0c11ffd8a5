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

// SuspendAccount has an account, by its id or name, take no new work.
func (a *Admin) SuspendAccount(ctx context.Context, which string) (api.Account, error) {
	return adminCall[api.Account](ctx, a, library.Call{Method: http.MethodPost, Path: accountPath(which) + "/suspend"})
}

// ResumeAccount makes a suspended or closed account active again.
func (a *Admin) ResumeAccount(ctx context.Context, which string) (api.Account, error) {
	return adminCall[api.Account](ctx, a, library.Call{Method: http.MethodPost, Path: accountPath(which) + "/resume"})
}

// CloseAccount closes an account, whose name the request repeats.
func (a *Admin) CloseAccount(ctx context.Context, which string, req api.AccountClose) (api.AccountClosed, error) {
	return adminCall[api.AccountClosed](ctx, a, library.Call{Method: http.MethodPost, Path: accountPath(which) + "/close", Body: req})
}
