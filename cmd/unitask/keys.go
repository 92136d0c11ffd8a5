package main

import "github.com/spf13/cobra"

func newKeysCmd(t *terminal) *cobra.Command {
	cmd := group("keys", "Create, list, change, rotate and revoke keys, as the operator of a data folder",
		newKeysCreateCmd(t), newKeysListCmd(t), newKeysUpdateCmd(t), newKeysExpireCmd(t), newKeysRotateCmd(t), newKeysRevokeCmd(t))
	cmd.Long = `Create, list, change, rotate and revoke keys, as the operator of a data folder.

Whoever may open the data folder is the operator. A running server is asked over its socket there;
where none runs, the store in the folder is opened.`
	return cmd
}
