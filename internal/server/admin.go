package server

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"maps"
	"net/http"

	"unitask/internal/api"
	"unitask/internal/fault"
	"unitask/internal/operator"
	"unitask/internal/store"
)

// Admin serves an Operator over a Unix socket. It asks for no key: the socket's mode is the lock.
type Admin struct{ *privateSite }

// NewAdmin returns an Admin that doesn't listen yet. log may be nil.
func NewAdmin(o *operator.Operator, metrics http.Handler, log *slog.Logger) *Admin {
	a := actions{common: newCommon(Limits{}, o.Now, log), operator: o, keys: operator.Owner{Operator: o}}
	paths := a.shared()
	maps.Copy(paths, map[string]methods{
		api.PathAdminSession:              {http.MethodPost: serve(a, http.StatusCreated, a.sessionKey)},
		api.PathAdminTasks + "/{task_id}": {http.MethodGet: serve(a, http.StatusOK, a.task)},
		api.PathAdminReload:               {http.MethodPost: serve(a, http.StatusOK, a.reload)},
		api.PathAdminBackup:               {http.MethodPost: a.handleBackup},
		api.PathAdminArrivals:             {http.MethodGet: a.handleArrivals},
		pathProfile + "{profile...}":      profileMethods,
		api.PathMetrics:                   scrape(metrics),
	})
	site := newPrivateSite(a.common)
	site.only(paths)
	return &Admin{site}
}

// actions are the handlers of an operator's actions, over the socket and over the API's listener.
type actions struct {
	*common
	operator *operator.Operator
	keys     keyMaker
}

// keyMaker is the actions for which it matters who the operator is: the owner of the data folder or the holder of a key.
type keyMaker interface {
	CreateKey(ctx context.Context, req api.KeyCreate) (api.Key, error)
	UpdateKey(ctx context.Context, id string, req api.KeyUpdate) (api.Key, error)
	RotateKey(ctx context.Context, id string, req api.KeyRotate) (api.Key, error)
}

// shared returns the handlers that both listeners have, by path.
func (a actions) shared() map[string]methods {
	paths := map[string]methods{
		api.PathAdminKeys:                             {http.MethodGet: serve(a, http.StatusOK, a.listKeys), http.MethodPost: serve(a, http.StatusCreated, a.createKey)},
		api.PathAdminKeys + "/{key_id}":               {http.MethodPatch: serve(a, http.StatusOK, a.updateKey)},
		api.PathAdminKeys + "/{key_id}/revoke":        {http.MethodPost: serve(a, http.StatusOK, a.revokeKey)},
		api.PathAdminKeys + "/{key_id}/rotate":        {http.MethodPost: serve(a, http.StatusCreated, a.rotateKey)},
		api.PathAdminAccounts:                         {http.MethodGet: serve(a, http.StatusOK, a.listAccounts), http.MethodPost: serve(a, http.StatusCreated, a.createAccount)},
		api.PathAdminAccounts + "/{account}":          {http.MethodGet: serve(a, http.StatusOK, a.getAccount), http.MethodPatch: serve(a, http.StatusOK, a.updateAccount)},
		api.PathAdminAccounts + "/{account}/links":    {http.MethodPost: serve(a, http.StatusCreated, a.invite)},
		api.PathAdminUsage:                            {http.MethodGet: serveQuery(a, http.StatusOK, a.usage)},
		api.PathAdminSuppliers:                        {http.MethodGet: serve(a, http.StatusOK, a.suppliers)},
		api.PathAdminSuppliers + "/{supplier}/pause":  {http.MethodPost: serve(a, http.StatusOK, a.pauseSupplier)},
		api.PathAdminSuppliers + "/{supplier}/resume": {http.MethodPost: serve(a, http.StatusOK, a.resumeSupplier)},
		api.PathAdminSuppliers + "/{supplier}/reset":  {http.MethodPost: serve(a, http.StatusOK, a.resetSupplier)},
		api.PathAdminSuppliers + "/{supplier}/test":   {http.MethodPost: serve(a, http.StatusOK, a.testSupplier)},
		api.PathAdminRequests:                         {http.MethodGet: serveQuery(a, http.StatusOK, a.requests)},
		api.PathAdminLog:                              {http.MethodGet: serveQuery(a, http.StatusOK, a.follow)},
		api.PathAdminInfo:                             {http.MethodGet: serve(a, http.StatusOK, a.info)},
	}
	maps.Copy(paths, a.people())
	return paths
}

// noBody is the request of an action without a body.
type noBody struct{}

// serve returns the handler of an operator's action without a query string: it decodes the request's body, unless Req
// is noBody, and responds with the action's result and the status.
func serve[Req, Res any](a actions, status int, action func(*exchange, Req) (Res, error)) handler {
	return plain(serveQuery(a, status, action))
}

// serveQuery is serve for an action that reads the query string.
func serveQuery[Req, Res any](a actions, status int, action func(*exchange, Req) (Res, error)) handler {
	return func(x *exchange) error {
		var req Req
		if _, without := any(req).(noBody); !without {
			if err := a.decode(x, &req); err != nil {
				return err
			}
		}
		result, err := action(x, req)
		if err != nil {
			return err
		}
		a.respond(x, status, result)
		return nil
	}
}

// logChange logs a change and by whom it was made, unless it failed.
func (a actions) logChange(x *exchange, err error, message string, attrs ...slog.Attr) {
	if err == nil {
		by := "socket"
		if x.caller != nil {
			by = x.caller.Key.ID
		}
		attrs = append(attrs, slog.String("by", by), slog.String("request_id", x.id))
		a.log.LogAttrs(x.r.Context(), slog.LevelInfo, message, attrs...) //nolint:sloglint // each caller passes a literal
	}
}

// handleBackup writes the archive as it is made. One that was cut short has no end by which it could pass
// for a whole one.
func (a actions) handleBackup(x *exchange) error {
	if a.operator.BackupFunc == nil {
		return fault.New(fault.NotFound, "there is nothing to back up here")
	}
	err := a.pour(x, "application/x-tar", a.operator.BackupFunc)
	if errors.Is(err, store.ErrFull) {
		return fault.Wrap(fault.CapacityExhausted, err, "there is no room beside the database for a copy of it")
	}
	return err
}

func (a actions) handleArrivals(x *exchange) error {
	return a.pour(x, "application/jsonl", a.operator.Arrivals)
}

// pour writes a body while it is made. An error after its first byte breaks the connection.
func (a actions) pour(x *exchange, contentType string, write func(context.Context, io.Writer) error) error {
	x.Header().Set("Content-Type", contentType)
	x.Header().Set("Cache-Control", "no-store")
	err := write(x.r.Context(), x)
	if err == nil || x.status == 0 {
		return err
	}
	a.log.ErrorContext(x.r.Context(), "an answer broke off", slog.String("request_id", x.id), slog.String("route", x.route), slog.Any("error", err))
	panic(http.ErrAbortHandler)
}
