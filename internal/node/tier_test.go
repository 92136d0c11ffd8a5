package node

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"unitask/internal/config"
	"unitask/internal/routing"
	"unitask/internal/task"
)

// TestTierOfAMap: a map of text.extract serves its tier too, with the tokens that the map adds to a request.
func TestTierOfAMap(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) {
		t.Helper()
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range []string{"capability.yaml", "chats.yaml"} {
		recipe, err := os.ReadFile(filepath.Join("../../docs/recipes/text.extract", name))
		if err != nil {
			t.Fatal(err)
		}
		write(name, string(recipe))
	}
	write("tiers.yaml", "capabilities:\n  - {name: facts.fine, extends: text.extract, title: a, description: b}\n")
	write("unitask.yaml", `catalog: [capability.yaml, tiers.yaml]
suppliers: [{name: one, kind: openai, base_url: "http://127.0.0.1:1/v1", models: [chats.yaml]}]
routes:
  text.extract: [{supplier: one, model: m, price: {unit: mtok}}]
  facts.fine: [{supplier: one, model: m, price: {unit: mtok}}]
`)
	sources := NamedSources(filepath.Join(dir, "unitask.yaml"))
	sources.Getenv = nil
	c, directory, err := config.Load(sources)
	if err != nil {
		t.Fatal(err)
	}
	if err := CheckSupplier(c.Suppliers[0], c.Routes, directory); err != nil {
		t.Error(err)
	}
	found, err := LiveSuppliers(t.Context(), c, directory, noEnv)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"facts.fine one/m", "text.extract one/m"}, routeNames(found, task.Live)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	for _, r := range found.Routes {
		if r.Template <= routing.DefaultTemplate || r.Template != found.Routes[0].Template {
			t.Errorf("%s: a template of %d tokens", r.Capability, r.Template)
		}
	}
}
