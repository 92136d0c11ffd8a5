package server

import (
	"log/slog"
	"net/http"

	"unitask/internal/api"
)

// people returns the handlers about an account's state and who signs in to it, by path.
func (a actions) people() map[string]methods {
	const one = api.PathAdminAccounts + "/{account}"
	return map[string]methods{
		one + "/suspend":      {http.MethodPost: serve(a, http.StatusOK, a.suspendAccount)},
		one + "/resume":       {http.MethodPost: serve(a, http.StatusOK, a.resumeAccount)},
		one + "/close":        {http.MethodPost: serve(a, http.StatusOK, a.closeAccount)},
		one + "/sessions":     {http.MethodGet: serve(a, http.StatusOK, a.listSessions)},
		one + "/sessions/end": {http.MethodPost: serve(a, http.StatusOK, a.endSessions)},
	}
}

func (a actions) listSessions(x *exchange, _ noBody) (api.SessionList, error) {
	all, err := a.operator.Sessions(x.r.Context(), x.r.PathValue("account"))
	return api.SessionList{Data: all, RequestID: x.id}, err
}

func (a actions) endSessions(x *exchange, req api.SessionsEnd) (api.SessionList, error) {
	ended, err := a.operator.EndSessions(x.r.Context(), x.r.PathValue("account"), req)
	a.logChange(x, err, "sessions ended", slog.String("account", x.r.PathValue("account")), slog.Int("sessions", len(ended)))
	return api.SessionList{Data: ended, RequestID: x.id}, err
}

func (a actions) suspendAccount(x *exchange, _ noBody) (api.Account, error) {
	got, err := a.operator.SuspendAccount(x.r.Context(), x.r.PathValue("account"))
	a.logChange(x, err, "account suspended", slog.String("account_id", got.ID))
	got.RequestID = x.id
	return got, err
}

func (a actions) resumeAccount(x *exchange, _ noBody) (api.Account, error) {
	got, err := a.operator.ResumeAccount(x.r.Context(), x.r.PathValue("account"))
	a.logChange(x, err, "account resumed", slog.String("account_id", got.ID))
	got.RequestID = x.id
	return got, err
}

func (a actions) closeAccount(x *exchange, req api.AccountClose) (api.AccountClosed, error) {
	got, err := a.operator.CloseAccount(x.r.Context(), x.r.PathValue("account"), req)
	a.logChange(x, err, "account closed", slog.String("account_id", got.Account.ID))
	got.RequestID = x.id
	return got, err
}
