package main

import (
	_ "embed" // the first settings
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"unitask/internal/config"
	"unitask/internal/hint"
	"unitask/internal/save"
	"unitask/internal/snippet"

	"github.com/spf13/cobra"
)

//go:embed config_init.yaml
var firstSettings string

type configInitOptions struct {
	file  string
	force bool
}

func newConfigInitCmd(t *terminal) *cobra.Command {
	o := configInitOptions{file: config.FileName}
	cmd := &cobra.Command{
		Use:   "init [FILE]",
		Short: "Write a settings file to start from, unitask.yaml by default",
		Long: "Write a settings file in which every line is a comment: what is commonly set, with its default.\n" +
			"A file that exists is left alone; - prints to stdout.",
		Example: "  unitask config init\n  unitask config init - | less",
		Args:    cobra.MaximumNArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			if len(args) > 0 {
				o.file = args[0]
			}
			return configInitRun(t, &o)
		},
	}
	cmd.Flags().BoolVar(&o.force, "force", false, "replace a file that exists")
	return cmd
}

func configInitRun(t *terminal, o *configInitOptions) error {
	if o.file == "-" {
		_, err := io.WriteString(t.out, firstSettings)
		return err
	}
	if _, err := os.Stat(o.file); !errors.Is(err, fs.ErrNotExist) && !o.force {
		if err != nil {
			return hint.With(err, "unitask config init FILE names another one")
		}
		return hint.With(errors.New(o.file+" exists and is left alone"), "unitask config init --force "+snippet.Word(o.file)+" replaces it")
	}
	if err := save.WriteFile(o.file, func(w io.Writer) error { _, err := io.WriteString(w, firstSettings); return err }); err != nil {
		return hint.With(err, "unitask config init FILE names another one")
	}
	if filepath.Clean(o.file) == config.FileName {
		t.note("next: unitask serve, which reads it in this folder")
	} else {
		t.note("next: unitask serve --config %s", snippet.Word(o.file))
	}
	_, err := fmt.Fprintln(t.out, o.file)
	return err
}
