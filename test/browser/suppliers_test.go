//go:build unix

package browser_test

import (
	"strings"
	"testing"

	"unitask/test/harness"
)

// TestSuppliers: an operator tests a supplier, and sees where a request would go and why not elsewhere.
func TestSuppliers(t *testing.T) {
	s := harness.NewServer(t)
	supplier := harness.NewSupplier(t)
	s.Config = strings.Replace(supplier.Config(), "routes:", `  - {name: gone, kind: openai, base_url: "http://127.0.0.1:9/v1"}
routes:`, 1) + `    - {supplier: gone, model: other, price: {unit: mtok, input: "0.1", output: "0.2"}}
`
	run(t, "suppliers.mjs", s)
	if t.Failed() {
		t.Log(s.Warnings())
	}
}
