package server_test

import (
	"encoding/base64"
	"net/http"
	"testing"

	"unitask/internal/api"
	"unitask/internal/fault"
	"unitask/internal/task"
)

// TestEstimate: a request's most is told with the errors of its creation, and leaves no task behind.
func TestEstimate(t *testing.T) {
	w := newWorld(t, options{})
	estimate := func(key, body string) response {
		t.Helper()
		return w.do(request{method: http.MethodPost, path: api.PathEstimates, key: key, body: body, header: map[string]string{"Content-Type": "application/json"}})
	}
	const body = `{"capability":"text.chat","input":{"prompt":"pay"},"parameters":{"max_output_tokens":10}}`
	got := decode[api.Estimate](t, estimate(w.live, body))
	// 16 bytes of input as tokens and 10 of output, at 0.05 and 0.08 a million
	if want := (api.Estimate{Capability: "text.chat", Mode: task.Live, AtMost: api.Cost{Currency: "USD", Amount: "0.0000016"}, RequestID: got.RequestID}); got != want {
		t.Errorf("estimate %+v, want %+v", got, want)
	}
	if got := decode[api.Estimate](t, estimate(w.test, body)); got.Mode != task.Test || got.AtMost.Amount != "0" {
		t.Errorf("of a test key: %+v", got)
	}
	edit := `{"capability":"image.edit","input":{"prompt":"x","images":[{"data":"` + base64.StdEncoding.EncodeToString([]byte(picture(t))) + `","content_type":"image/png"}],` +
		`"authorization":{"person":"authorized","statement":"she agreed","evidence":[{"url":"https://evidence.example/once"}]}}}`
	if got := decode[api.Estimate](t, estimate(w.test, edit)); got.Capability != "image.edit" {
		t.Errorf("with evidence that isn't to be fetched: %+v", got)
	}
	scoped := w.key(api.KeyCreate{Mode: task.Live, Scopes: []string{"image.*"}})
	for _, tt := range []struct {
		name, key, body string
		status          int
		code            fault.Code
	}{
		{"no key", "", body, http.StatusUnauthorized, fault.Unauthenticated},
		{"no JSON", w.live, "{", http.StatusBadRequest, fault.InvalidRequest},
		{"an unknown capability", w.live, `{"capability":"text.sing","input":{}}`, http.StatusBadRequest, fault.InvalidRequest},
		{"outside the scopes", scoped, body, http.StatusBadRequest, fault.InvalidRequest},
		{"a wrong input", w.live, `{"capability":"text.chat","input":{"promt":"pay"}}`, http.StatusBadRequest, fault.InvalidRequest},
	} {
		if got := estimate(tt.key, tt.body); got.StatusCode != tt.status || got.error(t).Error.Code != tt.code {
			t.Errorf("%s: %d %s", tt.name, got.StatusCode, got.body)
		}
	}
	if got := w.do(request{method: http.MethodPost, path: api.PathEstimates, key: w.live, body: body}); got.StatusCode != http.StatusUnsupportedMediaType {
		t.Errorf("without a media type: %d", got.StatusCode)
	}
	for _, key := range []string{w.live, w.test} {
		if list := decode[api.TaskList](t, w.do(request{path: api.PathTasks, key: key})); len(list.Data) != 0 {
			t.Errorf("tasks: %+v", list.Data)
		}
	}
}
