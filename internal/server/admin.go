package server

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"time"

	"unitask/internal/api"
	"unitask/internal/fault"
	"unitask/internal/operator"
	"unitask/internal/store"
)

// Admin serves an Operator over a Unix socket. It asks for no key: the socket's mode is the lock.
type Admin struct {
	*privateSite
	operator *operator.Operator
}

// NewAdmin returns an Admin that doesn't listen yet. log may be nil.
func NewAdmin(o *operator.Operator, metrics http.Handler, log *slog.Logger) *Admin {
	a := &Admin{privateSite: newPrivateSite(newCommon(Limits{Body: 1 << 20}, o.Now, log)), operator: o}
	a.only(map[string]methods{
		api.PathAdminKeys:                          {http.MethodGet: serve(a, http.StatusOK, a.listKeys), http.MethodPost: serve(a, http.StatusCreated, a.createKey)},
		api.PathAdminKeys + "/{key_id}":            {http.MethodPatch: serve(a, http.StatusOK, a.updateKey)},
		api.PathAdminKeys + "/{key_id}/revoke":     {http.MethodPost: serve(a, http.StatusOK, a.revokeKey)},
		api.PathAdminKeys + "/{key_id}/rotate":     {http.MethodPost: serve(a, http.StatusCreated, a.rotateKey)},
		api.PathAdminAccounts:                      {http.MethodGet: serve(a, http.StatusOK, a.listAccounts), http.MethodPost: serve(a, http.StatusCreated, a.createAccount)},
		api.PathAdminAccounts + "/{account}":       {http.MethodGet: serve(a, http.StatusOK, a.getAccount), http.MethodPatch: serve(a, http.StatusOK, a.updateAccount)},
		api.PathAdminAccounts + "/{account}/links": {http.MethodPost: serve(a, http.StatusCreated, a.invite)},
		api.PathAdminUsage:                         {http.MethodGet: serve(a, http.StatusOK, a.usage)},
		api.PathAdminSuppliers:                     {http.MethodGet: serve(a, http.StatusOK, a.suppliers)},
		api.PathAdminRequests:                      {http.MethodGet: serve(a, http.StatusOK, a.requests)},
		api.PathAdminSession:                       {http.MethodPost: serve(a, http.StatusCreated, a.sessionKey)},
		api.PathAdminInfo:                          {http.MethodGet: serve(a, http.StatusOK, a.info)},
		api.PathAdminTasks + "/{task_id}":          {http.MethodGet: serve(a, http.StatusOK, a.task)},
		api.PathAdminReload:                        {http.MethodPost: serve(a, http.StatusOK, a.reload)},
		api.PathAdminBackup:                        {http.MethodPost: a.handleBackup},
		api.PathAdminArrivals:                      {http.MethodGet: a.handleArrivals},
		pathProfile + "{profile...}":               profileMethods,
		api.PathMetrics:                            scrape(metrics),
	})
	return a
}

// noBody is the request of an action without a body.
type noBody struct{}

// serve returns the handler of an operator's action: it decodes the request's body, unless Req is noBody, and responds
// with the action's result and the status.
func serve[Req, Res any](a *Admin, status int, action func(*exchange, Req) (Res, error)) handler {
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

// logChange logs a change by the operator, unless it failed.
func (a *Admin) logChange(x *exchange, err error, message string, attrs ...slog.Attr) {
	if err == nil {
		a.log.LogAttrs(x.r.Context(), slog.LevelInfo, message, attrs...) //nolint:sloglint // each caller passes a literal
	}
}

// handleBackup writes the archive as it is made. One that was cut short has no end by which it could pass
// for a whole one.
func (a *Admin) handleBackup(x *exchange) error {
	if a.operator.BackupFunc == nil {
		return fault.New(fault.NotFound, "there is nothing to back up here")
	}
	err := a.pour(x, "application/x-tar", a.operator.BackupFunc)
	if errors.Is(err, store.ErrFull) {
		return fault.Wrap(fault.CapacityExhausted, err, "there is no room beside the database for a copy of it")
	}
	return err
}

func (a *Admin) handleArrivals(x *exchange) error {
	return a.pour(x, "application/jsonl", a.operator.Arrivals)
}

// pour writes a body while it is made. An error after its first byte breaks the connection.
func (a *Admin) pour(x *exchange, contentType string, write func(context.Context, io.Writer) error) error {
	x.Header().Set("Content-Type", contentType)
	x.Header().Set("Cache-Control", "no-store")
	err := write(x.r.Context(), x)
	if err == nil || x.status == 0 {
		return err
	}
	a.log.ErrorContext(x.r.Context(), "an answer broke off", slog.String("request_id", x.id), slog.String("route", x.route), slog.Any("error", err))
	panic(http.ErrAbortHandler)
}

// decode reads one JSON value without unknown members.
func (a *Admin) decode(x *exchange, into any) error {
	if err := checkMediaType(x.r.Header); err != nil {
		return err
	}
	raw, err := io.ReadAll(http.MaxBytesReader(x.ResponseWriter, x.r.Body, a.body.Load()))
	if err != nil {
		return fault.Wrap(fault.InvalidRequest, err, "the body didn't arrive whole, or is too large")
	}
	_ = x.control().SetReadDeadline(time.Time{})
	d := json.NewDecoder(bytes.NewReader(raw))
	d.DisallowUnknownFields()
	if err := d.Decode(into); err != nil {
		return fault.Wrap(fault.InvalidRequest, err, "the body is not the JSON that is wanted here: "+err.Error())
	}
	return nil
}
