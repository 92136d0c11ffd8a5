package server

import (
	"log/slog"
	"net/url"

	"unitask/internal/api"
	"unitask/internal/fault"
)

func (a *Admin) createKey(x *exchange, req api.KeyCreate) (api.Key, error) {
	key, err := a.operator.CreateKey(x.r.Context(), req)
	a.logChange(x, err, "key created", slog.String("key_id", key.ID), slog.String("mode", string(key.Mode)))
	return key, err
}

func (a *Admin) listKeys(x *exchange, _ noBody) (api.KeyList, error) {
	keys, err := a.operator.ListKeys(x.r.Context())
	return api.KeyList{Data: keys, RequestID: x.id}, err
}

func (a *Admin) updateKey(x *exchange, req api.KeyUpdate) (api.Key, error) {
	key, err := a.operator.UpdateKey(x.r.Context(), x.r.PathValue("key_id"), req)
	a.logChange(x, err, "key updated", slog.String("key_id", key.ID))
	return key, err
}

func (a *Admin) rotateKey(x *exchange, req api.KeyRotate) (api.Key, error) {
	old := x.r.PathValue("key_id")
	key, err := a.operator.RotateKey(x.r.Context(), old, req)
	a.logChange(x, err, "key rotated", slog.String("key_id", old), slog.String("next_key_id", key.ID))
	return key, err
}

func (a *Admin) revokeKey(x *exchange, _ noBody) (api.Key, error) {
	key, err := a.operator.RevokeKey(x.r.Context(), x.r.PathValue("key_id"))
	a.logChange(x, err, "key revoked", slog.String("key_id", key.ID))
	return key, err
}

func (a *Admin) sessionKey(x *exchange, _ noBody) (api.Key, error) {
	return a.operator.SessionKey(x.r.Context())
}

func (a *Admin) createAccount(x *exchange, req api.AccountCreate) (api.Account, error) {
	got, err := a.operator.CreateAccount(x.r.Context(), req)
	a.logChange(x, err, "account created", slog.String("account_id", got.ID))
	got.RequestID = x.id
	return got, err
}

func (a *Admin) listAccounts(x *exchange, _ noBody) (api.AccountList, error) {
	all, err := a.operator.ListAccounts(x.r.Context())
	return api.AccountList{Data: all, RequestID: x.id}, err
}

func (a *Admin) getAccount(x *exchange, _ noBody) (api.Account, error) {
	got, err := a.operator.GetAccount(x.r.Context(), x.r.PathValue("account"))
	got.RequestID = x.id
	return got, err
}

func (a *Admin) updateAccount(x *exchange, req api.AccountUpdate) (api.Account, error) {
	got, err := a.operator.UpdateAccount(x.r.Context(), x.r.PathValue("account"), req)
	a.logChange(x, err, "account updated", slog.String("account_id", got.ID))
	got.RequestID = x.id
	return got, err
}

func (a *Admin) invite(x *exchange, req api.Invite) (api.SignInLink, error) {
	link, err := a.operator.Invite(x.r.Context(), x.r.PathValue("account"), req)
	a.logChange(x, err, "sign-in link created", slog.String("role", link.Role))
	link.RequestID = x.id
	return link, err
}

func (a *Admin) info(x *exchange, _ noBody) (api.Info, error) {
	info, err := a.operator.Info(x.r.Context())
	info.RequestID = x.id
	return info, err
}

func (a *Admin) task(x *exchange, _ noBody) (api.AdminTask, error) {
	t, err := a.operator.Task(x.r.Context(), x.r.PathValue("task_id"))
	t.RequestID = x.id
	return t, err
}

func (a *Admin) reload(x *exchange, _ noBody) (api.Reload, error) {
	if a.operator.ReloadFunc == nil {
		return api.Reload{}, fault.New(fault.NotFound, "there are no settings to read again here")
	}
	done, err := a.operator.ReloadFunc(x.r.Context())
	done.RequestID = x.id
	return done, err
}

func (a *Admin) usage(x *exchange, _ noBody) (api.UsageReport, error) {
	values, err := query(x, "by", "account", "since", "until")
	if err != nil {
		return api.UsageReport{}, err
	}
	report, err := a.operator.Usage(x.r.Context(), api.UsageQuery{
		By: values.Get("by"), Account: values.Get("account"), Since: values.Get("since"), Until: values.Get("until"),
	})
	report.RequestID = x.id
	return report, err
}

func (a *Admin) suppliers(x *exchange, _ noBody) (api.SupplierList, error) {
	states, err := a.operator.Suppliers(x.r.Context())
	return api.SupplierList{Data: states, RequestID: x.id}, err
}

func (a *Admin) requests(x *exchange, _ noBody) (api.RequestList, error) {
	values, err := query(x, "id")
	if err != nil {
		return api.RequestList{}, err
	}
	list, err := a.operator.FindRequests(x.r.Context(), values.Get("id"))
	list.RequestID = x.id
	return list, err
}

// query reads a query string that may have the named parameters, each once.
func query(x *exchange, names ...string) (url.Values, error) {
	values, err := url.ParseQuery(x.r.URL.RawQuery)
	if err != nil {
		return nil, fault.Wrap(fault.InvalidRequest, err, "the query string is malformed")
	}
	left := len(values)
	for _, name := range names {
		switch len(values[name]) {
		case 0:
		case 1:
			left--
		default:
			return nil, fault.Invalid(name, "must be given once")
		}
	}
	if left > 0 {
		return nil, fault.New(fault.InvalidRequest, "the query string has a parameter that isn't known here")
	}
	return values, nil
}
