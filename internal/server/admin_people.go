package server

import (
	"log/slog"
	"net/http"

	"unitask/internal/api"
)

// people returns the handlers about who signs in to an account, by path.
func (a actions) people() map[string]methods {
	const one = api.PathAdminAccounts + "/{account}"
	return map[string]methods{
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
