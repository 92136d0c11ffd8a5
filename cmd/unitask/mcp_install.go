package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"unitask/internal/catalog"
	"unitask/internal/client"
	"unitask/internal/hint"
	"unitask/internal/mcp"
	"unitask/internal/save"
)

const mcpInstallLong = `Write "unitask mcp" into the settings of a program that speaks MCP. Its other entries stay as they are,
and the file is replaced in one step. No key is written: the started command finds it as every other
does, so keep it with "unitask login" or name a file with --api-key-file.`

const mcpInstallExample = `  unitask mcp install claude-desktop
  unitask mcp install vscode --project
  unitask mcp install cursor --profile work --name unitask-work
  unitask mcp install claude-code --print`

// mcpClient is a program that starts MCP servers, and the place of its settings.
type mcpClient struct {
	name, title string
	section     string // of the settings: the servers by their names
	typed       bool   // an entry says that it is started
	user        func() (string, error)
	project     string // below the project's folder, "" without one
}

var mcpClients = []mcpClient{
	{name: "claude-desktop", title: "Claude Desktop", section: "mcpServers", user: inConfig("Claude", "claude_desktop_config.json")},
	{name: "claude-code", title: "Claude Code", section: "mcpServers", typed: true, user: inHome(".claude.json"), project: ".mcp.json"},
	{name: "cursor", title: "Cursor", section: "mcpServers", user: inHome(".cursor", "mcp.json"), project: filepath.Join(".cursor", "mcp.json")},
	{name: "vscode", title: "VS Code", section: "servers", typed: true, user: inConfig("Code", "User", "mcp.json"), project: filepath.Join(".vscode", "mcp.json")},
}

func inConfig(path ...string) func() (string, error) {
	return func() (string, error) {
		dir, err := os.UserConfigDir()
		return filepath.Join(append([]string{dir}, path...)...), err
	}
}

func inHome(path ...string) func() (string, error) {
	return func() (string, error) {
		dir, err := os.UserHomeDir()
		return filepath.Join(append([]string{dir}, path...)...), err
	}
}

type mcpInstallOptions struct {
	mcpOptions
	client         string
	name           string
	project, print bool
}

func newMCPInstallCmd(t *terminal) *cobra.Command {
	var o mcpInstallOptions
	names := mcpClientNames()
	cmd := &cobra.Command{
		Use:       "install CLIENT",
		Short:     "Write unitask mcp into the settings of " + strings.Join(names, ", "),
		Long:      mcpInstallLong,
		Example:   mcpInstallExample,
		Args:      exactly(&o.client),
		ValidArgs: names,
		RunE:      func(cmd *cobra.Command, _ []string) error { return mcpInstallRun(cmd.Context(), t, &o) },
	}
	cmd.Flags().StringVar(&o.name, "name", "unitask", "call the entry by this `name`")
	cmd.Flags().BoolVar(&o.project, "project", false, "write the settings of the project in this folder, not the user's")
	cmd.Flags().BoolVar(&o.print, "print", false, "print the entry and write nothing")
	o.add(cmd)
	o.addShared(cmd)
	return cmd
}

func mcpClientNames() []string {
	names := make([]string, len(mcpClients))
	for i, c := range mcpClients {
		names[i] = c.name
	}
	return names
}

func mcpInstallRun(ctx context.Context, t *terminal, o *mcpInstallOptions) error {
	of, err := mcpClientNamed(o.client)
	if err != nil {
		return err
	}
	if err := o.metadata.read(); err != nil {
		return err
	}
	path, err := o.path(of)
	if err != nil {
		return err
	}
	if !client.ValidProfileName(o.name) {
		return &hint.UsageError{Message: "--name takes 1 to 64 letters, digits, dots, dashes and underscores"}
	}
	entry, err := o.entry(ctx, t, of)
	if err != nil {
		return err
	}
	if o.print {
		t.note("for %s, in %s:", of.title, path)
		return t.json(map[string]any{of.section: map[string]mcp.Entry{o.name: entry}})
	}
	if err := addEntry(path, of.section, o.name, entry); err != nil {
		return hint.With(fmt.Errorf("%s is left as it is: %w", path, err), "unitask mcp install "+of.name+" --print shows the entry, to be added by hand")
	}
	t.note("%s starts unitask from now on, once it is started anew", of.title)
	_, err = fmt.Fprintln(t.out, path)
	return err
}

// addEntry replaces a settings file in one step.
func addEntry(path, section, name string, e mcp.Entry) error {
	old, err := os.ReadFile(path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	settings, err := mcp.AddEntry(old, section, name, e)
	if err != nil {
		return err
	}
	return save.WriteFile(path, func(w io.Writer) error { _, err := w.Write(settings); return err })
}

func mcpClientNamed(name string) (mcpClient, error) {
	i := slices.IndexFunc(mcpClients, func(c mcpClient) bool { return c.name == name })
	if i >= 0 {
		return mcpClients[i], nil
	}
	message := fmt.Sprintf("no client is called %q; there are %s", name, strings.Join(mcpClientNames(), ", "))
	if near := catalog.Nearest(name, mcpClientNames()); near != "" {
		message = fmt.Sprintf("no client is called %q: did you mean %s?", name, near)
	}
	return mcpClient{}, &hint.UsageError{Message: message, Hint: "unitask mcp install " + mcpClients[0].name + " --print shows what any other client needs"}
}

func (o *mcpInstallOptions) path(of mcpClient) (string, error) {
	if !o.project {
		return of.user()
	}
	if of.project == "" {
		return "", &hint.UsageError{Message: of.title + " has no settings of a project", Hint: "unitask mcp install " + of.name}
	}
	return filepath.Abs(of.project)
}

// entry is how the client starts this very program for the service that is meant now.
func (o *mcpInstallOptions) entry(ctx context.Context, t *terminal, of mcpClient) (mcp.Entry, error) {
	target, err := o.target(ctx)
	if err != nil {
		return mcp.Entry{}, err
	}
	program, err := os.Executable()
	if err != nil {
		return mcp.Entry{}, err
	}
	if strings.Contains(program, string(filepath.Separator)+"go-build") {
		t.note("note: %s goes away when it ends; install from a built unitask", program)
	}
	e := mcp.Entry{Command: program, Args: []string{"mcp"}, Env: map[string]string{}}
	if of.typed {
		e.Type = "stdio"
	}
	if target.Name != "" {
		e.Args = append(e.Args, "--profile", target.Name)
	}
	switch {
	case target.Name == "" && target.Profile.DataDir != "":
		e.Args = append(e.Args, "--data-dir", target.Profile.DataDir)
	case target.BaseURL != target.Profile.BaseURL:
		e.Args = append(e.Args, "--base-url", target.BaseURL)
	}
	paths := []struct{ flag, path string }{{"--api-key-file", o.keyFile}, {"--output", o.folder}}
	for _, dir := range o.files {
		paths = append(paths, struct{ flag, path string }{"--files", dir})
	}
	for _, f := range paths {
		if f.path == "" {
			continue
		}
		path, err := filepath.Abs(f.path)
		if err != nil {
			return mcp.Entry{}, err
		}
		e.Args = append(e.Args, f.flag, path)
	}
	for _, one := range o.metadata.given {
		e.Args = append(e.Args, "--metadata", one)
	}
	for _, variable := range []string{"UNITASK_CONFIG_DIR", "UNITASK_STATE_DIR"} {
		if dir := os.Getenv(variable); dir != "" {
			e.Env[variable] = dir
		}
	}
	return e, o.checkKey(t, target)
}

// checkKey tells a person whose key only the present environment holds.
func (o *mcpInstallOptions) checkKey(t *terminal, target client.Target) error {
	if o.keyFile == "-" {
		return &hint.UsageError{Message: "--api-key-file - can't be read by a program that starts later", Hint: "unitask login keeps a key"}
	}
	own := target.BaseURL == target.Profile.BaseURL && (!target.Profile.Key.IsZero() || target.Profile.DataDir != "")
	if o.keyFile == "" && !own {
		t.note("note: no key is kept for %s, and UNITASK_API_KEY isn't written to settings; unitask login --base-url %s keeps one",
			target.BaseURL, target.BaseURL)
	}
	return nil
}
