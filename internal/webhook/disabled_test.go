package webhook_test

import (
	"testing"
	"time"

	"unitask/internal/webhook"
)

// TestOperatorsReason: an answer of 410 to an attempt that was under way doesn't hand the endpoint back to its account.
func TestOperatorsReason(t *testing.T) {
	e := webhook.Endpoint{}
	now := time.Unix(1, 0)
	for _, step := range []struct{ set, want webhook.Disabled }{
		{webhook.DisabledOperator, webhook.DisabledOperator},
		{webhook.DisabledGone, webhook.DisabledOperator},
		{webhook.DisabledAsked, webhook.DisabledOperator},
		{"", ""},
		{webhook.DisabledGone, webhook.DisabledGone},
	} {
		if e.SetDisabled(step.set, now); e.Disabled != step.want {
			t.Errorf("%q: %q, want %q", step.set, e.Disabled, step.want)
		}
	}
}
