package main

import (
	"fmt"
	"io"

	"github.com/spf13/cobra"
)

// helpFunc returns the help of run: with the name of a capability it is that one's fields, price and example.
func (o *runOptions) helpFunc(t *terminal, usual func(*cobra.Command, []string)) func(*cobra.Command, []string) {
	return func(cmd *cobra.Command, words []string) {
		named := cmd.Flags().Args()
		if len(named) == 0 {
			usual(cmd, words)
			return
		}
		o.capability = named[0]
		entry, told, err := o.likelyEntry(cmd.Context(), t)
		if err == nil {
			err = showCapability(t, entry, told)
		}
		if err != nil {
			t.failed = err
			return
		}
		rest := fmt.Sprintf("\nFlags:\n%s\n\"unitask run --help\" says how values are written.\n", cmd.LocalFlags().FlagUsages())
		if t.outTTY {
			rest = foldHelp(rest, t.width())
		}
		_, _ = io.WriteString(t.out, rest)
	}
}
