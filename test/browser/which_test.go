//go:build unix

package browser_test

import (
	"fmt"
	"testing"

	"unitask/internal/api"
	"unitask/internal/client"
	"unitask/test/fixture"
	"unitask/test/harness"
)

// TestAccountOfMany: of more than 200 accounts one is found by a part of its name, by keyboard alone.
func TestAccountOfMany(t *testing.T) {
	run(t, "which.mjs", harness.NewServer(t), func(admin *client.Admin) any {
		for i := range 210 {
			fixture.Must(admin.CreateAccount(t.Context(), api.AccountCreate{Name: fmt.Sprintf("shop %d", i)}))(t)
		}
		return nil
	})
}
