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
		api.PathAdminKeys:                          {http.MethodGet: a.handleKeyList, http.MethodPost: a.handleKeyCreate},
		api.PathAdminKeys + "/{key_id}":            {http.MethodPatch: a.handleKeyUpdate},
		api.PathAdminKeys + "/{key_id}/revoke":     {http.MethodPost: a.handleKeyRevoke},
		api.PathAdminKeys + "/{key_id}/rotate":     {http.MethodPost: a.handleKeyRotate},
		api.PathAdminAccounts:                      {http.MethodGet: a.handleAccountList, http.MethodPost: a.handleAccountCreate},
		api.PathAdminAccounts + "/{account}":       {http.MethodGet: a.handleAccountGet, http.MethodPatch: a.handleAccountUpdate},
		api.PathAdminAccounts + "/{account}/links": {http.MethodPost: a.handleInvite},
		api.PathAdminUsage:                         {http.MethodGet: a.handleUsage},
		api.PathAdminSuppliers:                     {http.MethodGet: a.handleSuppliers},
		api.PathAdminRequests:                      {http.MethodGet: a.handleRequests},
		api.PathAdminSession:                       {http.MethodPost: a.handleSessionKey},
		api.PathAdminInfo:                          {http.MethodGet: a.handleInfo},
		api.PathAdminTasks + "/{task_id}":          {http.MethodGet: a.handleTask},
		api.PathAdminBackup:                        {http.MethodPost: a.handleBackup},
		api.PathAdminReload:                        {http.MethodPost: a.handleReload},
		api.PathAdminArrivals:                      {http.MethodGet: a.handleArrivals},
		pathProfile + "{profile...}":               profileMethods,
		api.PathMetrics:                            scrape(metrics),
	})
	return a
}

func (a *Admin) handleKeyCreate(x *exchange) error {
	var req api.KeyCreate
	if err := a.decode(x, &req); err != nil {
		return err
	}
	key, err := a.operator.CreateKey(x.r.Context(), req)
	if err != nil {
		return err
	}
	a.log.InfoContext(x.r.Context(), "key created", slog.String("key_id", key.ID), slog.String("mode", string(key.Mode)))
	a.respond(x, http.StatusCreated, key)
	return nil
}

func (a *Admin) handleKeyList(x *exchange) error {
	keys, err := a.operator.ListKeys(x.r.Context())
	if err != nil {
		return err
	}
	a.respond(x, http.StatusOK, api.KeyList{Data: keys, RequestID: x.id})
	return nil
}

func (a *Admin) handleKeyRevoke(x *exchange) error {
	key, err := a.operator.RevokeKey(x.r.Context(), x.r.PathValue("key_id"))
	if err != nil {
		return err
	}
	a.log.InfoContext(x.r.Context(), "key revoked", slog.String("key_id", key.ID))
	a.respond(x, http.StatusOK, key)
	return nil
}

func (a *Admin) handleSessionKey(x *exchange) error {
	key, err := a.operator.SessionKey(x.r.Context())
	if err != nil {
		return err
	}
	a.respond(x, http.StatusCreated, key)
	return nil
}

func (a *Admin) handleInfo(x *exchange) error {
	info, err := a.operator.Info(x.r.Context())
	if err != nil {
		return err
	}
	info.RequestID = x.id
	a.respond(x, http.StatusOK, info)
	return nil
}

func (a *Admin) handleTask(x *exchange) error {
	t, err := a.operator.Task(x.r.Context(), x.r.PathValue("task_id"))
	if err != nil {
		return err
	}
	t.RequestID = x.id
	a.respond(x, http.StatusOK, t)
	return nil
}

func (a *Admin) handleReload(x *exchange) error {
	if a.operator.ReloadFunc == nil {
		return fault.New(fault.NotFound, "there are no settings to read again here")
	}
	done, err := a.operator.ReloadFunc(x.r.Context())
	if err != nil {
		return err
	}
	done.RequestID = x.id
	a.respond(x, http.StatusOK, done)
	return nil
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
