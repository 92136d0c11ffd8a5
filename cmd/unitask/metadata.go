package main

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"unitask/internal/catalog"
	"unitask/internal/hint"
	"unitask/internal/snippet"
	"unitask/internal/task"
)

// metadataFlag is --metadata, given once for each text.
type metadataFlag struct {
	given []string // name=text
	pairs task.Metadata
}

func (f *metadataFlag) add(cmd *cobra.Command, usage string) {
	cmd.Flags().StringArrayVar(&f.given, "metadata", nil, usage)
}

// read returns the error of what was given, and keeps the pairs.
func (f *metadataFlag) read() error {
	f.pairs = nil
	for _, one := range f.given {
		name, text, ok := strings.Cut(one, "=")
		if !ok {
			return &hint.UsageError{Message: fmt.Sprintf("--metadata takes name=text, such as team=search, this is %q", one)}
		}
		if _, twice := f.pairs[name]; twice {
			return &hint.UsageError{Message: fmt.Sprintf("--metadata gives %q more than once", name)}
		}
		if f.pairs == nil {
			f.pairs = task.Metadata{}
		}
		f.pairs[name] = text
	}
	if rows := catalog.MetadataRows(f.pairs); len(rows) > 0 {
		return &hint.UsageError{Message: "--metadata: " + rows[0].Field + " " + rows[0].Message}
	}
	return nil
}

// words are the flags as they are given on a command line, each after a space.
func (f *metadataFlag) words() string {
	var line strings.Builder
	for _, one := range f.given {
		line.WriteString(" --metadata " + snippet.Word(one))
	}
	return line.String()
}
