package console

import (
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"unitask/internal/api"
	"unitask/internal/fault"
	"unitask/internal/gate"
	"unitask/internal/notify"
	"unitask/internal/store"
	"unitask/internal/task"
	"unitask/internal/webhook"
)

// The pages of deliveries.
const (
	deliveriesPage = 25
	outcomesPage   = 20 // of which the last outcome is found
)

// webhookRow is a webhook as its pages show it.
type webhookRow struct {
	api.Webhook
	Mode task.Mode
	Last *api.DeliveryAttempt // the latest of its newest deliveries; nil without one
}

// Why is why it isn't told of ends, "" if it is.
func (w webhookRow) Why() string {
	if w.Disabled == nil {
		return ""
	}
	return *w.Disabled
}

// withWebhooks answers as if the page weren't there on a service without webhooks.
func (c *Console) withWebhooks(h handler) handler {
	return func(x exchange) error {
		if c.endpoints == nil {
			return noPage()
		}
		return h(x)
	}
}

// holderOf is who acts on a page: somebody of an account, without a key's scopes.
func holderOf(x exchange, mode task.Mode) notify.Holder {
	return notify.Holder{Scope: task.Scope{Account: x.visitor.Account.ID, Mode: mode}}
}

// spend takes a creation from the visitor's rates, as the API does for whatever sends requests.
func (c *Console) spend(x exchange, mode task.Mode) error {
	if c.operator.Gate == nil {
		return nil
	}
	caller := callerOf(x.visitor, mode)
	_, err := c.operator.Gate.Count(&caller, gate.Creates)
	return err
}

func (c *Console) handleWebhooks(x exchange) error {
	var rows []webhookRow
	for _, mode := range []task.Mode{task.Live, task.Test} {
		all, err := c.endpoints.List(x.r.Context(), holderOf(x, mode))
		if err != nil {
			return err
		}
		for _, w := range all {
			row := webhookRow{Webhook: w, Mode: mode}
			if row.Last, err = c.lastAttempt(x, row); err != nil {
				return err
			}
			rows = append(rows, row)
		}
	}
	slices.SortFunc(rows, func(a, b webhookRow) int { return strings.Compare(b.ID, a.ID) }) // the newest first
	return c.show(x, page{Name: "webhooks", Section: "webhooks", Title: "Webhooks", Data: rows})
}

// lastAttempt returns the latest attempt of the newest deliveries.
func (c *Console) lastAttempt(x exchange, w webhookRow) (last *api.DeliveryAttempt, _ error) {
	list, err := c.deliveries(x, w, url.Values{}, outcomesPage)
	for _, d := range list.Data {
		for _, a := range d.Attempts {
			if last == nil || a.At.After(last.At.Time) {
				last = &a
			}
		}
	}
	return last, err
}

// findWebhook returns the webhook that the address names, if it is the visitor's account's.
func (c *Console) findWebhook(x exchange) (row webhookRow, err error) {
	for _, mode := range []task.Mode{task.Live, task.Test} {
		row.Mode = mode
		row.Webhook, err = c.endpoints.Get(x.r.Context(), holderOf(x, mode), x.r.PathValue("webhook_id"))
		if err == nil || fault.CodeOf(err) != fault.NotFound {
			return row, err
		}
	}
	return row, err
}

// webhookPage is the data of the page of one webhook.
type webhookPage struct {
	webhookRow
	Deliveries api.DeliveryList
	State      webhook.DeliveryState // that is asked for
	Cursor     string
	Choices    []webhook.DeliveryState
	Tested     *api.WebhookTest // just now
	Problem    *fault.Error     // of the action just now
	OfTest     bool             // that action was a test
}

// Address returns the query of a page of deliveries.
func (p webhookPage) Address(cursor string) string {
	v := url.Values{}
	if p.State != "" {
		v.Set("state", string(p.State))
	}
	if cursor != "" {
		v.Set("cursor", cursor)
	}
	return "?" + v.Encode()
}

func (c *Console) handleWebhook(x exchange) error {
	row, err := c.findWebhook(x)
	if err != nil {
		return err
	}
	return c.webhookPage(x, http.StatusOK, webhookPage{webhookRow: row})
}

// webhookPage shows a webhook with its deliveries, those that the address asks for.
func (c *Console) webhookPage(x exchange, status int, p webhookPage) (err error) {
	q := x.r.URL.Query()
	p.State, p.Cursor, p.Choices = webhook.DeliveryState(q.Get("state")), q.Get("cursor"), webhook.DeliveryStates()
	if p.Deliveries, err = c.deliveries(x, p.webhookRow, q, deliveriesPage); err != nil {
		return err
	}
	return c.showWith(x, status, page{Name: "webhook", Section: "webhooks", Title: "Webhook", Data: p})
}

func (c *Console) deliveries(x exchange, w webhookRow, q url.Values, limit int) (api.DeliveryList, error) {
	h := holderOf(x, w.Mode)
	ask := store.DeliveryQuery{
		Scope: h.Scope, Endpoint: w.ID, State: webhook.DeliveryState(q.Get("state")), Limit: limit, Cursor: q.Get("cursor"),
	}
	switch {
	case ask.State != "" && !slices.Contains(webhook.DeliveryStates(), ask.State):
		return api.DeliveryList{}, fault.Invalid("state", "is not a state of deliveries")
	case ask.Cursor != "" && !webhook.ValidEvent(ask.Cursor):
		return api.DeliveryList{}, fault.Invalid("cursor", "is not one that a list returned")
	}
	return c.endpoints.Deliveries(x.r.Context(), h, ask)
}

// retiring is for how long the secret before goes on, in seconds.
var retiring = map[string]int64{"": 0, "hour": 3600, "day": 24 * 3600, "week": 7 * 24 * 3600}

func (c *Console) handleWebhookRotate(x exchange) error {
	row, err := c.posted(x)
	if err != nil {
		return err
	}
	keep, ok := retiring[x.r.PostForm.Get("overlap")]
	if !ok {
		return fault.Invalid("overlap", "must be one of those offered")
	}
	made, err := c.endpoints.Rotate(x.r.Context(), holderOf(x, row.Mode), row.ID, api.WebhookRotate{KeepOldForSeconds: &keep})
	if err != nil {
		return err
	}
	c.logWebhook(x, "rotated", row.ID)
	return c.showOnce(x, page{Name: "webhook-secret", Section: "webhooks", Title: "Keep the secret", Data: webhookRow{Webhook: made, Mode: row.Mode}})
}

// posted parses a form and returns the webhook that it is about.
func (c *Console) posted(x exchange) (webhookRow, error) {
	if err := parseForm(x, x.r); err != nil {
		return webhookRow{}, err
	}
	return c.findWebhook(x)
}

func (c *Console) logWebhook(x exchange, done, id string) {
	c.log.InfoContext(x.r.Context(), "webhook changed", "webhook_id", id, "action", done, "by", x.visitor.Account.ID)
}

func (c *Console) handleWebhookTest(x exchange) error {
	row, err := c.posted(x)
	if err != nil {
		return err
	}
	p := webhookPage{webhookRow: row, OfTest: true}
	err = c.spend(x, row.Mode)
	if err == nil {
		var got api.WebhookTest
		got, err = c.endpoints.Test(x.r.Context(), holderOf(x, row.Mode), row.ID)
		p.Tested = &got
	}
	return c.acted(x, p, err)
}

// acted shows a webhook after something was done, or why it wasn't.
func (c *Console) acted(x exchange, p webhookPage, err error) error {
	if err == nil {
		return c.webhookPage(x, http.StatusOK, p)
	}
	p.Tested, p.Problem = nil, fault.From(err)
	if p.Problem.Code != fault.InvalidRequest && p.Problem.Code != fault.RateLimitExceeded {
		return err
	}
	return c.webhookPage(x, api.Status(p.Problem), p)
}

// handleWebhookSwitch disables a webhook or enables it.
func (c *Console) handleWebhookSwitch(disabled bool) handler {
	return func(x exchange) error {
		row, err := c.posted(x)
		if err != nil {
			return err
		}
		_, err = c.endpoints.Update(x.r.Context(), holderOf(x, row.Mode), row.ID, api.WebhookUpdate{Disabled: &disabled})
		if err != nil {
			return c.acted(x, webhookPage{webhookRow: row}, err)
		}
		done := "enabled"
		if disabled {
			done = "disabled"
		}
		c.logWebhook(x, done, row.ID)
		c.goTo(x, x.r, "/webhooks/"+row.ID+"?done="+done)
		return nil
	}
}

func (c *Console) handleWebhookDelete(x exchange) error {
	row, err := c.posted(x)
	if err != nil {
		return err
	}
	if !c.asked(x, "webhooks", question{
		Title: "Delete the webhook?", Button: "Delete the webhook", Back: "/webhooks/" + row.ID,
		Text: "Nothing is sent to it any more, and its deliveries are gone, those that wait too. Another webhook has another secret.",
	}) {
		return nil
	}
	if err := c.endpoints.Delete(x.r.Context(), holderOf(x, row.Mode), row.ID); err != nil {
		return err
	}
	c.logWebhook(x, "deleted", row.ID)
	c.goTo(x, x.r, "/webhooks?done=deleted")
	return nil
}

func (c *Console) handleWebhookReplay(x exchange) error {
	row, err := c.posted(x)
	if err != nil {
		return err
	}
	err = c.spend(x, row.Mode)
	if err == nil {
		err = c.endpoints.Replay(x.r.Context(), holderOf(x, row.Mode), row.ID, x.r.PathValue("event_id"))
	}
	if err != nil {
		return c.acted(x, webhookPage{webhookRow: row}, err)
	}
	c.goTo(x, x.r, "/webhooks/"+row.ID+"?"+url.Values{"done": {"replayed"}, "state": x.r.PostForm["state"], "cursor": x.r.PostForm["cursor"]}.Encode())
	return nil
}

// overseen is the webhooks of all accounts, for an operator.
type overseen struct {
	Rows    []overseenRow
	Left    int // that aren't shown
	Waiting int64
	Oldest  time.Time
}

type overseenRow struct {
	notify.Overseen
	Account string // its name
}

// mostOverseen is how many an operator's page has: those that the most deliveries wait for.
const mostOverseen = 200

func (c *Console) handleOverseen(x exchange) error {
	all, err := c.endpoints.Oversee(x.r.Context())
	if err != nil {
		return err
	}
	accounts, err := c.operator.AccountNames(x.r.Context())
	if err != nil {
		return err
	}
	names := map[string]string{}
	for _, a := range accounts {
		names[a.ID] = a.Name
	}
	v := overseen{Left: max(0, len(all)-mostOverseen)}
	for i, e := range all {
		v.Waiting += e.Waiting
		if e.Waiting > 0 && (v.Oldest.IsZero() || e.Oldest.Before(v.Oldest)) {
			v.Oldest = e.Oldest
		}
		if i < mostOverseen {
			v.Rows = append(v.Rows, overseenRow{e, names[e.Scope.Account]})
		}
	}
	return c.show(x, page{Name: "webhooks-all", Section: "webhooks-all", Title: "Webhooks of all accounts", Data: v})
}

func (c *Console) handleBar(barred bool) handler {
	return func(x exchange) error {
		if err := parseForm(x, x.r); err != nil {
			return err
		}
		id := x.r.PathValue("webhook_id")
		if barred && !c.asked(x, "webhooks-all", question{
			Title: "Disable the webhook?", Button: "Disable the webhook", Back: "/webhooks/all",
			Text: "Its account is told of no end any more and can't enable it. What waits goes on when you enable it, unless a week has passed.",
		}) {
			return nil
		}
		if err := c.endpoints.Bar(x.r.Context(), id, barred); err != nil {
			return err
		}
		done := "enabled"
		if barred {
			done = "disabled"
		}
		c.logWebhook(x, done+" by an operator", id)
		c.goTo(x, x.r, "/webhooks/all?done="+done)
		return nil
	}
}
