package client

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"time"
)

const (
	webhookTolerance = 5 * time.Minute // between the sender's clock and this one, both ways
	maxWebhook       = 1 << 20         // bytes of a body
)

// ErrWebhook is in the error of each message that isn't verified.
var ErrWebhook = errors.New("unitask: the webhook isn't verified")

// Webhook verifies the messages to one endpoint, as Standard Webhooks 1.0 has it. It is safe for concurrent use.
type Webhook struct {
	secrets [][]byte
}

// WebhookEvent is the end of a task. A message may come more than once, with the same ID.
type WebhookEvent struct {
	ID        string      `json:"-"`    // of the message
	Type      string      `json:"type"` // "task.succeeded", "task.failed", "task.canceled", or "webhook.test" of a trial, without a task
	Timestamp time.Time   `json:"timestamp"`
	Data      WebhookData `json:"data"`
}

// WebhookData names the task that has ended; Get reads the rest.
type WebhookData struct {
	ID         string            `json:"id"`
	Capability string            `json:"capability"`
	State      State             `json:"state"`
	Code       Code              `json:"code,omitempty"` // of a failed task
	RequestID  string            `json:"request_id"`     // of the task's creation
	Metadata   map[string]string `json:"metadata,omitempty"`
}

// NewWebhook returns a verifier by the endpoint's secrets, "whsec_…": two while one takes the place of the other.
func NewWebhook(secrets ...string) (*Webhook, error) {
	w := &Webhook{}
	for _, s := range secrets {
		raw, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(s, "whsec_"))
		if err != nil || len(raw) == 0 {
			return nil, errors.New("unitask: a webhook's secret is whsec_ and base64") // without the text
		}
		w.secrets = append(w.secrets, raw)
	}
	if len(w.secrets) == 0 {
		return nil, errors.New("unitask: a webhook needs a secret")
	}
	return w, nil
}

// Read reads the body of a request and verifies it. On an error answer 400; after a nil one answer 2xx soon, and do
// the work apart: the service waits a few seconds.
func (w *Webhook) Read(r *http.Request) (*WebhookEvent, error) {
	body, err := io.ReadAll(io.LimitReader(r.Body, maxWebhook+1))
	if err != nil {
		return nil, err
	}
	if len(body) > maxWebhook {
		return nil, fmt.Errorf("%w: its body is too large", ErrWebhook)
	}
	return w.Verify(r.Header, body)
}

// Verify checks a message's signature over its body, byte by byte as it came, and that it is at most five minutes old.
func (w *Webhook) Verify(h http.Header, body []byte) (*WebhookEvent, error) {
	id, sent := h.Get("webhook-id"), h.Get("webhook-timestamp")
	at, err := strconv.ParseInt(sent, 10, 64)
	if id == "" || err != nil {
		return nil, fmt.Errorf("%w: it has no webhook-id or webhook-timestamp", ErrWebhook)
	}
	if age := time.Since(time.Unix(at, 0)); age > webhookTolerance || age < -webhookTolerance {
		return nil, fmt.Errorf("%w: its timestamp is more than %v from now", ErrWebhook, webhookTolerance)
	}
	if !w.signed(id+"."+sent+".", body, h.Get("webhook-signature")) {
		return nil, fmt.Errorf("%w: no signature fits", ErrWebhook)
	}
	e := &WebhookEvent{ID: id}
	if err := json.Unmarshal(body, e); err != nil {
		return nil, fmt.Errorf("%w: its body is no event: %w", ErrWebhook, err)
	}
	return e, nil
}

// signed reports whether one of the signatures, between spaces, is of one of the secrets. Those of versions other than
// v1 are passed over.
func (w *Webhook) signed(head string, body []byte, signatures string) bool {
	for _, secret := range w.secrets {
		mac := hmac.New(sha256.New, secret)
		_, _ = io.WriteString(mac, head)
		_, _ = mac.Write(body)
		want := mac.Sum(nil)
		for one := range strings.FieldsSeq(signatures) {
			text, v1 := strings.CutPrefix(one, "v1,")
			if !v1 {
				continue
			}
			if got, err := base64.StdEncoding.DecodeString(text); err == nil && hmac.Equal(got, want) {
				return true
			}
		}
	}
	return false
}
