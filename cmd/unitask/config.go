package main

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"

	"github.com/goccy/go-yaml"
	"github.com/spf13/cobra"

	"unitask/internal/catalog"
	"unitask/internal/config"
	"unitask/internal/snippet"
)

func newConfigCmd(t *terminal) *cobra.Command {
	return group("config", "Begin, check, show and reload the server's settings",
		newConfigInitCmd(t), newConfigCheckCmd(t), newConfigShowCmd(t), newConfigReloadCmd(t))
}

// loadSettings reads the settings; where their file isn't there it says how to begin one.
func loadSettings(sources config.Sources) (config.Config, *catalog.Catalog, error) {
	c, directory, err := config.Load(sources)
	if errors.Is(err, fs.ErrNotExist) {
		return c, directory, &hinted{fmt.Errorf("%s: %w", sources.File, why(err)), "unitask config init " + snippet.Word(sources.File) + " writes one to start from"}
	}
	return c, directory, err
}

func newConfigCheckCmd(t *terminal) *cobra.Command {
	var flags serverFlags
	cmd := &cobra.Command{
		Use: "check", Short: "Read the settings as serve would, and report all errors", Args: cobra.NoArgs,
		Example: `  unitask config check --config unitask.yaml`,
		RunE:    func(cmd *cobra.Command, _ []string) error { return configCheckRun(t, flags.sources(cmd)) },
	}
	flags.add(cmd)
	return cmd
}

func configCheckRun(t *terminal, sources config.Sources) error {
	c, _, err := loadSettings(sources)
	if err != nil {
		return err
	}
	for _, s := range c.Suppliers {
		_, adapter, err := newAdapter(s)
		if err == nil {
			err = checkModels(adapter, routesOf(s.Name, c.Routes))
		}
		if err != nil {
			return fmt.Errorf("supplier %s: %w", s.Name, err)
		}
		if name, ok := strings.CutPrefix(s.APIKey.String(), "env:"); ok && os.Getenv(name) == "" {
			t.note("warning: supplier %s: environment variable %s is not set here", printable(s.Name), printable(name))
		}
	}
	for _, text := range c.Warnings() {
		t.note("warning: %s", printable(text))
	}
	t.note("the settings are valid")
	return nil
}

func newConfigShowCmd(t *terminal) *cobra.Command {
	var flags serverFlags
	cmd := &cobra.Command{
		Use: "show", Short: "Print the settings that hold, defaults included; secrets are named, never shown", Args: cobra.NoArgs,
		Example: `  unitask config show --config unitask.yaml`,
		RunE:    func(cmd *cobra.Command, _ []string) error { return configShowRun(t, flags.sources(cmd)) },
	}
	flags.add(cmd)
	return cmd
}

func configShowRun(t *terminal, sources config.Sources) error {
	c, _, err := loadSettings(sources)
	if err != nil {
		return err
	}
	text, err := yaml.Marshal(c)
	if err != nil {
		return err
	}
	_, err = io.WriteString(t.out, t.safe(string(text)))
	return err
}
