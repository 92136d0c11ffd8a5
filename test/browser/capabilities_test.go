//go:build unix

package browser_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"unitask/internal/api"
	"unitask/internal/client"
	"unitask/internal/secret"
	"unitask/internal/task"
	"unitask/test/fixture"
	"unitask/test/harness"
)

// besides is the end of the name of each capability's second tier.
const besides = ".beside"

// TestCapabilities: the trial of each capability that the server lists, by its example: files by drop, the result, reload,
// run again, a shared address, reload in mid-run, retry, and two tiers side by side.
func TestCapabilities(t *testing.T) {
	s := harness.NewServer(t)
	tiers := "capabilities:\n"
	for _, name := range fixture.Must(filepath.Glob("../../internal/catalog/data/*.*.yaml"))(t) {
		name = strings.TrimSuffix(filepath.Base(name), ".yaml")
		tiers += fmt.Sprintf("  - {name: %s%s, extends: %[1]s, title: Another %[1]s, description: The same beside.}\n", name, besides)
	}
	if err := os.WriteFile(filepath.Join(s.Dir, "tiers.yaml"), []byte(tiers), 0o600); err != nil {
		t.Fatal(err)
	}
	s.Config = "catalog: [tiers.yaml]\n"
	run(t, "capabilities.mjs", s, func(admin *client.Admin) any {
		key := fixture.Must(admin.CreateKey(t.Context(), api.KeyCreate{Name: "list", Account: home, Mode: task.Test}))(t)
		c := fixture.Must(client.New(client.Config{BaseURL: s.Base, Key: func(context.Context) (secret.Value, error) { return secret.New(key.Secret), nil }}))(t)
		return map[string]any{"besides": besides, "capabilities": fixture.Must(c.Capabilities(t.Context()))(t)}
	})
	if t.Failed() {
		t.Log(s.Warnings())
	}
}
