package console

// peopleRoutes are the pages about sessions, people and accounts.
func (c *Console) peopleRoutes() map[string]handler {
	return map[string]handler{
		"GET /sessions":                         c.handleSessions,
		"POST /sessions/end":                    c.handleSessionEnd,
		"POST /sessions/end-others":             c.handleSessionsEndOthers,
		"GET /accounts":                         forOperators(c.handleAccounts),
		"POST /accounts":                        forOperators(c.handleAccountCreate),
		"GET /accounts/{account}":               forOperators(c.handleAccount),
		"POST /accounts/{account}":              forOperators(c.handleAccountUpdate),
		"POST /accounts/{account}/invite":       forOperators(c.people(c.handleInvite)),
		"POST /accounts/{account}/members":      forOperators(c.people(c.handleMemberRemove)),
		"POST /accounts/{account}/sessions/end": forOperators(c.people(c.handleMemberSignOut)),
		"POST /accounts/{account}/rename":       c.change(c.handleAccountRename),
		"POST /accounts/{account}/suspend":      c.change(c.handleAccountSuspend),
		"POST /accounts/{account}/resume":       c.change(c.handleAccountResume),
		"POST /accounts/{account}/close":        c.change(c.handleAccountClose),
		"GET /people":                           c.handlePeople,
		"POST /people/invite":                   c.people(c.handleInvite),
		"POST /people/members":                  c.people(c.handleMemberRemove),
		"POST /people/sessions/end":             c.people(c.handleMemberSignOut),
	}
}
