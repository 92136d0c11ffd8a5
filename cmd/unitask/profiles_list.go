package main

import (
	"cmp"
	"maps"
	"slices"

	"github.com/spf13/cobra"

	"unitask/internal/client"
)

// profileRow is a profile as profiles list shows it.
type profileRow struct {
	Name    string        `json:"name"`
	Current bool          `json:"current"`
	BaseURL string        `json:"base_url"`
	DataDir string        `json:"data_dir,omitempty"`
	KeyFrom client.Source `json:"key_from,omitempty"`

	Operator bool `json:"operator,omitempty"` // the key is an operator's
}

func newProfilesListCmd(t *terminal) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:         "list",
		Annotations: tabled,
		Aliases:     []string{"ls"},
		Short:       "List profiles: the services that they call and where their keys are",
		Example: `  unitask profiles list
  unitask profiles list --json`,
		Args: cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error { return profilesListRun(t, asJSON) },
	}
	addJSON(cmd, &asJSON)
	return cmd
}

func profilesListRun(t *terminal, asJSON bool) error {
	all, err := client.LoadProfiles(client.ConfigDir())
	if err != nil {
		return err
	}
	rows := []profileRow{}
	for _, name := range slices.Sorted(maps.Keys(all.Profiles)) {
		p := all.Profiles[name]
		rows = append(rows, profileRow{name, name == all.Current, p.BaseURL, p.DataDir, p.KeyFrom(), p.Operator})
	}
	if asJSON {
		return t.json(rows)
	}
	if len(rows) == 0 {
		t.note("no profiles: unitask serve starts a service here, unitask login keeps a key for another one")
		return nil
	}
	b := table{header: []string{"NAME", "CURRENT", "SERVICE", "KEY FROM"}}
	for _, r := range rows {
		current := cell{human: "–"}
		if r.Current {
			current = cell{human: "current", plain: "current", style: t.style.good}
		}
		login := "unitask login --profile " + r.Name
		if r.Operator {
			login += " --operator"
		}
		from := cell{human: cmp.Or(string(r.KeyFrom), "nowhere: "+login), plain: string(r.KeyFrom)}
		if r.Operator && r.KeyFrom != "" {
			from.human, from.plain = from.human+", an operator's", from.plain+", an operator's"
		}
		b.row(same(r.Name), current, same(r.BaseURL), from)
	}
	return b.write(t)
}
