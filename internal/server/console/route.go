package console

import (
	"net/http"
	"slices"
	"strings"

	"unitask/internal/fault"
	"unitask/internal/operator"
	"unitask/internal/task"
)

// exchange is the request of somebody who signed in, and its answer.
type exchange struct {
	http.ResponseWriter
	r       *http.Request
	visitor operator.Visitor
}

// handler answers, or returns the error to answer with; never both.
type handler func(x exchange) error

func (c *Console) route() {
	c.mux.HandleFunc("GET "+Root+"/sign-in", c.handleSignInPage)
	c.mux.HandleFunc("POST "+Root+"/sign-in", c.handleSignIn)
	c.mux.HandleFunc("POST "+Root+"/sign-out", c.handleSignOut)
	c.mux.HandleFunc("GET "+Root+"/static/{file}", c.handleFile)
	c.routeTasks()
	for pattern, h := range map[string]handler{
		"GET /{$}":                                c.handleFirst,
		"GET /overview":                           c.handleOverview,
		"GET /keys":                               c.findsAccount(c.handleKeys),
		"GET /keys/new":                           c.handleKeyForm,
		"POST /keys":                              c.handleKeyCreate,
		"GET /keys/{key_id}":                      c.handleKey,
		"POST /keys/{key_id}":                     c.handleKeyUpdate,
		"POST /keys/{key_id}/rotate":              c.handleKeyRotate,
		"POST /keys/{key_id}/revoke":              c.handleKeyRevoke,
		"GET /once/{word}":                        c.handleOnce,
		"GET /memory":                             c.handleMemory,
		"POST /memory":                            c.handleMemoryChange,
		"GET /trial":                              c.handleTrial,
		"POST /trial/request":                     c.handleTrialRequest,
		"POST /trial/show":                        c.handleTrialShow,
		"GET /lookup":                             c.handleLookup,
		"GET /suppliers":                          forOperators(c.handleSuppliers),
		"GET /suppliers/{supplier}":               forOperators(c.handleSupplier),
		"GET /routes":                             forOperators(c.handleRoutes),
		"POST /routes":                            forOperators(c.handleRoutes),
		"POST /suppliers/{supplier}/test":         forOperators(c.handleSupplierTest),
		"POST /suppliers/{supplier}/{change}":     forOperators(c.handleSupplierChange),
		"GET /webhooks":                           c.withWebhooks(c.handleWebhooks),
		"POST /webhooks":                          c.withWebhooks(c.handleWebhookCreate),
		"GET /webhooks/new":                       c.withWebhooks(c.handleWebhookForm),
		"GET /webhooks/all":                       forOperators(c.withWebhooks(c.handleOverseen)),
		"POST /webhooks/all/{webhook_id}/disable": forOperators(c.withWebhooks(c.handleBar(true))),
		"POST /webhooks/all/{webhook_id}/enable":  forOperators(c.withWebhooks(c.handleBar(false))),
		"GET /webhooks/{webhook_id}":              c.withWebhooks(c.handleWebhook),
		"POST /webhooks/{webhook_id}":             c.withWebhooks(c.handleWebhookUpdate),
		"GET /webhooks/{webhook_id}/edit":         c.withWebhooks(c.handleWebhookEdit),
		"POST /webhooks/{webhook_id}/rotate":      c.withWebhooks(c.handleWebhookRotate),
		"POST /webhooks/{webhook_id}/test":        c.withWebhooks(c.handleWebhookTest),
		"POST /webhooks/{webhook_id}/enable":      c.withWebhooks(c.handleWebhookSwitch(false)),
		"POST /webhooks/{webhook_id}/disable":     c.withWebhooks(c.handleWebhookSwitch(true)),
		"POST /webhooks/{webhook_id}/delete":      c.withWebhooks(c.handleWebhookDelete),
		"POST /webhooks/{webhook_id}/deliveries/{event_id}/replay": c.withWebhooks(c.handleWebhookReplay),
		"/": func(exchange) error { return noPage() },
	} {
		c.handle(pattern, h)
	}
	for pattern, h := range c.peopleRoutes() {
		c.handle(pattern, h)
	}
}

// routeTasks adds the pages of tasks and of usage, the ways of the palette, and the time zone.
func (c *Console) routeTasks() {
	for pattern, h := range map[string]handler{
		"GET /tasks":                   c.findsAccount(c.handleTasks),
		"GET /tasks/export":            c.handleTasksExport,
		"GET /usage/export":            c.handleUsageExport,
		"GET /tasks/{task_id}":         c.handleTask,
		"POST /tasks/{task_id}/cancel": c.handleTaskCancel,
		"GET /usage":                   c.findsAccount(c.handleUsage),
		"GET /commands":                c.handleCommands,
		"GET /time-zone":               c.handleZone,
		"POST /time-zone":              c.handleZoneChange,
		"GET /go":                      c.handleGo,
	} {
		c.handle(pattern, h)
	}
}

// inactiveForms are the forms that members of an account send that isn't active: they end work and sessions, or
// change nothing.
var inactiveForms = []string{
	"/tasks/{task_id}/cancel", "/sessions/end", "/sessions/end-others", "/people/sessions/end", "/time-zone", "/trial/request", "/trial/show",
}

// handle adds a page, below Root, for those who signed in. Who reads one without a session is asked to. Of an account
// that isn't active operators alone send forms, but for a few.
func (c *Console) handle(pattern string, h handler) {
	method, path, ok := strings.Cut(pattern, " ")
	changes := ok && method != http.MethodGet && !slices.Contains(inactiveForms, path)
	if ok {
		pattern = method + " " + Root + path
	} else {
		pattern = Root + pattern
	}
	c.mux.HandleFunc(pattern, func(w http.ResponseWriter, r *http.Request) {
		v, err := c.visit(r)
		switch {
		case secretInAddress(r) && err == nil:
			c.refuse(w, r, &v, errSecret)
		case secretInAddress(r):
			c.refuse(w, r, nil, errSecret)
		case err == nil:
			if changes && !operates(v) {
				err = callerOf(v, task.Test).Open()
			}
			if err == nil {
				err = h(exchange{w, r, v})
			}
			if err != nil {
				c.refuse(w, r, &v, err)
			}
		case fault.CodeOf(err) == fault.Unauthenticated && c.followed(r):
			c.render(w, r, http.StatusOK, page{Name: "again", Title: "One moment"})
		case fault.CodeOf(err) == fault.Unauthenticated && r.Method == http.MethodGet:
			http.SetCookie(w, c.wanted(strings.TrimPrefix(r.URL.RequestURI(), Root)))
			c.goTo(w, r, "/sign-in")
		default:
			c.refuse(w, r, nil, err)
		}
	})
}

// followed reports whether somebody came by a link on another site. Browsers leave the cookie out then; asked
// again by a page of ours they send it.
func (c *Console) followed(r *http.Request) bool {
	from := r.Header.Get("Sec-Fetch-Site")
	return r.Method == http.MethodGet && (from == "cross-site" || from == "same-site") && c.token(r) == ""
}
