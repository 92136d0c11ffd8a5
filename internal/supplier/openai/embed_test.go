package openai_test

import (
	"encoding/base64"
	"encoding/binary"
	"fmt"
	"math"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"unitask/internal/fault"
	"unitask/internal/supplier"
	"unitask/internal/supplier/openai"
	"unitask/internal/supplier/suppliertest"
)

// packed returns the base64 of numbers as the format's author writes them.
func packed(numbers ...float32) string {
	var b []byte
	for _, n := range numbers {
		b = binary.LittleEndian.AppendUint32(b, math.Float32bits(n))
	}
	return base64.StdEncoding.EncodeToString(b)
}

// TestVectors shows which encoding is asked for, by host and by setting, and that either is read whichever that was.
func TestVectors(t *testing.T) {
	for _, tt := range []struct{ name, base, setting, asks string }{
		{"the author", "http://api.openai.com/v1", "", "base64"},
		{"compatible", "http://api.example.com/v1", "", "float"},
		{"the author, set", "http://api.openai.com/v1", "float", "float"},
		{"compatible, set", "http://api.example.com/v1", "base64", "base64"},
	} {
		for form, vector := range map[string]string{"numbers": `[0.1,-2.5e-7]`, "packed": `"` + packed(0.1, -2.5e-7) + `"`} {
			t.Run(tt.name+", "+form, func(t *testing.T) {
				proxy, last := variantServer(t, suppliertest.JSON(200, `{"object":"list","model":"m","data":[{"object":"embedding","index":0,"embedding":`+vector+`}],"usage":{"prompt_tokens":1,"total_tokens":1}}`))
				a := mustNew(t, supplier.Config{BaseURL: tt.base, Options: map[string]string{"proxy": proxy, "vectors": tt.setting}})
				out, err := suppliertest.Send(t, a, request("text.embed", `{"texts":["a"]}`, `{}`), false)
				if err != nil {
					t.Fatal(err)
				}
				want := &supplier.Result{Embeddings: [][]float32{{0.1, -2.5e-7}}, Usage: supplier.Usage{InputTokens: 1}}
				if diff := cmp.Diff(want, out); diff != "" {
					t.Errorf("result (-want +got):\n%s", diff)
				}
				if got := last()["encoding_format"]; got != tt.asks {
					t.Errorf("asks for %v, want %s", got, tt.asks)
				}
			})
		}
	}
}

func TestNoVectors(t *testing.T) {
	for _, vector := range []string{
		`""`, `"AAA="`, `"?"`, `{}`, `null`, `"` + packed(1, float32(math.NaN())) + `"`, `"` + packed(float32(math.Inf(1))) + `"`,
	} {
		url, _ := foreign(t, suppliertest.JSON(200, `{"data":[{"index":0,"embedding":`+vector+`}]}`))
		_, err := suppliertest.Send(t, mustNew(t, supplier.Config{BaseURL: url + "/v1"}), request("text.embed", `{"texts":["a"]}`, `{}`), false)
		if got := suppliertest.VerdictOf(err); got.Sent != supplier.Unknown || got.Code != fault.ProviderUnavailable {
			t.Errorf("%s: %v", vector, err)
		}
	}
}

// TestMostVectors: the answer to as much as the catalog takes is taken, with as much white space as the format's author
// leaves.
func TestMostVectors(t *testing.T) {
	const texts, dimensions = 2048, 3072
	url, _ := foreign(t, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		vector := strings.Repeat("        -0.12345678,\n", dimensions-1) + "        1\n"
		_, _ = fmt.Fprint(w, `{"data":[`)
		for i := range texts {
			_, _ = fmt.Fprintf(w, `%s{"index":%d,"embedding":[%s]}`, ","[:min(i, 1)], i, vector)
		}
		_, _ = fmt.Fprint(w, `]}`)
	}))
	a := mustNew(t, supplier.Config{BaseURL: url + "/v1"})
	out, err := a.Submit(t.Context(), request("text.embed", `{"texts":["a"`+strings.Repeat(`,"a"`, texts-1)+`]}`, `{}`))
	if err != nil {
		t.Fatal(err)
	}
	if got := out.Result.Embeddings; len(got) != texts || len(got[texts-1]) != dimensions || got[texts-1][0] != -0.12345678 {
		t.Errorf("%d vectors", len(got))
	}
}

func TestVectorsOption(t *testing.T) {
	suppliertest.RunMisconfigured(t, openai.Kind(), []suppliertest.Misconfigured{{
		Config: supplier.Config{BaseURL: "http://supplier.example/v1", Options: map[string]string{"vectors": "int8"}},
		Want:   "option vectors must be float or base64",
	}})
}
