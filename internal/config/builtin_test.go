package config_test

import (
	"slices"
	"strings"
	"testing"

	"unitask/internal/config"
	"unitask/internal/supplier/openapicheck"
)

// TestBuiltinAddresses shows that the suppliers that need no configuration are called at the addresses of their
// published documents; the adapters' own tests check the paths below them.
func TestBuiltinAddresses(t *testing.T) {
	known := config.Builtins()
	for _, name := range []string{"openai", "anthropic", "gemini", "replicate"} {
		d, err := openapicheck.Load("../supplier/" + name + "/testdata/openapi.json")
		if err != nil {
			t.Fatal(err)
		}
		i := slices.IndexFunc(known, func(b config.Builtin) bool { return b.Supplier.Name == name })
		if i < 0 {
			t.Fatalf("no supplier %s", name)
		}
		address, server := known[i].Supplier.BaseURL, d.Server()
		if below, ok := strings.CutPrefix(server, address); !ok || below != "" && !strings.HasPrefix(below, "/") {
			t.Errorf("%s: asked at %s, published at %s", name, address, server)
		}
	}
}
