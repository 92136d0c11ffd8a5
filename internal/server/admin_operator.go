package server

import (
	"log/slog"

	"unitask/internal/account"
	"unitask/internal/api"
	"unitask/internal/fault"
	"unitask/internal/operator"
)

func (a actions) createKey(x *exchange, req api.KeyCreate) (api.Key, error) {
	key, err := a.keys.CreateKey(x.r.Context(), req)
	a.logChange(x, err, "key created", slog.String("key_id", key.ID), slog.String("mode", string(key.Mode)))
	key.RequestID = x.id
	return key, err
}

func (a actions) listKeys(x *exchange, _ noBody) (api.KeyList, error) {
	keys, err := a.operator.ListKeys(x.r.Context())
	return api.KeyList{Data: keys, RequestID: x.id}, err
}

func (a actions) updateKey(x *exchange, req api.KeyUpdate) (api.Key, error) {
	key, err := a.keys.UpdateKey(x.r.Context(), x.r.PathValue("key_id"), req)
	a.logChange(x, err, "key updated", slog.String("key_id", key.ID))
	key.RequestID = x.id
	return key, err
}

func (a actions) rotateKey(x *exchange, req api.KeyRotate) (api.Key, error) {
	old := x.r.PathValue("key_id")
	key, err := a.keys.RotateKey(x.r.Context(), old, req)
	a.logChange(x, err, "key rotated", slog.String("key_id", old), slog.String("next_key_id", key.ID))
	key.RequestID = x.id
	return key, err
}

func (a actions) revokeKey(x *exchange, _ noBody) (api.Key, error) {
	key, err := a.operator.RevokeKey(x.r.Context(), x.r.PathValue("key_id"))
	a.logChange(x, err, "key revoked", slog.String("key_id", key.ID))
	key.RequestID = x.id
	return key, err
}

func (a actions) sessionKey(x *exchange, _ noBody) (api.Key, error) {
	key, err := a.operator.SessionKey(x.r.Context())
	key.RequestID = x.id
	return key, err
}

func (a actions) createAccount(x *exchange, req api.AccountCreate) (api.Account, error) {
	got, err := a.operator.CreateAccount(x.r.Context(), req)
	a.logChange(x, err, "account created", slog.String("account_id", got.ID))
	got.RequestID = x.id
	return got, err
}

func (a actions) listAccounts(x *exchange, _ noBody) (api.AccountList, error) {
	all, err := a.operator.ListAccounts(x.r.Context())
	return api.AccountList{Data: all, RequestID: x.id}, err
}

func (a actions) getAccount(x *exchange, _ noBody) (api.Account, error) {
	got, err := a.operator.GetAccount(x.r.Context(), x.r.PathValue("account"))
	got.RequestID = x.id
	return got, err
}

func (a actions) updateAccount(x *exchange, req api.AccountUpdate) (api.Account, error) {
	got, err := a.operator.UpdateAccount(x.r.Context(), x.r.PathValue("account"), req)
	a.logChange(x, err, "account updated", slog.String("account_id", got.ID))
	got.RequestID = x.id
	return got, err
}

func (a actions) invite(x *exchange, req api.Invite) (api.SignInLink, error) {
	if x.caller != nil && req.Role == string(account.RoleOperator) { // it would outlive the key
		return api.SignInLink{}, fault.Invalid("role", "operator is given at the data folder, not with an operator key")
	}
	link, err := a.operator.Invite(x.r.Context(), x.r.PathValue("account"), req)
	a.logChange(x, err, "sign-in link created", slog.String("role", link.Role))
	link.RequestID = x.id
	return link, err
}

func (a actions) info(x *exchange, _ noBody) (api.Info, error) {
	info, err := a.operator.Info(x.r.Context())
	info.RequestID = x.id
	return info, err
}

func (a actions) task(x *exchange, _ noBody) (api.AdminTask, error) {
	t, err := a.operator.Task(x.r.Context(), x.r.PathValue("task_id"))
	t.RequestID = x.id
	return t, err
}

func (a actions) reload(x *exchange, _ noBody) (api.Reload, error) {
	if a.operator.ReloadFunc == nil {
		return api.Reload{}, fault.New(fault.NotFound, "there are no settings to read again here")
	}
	done, err := a.operator.ReloadFunc(x.r.Context())
	done.RequestID = x.id
	return done, err
}

func (a actions) usage(x *exchange, _ noBody) (api.UsageReport, error) {
	values, err := queryOf(x.r.URL.RawQuery, "by", "account", "since", "until")
	if err != nil {
		return api.UsageReport{}, err
	}
	report, err := a.operator.Usage(x.r.Context(), api.UsageQuery{
		By: values.Get("by"), Account: values.Get("account"), Since: values.Get("since"), Until: values.Get("until"),
	})
	report.RequestID = x.id
	return report, err
}

func (a actions) suppliers(x *exchange, _ noBody) (api.SupplierList, error) {
	states, err := a.operator.Suppliers(x.r.Context())
	return api.SupplierList{Data: states, RequestID: x.id}, err
}

func (a actions) pauseSupplier(x *exchange, _ noBody) (api.SupplierChange, error) {
	by := operator.OwnerName
	if x.caller != nil {
		by = x.caller.Key.Name
	}
	return a.changeSupplier(x, "supplier paused", func(name string) (api.SupplierState, error) { return a.operator.PauseSupplier(x.r.Context(), name, by) })
}

func (a actions) resumeSupplier(x *exchange, _ noBody) (api.SupplierChange, error) {
	return a.changeSupplier(x, "supplier resumed", func(name string) (api.SupplierState, error) { return a.operator.ResumeSupplier(x.r.Context(), name) })
}

func (a actions) resetSupplier(x *exchange, _ noBody) (api.SupplierChange, error) {
	return a.changeSupplier(x, "supplier reset", func(name string) (api.SupplierState, error) { return a.operator.ResetSupplier(x.r.Context(), name) })
}

func (a actions) changeSupplier(x *exchange, message string, change func(name string) (api.SupplierState, error)) (api.SupplierChange, error) {
	name := x.r.PathValue("supplier")
	got, err := change(name)
	a.logChange(x, err, message, slog.String("supplier", name))
	return api.SupplierChange{SupplierState: got, RequestID: x.id}, err
}

func (a actions) testSupplier(x *exchange, _ noBody) (api.SupplierTest, error) {
	got, err := a.operator.TestSupplier(x.r.Context(), x.r.PathValue("supplier"))
	a.logChange(x, err, "supplier tested", slog.String("supplier", got.Supplier), slog.String("result", got.Result))
	got.RequestID = x.id
	return got, err
}

func (a actions) requests(x *exchange, _ noBody) (api.RequestList, error) {
	values, err := queryOf(x.r.URL.RawQuery, "id")
	if err != nil {
		return api.RequestList{}, err
	}
	list, err := a.operator.FindRequests(x.r.Context(), values.Get("id"))
	list.RequestID = x.id
	return list, err
}

func (a actions) follow(x *exchange, _ noBody) (api.LogPage, error) {
	values, err := queryOf(x.r.URL.RawQuery, "cursor")
	if err != nil {
		return api.LogPage{}, err
	}
	page, err := a.operator.Log(x.r.Context(), values.Get("cursor"))
	page.RequestID = x.id
	return page, err
}
