package storetest

import (
	"time"

	"pgregory.net/rapid"

	"unitask/internal/account"
	"unitask/internal/store"
	"unitask/internal/task"
	"unitask/internal/webhook"
)

// modelEndpoints are those of the state machine.
var modelEndpoints = []webhook.Endpoint{
	{ID: "whe_all", Scope: task.Scope{Account: "acct_a", Mode: task.Live}, URL: "https://example.com/"},
	{ID: "whe_images", Scope: task.Scope{Account: "acct_a", Mode: task.Live}, URL: "https://example.com/", Capabilities: []string{"image.*"}},
	{ID: "whe_listener", Scope: task.Scope{Account: "acct_b", Mode: task.Live}, States: []task.State{task.Failed, task.Canceled}},
}

// putEndpoints records them in the engine and in the oracle.
func (m *model) putEndpoints(rt *rapid.T) {
	for _, id := range []string{"acct_a", "acct_b"} {
		a := account.Account{ID: id, Name: id}
		same(rt, "PutAccount", 0, 0, m.Registry.PutAccount(background(), a), m.oracle.PutAccount(background(), a))
	}
	for _, e := range modelEndpoints {
		same(rt, "PutEndpoint", 0, 0, m.Registry.PutEndpoint(background(), e), m.oracle.PutEndpoint(background(), e))
	}
}

func (m *model) deliver(rt *rapid.T) {
	c := store.DeliveryClaim{
		Lease: rapid.SampledFrom([]time.Duration{time.Second, time.Hour}).Draw(rt, "lease"), Limit: rapid.IntRange(0, 4).Draw(rt, "limit"),
		Each: rapid.IntRange(0, 3).Draw(rt, "each"), Endpoint: rapid.SampledFrom([]string{"", "", "whe_listener"}).Draw(rt, "endpoint"),
		Skip: rapid.SampledFrom([][]string{nil, {"whe_all"}}).Draw(rt, "skip"),
	}
	got, err := m.Registry.ClaimDeliveries(background(), c)
	want, wantErr := m.oracle.ClaimDeliveries(background(), c)
	same(rt, "ClaimDeliveries", got, want, err, wantErr)
	for _, claimed := range got {
		m.deliveries = append(m.deliveries, claimed.Ref)
	}
}

func (m *model) endDelivery(rt *rapid.T) {
	if len(m.deliveries) == 0 {
		rt.Skip("no delivery")
	}
	ref := rapid.SampledFrom(m.deliveries[max(0, len(m.deliveries)-6):]).Draw(rt, "claim")
	if rapid.IntRange(0, 3).Draw(rt, "replay") == 0 {
		s := drawScope(rt)
		same(rt, "Replay", 0, 0, m.Registry.Replay(background(), s, ref.Endpoint, ref.Event), m.oracle.Replay(background(), s, ref.Endpoint, ref.Event))
		return
	}
	out := store.DeliveryOutcome{
		Attempt: webhook.Attempt{At: m.clock.Now().UTC(), Status: 500}, Pause: rapid.SampledFrom([]time.Duration{0, time.Minute}).Draw(rt, "pause"),
		State: rapid.SampledFrom([]webhook.DeliveryState{webhook.Waiting, webhook.Delivered, webhook.Failed}).Draw(rt, "state"),
	}
	same(rt, "EndDelivery", 0, 0, m.Registry.EndDelivery(background(), ref, out), m.oracle.EndDelivery(background(), ref, out))
}

func (m *model) changeEndpoint(rt *rapid.T) {
	id := rapid.SampledFrom(modelEndpoints).Draw(rt, "endpoint").ID
	disabled := rapid.SampledFrom([]webhook.Disabled{"", "", webhook.DisabledGone}).Draw(rt, "disabled")
	change := func(e *webhook.Endpoint) error { e.Disabled = disabled; return nil }
	got, err := m.Registry.UpdateEndpoint(background(), id, change)
	want, wantErr := m.oracle.UpdateEndpoint(background(), id, change)
	same(rt, "UpdateEndpoint", got, want, err, wantErr)
}

// sameDeliveries compares a page of an endpoint's deliveries.
func (m *model) sameDeliveries(rt *rapid.T) {
	e := rapid.SampledFrom(modelEndpoints).Draw(rt, "listed")
	q := store.DeliveryQuery{Scope: e.Scope, Endpoint: e.ID, Limit: rapid.SampledFrom([]int{1, 200}).Draw(rt, "page")}
	got, err := m.Registry.ListDeliveries(background(), q)
	want, wantErr := m.oracle.ListDeliveries(background(), q)
	same(rt, "ListDeliveries", got, want, err, wantErr)
}
