package console

import (
	"net/http"
	"net/url"
	"slices"
	"strings"

	"unitask/internal/api"
	"unitask/internal/fault"
	"unitask/internal/task"
)

// Chosen reports whether a field has the value among its values.
func (f filledForm) Chosen(field, value string) bool { return slices.Contains(f.Values[field], value) }

func (c *Console) handleWebhookForm(x exchange) error {
	return c.webhookForm(x, http.StatusOK, filledForm{Values: url.Values{"mode": {string(task.Test)}}})
}

// webhookForm shows the form of a new webhook, or that of the one that it is about.
func (c *Console) webhookForm(x exchange, status int, f filledForm) error {
	f.Scopes = scopesOver(c.openOn(c.operator.Member(x.visitor).Account()))
	title := "New webhook"
	if f.About != nil {
		title = "Change the webhook"
	}
	return c.showWith(x, status, page{Name: "webhook-form", Section: "webhooks", Title: title, Data: f})
}

// wrongForm shows the form with its errors, if the form is at fault.
func (c *Console) wrongForm(x exchange, f filledForm, err error) error {
	if code := fault.CodeOf(err); code != fault.InvalidRequest && code != fault.RateLimitExceeded {
		return err
	}
	f.Problem = fault.From(err)
	return c.webhookForm(x, api.Status(f.Problem), f)
}

func statesFrom(v url.Values) (states []task.State) {
	for _, s := range v["states"] {
		states = append(states, task.State(s))
	}
	return states
}

func (c *Console) handleWebhookCreate(x exchange) error {
	if err := parseForm(x, x.r); err != nil {
		return err
	}
	f := filledForm{Values: x.r.PostForm}
	mode := task.Mode(f.Get("mode"))
	if mode != task.Live && mode != task.Test {
		return c.wrongForm(x, f, fault.Invalid("mode", "must be live or test"))
	}
	if err := c.spend(x, mode); err != nil {
		return c.wrongForm(x, f, err)
	}
	made, err := c.endpoints.Create(x.r.Context(), holderOf(x, mode), api.WebhookCreate{
		URL: strings.TrimSpace(f.Get("url")), Description: strings.TrimSpace(f.Get("description")),
		Capabilities: patterns(f.Get("capabilities")), States: statesFrom(f.Values), Budgets: f.Get("budgets") != "",
	})
	if err != nil {
		return c.wrongForm(x, f, err)
	}
	c.logWebhook(x, "created", made.ID)
	return c.showOnce(x, page{Name: "webhook-secret", Section: "webhooks", Title: "Keep the secret", Data: webhookRow{Webhook: made, Mode: mode}})
}

func (c *Console) handleWebhookEdit(x exchange) error {
	row, err := c.findWebhook(x)
	if err != nil {
		return err
	}
	v := url.Values{"url": {row.URL}, "description": {row.Description}, "capabilities": {strings.Join(row.Capabilities, " ")}}
	for _, s := range row.States {
		v.Add("states", string(s))
	}
	if row.Budgets {
		v.Set("budgets", "yes")
	}
	return c.webhookForm(x, http.StatusOK, filledForm{Values: v, About: row})
}

func (c *Console) handleWebhookUpdate(x exchange) error {
	row, err := c.posted(x)
	if err != nil {
		return err
	}
	f := filledForm{Values: x.r.PostForm, About: row}
	told, states := append([]string{}, patterns(f.Get("capabilities"))...), append([]task.State{}, statesFrom(f.Values)...)
	u := api.WebhookUpdate{Description: new(strings.TrimSpace(f.Get("description"))), Capabilities: &told, States: &states, Budgets: new(f.Get("budgets") != "")}
	if row.URL != "" {
		u.URL = new(strings.TrimSpace(f.Get("url")))
	}
	if _, err = c.endpoints.Update(x.r.Context(), holderOf(x, row.Mode), row.ID, u); err != nil {
		return c.wrongForm(x, f, err)
	}
	c.logWebhook(x, "changed", row.ID)
	c.goTo(x, x.r, "/webhooks/"+row.ID+"?done=changed")
	return nil
}
