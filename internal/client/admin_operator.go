package client

import (
	"context"
	"net/http"
	"net/url"

	library "unitask/client"
	"unitask/internal/api"
)

// UpdateKey changes the name, the scopes and the limits of a key that is open.
func (a *Admin) UpdateKey(ctx context.Context, id string, req api.KeyUpdate) (api.Key, error) {
	return adminCall[api.Key](ctx, a, library.Call{Method: http.MethodPatch, Path: keyPath(id), Body: req})
}

// RotateKey makes a key in the place of another, which goes on for the overlap. The answer is the only one
// that holds its secret.
func (a *Admin) RotateKey(ctx context.Context, id string, req api.KeyRotate) (api.Key, error) {
	return adminCall[api.Key](ctx, a, library.Call{Method: http.MethodPost, Path: keyPath(id) + "/rotate", Body: req})
}

// CreateAccount makes an account.
func (a *Admin) CreateAccount(ctx context.Context, req api.AccountCreate) (api.Account, error) {
	return adminCall[api.Account](ctx, a, library.Call{Method: http.MethodPost, Path: api.PathAdminAccounts, Body: req})
}

// ListAccounts returns every account, oldest first.
func (a *Admin) ListAccounts(ctx context.Context) ([]api.Account, error) {
	list, err := adminCall[api.AccountList](ctx, a, library.Call{Path: api.PathAdminAccounts})
	return list.Data, err
}

// GetAccount returns an account by its id or name.
func (a *Admin) GetAccount(ctx context.Context, which string) (api.Account, error) {
	return adminCall[api.Account](ctx, a, library.Call{Path: accountPath(which)})
}

// UpdateAccount changes an account by its id or name.
func (a *Admin) UpdateAccount(ctx context.Context, which string, req api.AccountUpdate) (api.Account, error) {
	return adminCall[api.Account](ctx, a, library.Call{Method: http.MethodPatch, Path: accountPath(which), Body: req})
}

// Invite makes a one-time sign-in link for a member of an account.
func (a *Admin) Invite(ctx context.Context, which string, req api.Invite) (api.SignInLink, error) {
	return adminCall[api.SignInLink](ctx, a, library.Call{Method: http.MethodPost, Path: accountPath(which) + "/links", Body: req})
}

func keyPath(id string) string { return api.PathAdminKeys + "/" + url.PathEscape(id) }

func accountPath(which string) string { return api.PathAdminAccounts + "/" + url.PathEscape(which) }

// Usage returns the sums of usage.
func (a *Admin) Usage(ctx context.Context, q api.UsageQuery) (api.UsageReport, error) {
	values := url.Values{"by": {q.By}, "account": {q.Account}, "since": {q.Since}, "until": {q.Until}}
	return adminCall[api.UsageReport](ctx, a, library.Call{Path: api.PathAdminUsage + "?" + values.Encode()})
}

// Suppliers returns how each supplier stands.
func (a *Admin) Suppliers(ctx context.Context) ([]api.SupplierState, error) {
	list, err := adminCall[api.SupplierList](ctx, a, library.Call{Path: api.PathAdminSuppliers})
	return list.Data, err
}

// PauseSupplier has no work sent to a supplier until it is resumed.
func (a *Admin) PauseSupplier(ctx context.Context, name string) (api.SupplierState, error) {
	return a.changeSupplier(ctx, name, "pause")
}

// ResumeSupplier ends a supplier's pause.
func (a *Admin) ResumeSupplier(ctx context.Context, name string) (api.SupplierState, error) {
	return a.changeSupplier(ctx, name, "resume")
}

// ResetSupplier forgets the failures of a supplier's routes.
func (a *Admin) ResetSupplier(ctx context.Context, name string) (api.SupplierState, error) {
	return a.changeSupplier(ctx, name, "reset")
}

// TestSupplier has the server ask a supplier, without cost, whether it answers and takes the key.
func (a *Admin) TestSupplier(ctx context.Context, name string) (api.SupplierTest, error) {
	return adminCall[api.SupplierTest](ctx, a, library.Call{
		Method: http.MethodPost, Path: api.PathAdminSuppliers + "/" + url.PathEscape(name) + "/test",
	})
}

func (a *Admin) changeSupplier(ctx context.Context, name, change string) (api.SupplierState, error) {
	got, err := adminCall[api.SupplierChange](ctx, a, library.Call{
		Method: http.MethodPost, Path: api.PathAdminSuppliers + "/" + url.PathEscape(name) + "/" + change,
	})
	return got.SupplierState, err
}

// FindRequests returns the request logs' records of a request's or a task's id, oldest first.
func (a *Admin) FindRequests(ctx context.Context, id string) (api.RequestList, error) {
	path := api.PathAdminRequests + "?" + url.Values{"id": {id}}.Encode()
	return adminCall[api.RequestList](ctx, a, library.Call{Path: path})
}

// Log returns the requests and ends of tasks since a cursor, "" for from now on.
func (a *Admin) Log(ctx context.Context, cursor string) (api.LogPage, error) {
	path := api.PathAdminLog + "?" + url.Values{"cursor": {cursor}}.Encode()
	return adminCall[api.LogPage](ctx, a, library.Call{Path: path})
}
