package notify_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"unitask/internal/api"
	"unitask/internal/fault"
	"unitask/internal/notify"
	"unitask/internal/task"
	"unitask/internal/webhook"
)

// TestBarred: an account can't enable a webhook that an operator has disabled, by any change.
func TestBarred(t *testing.T) {
	s := newFakeStore()
	d := newEndpoints(t, s)
	made, err := d.Create(t.Context(), holder, api.WebhookCreate{URL: "https://example.com/a?token=secret"})
	if err != nil {
		t.Fatal(err)
	}
	if err := d.Bar(t.Context(), made.ID, true); err != nil {
		t.Fatal(err)
	}
	reason := func() string {
		got, err := d.Get(t.Context(), holder, made.ID)
		if err != nil {
			t.Fatal(err)
		}
		if got.Disabled == nil {
			return ""
		}
		return *got.Disabled
	}
	if _, err := d.Update(t.Context(), holder, made.ID, api.WebhookUpdate{Disabled: new(true)}); err != nil || reason() != "operator" {
		t.Errorf("disabled by its account too: %q, %v", reason(), err)
	}
	if _, err := d.Update(t.Context(), holder, made.ID, api.WebhookUpdate{Disabled: new(false)}); fault.CodeOf(err) != fault.InvalidRequest || reason() != "operator" {
		t.Errorf("enabled by its account: %q, %v", reason(), err)
	}
	if _, err := d.Test(t.Context(), holder, made.ID); fault.CodeOf(err) != fault.InvalidRequest {
		t.Errorf("a test of what the operator disabled: %v", err)
	}
	if err := d.Bar(t.Context(), made.ID, false); err != nil || reason() != "" {
		t.Errorf("enabled by the operator: %q, %v", reason(), err)
	}
	s.endpoints[made.ID] = webhook.Endpoint{ID: made.ID, Scope: scope, Disabled: webhook.DisabledGone}
	if err := d.Bar(t.Context(), made.ID, false); err != nil || reason() != "gone" {
		t.Errorf("the operator enables what is gone: %q, %v", reason(), err)
	}
	for _, id := range []string{"whe_1", "key_1", task.NewID(notify.PrefixEndpoint, made.CreatedAt.Time)} {
		if err := d.Bar(t.Context(), id, true); fault.CodeOf(err) != fault.NotFound {
			t.Errorf("%s: %v", id, err)
		}
	}
}

// TestOversee: an operator sees every account's endpoints, and of an address its host alone.
func TestOversee(t *testing.T) {
	d := newEndpoints(t, newFakeStore())
	other := notify.Holder{Scope: task.Scope{Account: "acct_2", Mode: task.Live}}
	for _, h := range []notify.Holder{holder, other} {
		if _, err := d.Create(t.Context(), h, api.WebhookCreate{URL: "https://example.com:8443/a/secret?token=secret"}); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := d.Create(t.Context(), other, api.WebhookCreate{Listener: true}); err != nil {
		t.Fatal(err)
	}
	got, err := d.Oversee(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	const host = "https://example.com:8443"
	want := []notify.Overseen{{Scope: scope, Host: host}, {Scope: other.Scope, Host: host}, {Scope: other.Scope}}
	less := cmpopts.SortSlices(func(a, b notify.Overseen) bool { return a.Scope.Account+a.Host < b.Scope.Account+b.Host })
	if diff := cmp.Diff(want, got, less, cmpopts.IgnoreFields(notify.Overseen{}, "ID", "CreatedAt")); diff != "" {
		t.Error(diff)
	}
}
