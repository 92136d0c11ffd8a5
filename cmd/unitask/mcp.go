package main

import (
	"context"
	"io"
	"time"

	"github.com/spf13/cobra"

	"unitask/internal/api"
	"unitask/internal/client"
	"unitask/internal/hint"
	"unitask/internal/journal"
	"unitask/internal/mcp"
	"unitask/internal/save"
)

const mcpLong = `Serve the capabilities as tools of the Model Context Protocol, on stdin and stdout, for a program such as
an editor or an assistant that starts this command. "unitask mcp install" writes it into their settings.

Each capability is one tool, its dots as underscores: image.generate is image_generate. Arguments are
checked by the capability's own schemas. A call waits for its task and tells its progress; after 50
seconds it hands the task over by its id, for the tools task_get and task_cancel, since clients give a
call up after 60. Text, small pictures and sounds are part of the answer; other files are links, and
with -o they are saved too and their paths named. With --files the tool file_upload sends files of a
folder ahead, for the media arguments of the others.

The key is found as by every command. What the tools make is paid for by that key.`

const mcpExample = `  unitask mcp install claude-code
  unitask mcp --profile work -o ~/Pictures/unitask`

type mcpOptions struct {
	clientFlags
	folder   string
	files    offered
	metadata metadataFlag
	limit    time.Duration
}

func newMCPCmd(t *terminal) *cobra.Command {
	var o mcpOptions
	cmd := &cobra.Command{
		Use:     "mcp",
		Short:   "Offer the capabilities as tools to assistants and editors (MCP)",
		Long:    mcpLong,
		Example: mcpExample,
		Args:    cobra.ArbitraryArgs, // so that an unknown command comes to helpOrUnknown
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) > 0 {
				return helpOrUnknown(cmd, args)
			}
			return mcpRun(cmd.Context(), t, &o)
		},
	}
	o.add(cmd)
	o.addShared(cmd)
	cmd.Flags().DurationVar(&o.limit, "limit", mcp.DefaultLimit, "hand a task over by its id after this `time`")
	_ = cmd.Flags().MarkHidden("limit")
	cmd.AddCommand(newMCPInstallCmd(t))
	return cmd
}

// addShared adds the flags that an entry of the settings passes on.
func (o *mcpOptions) addShared(cmd *cobra.Command) {
	o.metadata.add(cmd, "keep `name=text` with every task, for lists by it; may be given again")
	cmd.Flags().StringVarP(&o.folder, "output", "o", "", "save the files of results in this `folder` and name their paths")
	_ = cmd.MarkFlagDirname("output")
	cmd.Flags().StringArrayVar((*[]string)(&o.files), "files", nil, "let the tool file_upload send files of this `folder`; may be given again")
	_ = cmd.MarkFlagDirname("files")
}

func mcpRun(ctx context.Context, t *terminal, o *mcpOptions) error {
	if o.keyFile == "-" {
		return &hint.UsageError{Message: "--api-key-file - reads stdin, which belongs to the protocol here", Hint: "unitask login keeps a key"}
	}
	if o.limit <= 0 {
		return &hint.UsageError{Message: "--limit takes a time above zero, such as 50s"}
	}
	if err := o.metadata.read(); err != nil {
		return err
	}
	if o.folder != "" {
		if err := save.Check(o.folder+"/", false); err != nil {
			return err
		}
	}
	if err := o.files.check(); err != nil {
		return err
	}
	target, err := o.target(ctx)
	if err != nil {
		return err
	}
	credential, err := o.credential(ctx, t, target)
	if err != nil {
		return err
	}
	c, err := newClient(t, target, credential, nil)
	if err != nil {
		return err
	}
	service := o.service(c, target, credential)
	config := mcp.Config{
		Client: c, Version: readBuild().Version, Limit: o.limit, Metadata: o.metadata.pairs, Note: t.note,
		Upload: o.files.upload(c),
		Begin: func(ctx context.Context, key string, body []byte, onTask func(api.Task)) (mcp.Submission, error) {
			return service.Begin(ctx, journal.Submission{Key: key, Body: body}, onTask)
		},
		Hint: func(err error) string { return hintOf("unitask mcp", err) },
	}
	if o.folder != "" {
		config.Save = func(ctx context.Context, done api.Task) ([]string, error) { return saveFiles(ctx, c, done, o.folder) }
	}
	if t.inTTY {
		t.note("this speaks MCP with a program, not with people; unitask mcp install sets one up, and ctrl-c ends it")
	}
	return mcp.New(config).Run(ctx, io.NopCloser(t.in), t.out)
}

// saveFiles keeps a result's files in a folder and returns their paths.
func saveFiles(ctx context.Context, c *client.Client, done api.Task, folder string) ([]string, error) {
	parts, err := save.Parts(done.Output)
	if err != nil {
		return nil, err
	}
	files, err := save.Keep(ctx, c, done.ID, parts, folder)
	var paths []string
	for _, f := range files {
		paths = append(paths, f.Path)
	}
	return paths, err
}
