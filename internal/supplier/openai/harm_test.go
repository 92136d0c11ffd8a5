package openai_test

import (
	"encoding/json"
	"net/http/httptest"
	"testing"

	"github.com/google/go-cmp/cmp"

	"unitask/internal/catalog"
	"unitask/internal/supplier"
	"unitask/internal/supplier/openai"
	"unitask/internal/supplier/suppliertest"
)

// TestJudge reads judgements by other words and with less than the format's author gives, as the directory has them.
func TestJudge(t *testing.T) {
	for name, tt := range map[string]struct {
		result string // of the one text
		want   string
	}{
		"Mistral's": {
			`{"categories":{"sexual":false,"hate_and_discrimination":true,"dangerous":true,"criminal":false,"selfharm":false,"health":true,"pii":true},
				"category_scores":{"sexual":1e-7,"hate_and_discrimination":0.9,"dangerous":0.25,"criminal":0.5,"selfharm":0,"health":0.75,"law":0.5,"pii":1.0000001}}`,
			`{"flagged":true,"categories":["hate","illicit","other","personal_data"],
				"scores":{"sexual":1e-7,"hate":0.9,"illicit":0.5,"self_harm":0,"other":0.75,"personal_data":1}}`,
		},
		"a verdict alone":        {`{"flagged":true}`, `{"flagged":true,"categories":[],"scores":{}}`},
		"scores of another form": {`{"flagged":false,"category_scores":[0.5]}`, `{"flagged":false,"categories":[],"scores":{}}`},
		"scores of no number":    {`{"flagged":false,"category_scores":{"hate":"high","sexual":null}}`, `{"flagged":false,"categories":[],"scores":{"hate":0,"sexual":0}}`},
	} {
		t.Run(name, func(t *testing.T) {
			srv := httptest.NewServer(suppliertest.JSON(200, `{"results":[`+tt.result+`],"usage":{"prompt_tokens":7,"total_tokens":7}}`))
			t.Cleanup(srv.Close)
			a := mustNew(t, supplier.Config{Name: "m", BaseURL: srv.URL + "/v1"})
			out, err := a.Submit(t.Context(), request("text.moderate", `{"texts":["a text"]}`, `{}`))
			if err != nil {
				t.Fatal(err)
			}
			var got, want any
			if err := json.Unmarshal(out.Result.Data, &got); err != nil {
				t.Fatal(err)
			}
			if err := json.Unmarshal([]byte(`{"results":[`+tt.want+`]}`), &want); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("output (-want +got):\n%s", diff)
			}
			if out.Result.Usage != (supplier.Usage{InputTokens: 7}) {
				t.Errorf("usage %+v", out.Result.Usage)
			}
		})
	}
}

// FuzzJudge: whatever comes back, the output fits the directory's schema, or the failure is one of ours.
func FuzzJudge(f *testing.F) {
	for _, s := range []string{
		`{"results":[{"flagged":true,"categories":{"a":true},"category_scores":{"a":2,"hate":-1}},{"flagged":false}]}`, ``, `{"results":[null,null]}`, `{"error":1}`,
	} {
		f.Add(s)
	}
	directory, err := catalog.Default()
	if err != nil {
		f.Fatal(err)
	}
	a, answer := suppliertest.Answering(f, openai.Kind(), "application/json")
	f.Fuzz(func(t *testing.T, body string) {
		answer(body)
		out, err := a.Submit(t.Context(), request("text.moderate", `{"texts":["a","b"]}`, `{}`))
		if err != nil {
			suppliertest.CheckFailure(t, err, body)
			return
		}
		if err := directory.ValidateOutput("text.moderate", out.Result.Data); err != nil {
			t.Errorf("%v: %s of %q", err, out.Result.Data, body)
		}
	})
}
