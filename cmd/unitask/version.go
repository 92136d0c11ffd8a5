package main

import (
	"cmp"
	"fmt"
	"runtime"
	"runtime/debug"
	"strings"

	"github.com/spf13/cobra"

	"unitask/internal/metrics"
)

// Set by the linker for releases.
var (
	version     string
	commit      string
	committedAt string
)

// build describes this binary.
type build struct {
	Version     string `json:"version"`
	Commit      string `json:"commit,omitempty"`
	CommittedAt string `json:"committed_at,omitempty"` // RFC 3339
	Modified    bool   `json:"modified,omitempty"`     // the sources had changes beside the commit's
	Go          string `json:"go"`
	OS          string `json:"os"`
	Arch        string `json:"arch"`
}

func newVersionCmd(t *terminal) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use: "version", Short: "Show the version, its commit and what it was built with", Args: cobra.NoArgs,
		Example: "  unitask version\n  unitask version --jq .commit",
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
	_, err := fmt.Fprintf(t.out, "unitask %s (%s)\n", b.Version, b.details())
	return err
}

func (b build) details() string {
	parts := []string{b.Go, b.OS + "/" + b.Arch}
	if b.Commit == "" {
		return strings.Join(parts, ", ")
	}
	of := "commit " + b.Commit
	if b.CommittedAt != "" {
		of += " of " + b.CommittedAt
	}
	if b.Modified {
		of += " with changes"
	}
	return strings.Join(append([]string{of}, parts...), ", ")
}

// metrics returns the build as monitoring sees it.
func (b build) metrics() metrics.Build {
	return metrics.Build{Version: b.Version, Commit: b.Commit, Go: b.Go}
}

// unversioned is the version of a build without one, such as that of go run.
const unversioned = "devel"

// readBuild returns the linker's values, else those that the tool chain recorded.
func readBuild() build {
	b := build{Version: version, Commit: commit, CommittedAt: committedAt, Go: runtime.Version(), OS: runtime.GOOS, Arch: runtime.GOARCH}
	info, ok := debug.ReadBuildInfo()
	if !ok {
		b.Version = cmp.Or(b.Version, unversioned)
		return b
	}
	if info.Main.Version != "(devel)" {
		b.Version = cmp.Or(b.Version, info.Main.Version)
	}
	b.Version = cmp.Or(b.Version, unversioned)
	for _, s := range info.Settings {
		switch s.Key {
		case "vcs.revision":
			b.Commit = cmp.Or(b.Commit, s.Value[:min(len(s.Value), 12)])
		case "vcs.time":
			b.CommittedAt = cmp.Or(b.CommittedAt, s.Value)
		case "vcs.modified":
			b.Modified = s.Value == "true"
		}
	}
	return b
}
