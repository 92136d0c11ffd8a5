package node

import (
	"encoding/json"
	"slices"
	"testing"

	"unitask/internal/routing"
	"unitask/internal/supplier"
	"unitask/internal/task"
)

// TestVoiced holds which requests go to a route with voices.
func TestVoiced(t *testing.T) {
	strict := supplier.Kind{Refuses: func(r supplier.Request) string {
		if string(r.Parameters) == `{"voice":"nova","speed":2}` {
			return "too fast"
		}
		return ""
	}}
	for _, tt := range []struct {
		capability, parameters string
		kind                   supplier.Kind
		voices                 []string
		want                   string
	}{
		{"audio.speech", `{"voice":"nova"}`, supplier.Kind{}, []string{"alloy", "nova"}, ""},
		{"audio.speech", `{"speed":2}`, supplier.Kind{}, []string{"alloy"}, ""},
		{"audio.speech", `{"voice":"echo"}`, supplier.Kind{}, []string{"alloy"}, "the route has no such voice"},
		{"audio.speech", `{"voice":"echo"}`, supplier.Kind{}, nil, ""},
		{"audio.speech", `{"voice":"nova","speed":2}`, strict, []string{"nova"}, "too fast"},
		{"text.other", `{"voice":"echo"}`, strict, []string{"nova"}, ""},
	} {
		r := supplier.Request{Capability: tt.capability, Parameters: json.RawMessage(tt.parameters)}
		if got := supplier.Refuses(voiced(tt.kind, tt.voices), nil, r); got != tt.want {
			t.Errorf("%s %s with %v: got %q, want %q", tt.capability, tt.parameters, tt.voices, got, tt.want)
		}
	}
}

// TestConfiguredVoices reads voices of a route, which the route then offers and holds requests to.
func TestConfiguredVoices(t *testing.T) {
	c := loadConfig(t, `
suppliers: [{name: a, kind: openai, base_url: "http://127.0.0.1:1/v1"}]
routes: {audio.speech: [{supplier: a, model: m, price: {unit: mtok}, voices: [nova]}]}
`)
	s, err := suppliersOf(t, c, noEnv)
	if err != nil {
		t.Fatal(err)
	}
	i := slices.IndexFunc(s.Routes, func(r routing.Route) bool { return r.Mode == task.Live })
	if i < 0 || !slices.Equal(s.Routes[i].Voices, []string{"nova"}) {
		t.Fatalf("routes %+v", s.Routes)
	}
	for voice, want := range map[string]string{"nova": "", "echo": "the route has no such voice"} {
		r := supplier.Request{Capability: "audio.speech", Model: "m", Input: json.RawMessage(`{"text":"Hi"}`), Parameters: json.RawMessage(`{"voice":"` + voice + `"}`)}
		if got := supplier.Refuses(s.Routes[i].Kind, s.Routes[i].Adapter, r); got != want {
			t.Errorf("%s: got %q, want %q", voice, got, want)
		}
	}
}
