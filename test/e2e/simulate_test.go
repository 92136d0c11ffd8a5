package e2e_test

import (
	"encoding/json"
	"net/http/httptest"
	"strings"
	"testing"
)

// TestSimulateFromStore replays the arrivals of a store's own live tasks, while the server runs and when it doesn't,
// and with another price.
func TestSimulateFromStore(t *testing.T) {
	upstream := httptest.NewServer(&moderator{seen: map[string]int{}})
	t.Cleanup(upstream.Close)
	h := newHost(t)
	h.Config = `suppliers:
  - {name: one, kind: openai, base_url: "` + upstream.URL + `/v1"}
  - {name: two, kind: openai, base_url: "http://127.0.0.1:1/v1"}
routes:
  text.chat:
    - {supplier: one, model: m, price: {unit: mtok, input: "1", output: "1"}}
    - {supplier: two, model: m, price: {unit: mtok, input: "9", output: "9"}}
`
	h.start()
	h.must("run", "text.chat", "a test key's")
	h.useLiveKey()
	for _, prompt := range []string{"Zaphod", "Trillian", "Ford"} {
		h.must("run", "text.chat", prompt)
	}
	simulate := []string{"simulate", "--config", "unitask.yaml", "--from-store", h.Data(), "--price", "one/m=10/10"}
	while := h.client(simulate...)
	if while.code != 0 || !strings.Contains(while.stderr, "cost, $     0.000018 → 0.000162 (+800.0%)") ||
		!strings.Contains(while.stderr, "succeeded   3 → 3 (the same)") || strings.Contains(while.stdout+while.stderr, "Zaphod") {
		t.Errorf("while the server runs: exit %d\n%s%s", while.code, while.stdout, while.stderr)
	}
	h.Stop()
	if after := h.client(simulate...); after != while {
		t.Errorf("when it has stopped: %+v, want %+v", after, while)
	}
	var figures struct {
		Configured struct{ Tasks int }
	}
	if err := json.Unmarshal([]byte(h.must("simulate", "--config", "unitask.yaml", "--from-store", h.Data(), "--json")), &figures); err != nil || figures.Configured.Tasks != 3 {
		t.Errorf("%+v, %v", figures, err)
	}
}
