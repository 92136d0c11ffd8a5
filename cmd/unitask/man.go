package main

import (
	"cmp"
	"io"
	"strings"

	"unitask/internal/roff"

	"github.com/muesli/mango"
	mcobra "github.com/muesli/mango-cobra"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

func newManCmd(t *terminal) *cobra.Command {
	return &cobra.Command{
		Use:     "man",
		Short:   "Print the manual page",
		Long:    "Print the manual page of every command, in roff. The packages install it as unitask(1).",
		Example: "  unitask man | man -l -\n  unitask man >/usr/local/share/man/man1/unitask.1",
		Args:    cobra.NoArgs,
		RunE:    func(cmd *cobra.Command, _ []string) error { return manRun(t, cmd.Root(), readBuild()) },
	}
}

// manRun writes the same page for the same sources: its date is that of the commit.
func manRun(t *terminal, root *cobra.Command, b build) error {
	page, err := mcobra.NewManPage(1, root)
	if err != nil {
		return err
	}
	complete(&page.Root, root)
	date, _, _ := strings.Cut(b.CommittedAt, "T")
	page.WithSection("Exit status", strings.ReplaceAll(topicExit, "\n", roff.KeptEnd)).WithSection("Environment", topicEnvironment)
	if t.outTTY {
		t.note("%s unitask man | man -l - shows it", t.errStyle.bold.Render("hint:"))
	}
	_, err = io.WriteString(t.out, page.Build(&roff.Page{Date: date, Version: b.Version}))
	return err
}

// complete gives the page's commands their long texts, and takes the flags out that the help doesn't show either.
func complete(page *mango.Command, cmd *cobra.Command) {
	cmd.Flags().VisitAll(func(f *pflag.Flag) {
		if f.Hidden {
			delete(page.Flags, f.Name)
		}
	})
	for _, child := range cmd.Commands() {
		if one := page.Commands[child.Name()]; one != nil {
			one.Short = strings.ReplaceAll(cmp.Or(child.Long, child.Short), "\n", roff.KeptEnd)
			complete(one, child)
		}
	}
}
