package main

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"unitask/internal/api"
	"unitask/internal/task"
)

// TestShowWebhook: its filters are said in words, and until when its old secret signs.
func TestShowWebhook(t *testing.T) {
	at := api.Timestamp{Time: time.Date(2026, 11, 27, 9, 10, 46, 0, time.UTC)}
	for _, tt := range []struct {
		webhook api.Webhook
		want    string
	}{
		{api.Webhook{}, "tells of     all ends\n"},
		{api.Webhook{Capabilities: []string{"*"}, States: []task.State{task.Failed}}, "tells of     failed ends\n"},
		{api.Webhook{Capabilities: []string{"image.*", "text.chat"}}, "tells of     all ends of image.*,text.chat\n"},
		{api.Webhook{Capabilities: []string{"image.*"}, Budgets: true}, "tells of     all ends of image.*, budgets\n"},
		{api.Webhook{OldSecretUntil: &at}, "old secret   signs too until 2026-11-27T09:10:46Z\n"},
	} {
		var out bytes.Buffer
		if err := (&terminal{out: &out, style: newStyles(&out)}).showWebhook(tt.webhook); err != nil || !strings.Contains(out.String(), tt.want) {
			t.Errorf("%v, no %q in\n%s", err, tt.want, out.String())
		}
		if strings.Contains(out.String(), "old secret") != (tt.webhook.OldSecretUntil != nil) {
			t.Errorf("an old secret:\n%s", out.String())
		}
	}
}
