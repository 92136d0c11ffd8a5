package server

import (
	"net/http"
	"slices"
	"strconv"
	"strings"

	"unitask/internal/account"
	"unitask/internal/api"
	"unitask/internal/fault"
	"unitask/internal/gate"
	"unitask/internal/notify"
	"unitask/internal/sse"
	"unitask/internal/store"
	"unitask/internal/webhook"
)

// webhooks are the handlers of endpoints that are told of the ends of tasks.
type webhooks struct {
	*Server

	endpoints *notify.Endpoints
}

// route adds the paths, for API keys.
func (w webhooks) route() {
	one := api.PathWebhooks + "/{webhook_id}"
	a := actions{common: w.common}
	for pattern, m := range map[string]methods{
		api.PathWebhooks: {http.MethodGet: serve(a, http.StatusOK, w.list), http.MethodPost: serve(a, http.StatusCreated, w.create)},
		one: {
			http.MethodGet: serve(a, http.StatusOK, w.get), http.MethodPatch: serve(a, http.StatusOK, w.update), http.MethodDelete: plain(w.handleDelete),
		},
		one + "/rotate":                        {http.MethodPost: serve(a, http.StatusOK, w.rotate)},
		one + "/test":                          {http.MethodPost: serve(a, http.StatusOK, w.test)},
		one + "/events":                        {http.MethodGet: plain(w.handleEvents)},
		one + "/deliveries":                    {http.MethodGet: serveQuery(a, http.StatusOK, w.deliveries)},
		one + "/deliveries/{event_id}/replay":  {http.MethodPost: plain(w.handleReplay)},
		one + "/deliveries/{event_id}/outcome": {http.MethodPost: plain(w.handleOutcome)},
	} {
		class := gate.Reads
		if pattern == api.PathWebhooks || strings.HasSuffix(pattern, "/test") || strings.HasSuffix(pattern, "/replay") { // it makes an endpoint, or sends to one
			class = gate.Creates
		}
		w.handle(pattern, w.limited(w.holder, class, m.dispatch))
	}
}

// holder is the door of these paths: an API key whose scopes have webhooks, or that has none.
func (w webhooks) holder(x *exchange) (*gate.Caller, error) {
	caller, err := w.keyHolder(x)
	if err == nil && !account.Allows(caller.Key.Scopes, api.ScopeWebhooks) {
		x.caller = caller
		return nil, fault.New(fault.NotFound, "there is nothing at this path for this key: its scopes lack "+api.ScopeWebhooks)
	}
	return caller, err
}

func holderOf(x *exchange) notify.Holder {
	return notify.Holder{Scope: x.caller.Scope(), KeyID: x.caller.Key.ID, Scopes: x.caller.Key.Scopes}
}

func (w webhooks) create(x *exchange, req api.WebhookCreate) (api.Webhook, error) {
	got, err := w.endpoints.Create(x.r.Context(), holderOf(x), req)
	got.RequestID = x.id
	return got, err
}

func (w webhooks) list(x *exchange, _ noBody) (api.WebhookList, error) {
	all, err := w.endpoints.List(x.r.Context(), holderOf(x))
	return api.WebhookList{Data: all, RequestID: x.id}, err
}

func (w webhooks) get(x *exchange, _ noBody) (api.Webhook, error) {
	got, err := w.endpoints.Get(x.r.Context(), holderOf(x), x.r.PathValue("webhook_id"))
	got.RequestID = x.id
	return got, err
}

func (w webhooks) update(x *exchange, req api.WebhookUpdate) (api.Webhook, error) {
	got, err := w.endpoints.Update(x.r.Context(), holderOf(x), x.r.PathValue("webhook_id"), req)
	got.RequestID = x.id
	return got, err
}

func (w webhooks) rotate(x *exchange, req api.WebhookRotate) (api.Webhook, error) {
	got, err := w.endpoints.Rotate(x.r.Context(), holderOf(x), x.r.PathValue("webhook_id"), req)
	got.RequestID = x.id
	return got, err
}

func (w webhooks) test(x *exchange, _ noBody) (api.WebhookTest, error) {
	got, err := w.endpoints.Test(x.r.Context(), holderOf(x), x.r.PathValue("webhook_id"))
	got.RequestID = x.id
	return got, err
}

func (w webhooks) handleDelete(x *exchange) error {
	if err := w.endpoints.Delete(x.r.Context(), holderOf(x), x.r.PathValue("webhook_id")); err != nil {
		return err
	}
	noContent(x)
	return nil
}

func (w webhooks) deliveries(x *exchange, _ noBody) (api.DeliveryList, error) {
	values, err := queryOf(x.r.URL.RawQuery, "state", "limit", "cursor")
	if err != nil {
		return api.DeliveryList{}, err
	}
	q := store.DeliveryQuery{
		Scope: x.caller.Scope(), Endpoint: x.r.PathValue("webhook_id"), State: webhook.DeliveryState(values.Get("state")),
		Limit: defaultListLimit, Cursor: values.Get("cursor"),
	}
	if q.State != "" && !slices.Contains(webhook.DeliveryStates(), q.State) {
		return api.DeliveryList{}, fault.Invalid("state", "is not a state of deliveries")
	}
	if q.Cursor != "" && !webhook.ValidEvent(q.Cursor) {
		return api.DeliveryList{}, fault.Invalid("cursor", "must be the next_cursor of an earlier page")
	}
	if text := values.Get("limit"); text != "" {
		if q.Limit, err = strconv.Atoi(text); err != nil || q.Limit < 1 || q.Limit > api.MaxListLimit {
			return api.DeliveryList{}, fault.Invalid("limit", "must be a number from 1 to "+strconv.Itoa(api.MaxListLimit))
		}
	}
	list, err := w.endpoints.Deliveries(x.r.Context(), holderOf(x), q)
	list.RequestID = x.id
	return list, err
}

func (w webhooks) handleReplay(x *exchange) error {
	err := w.endpoints.Replay(x.r.Context(), holderOf(x), x.r.PathValue("webhook_id"), x.r.PathValue("event_id"))
	if err != nil {
		return err
	}
	noContent(x)
	return nil
}

func (w webhooks) handleOutcome(x *exchange) error {
	var o api.DeliveryOutcome
	if err := (actions{common: w.common}).decode(x, &o); err != nil {
		return err
	}
	err := w.endpoints.End(x.r.Context(), holderOf(x), x.r.PathValue("webhook_id"), x.r.PathValue("event_id"), o)
	if err != nil {
		return err
	}
	noContent(x)
	return nil
}

// noContent answers that it is done.
func noContent(x *exchange) {
	x.Header()["Cache-Control"] = noStore
	x.WriteHeader(http.StatusNoContent)
}

// handleEvents streams the events of a listener until it hangs up or begins another stream, its webhook is gone or the node
// goes down. An event
// whose outcome wasn't told by then comes in the next stream.
func (w webhooks) handleEvents(x *exchange) error {
	id := x.r.PathValue("webhook_id")
	if x.r.Method == http.MethodHead { // who gets no events takes none
		if _, err := w.endpoints.Get(x.r.Context(), holderOf(x), id); err != nil {
			return err
		}
		beginStream(x)
		return nil
	}
	events, err := w.endpoints.Fetch(x.r.Context(), holderOf(x), id, 0)
	if err != nil {
		return err
	}
	stream, done := w.endpoints.Stream(x.r.Context(), id)
	defer done()
	beginStream(x)
	for writeEvents(x, events) == nil {
		events, err = w.endpoints.Fetch(stream, holderOf(x), id, heartbeat)
		if err == nil {
			_, err = w.holder(x) // the key may have been revoked meanwhile
		}
		if err != nil {
			return nil // the listener begins another stream, and is told why there
		}
	}
	return nil // a listener that is gone is no fault of ours
}

// writeEvents writes events, or a sign of life without one.
func writeEvents(x *exchange, events []api.WebhookEvent) error {
	var frame []byte
	if len(events) == 0 {
		frame = append(frame, sse.Beat...)
	}
	for _, e := range events {
		frame = sse.Append(frame, api.EventWebhook, e.Append(nil))
	}
	if _, err := x.Write(frame); err != nil {
		return err
	}
	return x.control().Flush()
}
