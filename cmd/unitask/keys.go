package main

import "github.com/spf13/cobra"

func newKeysCmd(t *terminal) *cobra.Command {
	cmd := group("keys", "Create, list, change, rotate and revoke keys, as an operator",
		newKeysCreateCmd(t), newKeysListCmd(t), newKeysUpdateCmd(t), newKeysExpireCmd(t), newKeysRotateCmd(t), newKeysRevokeCmd(t))
	cmd.Long = "Create, list, change, rotate and revoke keys, as an operator.\n\n" + remoteOperator
	return cmd
}
