package main

import (
	"github.com/spf13/cobra"

	"unitask/internal/client"
	"unitask/internal/hint"
)

func newProfilesUseCmd(t *terminal) *cobra.Command {
	return &cobra.Command{
		Use:               "use NAME",
		Short:             "Have commands use a profile from now on",
		Example:           `  unitask profiles use work`,
		Args:              cobra.ExactArgs(1),
		ValidArgsFunction: completeProfile,
		RunE: func(_ *cobra.Command, args []string) error {
			return t.changeProfiles(func(all *client.Profiles) error {
				p, err := findProfile(*all, args[0])
				if err != nil {
					return err
				}
				if p.Operator {
					return &hint.UsageError{Message: "profile " + args[0] + " has an operator key: name it by --profile in operator's commands"}
				}
				if p.KeyFrom() == "" {
					t.note("profile %s has no key: unitask login --profile %s keeps one", args[0], args[0])
				}
				all.Current = args[0]
				return nil
			})
		},
	}
}
