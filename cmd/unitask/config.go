package main

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/goccy/go-yaml"
	"github.com/spf13/cobra"

	"unitask/internal/catalog"
	"unitask/internal/config"
	"unitask/internal/disk"
	"unitask/internal/hint"
	"unitask/internal/node"
	"unitask/internal/snippet"
)

func newConfigCmd(t *terminal) *cobra.Command {
	return group("config", "Begin, check, show, probe and reload the server's settings",
		newConfigInitCmd(t), newConfigCheckCmd(t), newConfigShowCmd(t), newConfigProbeCmd(t), newConfigReloadCmd(t))
}

// loadSettings reads the settings; if their file is missing the error says how to begin one.
func loadSettings(sources config.Sources) (config.Config, *catalog.Catalog, error) {
	c, directory, err := config.Load(sources)
	if errors.Is(err, fs.ErrNotExist) {
		return c, directory, hint.With(fmt.Errorf("%s: %w", sources.File, disk.Cause(err)), "unitask config init "+snippet.Word(sources.File)+" writes one to start from")
	}
	return c, directory, err
}

// origin says which file settings are read from.
func origin(sources config.Sources) string {
	switch full, err := filepath.Abs(sources.File); {
	case sources.File == "":
		return "the defaults and the environment: no file is named, and there is no " + config.FileName + " here"
	case err != nil:
		return printable(sources.File)
	default:
		return printable(full)
	}
}

// named runs a command with the settings' sources, whose file may also be an argument.
func named(cmd *cobra.Command, t *terminal, flags *serverFlags, args []string, run func(*terminal, config.Sources) error) error {
	switch {
	case len(args) == 0:
	case args[0] == "":
		return &hint.UsageError{Message: "the file's name is empty"}
	case flags.file != "":
		return &hint.UsageError{Message: "the settings are named twice, by --config and by " + args[0]}
	default:
		flags.file = args[0]
	}
	return run(t, flags.sources(cmd))
}

func newConfigCheckCmd(t *terminal) *cobra.Command {
	var flags serverFlags
	cmd := &cobra.Command{
		Use: "check [FILE]", Short: "Read the settings as serve would, and report all errors", Args: cobra.MaximumNArgs(1),
		Example: "  unitask config check\n  unitask config check /etc/unitask/unitask.yaml",
		Long: "Read the settings as serve would, and report all errors.\n" +
			"Where neither FILE, --config nor UNITASK_CONFIG names a file, it is unitask.yaml in this folder, if it is there.",
		RunE: func(cmd *cobra.Command, args []string) error { return named(cmd, t, &flags, args, configCheckRun) },
	}
	flags.add(cmd)
	return cmd
}

func configCheckRun(t *terminal, sources config.Sources) error {
	c, directory, err := loadSettings(sources)
	if err != nil {
		return err
	}
	for _, s := range c.Suppliers {
		if err := node.CheckSupplier(s, c.Routes, directory); err != nil {
			return fmt.Errorf("supplier %s: %w", s.Name, err)
		}
		if name, ok := strings.CutPrefix(s.APIKey.String(), "env:"); ok && os.Getenv(name) == "" {
			t.note("warning: supplier %s: environment variable %s is not set here", printable(s.Name), printable(name))
		}
	}
	for _, text := range c.Warnings() {
		t.note("warning: %s", printable(text))
	}
	noteTiers(t, c, directory)
	if sources.File == "" {
		t.note("there is no file of settings: none is named, and there is no %s here", config.FileName)
		t.note("the defaults and the environment are valid")
		return nil
	}
	t.note("%s: the settings are valid", printable(sources.File))
	return nil
}

// noteTiers says of each tier which capability it extends and which routes it has.
func noteTiers(t *terminal, c config.Config, directory *catalog.Catalog) {
	for _, entry := range directory.All() {
		var routes []string
		for _, r := range c.Routes[entry.Name] {
			if r.Approved {
				routes = append(routes, r.Supplier+"/"+r.Model)
			}
		}
		switch {
		case entry.Extends == "":
		case len(routes) == 0:
			t.note("warning: %s extends %s and has no approved route, so live keys can't call it: write one under routes",
				entry.Name, entry.Extends)
		default:
			t.note("%s extends %s and has the routes %s", entry.Name, entry.Extends, printable(strings.Join(routes, ", ")))
		}
	}
}

func newConfigShowCmd(t *terminal) *cobra.Command {
	var flags serverFlags
	cmd := &cobra.Command{
		Use: "show [FILE]", Short: "Print the settings that hold, defaults included; secrets are named, never shown", Args: cobra.MaximumNArgs(1),
		Example: "  unitask config show\n  unitask config show /etc/unitask/unitask.yaml",
		Long: "Print the settings that hold, defaults included; secrets are named, never shown.\n" +
			"Where neither FILE, --config nor UNITASK_CONFIG names a file, it is unitask.yaml in this folder, if it is there.",
		RunE: func(cmd *cobra.Command, args []string) error { return named(cmd, t, &flags, args, configShowRun) },
	}
	flags.add(cmd)
	return cmd
}

func configShowRun(t *terminal, sources config.Sources) error {
	c, _, err := loadSettings(sources)
	if err != nil {
		return err
	}
	t.note("settings from %s", origin(sources))
	text, err := yaml.Marshal(c)
	if err != nil {
		return err
	}
	_, err = io.WriteString(t.out, t.safe(string(text)))
	return err
}
