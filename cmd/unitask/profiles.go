package main

import (
	"fmt"
	"maps"
	"os"
	"slices"

	"github.com/spf13/cobra"

	"unitask/internal/catalog"
	"unitask/internal/client"
	"unitask/internal/hint"
)

func newProfilesCmd(t *terminal) *cobra.Command {
	cmd := group("profiles", "List, choose, rename and remove profiles",
		newProfilesListCmd(t), newProfilesUseCmd(t), newProfilesRenameCmd(t), newProfilesRmCmd(t))
	cmd.Long = `List, choose, rename and remove profiles.

A profile is a service's base URL and where the key for it is kept. "unitask login" makes one; the first server on
this machine saves the profile local. Commands use the current one, unless --profile or UNITASK_PROFILE names another.`
	return cmd
}

// findProfile returns the profile of a name.
func findProfile(all client.Profiles, name string) (client.Profile, error) {
	if p, known := all.Profiles[name]; known {
		return p, nil
	}
	message := fmt.Sprintf("there is no profile %q", name)
	if near := catalog.Nearest(name, slices.Collect(maps.Keys(all.Profiles))); near != "" {
		message += ": did you mean " + near + "?"
	}
	return client.Profile{}, &hint.UsageError{Message: message, Hint: "unitask profiles list"}
}

// changeProfiles saves the changed profiles, and says so if commands then use another one.
func (t *terminal) changeProfiles(change func(*client.Profiles) error) error {
	all, err := client.LoadProfiles(client.ConfigDir())
	if err != nil {
		return err
	}
	before := all.Current
	if err := change(&all); err != nil {
		return err
	}
	if err := all.Save(client.ConfigDir()); err != nil {
		return err
	}
	if all.Current != before && all.Current != "" {
		t.note("commands use profile %s now, which calls %s", all.Current, all.Profiles[all.Current].BaseURL)
		t.noteOverrides()
	}
	return nil
}

// noteOverrides names the variables that override the current profile.
func (t *terminal) noteOverrides() {
	for _, name := range []string{"UNITASK_PROFILE", "UNITASK_BASE_URL", "UNITASK_DATA_DIR"} {
		if os.Getenv(name) != "" {
			t.note("note: %s is set, and comes before it", name)
		}
	}
}

// completeProfile completes a command's first argument.
func completeProfile(cmd *cobra.Command, args []string, toComplete string) ([]cobra.Completion, cobra.ShellCompDirective) {
	if len(args) > 0 {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	return completeProfiles(cmd, args, toComplete)
}
