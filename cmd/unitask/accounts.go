package main

import (
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"unitask/internal/account"
	"unitask/internal/fault"
	"unitask/internal/hint"
)

func newAccountsCmd(t *terminal) *cobra.Command {
	cmd := group("accounts", "Create, list, change and close accounts, and invite their members, as an operator",
		newAccountsCreateCmd(t), newAccountsListCmd(t), newAccountsShowCmd(t), newAccountsUpdateCmd(t), newAccountsInviteCmd(t),
		newAccountsRenameCmd(t), newAccountsSuspendCmd(t), newAccountsResumeCmd(t), newAccountsCloseCmd(t),
		newAccountsSessionsCmd(t), newAccountsSignOutCmd(t))
	cmd.Long = `Create, list, change and close accounts, and invite their members, as an operator.

An account owns its keys, tasks and results; no other account sees them. Its limits bound all its keys together, live
and test each on their own.

` + remoteOperator
	return cmd
}

// hintAccounts adds the next command if an account is missing or exists already.
func hintAccounts(err error) error {
	if f, ok := errors.AsType[*fault.Error](err); ok && (f.Code == fault.NotFound || f.Code == fault.InvalidRequest) {
		return hint.With(err, "unitask accounts list")
	}
	return err
}

// checkPatterns checks a flag's capabilities and patterns.
func checkPatterns(flag string, patterns []string) error {
	for _, pattern := range patterns {
		if !account.ValidPattern(pattern) {
			return &hint.UsageError{Message: fmt.Sprintf("%s takes a capability or a pattern such as image.*, not %q", flag, pattern)}
		}
	}
	return nil
}
