package openai_test

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/google/go-cmp/cmp"

	"unitask/internal/fault"
	"unitask/internal/supplier"
	"unitask/internal/supplier/openai"
	"unitask/internal/supplier/suppliertest"
)

// TestModerate reads answers as the format's author and others give them. One that doesn't judge every text is
// unusable, whatever else it says.
func TestModerate(t *testing.T) {
	clean, violent := supplier.Judgement{}, supplier.Judgement{Flagged: true, Categories: []string{"hate", "violence/graphic"}}
	const scores = `,"category_scores":{"hate":0.9},"category_applied_input_types":{"hate":["text"]}`
	for name, tt := range map[string]struct {
		status int
		answer string
		want   []supplier.Judgement
		code   fault.Code
	}{
		"as published": {
			200, `{"id":"modr-1","model":"omni","results":[{"flagged":false,"categories":{"hate":false}` + scores + `},` +
				`{"flagged":true,"categories":{"violence/graphic":true,"hate":true,"illicit":null}` + scores + `}]}`,
			[]supplier.Judgement{clean, violent},
			"",
		},
		"without a verdict":           {200, `{"results":[{"categories":{"hate":false}},{"categories":{"violence/graphic":true,"hate":true}}]}`, []supplier.Judgement{clean, violent}, ""},
		"a verdict alone":             {200, `{"results":[{"flagged":false},{"flagged":true}]}`, []supplier.Judgement{clean, {Flagged: true}}, ""},
		"a category in strange words": {200, `{"results":[{"flagged":false},{"categories":{"a\nb":true}}]}`, []supplier.Judgement{clean, {Flagged: true}}, ""},
		"one result for two texts":    {200, `{"results":[{"flagged":false}]}`, nil, fault.ProviderUnavailable},
		"more results than texts":     {200, `{"results":[{"flagged":false},{"flagged":false},{"flagged":false}]}`, nil, fault.ProviderUnavailable},
		"a result of nothing":         {200, `{"results":[{"flagged":false},{}]}`, nil, fault.ProviderUnavailable},
		"no results":                  {200, `{}`, nil, fault.ProviderUnavailable},
		"an error in a success":       {200, `{"error":{"message":"m","code":"rate_limit_exceeded"}}`, nil, fault.CapacityExhausted},
		"no JSON":                     {200, `<html>`, nil, fault.ProviderUnavailable},
		"too many requests":           {429, `{"error":{"code":"rate_limit_exceeded"}}`, nil, fault.CapacityExhausted},
		"a wrong key":                 {401, `{"error":{"code":"invalid_api_key"}}`, nil, fault.ProviderUnavailable},
	} {
		t.Run(name, func(t *testing.T) {
			var path, body string
			srv := httptest.NewServer(suppliertest.Held(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				raw, _ := io.ReadAll(r.Body)
				path, body = r.URL.Path, string(raw)
				suppliertest.JSON(tt.status, tt.answer).ServeHTTP(w, r)
			})))
			t.Cleanup(srv.Close)
			a := mustNew(t, supplier.Config{Name: "m", BaseURL: srv.URL + "/v1"}).(supplier.Moderator)
			got, err := a.Moderate(t.Context(), "omni", []string{"hello", "there"})
			if fault.CodeOf(err) != tt.code {
				t.Errorf("error %v, want %q", err, tt.code)
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("judgements (-want +got):\n%s", diff)
			}
			if want := `{"model":"omni","input":["hello","there"]}`; path != "/v1/moderations" || body != want {
				t.Errorf("asked %s %s, want %s", path, body, want)
			}
		})
	}
}

// FuzzModeration: whatever comes back, each text has one judgement, or the failure is one of ours.
func FuzzModeration(f *testing.F) {
	for _, s := range []string{`{"results":[{"flagged":true,"categories":{"a":true}},{"flagged":false}]}`, ``, `{"results":[null,null]}`, `{"results":{}}`, `{"error":1}`} {
		f.Add(s)
	}
	a, answer := suppliertest.Answering(f, openai.Kind(), "application/json")
	f.Fuzz(func(t *testing.T, body string) {
		answer(body)
		got, err := a.(supplier.Moderator).Moderate(t.Context(), "m", []string{"a", "b"})
		if err != nil {
			suppliertest.CheckFailure(t, err, body)
			return
		}
		if len(got) != 2 || !json.Valid([]byte(body)) {
			t.Errorf("%d judgements of %q", len(got), body)
		}
	})
}
