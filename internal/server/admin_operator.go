package server

import (
	"log/slog"
	"net/http"
	"net/url"

	"unitask/internal/api"
	"unitask/internal/fault"
)

func (a *Admin) handleKeyUpdate(x *exchange) error {
	var req api.KeyUpdate
	if err := a.decode(x, &req); err != nil {
		return err
	}
	key, err := a.operator.UpdateKey(x.r.Context(), x.r.PathValue("key_id"), req)
	if err != nil {
		return err
	}
	a.log.InfoContext(x.r.Context(), "key updated", slog.String("key_id", key.ID))
	a.respond(x, http.StatusOK, key)
	return nil
}

func (a *Admin) handleKeyRotate(x *exchange) error {
	var req api.KeyRotate
	if err := a.decode(x, &req); err != nil {
		return err
	}
	old := x.r.PathValue("key_id")
	key, err := a.operator.RotateKey(x.r.Context(), old, req)
	if err != nil {
		return err
	}
	a.log.InfoContext(x.r.Context(), "key rotated", slog.String("key_id", old), slog.String("next_key_id", key.ID))
	a.respond(x, http.StatusCreated, key)
	return nil
}

func (a *Admin) handleAccountList(x *exchange) error {
	all, err := a.operator.ListAccounts(x.r.Context())
	if err != nil {
		return err
	}
	a.respond(x, http.StatusOK, api.AccountList{Data: all, RequestID: x.id})
	return nil
}

func (a *Admin) handleAccountCreate(x *exchange) error {
	var req api.AccountCreate
	if err := a.decode(x, &req); err != nil {
		return err
	}
	got, err := a.operator.CreateAccount(x.r.Context(), req)
	if err != nil {
		return err
	}
	a.log.InfoContext(x.r.Context(), "account created", slog.String("account_id", got.ID))
	return a.account(x, http.StatusCreated, got)
}

func (a *Admin) handleAccountGet(x *exchange) error {
	got, err := a.operator.GetAccount(x.r.Context(), x.r.PathValue("account"))
	if err != nil {
		return err
	}
	return a.account(x, http.StatusOK, got)
}

func (a *Admin) handleAccountUpdate(x *exchange) error {
	var req api.AccountUpdate
	if err := a.decode(x, &req); err != nil {
		return err
	}
	got, err := a.operator.UpdateAccount(x.r.Context(), x.r.PathValue("account"), req)
	if err != nil {
		return err
	}
	a.log.InfoContext(x.r.Context(), "account updated", slog.String("account_id", got.ID))
	return a.account(x, http.StatusOK, got)
}

func (a *Admin) account(x *exchange, status int, got api.Account) error {
	got.RequestID = x.id
	a.respond(x, status, got)
	return nil
}

func (a *Admin) handleInvite(x *exchange) error {
	var req api.Invite
	if err := a.decode(x, &req); err != nil {
		return err
	}
	link, err := a.operator.Invite(x.r.Context(), x.r.PathValue("account"), req)
	if err != nil {
		return err
	}
	a.log.InfoContext(x.r.Context(), "sign-in link created", slog.String("role", link.Role))
	link.RequestID = x.id
	a.respond(x, http.StatusCreated, link)
	return nil
}

func (a *Admin) handleUsage(x *exchange) error {
	values, err := query(x, "by", "account", "since", "until")
	if err != nil {
		return err
	}
	report, err := a.operator.Usage(x.r.Context(), api.UsageQuery{
		By: values.Get("by"), Account: values.Get("account"), Since: values.Get("since"), Until: values.Get("until"),
	})
	if err != nil {
		return err
	}
	report.RequestID = x.id
	a.respond(x, http.StatusOK, report)
	return nil
}

func (a *Admin) handleSuppliers(x *exchange) error {
	states, err := a.operator.Suppliers(x.r.Context())
	if err != nil {
		return err
	}
	a.respond(x, http.StatusOK, api.SupplierList{Data: states, RequestID: x.id})
	return nil
}

func (a *Admin) handleRequests(x *exchange) error {
	values, err := query(x, "id")
	if err != nil {
		return err
	}
	found, err := a.operator.FindRequests(x.r.Context(), values.Get("id"))
	if err != nil {
		return err
	}
	a.respond(x, http.StatusOK, api.RequestList{Data: found, RequestID: x.id})
	return nil
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
