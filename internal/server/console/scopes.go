package console

import (
	"fmt"
	"slices"
	"strings"

	"unitask/internal/account"
	"unitask/internal/api"
	"unitask/internal/catalog"
	"unitask/internal/fault"
)

// openOn returns the names of the capabilities that are open on the account, served or not.
func (c *Console) openOn(a api.Account) []string {
	var open []string
	for name := range c.gateway.Directory().Names() {
		if account.Allows(a.Capabilities, string(name)) {
			open = append(open, string(name))
		}
	}
	return open
}

// scopesOver returns the possible scopes of a key if these capabilities are open: each, and its family.
func scopesOver(open []string) []string {
	var all []string
	for _, name := range open {
		if family := name[:strings.LastIndexByte(name, '.')+1] + "*"; !slices.Contains(all, family) {
			all = append(all, family)
		}
		all = append(all, name)
	}
	return all
}

// checkScopes refuses patterns that match no open capability, except those that the key had before: a closed
// capability may be opened again. The form of a pattern is the operator's to judge.
func checkScopes(patterns, before, open []string) error {
	var wrong []fault.Detail
	for _, p := range patterns {
		opens := func(name string) bool { return account.Allows([]string{p}, name) }
		if p == "*" || p == api.ScopeWebhooks || !account.ValidPattern(p) || slices.Contains(before, p) || slices.ContainsFunc(open, opens) {
			continue
		}
		meant := "open are " + strings.Join(open, ", ")
		if near := catalog.Nearest(p, scopesOver(open)); near != "" {
			meant = "perhaps " + near + " is meant"
		}
		wrong = append(wrong, fault.Detail{Field: "scopes", Message: fmt.Sprintf("hold %s, which opens nothing on the account; %s", p, meant)})
	}
	if len(wrong) == 0 {
		return nil
	}
	return fault.Invalid(wrong[0].Field, wrong[0].Message).WithDetails(wrong[1:]...)
}
