package client_test

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"unitask/client"
	"unitask/internal/fault"
	"unitask/internal/task"
	"unitask/internal/webhook"
)

const (
	webhookBody = `{"type":"task.failed","timestamp":"2026-11-26T08:00:00.250Z","data":{"id":"task_1","capability":"text.chat",` +
		`"state":"failed","code":"PROVIDER_TIMEOUT","request_id":"req_1","metadata":{"team":"search"},"later":1},"later":2}`
	newSecret = "whsec_MDEyMzQ1Njc4OTAxMjM0NTY3ODkwMTIz"
	oldSecret = "whsec_YWJjZGVmZ2hpamtsbW5vcHFyc3R1dnd4"
)

// message signs a body as Standard Webhooks has it, by each of the secrets.
func message(id string, at time.Time, body string, secrets ...string) http.Header {
	h := http.Header{}
	h.Set("webhook-id", id)
	h.Set("webhook-timestamp", fmt.Sprint(at.Unix()))
	all := []string{"v1a,ed25519=="}
	for _, s := range secrets {
		key, _ := base64.StdEncoding.DecodeString(strings.TrimPrefix(s, "whsec_"))
		mac := hmac.New(sha256.New, key)
		_, _ = fmt.Fprintf(mac, "%s.%d.%s", id, at.Unix(), body)
		all = append(all, "v1,"+base64.StdEncoding.EncodeToString(mac.Sum(nil)))
	}
	h.Set("webhook-signature", strings.Join(all, " "))
	return h
}

// TestWebhook takes what the endpoint's secrets sign and refuses all else.
func TestWebhook(t *testing.T) {
	want := &client.WebhookEvent{
		ID: "task_1.0", Type: "task.failed", Timestamp: time.Date(2026, 11, 26, 8, 0, 0, 250e6, time.UTC),
		Data: client.WebhookData{
			ID: "task_1", Capability: "text.chat", State: client.Failed, Code: client.CodeProviderTimeout, RequestID: "req_1",
			Metadata: map[string]string{"team": "search"},
		},
	}
	stranger := "whsec_" + base64.StdEncoding.EncodeToString([]byte("another secret"))
	for name, tt := range map[string]struct {
		header func(now time.Time) http.Header
		body   string
		fits   bool
	}{
		"signed":         {func(now time.Time) http.Header { return message("task_1.0", now, webhookBody, newSecret) }, webhookBody, true},
		"by the old one": {func(now time.Time) http.Header { return message("task_1.0", now, webhookBody, oldSecret) }, webhookBody, true},
		"while rotating": {func(now time.Time) http.Header { return message("task_1.0", now, webhookBody, stranger, newSecret) }, webhookBody, true},
		"five minutes old": {func(now time.Time) http.Header {
			return message("task_1.0", now.Add(-5*time.Minute), webhookBody, newSecret)
		}, webhookBody, true},
		"older": {func(now time.Time) http.Header {
			return message("task_1.0", now.Add(-301*time.Second), webhookBody, newSecret)
		}, webhookBody, false},
		"of the future": {func(now time.Time) http.Header {
			return message("task_1.0", now.Add(301*time.Second), webhookBody, newSecret)
		}, webhookBody, false},
		"another body":      {func(now time.Time) http.Header { return message("task_1.0", now, webhookBody, newSecret) }, webhookBody + " ", false},
		"another's":         {func(now time.Time) http.Header { return message("task_1.0", now, webhookBody, stranger) }, webhookBody, false},
		"without signature": {func(now time.Time) http.Header { return message("task_1.0", now, webhookBody) }, webhookBody, false},
		"signed, no event":  {func(now time.Time) http.Header { return message("task_1.0", now, "[]", newSecret) }, "[]", false},
		"another id": {func(now time.Time) http.Header {
			h := message("task_1.0", now, webhookBody, newSecret)
			h.Set("webhook-id", "task_2.0")
			return h
		}, webhookBody, false},
		"without head": {func(time.Time) http.Header { return http.Header{} }, webhookBody, false},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w, err := client.NewWebhook(newSecret, oldSecret)
				if err != nil {
					t.Fatal(err)
				}
				r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/", strings.NewReader(tt.body))
				r.Header = tt.header(time.Now())
				got, err := w.Read(r)
				if !tt.fits {
					if got != nil || !errors.Is(err, client.ErrWebhook) || strings.Contains(err.Error(), "whsec") {
						t.Errorf("%+v, %v", got, err)
					}
					return
				}
				if diff := cmp.Diff(want, got); diff != "" || err != nil {
					t.Errorf("%v, event (-want +got):\n%s", err, diff)
				}
			})
		})
	}
}

// TestWebhookOfTheService verifies events as the service writes and signs them.
func TestWebhookOfTheService(t *testing.T) {
	before, now := webhook.DeriveSecret([]byte("x"), "whe_1", 1), webhook.DeriveSecret([]byte("x"), "whe_1", 2)
	for _, e := range []webhook.Event{
		{ID: "task_1.0", TaskID: "task_1", Capability: "text.chat", State: task.Failed, Code: fault.Internal, RequestID: "req_1", Metadata: task.Metadata{"team": "search"}, At: time.Now()},
		{ID: "test_1", At: time.Now()},
	} {
		h := http.Header{}
		webhook.Sign(h, e.ID, time.Now(), e.Body(), before, now)
		w, err := client.NewWebhook(now.Reveal())
		if err != nil {
			t.Fatal(err)
		}
		got, err := w.Verify(h, e.Body())
		if err != nil {
			t.Fatal(err)
		}
		want := &client.WebhookEvent{ID: e.ID, Type: e.Type(), Timestamp: e.At.UTC().Truncate(time.Millisecond), Data: client.WebhookData{
			ID: e.TaskID, Capability: e.Capability, State: client.State(e.State), Code: client.Code(e.Code), RequestID: e.RequestID, Metadata: e.Metadata,
		}}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("event (-want +got):\n%s", diff)
		}
	}
}

// TestWebhookExample verifies the example of the standard's own documentation.
func TestWebhookExample(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, err := client.NewWebhook("whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw")
		if err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Until(time.Unix(1614265330, 0)))
		h := http.Header{}
		h.Set("webhook-id", "msg_p5jXN8AQM9LWM0D4loKWxJek")
		h.Set("webhook-timestamp", "1614265330")
		h.Set("webhook-signature", "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=")
		if e, err := w.Verify(h, []byte(`{"test": 2432232314}`)); err != nil || e.ID != "msg_p5jXN8AQM9LWM0D4loKWxJek" {
			t.Errorf("%+v, %v", e, err)
		}
	})
}

// TestWebhookSecrets refuses secrets of another form, without repeating them, and bodies that are no event by their size.
func TestWebhookSecrets(t *testing.T) {
	for _, secrets := range [][]string{nil, {""}, {"whsec_"}, {"whsec_!"}, {newSecret, "whsec_%"}} {
		if w, err := client.NewWebhook(secrets...); w != nil || err == nil || strings.Contains(err.Error(), "%") {
			t.Errorf("%q: %v", secrets, err)
		}
	}
	long := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/", strings.NewReader(strings.Repeat(" ", 2<<20)))
	w, err := client.NewWebhook(newSecret)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := w.Read(long); !errors.Is(err, client.ErrWebhook) {
		t.Errorf("a long body: %v", err)
	}
}

// FuzzWebhook: no header and body that aren't signed are taken.
func FuzzWebhook(f *testing.F) {
	f.Add("task_1.0", "1", "v1,", "{}")
	f.Add("", "x", "v1,AAAA v1,BBBB", webhookBody)
	w, err := client.NewWebhook(newSecret)
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, id, at, signature, body string) {
		h := http.Header{}
		h.Set("webhook-id", id)
		h.Set("webhook-timestamp", at)
		h.Set("webhook-signature", signature)
		if e, err := w.Verify(h, []byte(body)); e != nil || err == nil {
			t.Errorf("taken: %+v", e)
		}
	})
}
