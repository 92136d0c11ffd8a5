package operator_test

import (
	"strings"
	"testing"

	"unitask/internal/api"
	"unitask/internal/catalog"
	"unitask/internal/fault"
	"unitask/internal/operator"
	"unitask/internal/task"
	"unitask/test/fixture"
)

// TestPatternsMatch: the scopes of a key and the capabilities of an account match a capability, but for those that were
// there before, and the scope for webhooks.
func TestPatternsMatch(t *testing.T) {
	o := newTestOperator(t)
	ctx, directory := t.Context(), fixture.Must(catalog.Default())(t)
	old := []string{"music.compose"}
	before := fixture.Must(o.CreateKey(ctx, api.KeyCreate{Name: "old", Account: "old", Mode: task.Live, Scopes: old}))(t)
	fixture.Must(o.UpdateAccount(ctx, "old", api.AccountUpdate{Capabilities: &old}))(t)
	o.DirectoryFunc = func() *catalog.Catalog { return directory }
	for _, tt := range []struct {
		patterns    []string
		fits, stays bool // as new ones, and where music.compose was there before
	}{
		{[]string{"text.caht"}, false, false},
		{[]string{"text.chat", "musik.compose"}, false, false},
		{[]string{"music.compose", "text.*"}, false, true},
		{[]string{"text.chat", "video.*"}, true, true},
		{[]string{"*"}, true, true},
	} {
		_, made := o.CreateKey(ctx, api.KeyCreate{Name: "new", Account: "fresh", Mode: task.Live, Scopes: tt.patterns})
		_, err := o.GetAccount(ctx, "fresh")
		if (err == nil) != tt.fits {
			t.Errorf("the account of a key with %q: %v", tt.patterns, err)
		}
		_, owned := operator.Owner{Operator: o.Operator}.CreateKey(ctx, api.KeyCreate{Name: "new", Mode: task.Live, Scopes: tt.patterns})
		_, owner := o.CreateAccount(ctx, api.AccountCreate{Name: "a" + strings.Join(tt.patterns, "-"), Capabilities: tt.patterns})
		_, key := o.UpdateKey(ctx, before.ID, api.KeyUpdate{Scopes: &tt.patterns})
		_, opened := o.UpdateAccount(ctx, "old", api.AccountUpdate{Capabilities: &tt.patterns})
		for i, err := range []error{made, owned, owner, key, opened} {
			if want := i < 3 && tt.fits || i > 2 && tt.stays; (err == nil) != want || err != nil && fault.CodeOf(err) != fault.InvalidRequest {
				t.Errorf("action %d with %q: %v, want it taken: %v", i, tt.patterns, err, want)
			}
		}
	}
	if _, err := o.CreateKey(ctx, api.KeyCreate{Name: "hooks", Mode: task.Live, Scopes: []string{api.ScopeWebhooks}}); err != nil {
		t.Error(err)
	}
}
