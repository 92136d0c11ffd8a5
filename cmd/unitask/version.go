package main

import (
	"cmp"
	"fmt"
	"runtime"
	"runtime/debug"

	"github.com/spf13/cobra"
)

// Set by the linker for releases.
var (
	version string
	commit  string
)

// build says what this binary is.
type build struct {
	Version string `json:"version"`
	Commit  string `json:"commit,omitempty"`
	Go      string `json:"go"`
}

func newVersionCmd(t *terminal) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use: "version", Short: "Show the version", Args: cobra.NoArgs,
		Example: `  unitask version --json`,
		RunE:    func(*cobra.Command, []string) error { return versionRun(t, asJSON) },
	}
	addJSON(cmd, &asJSON)
	return cmd
}

func versionRun(t *terminal, asJSON bool) error {
	b := readBuild()
	if asJSON {
		return t.json(b)
	}
	of := b.Go
	if b.Commit != "" {
		of = "commit " + b.Commit + ", " + b.Go
	}
	_, err := fmt.Fprintf(t.out, "unitask %s (%s)\n", b.Version, of)
	return err
}

// readBuild takes what the linker set, else what the tool chain recorded.
func readBuild() build {
	b := build{Version: version, Commit: commit, Go: runtime.Version()}
	info, ok := debug.ReadBuildInfo()
	if !ok {
		b.Version = cmp.Or(b.Version, "devel")
		return b
	}
	if info.Main.Version != "(devel)" {
		b.Version = cmp.Or(b.Version, info.Main.Version)
	}
	b.Version = cmp.Or(b.Version, "devel")
	for _, s := range info.Settings {
		if s.Key == "vcs.revision" {
			b.Commit = cmp.Or(b.Commit, s.Value[:min(len(s.Value), 12)])
		}
	}
	return b
}
